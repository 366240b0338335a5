"""The part of KubeFleet in a plan: its placements, decided, and what matches nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from fleet_components.content.envelope import is_envelope, unwrapped
from fleet_components.model.manifest import ObjectKey, Origin
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.asked_objects import AskedObjects
from fleet_components.plan.planning import Planning, SystemPlan, Taken
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.plan.asked_members import KubeFleetMembers
from fleet_components.systems.kubefleet.plan.selection import Placements, SelectedPlacement
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject, located
from fleet_components.systems.kubefleet.plan.subjects import placement_subjects
from fleet_components.systems.kubefleet.plan.trial import idle_rules
from fleet_components.systems.kubefleet.plan.unmatched import (
    in_approvals,
    in_evictions,
    in_overrides,
    in_runs,
    skipped_stages,
)

_WHOLE = ("", "Namespace", "NamespaceWithResources")


def planned(planning: Planning) -> SystemPlan:
    """Return the placements of a source, decided."""
    placements = Placements(planning.source)
    selections, unselectable = placements.selections()
    problems: list[Problem] = []
    subjects = tuple(_decided(planning, placements, selections, problems))
    given = planning.options.settings.approvals
    return SystemPlan(
        subjects=subjects,
        unselectable=tuple(unselectable),
        problems=tuple(problems),
        warnings=tuple(in_approvals(subjects, given)),
        unmatched=partial(_unmatched, planning),
        taken=taken(selections),
        whole_namespaces=frozenset(_whole_namespaces(planning.source)),
    )


def _decided(
    planning: Planning,
    placements: Placements,
    selections: tuple[SelectedPlacement, ...],
    problems: list[Problem],
) -> Iterator[Decided]:
    """Yield the placements, decided; problems get the location of the member or placement that
    causes them.
    """
    source, past, options = planning.source, planning.past, planning.options
    for subject in placement_subjects(placements, selections, planning.inventory, past, options):
        try:
            yield _decide(planning, subject)
        except FleetError as error:
            namespace, _, name = subject.key.rpartition("/")
            policy = source.policy(subject.kind, namespace, name)
            problems += [
                located(problem, source.declarations, policy) for problem in error.problems
            ]


def _decide(planning: Planning, subject: PlacementSubject) -> Decided:
    """Return a placement, decided.

    Raises:
        FleetError: no decision is possible.
    """
    before = planning.past.record(subject.name, subject.RECORD)
    hub = planning.ways.placement(subject.kind, subject.key)
    seen = subject.on_hub(before) if hub or planning.options.hub else subject
    decided: Decided = Decided(seen, before, seen.decide(before), hub=hub)
    return decided.by_hub() if hub else decided


def taken(selections: Sequence[SelectedPlacement]) -> Taken:
    """Return the objects that placements bring, those in envelopes included."""
    found: dict[ObjectKey, tuple[str, Origin | None]] = {}
    for item in selections:
        name = f"{item.placement.kind} {item.placement.key}"
        selected = item.selection.manifests
        inner = unwrapped(filter(is_envelope, selected))
        found.update({each.key: (name, each.origin) for each in (*selected, *inner)})
    return found


def _whole_namespaces(source: Source) -> Iterator[str]:
    """Yield the namespaces that placements select by name with all their contents."""
    for placement in source.placements:
        for selector in placement.spec.resource_selectors:
            if (selector.group, selector.kind, selector.selection_scope) == _WHOLE:
                yield selector.name


def _unmatched(planning: Planning, subjects: Sequence[Decided]) -> Iterator[Problem]:
    """Yield warnings of what matches nothing.

    What the selectors and the policy of a placement do not match is among its own warnings.
    """
    source, inventory = planning.source, planning.inventory
    members = KubeFleetMembers.of(source.clusters, inventory)
    objects = AskedObjects(source.catalogue, bool(planning.options.hub))
    yield from in_runs(source, members)
    yield from in_evictions(source)
    yield from in_overrides(source, subjects, members, objects)
    yield from idle_rules(subjects, inventory)
    for decided in subjects:
        yield from skipped_stages(source, decided, members)
