"""Remainder of an update: what it leaves to later ones, found by planning on as if it had
succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError
from fleet_components.model.text import few
from fleet_components.plan.guard import Pair
from fleet_components.plan.past import Past
from fleet_components.plan.precedence import ordered
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Entry, Opens

MOST_UPDATES = 100
"""Largest number of updates that are planned on."""
_SHOWN = 10


@attrs.frozen
class Remainder:
    """Part of a rollout that is left once an update has succeeded.

    Attributes:
        updates: how many more updates move something, with nothing given but another update.
        endless: whether these are only the first of more.
        held: members that all of these updates leave held, by their reasons.
        approvals: names of the approvals that are needed then.
        waits: why a time has to come first, each reason with that time; None where it is not known.
        freed: members that are held now and that further updates alone let go.
        hub: whether a hub carries the rest out by itself, so that no update of the stack is needed
            for it.
    """

    updates: int = 0
    endless: bool = False
    held: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    approvals: tuple[str, ...] = ()
    waits: Mapping[str, datetime | None] = attrs.field(factory=dict)
    freed: frozenset[str] = frozenset()
    hub: bool = False

    @property
    def due(self) -> datetime | None:
        """The first known time that something waits for."""
        return min(filter(None, self.waits.values()), default=None)

    @property
    def words(self) -> str:
        """The remainder in one line; empty if every reason is among those of the update itself."""
        return self._counted("more step" if self.hub else "more update")

    @property
    def steps(self) -> str:
        """The remainder in one line, counted in steps that a hub takes by itself."""
        return self._counted("more step")

    def _counted(self, step: str) -> str:
        where = " on the hub" if self.hub else ""
        then = [*(f"approval {name} is needed{where}" for name in self.approvals), *self.waits]
        if self.updates and not self.endless:
            # Said only if something moves before: else the update itself says it.
            then += [f"{few(names, _SHOWN)} stay held: {why}" for why, names in self.held.items()]
        more = f"more than {self.updates}" if self.endless else str(self.updates)
        updates = (
            f"{more} {step}{'' if self.updates == 1 else 's'}{where and ', of the hub'}"
            if self.updates
            else ""
        )
        return ", then ".join(filter(None, [updates, " and ".join(then)]))


def remainders_of(
    subjects: Sequence[Decided],
    blocked: Mapping[str, frozenset[str]],
    past: Past,
    inventory: Inventory,
) -> dict[str, Remainder]:
    """Return what an update leaves of each subject; its time counts for the later updates too.

    Args:
        subjects: the decisions.
        blocked: the subjects that wait for others, each with those others.
        past: what was delivered before.
        inventory: the members.
    """
    joined = {*blocked, *(name for others in blocked.values() for name in others)}
    stands = {(found.cluster, found.key) for found in past.standing} if joined else set()
    stands |= _delivered(subjects) if joined else set()

    def following(some: Sequence[Decided]) -> Sequence[Decided]:
        # It grows with each update that is planned on.
        stands.update(_delivered(some))
        return ordered(list(map(_following, some)), past, inventory, stands)[0]

    alone = [decided for decided in subjects if decided.name not in joined]
    linked = [decided for decided in subjects if decided.name in joined]
    found = {decided.name: remainder_of(decided) for decided in alone}
    return found | _planned_on(linked, following)


def _delivered(subjects: Iterable[Decided]) -> set[Pair]:
    """Return the objects that stand once an update has succeeded, each with its member."""
    found: set[Pair] = set()
    for decided in subjects:
        for cluster in decided.deliveries:
            found.update((cluster, key) for key in decided.keys(cluster))
    return found


def remainder_of(decided: Decided) -> Remainder:
    """Return what an update leaves of a subject that waits for no other."""
    return _planned_on([decided], lambda some: list(map(_following, some)))[decided.name]


def _planned_on(
    subjects: Sequence[Decided], following: Callable[[Sequence[Decided]], Sequence[Decided]]
) -> dict[str, Remainder]:
    """Return the remainders of subjects that are planned on together."""
    updates, step, last = {decided.name: 0 for decided in subjects}, 0, subjects
    # Nothing but a held member is ever left to a later update.
    while step < MOST_UPDATES and any(_held(decided.entries) for decided in last):
        try:
            later = following(last)
        # What comes after an update that cannot be planned is not known.
        except FleetError:
            break
        moving = [decided.name for decided in later if decided.changes]
        if not moving:
            break
        step, last = step + 1, later
        updates.update(dict.fromkeys(moving, step))
    found = {}
    for decided, then in zip(subjects, last, strict=True):
        left = _held(then.entries)
        many = updates[decided.name]
        # The search ended there; how many more there are is not known.
        endless = many == MOST_UPDATES
        freed = frozenset(_held(decided.entries).keys() - left.keys())
        reasons = _reasons({} if endless else left)
        found[decided.name] = Remainder(many, endless, *reasons, freed, bool(decided.hub))
    return found


def together(remainders: Iterable[Remainder]) -> Remainder:
    """Return what an update leaves of all subjects, which move at the same time; without their
    members.
    """
    found = list(remainders)
    return Remainder(
        max((remainder.updates for remainder in found), default=0),
        any(remainder.endless for remainder in found),
        approvals=tuple(sorted({name for remainder in found for name in remainder.approvals})),
        waits={why: due for remainder in found for why, due in remainder.waits.items()},
    )


def opens(decided: Decided, remainder: Remainder, cluster: str) -> Opens | None:
    """Return what lets a held member go on; None if it is not held."""
    entry = decided.entries[cluster]
    if entry.change is not Change.HELD:
        return None
    if cluster in remainder.freed:
        return Opens.UPDATE
    return entry.gate.opens if entry.gate else Opens.NEVER


def _held(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {cluster: entry for cluster, entry in entries.items() if entry.change is Change.HELD}


def _following(decided: Decided) -> Decided:
    """Return the decision of the update after one that has succeeded."""
    settled = {cluster: decided.settled(cluster) for cluster in decided.record.decisions}
    following: Any = decided.subject
    # Without the waits of this update: ordered() finds those of the next one.
    subject = attrs.evolve(following, done=settled, waits={})
    outcome = subject.decide(decided.record)
    return attrs.evolve(decided, subject=subject, before=decided.record, outcome=outcome)


def _reasons(
    held: Mapping[str, Entry],
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...], dict[str, datetime | None]]:
    """Return the reasons for which members stay held: those without a gate, the approvals, and the
    waits.
    """
    others: dict[str, tuple[str, ...]] = {}
    gates = {cluster: entry.gate for cluster, entry in held.items() if entry.gate}
    for cluster, entry in held.items():
        if cluster not in gates or gates[cluster].opens is Opens.NEVER:
            reason = str(entry.reason)
            others[reason] = (*others.get(reason, ()), cluster)
    approvals = dict.fromkeys(
        gate.approval for gate in gates.values() if gate.opens is Opens.APPROVAL
    )
    waits = {str(gate.why): gate.due for gate in gates.values() if gate.opens is Opens.TIME}
    return others, tuple(approvals), waits
