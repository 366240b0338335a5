"""The waves of a whole plan, and a plan as far as one of them: for deliveries in which each wave is
a commit.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.revision import canonical
from fleet_components.content.stamp import stamped
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.delivered import delivered
from fleet_components.plan.departures import Departure, Fate, old_objects
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import is_protected
from fleet_components.plan.own_outputs import ALL, CLUSTER_SCOPED, LOST
from fleet_components.plan.record import Objects
from fleet_components.plan.standing import Standing
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Done, Entry, Placed

_LATER = "its turn comes with a later wave"
_NO_ORDER = Message(
    "placements-need-objects-each",
    "placements need objects of each other, which no order of their waves brings in time",
)
_MOVES = (Change.ADD, Change.UPDATE)


@attrs.frozen
class PlanWave:
    """Members that move together in one wave of a plan.

    Attributes:
        number: from 1, without gaps.
        moves: the members that get something new, by the subject that brings it.
        leaves: the members that are left, by the subject that leaves them; of the last wave alone.
        wait_seconds: seconds to wait once the members are ready, before the next wave.
    """

    number: int
    moves: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    leaves: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    wait_seconds: int = 0

    @property
    def members(self) -> frozenset[str]:
        """The members that it changes."""
        return frozenset(
            member
            for part in (self.moves, self.leaves)
            for members in part.values()
            for member in members
        )


@attrs.frozen
class Brought:
    """An object that a member has, and how it got there.

    Attributes:
        subject: the subject that brings it, as ``Kind/key``.
        cluster: the member.
        data: the object, with the marks of the stack.
        outlives: True if it stays on the member when nothing brings it there any more.
        protected: True if its removal has to be confirmed.
        left_alone: fields that keep their values on the member once the object exists, such as
            ``spec.replicas``.
    """

    subject: str
    cluster: str
    data: Mapping[str, Any]
    outlives: bool = False
    protected: bool = False
    left_alone: tuple[str, ...] = ()


def waves_of(plan: FleetPlan) -> tuple[PlanWave, ...]:
    """Return the waves of a plan, of all subjects together; members that are left come last.

    Raises:
        FleetError: no order of waves brings each object after what it needs.
    """
    moves: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    leaves: dict[str, tuple[str, ...]] = {}
    waits: dict[int, int] = defaultdict(int)
    turns = _turns(plan)
    for subject in plan.subjects:
        seconds = {wave.number: wave.wait_seconds for wave in subject.outcome.rollout.waves}
        for cluster, number in _moving(subject).items():
            turn = turns[subject.name, cluster]
            moves[turn][subject.name].append(cluster)
            # Subjects that move in one turn have one wait: the longest.
            waits[turn] = max(waits[turn], seconds.get(number, 0))
        left = tuple(c for c in sorted(subject.entries) if _leaves(plan, subject, c))
        if left and not subject.subject.reports:
            leaves[subject.name] = left
    for name in plan.gone:
        left = tuple(_still_there(plan, name))
        if left:
            leaves[name] = left
    # Turns may have gaps where a subject was delayed; the numbers of the waves have none.
    found = [
        PlanWave(
            number,
            {name: tuple(sorted(those)) for name, those in sorted(moves[wave].items())},
            {},
            waits[wave],
        )
        for number, wave in enumerate(sorted(moves), start=1)
    ]
    # Members are left last, when all others have what replaces them.
    return (*found, PlanWave(len(found) + 1, {}, leaves)) if leaves else tuple(found)


def _moving(subject: Decided) -> dict[str, int]:
    """Return the wave in which each member of a subject moves."""
    entries = {} if subject.subject.reports else subject.entries
    moving = {cluster: entry.placed for cluster, entry in entries.items() if entry.change in _MOVES}
    return {cluster: placed.wave for cluster, placed in moving.items() if placed}


def _turns(plan: FleetPlan) -> Mapping[tuple[str, str], int]:
    """Return the wave of each member of each subject: not before what its objects need there."""
    numbers = {subject.name: _moving(subject) for subject in plan.subjects}
    turns = {(name, c): number for name, moving in numbers.items() for c, number in moving.items()}
    needs = [
        ((name, wait.cluster), (wait.provider.subject.name, wait.cluster))
        for name, waits in plan.precedence.waits.items()
        for wait in waits
    ]
    # A member that does not move neither waits in this plan nor has others wait for it.
    needs = [(later, first) for later, first in needs if later in turns and first in turns]
    delayed = {later[0] for later, _ in needs}
    # Each round settles at least the next member of the longest chain, unless there is a circle.
    for _ in range(len(turns) + 1):
        before = dict(turns)
        for later, first in needs:
            turns[later] = max(turns[later], turns[first])
        for name in delayed:
            _keep_order(turns, name, numbers[name])
        if turns == before:
            return turns
    raise FleetError([Problem(_NO_ORDER, hint="render without --wave and --for")])


def _keep_order(turns: dict[tuple[str, str], int], name: str, numbers: Mapping[str, int]) -> None:
    """Delay the waves of a subject that follow a delayed wave of it."""
    latest = 0
    for number in sorted(set(numbers.values())):
        members = [(name, cluster) for cluster in numbers if numbers[cluster] == number]
        # Behind the wave before, and never earlier than it was.
        turns.update({member: max(turns[member], latest + 1) for member in members})
        latest = max(turns[member] for member in members)


def goal_of(plan: FleetPlan) -> str:
    """Return a digest of what a plan leads to and in which waves, to know the same rollout
    again.
    """
    subjects = [
        # The decision alone has only the numbers of revisions, and not what is in them.
        [decided.name, decided.record.decided(), sorted(decided.record.digests.items())]
        for decided in plan.subjects
    ]
    left = [
        [departure.subject, departure.cluster, str(departure.key), str(departure.fate)]
        for departure in plan.departures
    ]
    return hashlib.sha256(canonical([subjects, left]).encode()).hexdigest()[:16]


@attrs.frozen(slots=False)
class PlanPart:
    """A plan as far as one of its waves, or the whole of it.

    Attributes:
        plan: the plan; in a part of it, members of later waves are held.
        whole: the plan of which it is a part.
        ended: whether it is the whole of it.
    """

    plan: FleetPlan
    whole: FleetPlan
    ended: bool = True

    @classmethod
    def up_to(cls, plan: FleetPlan, number: int) -> PlanPart:
        """Return the part of a plan up to a wave; 0 for what stands already.

        Raises:
            FleetError: a member that has to keep something for now is not declared any more, and
                what it has there cannot be made without it.
        """
        waves = waves_of(plan)
        # With the last wave, the part is the whole plan.
        if number >= len(waves):
            return cls(plan, plan)
        later: dict[str, set[str]] = defaultdict(set)
        # Numbers begin at 1, so that this is the first wave that does not take part.
        for wave in waves[number:]:
            for part in (wave.moves, wave.leaves):
                for name, members in part.items():
                    later[name].update(members)
        subjects = tuple(
            _held(decided, later[decided.name], plan) if later[decided.name] else decided
            for decided in plan.subjects
        )
        return cls(attrs.evolve(plan, subjects=subjects), plan, ended=False)

    def brought(self) -> Iterator[Brought]:
        """Yield all objects that members have once this part is delivered, each once."""
        for decided in self.plan.subjects:
            for cluster, delivery in decided.deliveries.items():
                for data in self.plan.emitted(decided, cluster):
                    key = Manifest(data).key
                    # The subject that it has moved to brings it in this part already.
                    if (decided.name, cluster, key) in self._moved:
                        continue
                    yield Brought(
                        decided.name,
                        cluster,
                        data,
                        self.plan.outlives(decided, cluster, key),
                        decided.subject.protected or is_protected(Manifest(data)),
                        delivery.left_alone,
                    )
        for standing, stood in self._kept:
            marks = {
                "stack": self.plan.options.stack,
                "manager": self.plan.manager,
                "placement": standing.subject,
            }
            protected = standing.subject in self.plan.past.protected or is_protected(
                Manifest(stood)
            )
            marked = stamped(stood, found=standing.found, **marks)
            yield Brought(standing.subject, standing.cluster, marked, standing.kept, protected)

    def resources(self, *, redacted: bool) -> list[StoredResource]:
        """Return the resources of the stack once this part is delivered; see :func:`delivered`."""
        keeper = Keeper(self.plan.options.stack, self.plan.options.fleet)
        found = delivered(self.plan, redacted=redacted)
        past, kept = self.plan.past, self._kept
        # Each subject that is gone once, in the order of its objects.
        for name in dict.fromkeys(
            standing.subject for standing, _ in kept if standing.subject in self.plan.gone
        ):
            component = past.records[name].COMPONENT
            shown = {**past.shown.get(name, {}), "protected": name in past.protected}
            found.append(
                keeper.decision(component, name, past.records[name], shown, redacted=redacted)
            )
            for cluster in _still_there(self.plan, name):
                keeps = _keeps(
                    standing
                    for standing, _ in kept
                    if (standing.subject, standing.cluster) == (name, cluster)
                )
                found.append(
                    keeper.binding(component, name, cluster, past.done[name][cluster], keeps=keeps)
                )
        for standing, data in kept:
            component = past.records[standing.subject].COMPONENT
            found.append(
                keeper.object(
                    component, standing.subject, standing.cluster, data, found=standing.found
                )
            )
        return found

    @cached_property
    def _brings(self) -> frozenset[tuple[str, str, ObjectKey]]:
        return frozenset(
            (decided.name, cluster, key)
            for decided in self.plan.subjects
            for cluster in decided.deliveries
            for key in decided.keys(cluster)
        )

    @cached_property
    def _moved(self) -> frozenset[tuple[str, str, ObjectKey]]:
        """Objects that another subject brings already, although the one that had them is still to
        be changed.
        """
        if self.ended:
            return frozenset()
        return frozenset(
            (departure.subject, departure.cluster, departure.key)
            for departure in self.whole.departures
            if departure.fate is Fate.MOVED
            and (departure.to, departure.cluster, departure.key) in self._brings
        )

    @cached_property
    def _kept(self) -> tuple[tuple[Standing, Mapping[str, Any]], ...]:
        """Objects that no subject of this part brings, and that stand until a later wave."""
        return () if self.ended else tuple(self._standing())

    def _standing(self) -> Iterator[tuple[Standing, Mapping[str, Any]]]:
        """Yield what is kept of subjects that are gone, and what another subject brings in a later
        wave only.
        """
        plan = self.whole
        stood = {(item.subject, item.cluster, item.key): item for item in plan.past.standing}
        for departure in plan.departures:
            # An object that no state records cannot be kept.
            standing = stood.get((departure.subject, departure.cluster, departure.key))
            if standing is None or not self._waits(departure):
                continue
            for data in _before(plan, departure.subject, departure.cluster):
                if Manifest(data).key == departure.key:
                    yield standing, data

    def _waits(self, departure: Departure) -> bool:
        # Nothing waits that this part brings, by the new subject or still by the old one.
        plan = self.whole
        if (
            departure.fate is Fate.MOVED
            and (departure.to, departure.cluster, departure.key) in self._brings
        ):
            return False
        if (departure.subject, departure.cluster, departure.key) in self._brings:
            return False
        gone = departure.subject in plan.gone and departure.cluster in _still_there(
            plan, departure.subject
        )
        return departure.fate is Fate.MOVED or (gone and departure.fate is not Fate.FORGOTTEN)


def _leaves(plan: FleetPlan, decided: Decided, cluster: str) -> bool:
    """Return whether something is taken off a member that can be reached."""
    stands = decided.done(cluster).revision is not None
    return (
        decided.entries[cluster].change is Change.REMOVE and stands and not _is_lost(plan, cluster)
    )


def _is_lost(plan: FleetPlan, cluster: str) -> bool:
    """Return whether a member is gone for good. One that is only not declared any more can still be
    emptied.
    """
    return plan.members.get(cluster, LOST if cluster in plan.past.lost else "") == LOST


def _still_there(plan: FleetPlan, name: str) -> list[str]:
    """Return the members on which a subject stands that the source does not have any more."""
    # A subject that compares only has brought nothing.
    if name in plan.past.reporting or name not in plan.past.records:
        return []
    done: Mapping[str, Done] = plan.past.done.get(name, {})
    return sorted(
        cluster
        for cluster, here in done.items()
        if here.revision is not None and not _is_lost(plan, cluster)
    )


def _held(decided: Decided, later: set[str], plan: FleetPlan) -> Decided:
    """Return a decision in which these members keep what they have."""
    entries = {
        cluster: (
            Entry(Change.HELD, _present(decided, cluster, plan), _LATER)
            if cluster in later
            else entry
        )
        for cluster, entry in decided.entries.items()
    }
    return attrs.evolve(decided, outcome=decided.outcome.instead(entries, decided.before))


def _present(decided: Decided, cluster: str, plan: FleetPlan) -> Placed | None:
    """Return the decision that leads to what a member runs now; None if it runs nothing."""
    here = decided.done(cluster)
    if here.revision is None:
        return None
    if plan.inventory.position(cluster) is None and here.overrides is not None:
        raise FleetError([_undeclared(decided.name, cluster)])
    sent: Placed = decided.before.standing(here)
    # standing() follows from what runs; rank and wave are those of the last decision.
    before = decided.before.decisions.get(cluster)
    return attrs.evolve(sent, rank=before.rank, wave=before.wave) if before else sent


def _before(plan: FleetPlan, name: str, cluster: str) -> Objects:
    """Return what a subject has on a member now.

    Raises:
        FleetError: overrides need a member that is not declared any more.
    """
    for decided in plan.subjects:
        if decided.name == name:
            return old_objects(plan.past, decided, name, cluster)
    record, here = plan.past.records[name], plan.past.done[name][cluster]
    position = plan.inventory.position(cluster)
    if position is None and here.overrides is not None:
        raise FleetError([_undeclared(name, cluster)])
    # Without overrides, only the name of the member is needed.
    member = Cluster(cluster) if position is None else plan.inventory.clusters[position]
    return record.objects(record.standing(here), member)


def _undeclared(name: str, cluster: str) -> Problem:
    what = Message(
        "left-last-wave-overrides",
        "is left on {cluster} in the last wave, and overrides need the member, which is not"
        " declared any more",
        cluster=cluster,
    )
    return Problem(what, subject=name, hint="declare it until then, or render without --wave")


def _keeps(standing: Iterator[Standing]) -> str:
    """Return which objects outlive their subject on a member, from those that do."""
    # What was found there may stay for that reason alone, and says nothing of the others.
    kept = [item for item in standing if item.kept and not item.found]
    if any(item.key.namespace for item in kept):
        return ALL
    return CLUSTER_SCOPED if kept else ""
