"""Find members that a policy chooses and that do not serve the custom kind which it selects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.order import definition_of, provided
from fleet_components.model.inventory import Inventory
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.plan.content import Share, shape_in
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.plan.trial import may_choose

_LISTED = "once it serves the kind, list it in status.apiEnablements, or observe the member again"


def unserved(
    subjects: Iterable[Decided], catalogue: Catalogue, inventory: Inventory
) -> Iterator[Problem]:
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
                # The first object of a kind stands for all of them in the message.
                first.setdefault((manifest.api_version, manifest.kind), decided.subject.manifest)
    definitions = {provided(item): item for item in catalogue.manifests} if lacking else {}
    for (version, kind), members in lacking.items():
        manifest = first[version, kind]
        wanted = definition_of(manifest.group, kind)
        here = _members_with(wanted, every)
        # Where the definition goes, only its listing is missing; elsewhere the definition itself
        # is.
        for without, names in ((False, members & here), (True, members - here)):
            if names:
                what = Message(
                    "not-placed-not-served",
                    "is not placed on {names}, where {kind} of {version} is not served",
                    names=few(sorted(names)),
                    kind=kind,
                    version=version,
                )
                yield manifest.problem(what, (), _hint(definitions.get(wanted), without=without))


def _lacking(decided: Decided, manifest: Manifest, inventory: Inventory) -> Iterator[str]:
    """Yield the members that the policy of a template chooses, and that do not serve its kind."""
    bound = decided.record.memory.claim.bound
    if bound is None or (manifest.group, manifest.kind) in BUILT_IN:
        return
    for cluster in inventory.clusters:
        # A member that lists nothing has a warning of its own (`without_apis`).
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


# Find overrides that change how many replicas of a divided template run altogether.


_HINT = (
    "Karmada divides without looking at overrides: take the rule out, or give the member that share"
    " by its weight"
)


def changed_totals(subjects: Iterable[Decided], inventory: Inventory) -> Iterator[Problem]:
    """Yield the rules that change how many replicas of a divided template run altogether."""
    for decided in subjects:
        bound = (
            decided.record.memory.claim.bound
            if isinstance(decided.subject, TemplateSubject)
            else None
        )
        if bound is not None and bound.placement.divided:
            yield from _changed_total(decided, inventory)


def _changed_total(decided: Decided, inventory: Inventory) -> Iterator[Problem]:
    subject: Any = decided.subject
    record, shares = decided.record, decided.record.decisions
    given = {
        name: share.replicas or 0
        for name, share in shares.items()
        if inventory.position(name) is not None
    }
    gets = {name: subject.replicas(record, name, shares[name]) or 0 for name in given}
    if sum(gets.values()) == sum(given.values()):
        return
    # Never empty, since the sums differ.
    changed = sorted(name for name in given if gets[name] != given[name])
    shown = few([f"{name} gets {gets[name]} instead of {given[name]}" for name in changed])
    what = Message(
        "divided-replicas-run",
        "{running} of {divided} divided replicas of {key} run: {shown}",
        running=sum(gets.values()),
        divided=sum(given.values()),
        key=subject.manifest.key,
        shown=shown,
    )
    yield _located(decided, changed[0], shares[changed[0]], what)


def _located(decided: Decided, member: str, share: Share, what: Message) -> Problem:
    """Return a problem of the rule that sets the replicas on a member."""
    subject: Any = decided.subject
    shape = shape_in(decided.record.contents[share.revision])
    overrides: dict[str, Manifest] = {
        str(manifest.key): manifest for manifest in subject.override_manifests
    }
    for deviation in subject.deviations(decided.record, member, share) or ():
        for field in deviation.fields:
            if shape and field.difference.path == shape.replicas:
                written = overrides[field.rule.override]
                path = decided.subject.rule_path(written, field.rule.position)
                return written.problem(what, path, _HINT)
    problem: Problem = subject.manifest.problem(what, (), _HINT)
    return problem
