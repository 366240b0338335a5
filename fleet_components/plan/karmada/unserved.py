"""Find members that a policy chooses and that do not serve the custom kind which it selects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fleet_components.content.catalogue import Catalogue
from fleet_components.model.inventory import Inventory
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.karmada.subject import TemplateSubject
from fleet_components.plan.karmada.trial import may_choose
from fleet_components.plan.subject import Decided

_DEFINITION = "CustomResourceDefinition"
_LISTED = "once it serves the kind, list it in status.apiEnablements, or observe the member again"


def unserved(subjects: Iterable[Decided], catalogue: Catalogue, inventory: Inventory) -> Iterator[Problem]:
    """Yield a warning for each custom kind and what is missing for it, with its members.

    Source: karmada-io/karmada 1.19, pkg/scheduler/framework/plugins/apienablement.
    """
    every = tuple(subjects)
    definitions = {_defines(one): one for one in catalogue.manifests if one.kind == _DEFINITION}
    brought = _definitions_on_members(every)
    lacking: dict[tuple[str, str], set[str]] = defaultdict(set)
    first: dict[tuple[str, str], Manifest] = {}
    for decided in every:
        if isinstance(decided.subject, TemplateSubject):
            manifest = decided.subject.matched
            api = (manifest.api_version, manifest.kind)
            for name in _lacking(decided, manifest, inventory):
                lacking[api].add(name)
                first.setdefault(api, decided.subject.manifest)
    for api, members in lacking.items():
        manifest = first[api]
        definition = definitions.get((manifest.group, manifest.kind))
        here = brought.get((manifest.group, manifest.kind), set())
        for without, names in ((False, members & here), (True, members - here)):
            if names:
                where = few(sorted(names))
                what = f"is not placed on {where}, where {api[1]} of {api[0]} is not served"
                yield manifest.problem(what, (), _hint(definition, without=without))


def _lacking(decided: Decided, manifest: Manifest, inventory: Inventory) -> Iterator[str]:
    """Yield the members that the policy of a template chooses, and that do not serve its kind."""
    bound = decided.record.memory.claim.bound
    if bound is None or (manifest.group, manifest.kind) in BUILT_IN:
        return
    api = (manifest.api_version, manifest.kind)
    for cluster in inventory.clusters:
        # One that lists nothing is warned of by itself.
        serves = not cluster.api_enablements or api in cluster.api_enablements
        has = cluster.name in decided.record.decisions
        if not serves and not has and may_choose(bound.placement, cluster):
            yield cluster.name


def _definitions_on_members(subjects: Iterable[Decided]) -> dict[tuple[str, str], set[str]]:
    """Return the members that get the definition of each custom kind."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for decided in subjects:
        for member, delivery in decided.deliveries.items():
            for data in delivery.written:
                if data.get("kind") == _DEFINITION:
                    found[_defines(Manifest(data))].add(member)
    return found


def _defines(definition: Manifest) -> tuple[str, str]:
    """Return the group and kind that a definition defines."""
    group = value_at(definition.data, ("spec", "group"))
    return str(group), str(value_at(definition.data, ("spec", "names", "kind")))


def _hint(definition: Manifest | None, *, without: bool) -> str:
    if definition and not without:
        return f"its {definition.key} goes there; {_LISTED}"
    if definition:
        return f"place {definition.key} there with a ClusterPropagationPolicy; {_LISTED}"
    return f"install its definition there; {_LISTED}"
