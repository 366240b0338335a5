"""Steps of a move to another way of delivery, in the order in which nothing is deleted.

The state, the hub and the members show what is done already, so that a move goes on wherever it was
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Protocol

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.guard import Pair
from fleet_components.plan.ways import NAMES, Way

_AGAIN = "see what has done that, then run the same command again: it goes on from what it finds"


class Deed(StrEnum):
    """Kind of a step."""

    DECLARE = "declare"
    KEEP = "keep"
    HOLD = "hold"
    RELEASE = "release"
    SWITCH = "switch"
    SETTLE = "settle"


@attrs.frozen
class SeenObject:
    """An object as its member has it.

    Attributes:
        uid: its uid.
        deleting: True if it is being deleted.
        taken: True if the hub has it as its own.
        marked: True if anything is left on it by which the hub knows its own.
        ours: True if it says that the stack has brought it.
    """

    uid: str
    deleting: bool = False
    taken: bool = False
    marked: bool = False
    ours: bool = False


@attrs.frozen
class Standpoint:
    """Where a move stands.

    Attributes:
        to: the way that the objects are to go.
        hub: the way of the hub that they go to or come from.
        declared: True if the source and the configuration ask for it.
        kept: True if the state says that nothing is deleted when it leaves the stack.
        held: True if the hub takes nothing over, or deletes nothing, any more.
        let_go: True if the agents of the hub have seen that nothing is theirs any more.
        moved: True if the state says that everything goes the new way.
        objects: the objects that are there, by member and object.
    """

    to: str
    hub: str
    declared: bool = False
    kept: bool = False
    held: bool = False
    let_go: bool = False
    moved: bool = False
    objects: Mapping[Pair, SeenObject] = attrs.field(factory=dict)


@attrs.frozen
class MoveStep:
    """A step of a move.

    Attributes:
        deed: its kind.
        what: what it does, in words.
        how: how it is known whether it is done, in words.
        done: True if it is done.
    """

    deed: Deed
    what: str
    how: str
    done: bool


class Mover(Protocol):
    """A stack, its hub and its members."""

    def look(self) -> Standpoint:
        """Return where the move stands."""

    def do(self, deed: Deed) -> None:
        """Carry out a step.

        Raises:
            FleetError: it cannot be done, or would delete something.
        """


def steps(now: Standpoint) -> tuple[MoveStep, ...]:
    """Return all steps of a move, those that are done too."""
    return tuple(_to_direct(now) if now.to == Way.DIRECT else _to_hub(now))


def _to_hub(now: Standpoint) -> Iterator[MoveStep]:
    # Once everything has moved, the state no longer shows the steps before: they count as done.
    name = NAMES[now.hub]
    yield _declare(now)
    yield MoveStep(
        Deed.KEEP,
        "an update records that the objects stay on their members when they leave the stack",
        "the state keeps all of them",
        now.moved or now.kept,
    )
    yield MoveStep(
        Deed.SWITCH,
        f"an update gives everything to the hub of {name}; the objects leave the state and stay on"
        " their members",
        "the state has them on the hub",
        now.moved,
    )
    yield MoveStep(
        Deed.SETTLE,
        f"wait until the hub of {name} has taken every object over in place",
        "each object has the mark of the hub, and the uid that it had",
        now.moved and all(seen.taken for seen in now.objects.values()),
    )


def _to_direct(now: Standpoint) -> Iterator[MoveStep]:
    name, karmada = NAMES[now.hub], now.hub == Way.KARMADA
    yield _declare(now)
    yield MoveStep(
        Deed.KEEP,
        "an update, still through the hub, records that namespaces and definitions stay on it",
        "the state retains them",
        now.moved or now.kept,
    )
    yield MoveStep(
        Deed.HOLD,
        (
            "the policies on the hub are set to preserveResourcesOnDeletion: true, and so is each"
            " Work"
            if karmada
            else "the placements on the hub are set to whenToTakeOver: Never, and so is each Work"
        ),
        "every Work says so" if karmada else "every Work says so, and its agent has seen it",
        now.moved or now.held,
    )
    # References to AppliedWorks go in this step, before a hub without the placements deletes
    # these owners; the marks of Karmada own nothing, and go in the last step.
    released = all(seen.ours and (karmada or not seen.marked) for seen in now.objects.values())
    # Only agents of KubeFleet could still take the objects along.
    released = released and (karmada or now.let_go)
    yield MoveStep(
        Deed.RELEASE,
        (
            "the members' objects get this stack's mark"
            if karmada
            else (
                "the owner references to AppliedWorks are taken off the members' objects, which get"
                " this stack's mark"
            )
        ),
        (
            "the objects on the members"
            if karmada
            else "the objects on the members, and Works that say NotTakenOver"
        ),
        now.moved or released,
    )
    yield MoveStep(
        Deed.SWITCH,
        (
            "an update takes the objects up in place, and takes policies and templates off the hub"
            if karmada
            else (
                "an update takes the objects up in place, and takes placements and their objects"
                " off the hub"
            )
        ),
        "the state has them on the members, and nothing of them on the hub",
        now.moved,
    )
    yield MoveStep(
        Deed.SETTLE,
        f"what {name} has left on the objects is taken off",
        "no object has a mark of the hub, and each has the uid that it had",
        now.moved and not any(seen.marked for seen in now.objects.values()),
    )


def _declare(now: Standpoint) -> MoveStep:
    what = f"the configuration of the stack is set to fleet:delivery {now.to}"
    return MoveStep(Deed.DECLARE, what, "the plan of the stack goes this way", now.declared)


def carry_out(mover: Mover, say: Callable[[MoveStep], None]) -> Standpoint:
    """Do what is not done yet, and return where the move stands then.

    Args:
        mover: the stack, its hub and its members.
        say: called with each step before it is done.

    Raises:
        FleetError: a step cannot be done or has not helped, or an object on a member is gone, new,
            or being deleted.
    """
    now = mover.look()
    # Checked before the first step, too: an object may be about to go already.
    first = dict(now.objects)
    unharmed(first, now)
    # Looked at again after each step: only there it shows what the step has done.
    while step := next((item for item in steps(now) if not item.done), None):
        say(step)
        mover.do(step.deed)
        now = mover.look()
        unharmed(first, now)
        # The same deeds are among the steps at any time, each once.
        if not next(item.done for item in steps(now) if item.deed is step.deed):
            raise FleetError(
                [
                    Problem(
                        Message("not-yet", "this is not so yet: {how}", how=step.how),
                        subject=f"step {step.deed}",
                        hint=_AGAIN,
                    )
                ]
            )
    return now


def unharmed(first: Mapping[Pair, SeenObject], now: Standpoint) -> None:
    """Check that the objects on members are those that were there first.

    Raises:
        FleetError: some are gone, new, or being deleted.
    """
    problems = []
    for (member, key), before in sorted(first.items()):
        there = now.objects.get((member, key))
        if there is None:
            what = f"was there with uid {before.uid}, and is gone"
        elif there.uid != before.uid:
            what = f"had uid {before.uid}, and has {there.uid}: it was deleted and made anew"
        elif there.deleting:
            what = "is being deleted"
        else:
            continue
        problems.append(
            Problem(
                Message("on-it", "on {member} it {what}", member=member, what=what),
                subject=str(key),
                hint=_AGAIN,
            )
        )
    if problems:
        raise FleetError(problems)
