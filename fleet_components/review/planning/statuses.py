"""Statuses of a fleet: what the last update decided, what is known of every object, and what the
next one will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.model.message import Message
from fleet_components.model.observed import ObservedMember
from fleet_components.model.problem import Problem
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.plan.state import CREATING, StackState
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.status.events import Events
from fleet_components.status.last import changed_since, last
from fleet_components.status.on_hub import OnHub, on_hub
from fleet_components.status.recorded import recorded

_EXPORT = (
    "give the output of: pulumi stack export --file FILE; or a Pulumi project with --stack NAME"
)


@attrs.frozen
class SubjectStatus:
    """A placement or template with all that is known of it.

    Attributes:
        plan: the plan of the next update.
        next: the subject in that plan.
        last: the subject as the last update has decided it; None if none has.
        changed: True if the source has changed since.
        observed: what is known of its objects, by member; nothing of one that a hub carries out.
        on_hub: the subject as its hub has it; None if no hub carries it out, or none was asked.
    """

    plan: FleetPlan
    next: Decided
    last: Decided | None
    changed: bool
    observed: Mapping[str, ObservedMember] = attrs.field(factory=dict)
    on_hub: OnHub | None = None


@attrs.frozen
class Statuses:
    """Statuses of the placements and templates of a stack.

    Attributes:
        survey: the plan of the next update.
        paths: what was planned.
        of: the statuses.
        stack: the stack of the state.
        interrupted: True if the last update was killed.
        events: True if the events of the last update were read.
        live: True if the members were asked.
        hub: the answers of the hub; None if it was not asked.
    """

    survey: Survey
    paths: tuple[str, ...]
    of: tuple[SubjectStatus, ...]
    stack: str = ""
    interrupted: bool = False
    events: bool = False
    live: bool = False
    hub: Listing | None = None

    @property
    def gone(self) -> tuple[str, ...]:
        """Names of what stands and is no longer in the source."""
        return tuple(name for plan in self.survey.plans for name in plan.gone)

    @property
    def half_removed(self) -> tuple[str, ...]:
        """Names of those of which an update has begun to delete the objects, and has not ended."""
        return tuple(name for plan in self.survey.plans for name in _half_removed(plan))


def _half_removed(plan: FleetPlan) -> Iterator[str]:
    for name in plan.gone:
        # A binding depends on its objects, so that it is deleted before them.
        bound = plan.past.done.get(name, {})
        if any(
            standing.cluster not in bound
            for standing in plan.past.standing
            if standing.subject == name
        ):
            yield name


Asked = Callable[[Sequence[SubjectStatus]], Sequence[SubjectStatus]]
"""Adds what the members themselves say."""


def statuses(
    paths: Sequence[Path],
    command: CommandLine,
    events: Events | None = None,
    ask: Asked | None = None,
    hub: Listing | None = None,
) -> Statuses:
    """Return the statuses of a fleet.

    Args:
        paths: the source, as for a plan.
        command: the options of the command line, with the state.
        events: the events of the last update; None where they were not kept.
        ask: asks the members; None to leave them alone.
        hub: the answers of the hub; None to leave it alone.

    Raises:
        FleetError: there is no plan, or no state of a fleet.
    """
    surveyed = survey(paths, command.wrong(_unfit(command)))
    observation = read_hub(hub) if hub else None
    found = tuple(
        _status(plan, subject, command, events)
        for plan in surveyed.plans
        for subject in plan.subjects
    )
    if hub and observation:
        found = tuple(_on_hub(status, hub, observation) for status in found)
    return Statuses(
        surveyed,
        tuple(map(str, paths)),
        tuple(ask(found)) if ask else found,
        command.state.stack[1],
        # The engine leaves operations in the state when it is killed, and no summary in the events.
        interrupted=_interrupted(command.state.state, found)
        or (events is not None and not events.ended),
        events=events is not None,
        live=ask is not None,
        hub=hub,
    )


def _interrupted(state: StackState, found: Sequence[SubjectStatus]) -> bool:
    """Return whether the last update was killed.

    The note of a creation outlives later updates. It is about the last one only if the object
    is still to come.
    """
    return any(
        what != CREATING or _is_to_come(Urn.parse(urn), found)
        for urn, what in state.pending.items()
    )


def _is_to_come(urn: Urn, found: Sequence[SubjectStatus]) -> bool:
    """Return whether a status has an object; True if none of their fleets brings it."""
    shown = [
        status for status in found if any(member.objects for member in status.observed.values())
    ]
    places = [(status.observed, names.place_of(status.plan.options.fleet, urn)) for status in shown]
    known = [(observed.get(place.cluster), place.object) for observed, place in places if place]
    # An object of no known member may still be created: better too cautious than silent.
    return not known or any(member is not None and key in member.objects for member, key in known)


def _status(
    plan: FleetPlan, decided: Decided, command: CommandLine, events: Events | None
) -> SubjectStatus:
    before = last(plan, decided)
    observed = (
        # What a hub carries out has no objects of members in the state of the stack.
        recorded(plan, before, command.state.state, events) if before and not before.hub else {}
    )
    return SubjectStatus(plan, decided, before, changed_since(plan, decided), observed)


def _on_hub(status: SubjectStatus, listing: Listing, observation: HubObservation) -> SubjectStatus:
    if status.last is None or not status.last.hub:
        return status
    return attrs.evolve(status, on_hub=on_hub(status.last, listing, observation))


def _unfit(command: CommandLine) -> list[Problem]:
    """Return a problem if the state is none in which an update of a fleet was recorded."""
    state = command.state
    if state.problems:
        return []
    if not state.file:
        return [
            Problem(
                Message("no-state-status-read", "there is no state, which a status is read from"),
                subject="--state",
                hint=_EXPORT,
            )
        ]
    if state.export is None:
        what = Message(
            "state-render-delivers-nothing",
            "is the state of a render, which delivers nothing to a cluster",
        )
        return [Problem(what, file=state.file, hint=_EXPORT)]
    if not state.fleets:
        return [
            Problem(
                Message("no-fleet-no-update", "has no fleet: no update of one has begun"),
                file=state.file,
                hint="pulumi up",
            )
        ]
    return []
