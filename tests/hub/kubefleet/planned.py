"""Plans a hub that was observed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fleet_components.hub.observation import HubObservation, resources_of
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.given import Given
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, gathered
from fleet_components.plan.stored import Keeper
from fleet_components.rollout.rollout import Change

_STACK, _FLEET = "organization/project/stack", "fleet"
_STILL = (Change.KEEP, Change.HELD)


def source_of(observation: HubObservation) -> Source:
    """What is read of the files of an observation."""
    written = (*observation.members, *observation.policies, *observation.objects)
    manifests = tuple(Manifest(data) for data in json.loads(json.dumps(written)))
    return gathered(Given(manifests, releases=observation.releases))


def past_of(observation: HubObservation) -> Past:
    """The past that an observation is."""
    resources = resources_of(observation, source_of(observation), Keeper(_STACK, _FLEET))
    return Past.of(resources, _FLEET)


def planned(
    observation: HubObservation, source: Source | None = None, past: Past | None = None
) -> FleetPlan:
    """The plan of what was observed; with another source or another past if one is given."""
    past = past or past_of(observation)
    options = Options(stack=_STACK, fleet=_FLEET, settings=past.settings, as_of=observation.as_of)
    return plan_fleet(source or source_of(observation), past, options)


def changes(plan: FleetPlan) -> Iterator[str]:
    """What a plan would do, in words."""
    yield from (f"refused: {problem}" for problem in plan.refused)
    yield from (
        f"{departure.subject}: {departure.key} leaves {departure.cluster}: {departure.fate}"
        for departure in plan.departures
    )
    yield from (
        f"{replacement.subject}: {replacement.key} is made anew on {replacement.cluster}"
        for replacement in plan.replacements
    )
    yield from (f"{name} goes" for name in plan.gone)
    for subject in plan.subjects:
        moves = {
            name: entry.change
            for name, entry in subject.entries.items()
            if entry.change not in _STILL
        }
        yield from (f"{subject.name}: {name}: {change}" for name, change in moves.items())
        if not moves and subject.changes:
            yield f"{subject.name}: {subject.before} becomes {subject.record}"
        if plan.asks_otherwise(subject):
            yield f"{subject.name}: is asked for otherwise"
    if plan.changes:
        yield "the plan has changes"
