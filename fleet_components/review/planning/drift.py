"""Drift: what was delivered to members, held against what they have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.secret import is_hidden
from fleet_components.content.stamp import field_manager
from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.observed import FieldDifference, ObservedMember, ObservedObject
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.watch import Watch, unwatched
from fleet_components.plan.apply_mode import OVERWRITES, ApplyMode
from fleet_components.plan.past import Past
from fleet_components.plan.sent import Sent, sent
from fleet_components.plan.standing import Standing
from fleet_components.plan.state import ENCRYPTED
from fleet_components.review.planning.kubeconfigs import (
    UNKNOWN,
    MemberName,
    check_names,
    kubeconfigs,
)
from fleet_components.review.planning.past import StateFile

_EXPORT = (
    "give --state with the output of: pulumi stack export --show-secrets; or a Pulumi project with"
    " --stack NAME"
)
_UNKNOWN_DATA = (
    "is not compared: the state does not show its data; pulumi stack export --show-secrets does"
)
_GONE = Message("lost-nobody-asks", "is lost: nobody asks it")
_UNSEEN = (
    "the fields that others have added are not compared: its API server does not tell what it would"
    " add itself"
)
_UNSAID = "its API server has not answered for it in time"


@attrs.frozen
class Delivered:
    """An object that was delivered to a member, and what the member has of it.

    Attributes:
        member: the member.
        standing: whose it is, and where.
        data: the object as it was sent.
        manager: the field manager that has sent it.
        mode: how it was written, as far as it concerns drift.
        left_alone: fields that keep their values on the member.
        recorded: True if the update has recorded what it sent; False if only the state of the
            object tells it, which a refresh changes.
        differences: the fields that somebody has changed.
        then: what becomes of them, unless they are overwritten; empty if nothing has changed.
        there: the object as the member has it; None if it has none.
        error: why it could not be compared; empty if it was.
    """

    member: MemberName
    standing: Standing
    data: Mapping[str, Any] = attrs.field(repr=False)
    manager: str = ""
    mode: ApplyMode = OVERWRITES
    left_alone: tuple[str, ...] = ()
    recorded: bool = True
    differences: tuple[FieldDifference, ...] = ()
    then: str = ""
    there: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    error: str = ""

    @property
    def missing(self) -> bool:
        """True if somebody has deleted it."""
        return any(difference.path == "/" for difference in self.differences)


@attrs.frozen
class Drift:
    """The drift of a stack.

    Attributes:
        state: where the state was read.
        stack: the stack.
        objects: everything that was asked for, in the order of members.
        unreached: why members did not answer, by member.
        members: the members that were asked, or were to be.
        by_hub: placements and templates that a hub carries out, as ``Kind/key``: no member was
            asked for them.
    """

    state: str
    stack: str
    objects: tuple[Delivered, ...] = ()
    unreached: Mapping[MemberName, str] = attrs.field(factory=dict)
    members: tuple[MemberName, ...] = ()
    by_hub: tuple[str, ...] = ()

    @property
    def drifted(self) -> tuple[Delivered, ...]:
        """The objects that somebody has changed or deleted."""
        return tuple(item for item in self.objects if item.differences)

    @property
    def unrecorded(self) -> tuple[Delivered, ...]:
        """The objects that were compared with their resources in the state."""
        return tuple(item for item in self.objects if not (item.recorded or item.error))


def drift(
    state: StateFile,
    given: Mapping[str, Path],
    *,
    members: Collection[str] = (),
    only: Collection[str] = (),
    timeout: float = 10.0,
    watch: Watch = unwatched,
) -> Drift:
    """Ask members for what was delivered to them. Nothing is written.

    Args:
        state: the state after the last update.
        given: files of kubeconfigs that count instead of those of the state, by member.
        members: the members to ask; all if empty.
        only: the placements and templates to look at, as ``Kind/key`` or by their keys; all if
            empty.
        timeout: limit for each member, in seconds.
        watch: receives how many have answered.

    Raises:
        FleetError: there is no state of a fleet, it has no such member or placement, or a file
            cannot be read.
    """
    pasts = _pasts(state)
    objects = [
        _of(each, MemberName(fleet, each.standing.cluster), past, state)
        for fleet, past in pasts.items()
        for each in sent(past)
    ]
    lost = {MemberName(fleet, name) for fleet, past in pasts.items() for name in past.lost}
    # Before check_names, which would say that there is no such member.
    _check_lost(members, lost, objects)
    check_names("member", members, (item.member.member for item in objects))
    brought = {text for item in objects for text in _names_of(item.standing.subject)}
    # Likewise: a placement that compares only has brought nothing, and is no typo.
    _check_compared_only(only, pasts.values(), brought)
    check_names("placement", only, brought)
    known = kubeconfigs(state.state, given, (item.member for item in objects))
    objects = sorted(
        (item for item in objects if _chosen(item.standing, members, only)), key=_place
    )
    names = tuple(dict.fromkeys(item.member for item in objects))
    wanted: dict[MemberName, list[WantedObject]] = {
        name: [] for name in names if name in known and name not in lost
    }
    for item in objects:
        if item.member in wanted and not item.error:
            wanted[item.member].append(WantedObject(item.data, item.mode, item.manager))
    answers = observe({name: known[name] for name in wanted}, wanted, timeout=timeout, watch=watch)
    silent = {name: answer.unreached for name, answer in answers.items() if answer.unreached}
    silent |= {
        name: str(_GONE) if name in lost else UNKNOWN for name in names if name not in wanted
    }
    found = tuple(_answered(item, answers.get(item.member, ObservedMember())) for item in objects)
    by_hub = tuple(sorted(name for past in pasts.values() for name in past.forecast))
    return Drift(state.file, state.stack[1], found, silent, names, by_hub)


def _pasts(state: StateFile) -> Mapping[str, Past]:
    """Return the pasts of all fleets, by their names.

    Raises:
        FleetError: there is no state, or no update was recorded in it.
    """
    if state.problems:
        raise FleetError(state.problems)
    if not state.file:
        raise FleetError(
            [
                Problem(
                    Message(
                        "no-state-says-what", "there is no state, which says what was delivered"
                    ),
                    subject="--state",
                    hint=_EXPORT,
                )
            ]
        )
    # A render writes files only, so that no member has anything from it.
    if state.export is None:
        what = Message(
            "state-render-delivers-nothing",
            "is the state of a render, which delivers nothing to a cluster",
        )
        raise FleetError([Problem(what, file=state.file, hint=_EXPORT)])
    if not state.fleets:
        raise FleetError(
            [
                Problem(
                    Message(
                        "no-fleet-nothing-delivered", "has no fleet: nothing was delivered yet"
                    ),
                    file=state.file,
                    hint="pulumi up",
                )
            ]
        )
    return {fleet: state.past(fleet) for fleet in state.fleets}


def _names_of(subject: str) -> tuple[str, str]:
    """Return the names by which a command line may call a placement or template."""
    return subject, subject.partition("/")[2]


def _check_lost(
    members: Collection[str], lost: Iterable[MemberName], objects: Iterable[Delivered]
) -> None:
    """Check that members of the command line are not lost, with nothing on them any more.

    Raises:
        FleetError: some are.
    """
    # A lost member that still has objects in the state is listed, with the reason.
    given_up = {member.member for member in lost} - {item.member.member for item in objects}
    hint = "take it out of fleet:lost once it is back"
    problems = [
        Problem(_GONE, subject=f"member {name}", hint=hint) for name in members if name in given_up
    ]
    if problems:
        raise FleetError(problems)


def _check_compared_only(
    only: Collection[str], pasts: Iterable[Past], brought: Collection[str]
) -> None:
    """Check that placements of the command line have delivered something.

    Raises:
        FleetError: some compare only.
    """
    reporting = {text for past in pasts for name in past.reporting for text in _names_of(name)} - {
        *brought
    }
    what, hint = (
        Message("compares-only-nothing-can", "compares only, so that nothing of it can drift"),
        "fleet status --live tells what differs",
    )
    problems = [Problem(what, subject=name, hint=hint) for name in only if name in reporting]
    if problems:
        raise FleetError(problems)


def _place(delivered: Delivered) -> tuple[MemberName, str, ObjectKey]:
    """Return the order of an object: whether the state still has it or not."""
    return delivered.member, delivered.standing.subject, delivered.standing.key


def _chosen(standing: Standing, members: Collection[str], only: Collection[str]) -> bool:
    return (not members or standing.cluster in members) and (
        not only or not {*_names_of(standing.subject)}.isdisjoint(only)
    )


def _of(item: Sent, member: MemberName, past: Past, state: StateFile) -> Delivered:
    stored = state.state.resources.get(item.standing.urn)
    # A provider that has not kept the inputs has the object as it was read.
    inputs = (stored.inputs or stored.outputs) if stored else {}
    # None if the records hide it, or the last update broke there: then the inputs of the resource
    # count.
    data, manager = (
        inputs if item.data is None else item.data,
        past.manager or field_manager(inputs),
    )
    error = _UNKNOWN_DATA if is_hidden(data) or is_hidden(data, ENCRYPTED) else ""
    mode, recorded = past.mode(item.standing.subject), item.data is not None
    return Delivered(
        member, item.standing, data, manager, mode, item.left_alone, recorded=recorded, error=error
    )


def _answered(delivered: Delivered, member: ObservedMember) -> Delivered:
    """Return an object with the answer of its member."""
    if delivered.error:
        return delivered
    observed = member.objects.get(delivered.standing.key)
    if observed is None:
        return attrs.evolve(delivered, error=member.unreached or _UNSAID)
    # The differences have JSON pointers, the fields that are left alone have dots.
    alone = {"/" + field.replace(".", "/") for field in delivered.left_alone}
    observed = attrs.evolve(
        observed, differences=tuple(each for each in observed.differences if each.path not in alone)
    )
    # What is gone is gone, also where its namespace is: the API server then refuses the trial.
    missing = any(each.path == "/" for each in observed.differences)
    # The trial was refused and the differences are known all the same: an update is refused, too.
    stuck = bool(observed.error and observed.differences) and not (
        missing or observed.degraded or delivered.mode.forces
    )
    then = (
        _then(delivered.mode, observed, stuck=stuck) if observed.differences and not missing else ""
    )
    error = (
        ""
        if missing or stuck
        else observed.error or (_UNSEEN if delivered.mode.full and observed.degraded else "")
    )
    return attrs.evolve(
        delivered, differences=observed.differences, then=then, there=observed.there, error=error
    )


def _then(mode: ApplyMode, observed: ObservedObject, *, stuck: bool) -> str:
    """Return what becomes of fields that somebody has changed, unless an update of the object
    overwrites them.
    """
    if mode.stops_at_drift:
        return "left alone until the source changes it"
    return f"an update of it is refused: {observed.error}" if stuck else ""
