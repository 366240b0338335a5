"""Find members that a policy chooses and that do not serve the custom kind which it selects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.order import definition_of, provided
from fleet_components.model.inventory import Inventory
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.plan.trial import may_choose

_LISTED = "once it serves the kind, list it in status.apiEnablements, or observe the member again"


def unserved(subjects: Iterable[Decided], catalogue: Catalogue, inventory: Inventory) -> Iterator[Problem]:
    """Yield a warning for each custom kind and what is missing for it, with its members.

    Source: karmada-io/karmada 1.19, pkg/scheduler/framework/plugins/apienablement.
    """
    every = tuple(subjects)
    lacking: dict[tuple[str, str], set[str]] = defaultdict(set)
    first: dict[tuple[str, str], Manifest] = {}
    for decided in every:
        if isinstance(decided.subject, TemplateSubject):
            manifest = decided.subject.matched
            for name in _lacking(decided, manifest, inventory):
                lacking[manifest.api_version, manifest.kind].add(name)
                first.setdefault((manifest.api_version, manifest.kind), decided.subject.manifest)
    definitions = {provided(item): item for item in catalogue.manifests} if lacking else {}
    for (version, kind), members in lacking.items():
        manifest = first[version, kind]
        wanted = definition_of(manifest.group, kind)
        here = _members_with(wanted, every)
        for without, names in ((False, members & here), (True, members - here)):
            if names:
                what = f"is not placed on {few(sorted(names))}, where {kind} of {version} is not served"
                yield manifest.problem(what, (), _hint(definitions.get(wanted), without=without))


def _lacking(decided: Decided, manifest: Manifest, inventory: Inventory) -> Iterator[str]:
    """Yield the members that the policy of a template chooses, and that do not serve its kind."""
    bound = decided.record.memory.claim.bound
    if bound is None or (manifest.group, manifest.kind) in BUILT_IN:
        return
    for cluster in inventory.clusters:
        # One that lists nothing is warned of by itself.
        lacks = cluster.api_enablements and not cluster.serves(manifest.api_version, manifest.kind)
        has = cluster.name in decided.record.decisions
        if lacks and not has and may_choose(bound.placement, cluster):
            yield cluster.name


def _members_with(definition: ObjectKey, subjects: Iterable[Decided]) -> set[str]:
    """Return the members that get a definition."""
    return {
        member
        for decided in subjects
        for member, delivery in decided.deliveries.items()
        if any(provided(Manifest(data)) == definition for data in delivery.written)
    }


def _hint(definition: Manifest | None, *, without: bool) -> str:
    if definition and not without:
        return f"its {definition.key} goes there; {_LISTED}"
    if definition:
        return f"place {definition.key} there with a ClusterPropagationPolicy; {_LISTED}"
    return f"install its definition there; {_LISTED}"
