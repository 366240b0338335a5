"""The plan of an observed control plane, right after it was observed."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.hub.observation import SETTINGS, HubObservation, resources_of
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.given import Given
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, gathered
from fleet_components.plan.stored import Keeper
from fleet_components.review.planning.observed import without_others
from fleet_components.rollout.rollout import Change

FLEET, STACK = "fleet", "organization/project/stack"


def source_of(observation: HubObservation) -> Source:
    """The source that an observation is written as."""
    documents = (*observation.members, *observation.policies, *observation.objects)
    return gathered(Given(tuple(map(Manifest, documents))))


def planned(
    observation: HubObservation, source: Source | None = None, *, stack: str = STACK
) -> FleetPlan:
    """The plan from the past that was observed; of another source where one is given."""
    past = Past.of(resources_of(observation, source_of(observation), Keeper(stack, FLEET)), FLEET)
    source = source or source_of(observation)
    options = Options(stack=stack, fleet=FLEET, settings=SETTINGS, as_of=observation.as_of)
    return plan_fleet(without_others(source)[0], past, options)


def changes(plan: FleetPlan) -> Iterable[str]:
    """What a plan would do, in words."""
    yield from (f"{departure.subject} leaves {departure.cluster}" for departure in plan.departures)
    yield from (
        f"{replacement.subject} is replaced on {replacement.cluster}"
        for replacement in plan.replacements
    )
    yield from (f"{name} is gone" for name in plan.gone)
    yield from (f"refused: {problem}" for problem in plan.refused)
    if (plan.past.waiting, plan.past.held) != (plan.waiting, plan.held):
        yield f"waiting {dict(plan.past.waiting)}, now {dict(plan.waiting)}"
    for subject in plan.subjects:
        moved = {
            name: entry.change
            for name, entry in subject.entries.items()
            if entry.change not in (Change.KEEP, Change.HELD)
        }
        yield from (f"{subject.name}: {change} {name}" for name, change in moved.items())
        if subject.changes and not moved:
            before, after = subject.before.to_wire(), subject.record.to_wire()
            differ = {key: (before[key], after[key]) for key in after if before[key] != after[key]}
            differ.pop("remembered", None)
            yield f"{subject.name}: {differ}"
        if plan.asks_otherwise(subject):
            yield f"{subject.name} asks otherwise"
    if plan.changes:
        yield "changes"
