"""A sweep: each region or member of a fleet is lost in turn, and what would be short then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.observed import without_others
from fleet_components.review.planning.selection import Grouping
from fleet_components.review.planning.simulation import Simulation
from fleet_components.review.planning.survey import for_directory
from fleet_components.rollout.rollout import Change

NOWHERE = "it is on no member any more"

_ONCE_LOST = Message("refused-once-lost", "{problem}, once {lost} is lost")


@attrs.frozen
class Short:
    """A placement or template that a loss leaves with less than its policy asks for.

    Attributes:
        name: its name, ``Kind/key``.
        why: why it is short, in the words of the real system where it says so.
        members: the number of members that it is on, before and after the loss.
        replicas: the number of replicas that are divided among them, before and after; None if none
            are.
    """

    name: str
    why: str
    members: tuple[int, int]
    replicas: tuple[int, int] | None = None

    @property
    def nowhere(self) -> bool:
        """True if nothing is left of it."""
        return self.members[1] == 0


@attrs.frozen
class Lost:
    """Outcome of one loss.

    Attributes:
        value: the value of the label whose members are lost, or the member.
        members: the members that are lost.
        short: what is short because of it, what is left nowhere first.
        joins: the number of placements and templates that come to a member, by member; most first.
        replicas: the number of replicas that a member has more than before, by member; most first.
        held: the number of members that get something in a later update only.
        moved: the number of placements and templates that change on any member.
        refused: why the update after the loss would be refused.
    """

    value: str
    members: tuple[str, ...]
    short: tuple[Short, ...] = ()
    joins: Mapping[str, int] = attrs.field(factory=dict)
    replicas: Mapping[str, int] = attrs.field(factory=dict)
    held: int = 0
    moved: int = 0
    refused: tuple[Problem, ...] = ()

    @property
    def weight(self) -> tuple[int, int, int, str]:
        """The place among all losses: the worst first."""
        return (
            -len(self.short),
            -sum(short.nowhere for short in self.short),
            -self.moved,
            self.value,
        )


@attrs.frozen
class Sweep:
    """A sweep, of which :meth:`losses` decides one after the other.

    Attributes:
        simulation: what is supposed besides, whose outcome counts as carried out.
        plan: the plan before any loss.
        by: what is lost in turn.
    """

    simulation: Simulation
    plan: FleetPlan
    by: Grouping

    @classmethod
    def of(cls, simulation: Simulation, key: str) -> Sweep:
        """Prepare a sweep.

        Args:
            simulation: what is supposed besides; each loss comes after it.
            key: ``member``, ``region``, or a label of members.

        Raises:
            FleetError: no member has such a label, several could be meant, or what is supposed
                would be refused.
        """
        # Without anything supposed each loss starts as a simulation of it alone does.
        start = simulation.carried_out() if simulation.words else simulation.start
        plan = start.before.plans[0]
        return cls(simulation, plan, simulation.roster.of(plan.inventory.names).grouped(key))

    @property
    def already(self) -> Sequence[Short]:
        """Placements and templates that are short before any loss."""
        return list(filter(None, (_short(subject, subject) for subject in self.plan.subjects)))

    def losses(self) -> Iterator[Lost]:
        """Yield what comes of each loss, in the order of :attr:`by`; each starts from the same
        plan.
        """
        before = {subject.name: subject for subject in self.plan.subjects}
        watch = self.simulation.start.command.watch
        for number, (value, members) in enumerate(self.by.groups.items(), 1):
            with watch(f"{number} of {len(self.by.groups)}"):
                lost = self._lost(value, members, before)
            yield lost

    @property
    def _source(self) -> Source:
        source = self.simulation.source
        # As a plan does, so that a loss is not refused for policies that only the hub carries out.
        return without_others(source)[0] if self.simulation.start.command.state.observed else source

    def _lost(self, value: str, members: tuple[str, ...], before: Mapping[str, Decided]) -> Lost:
        # Members that are lost already stay lost.
        lost = self.plan.options.lost.union(members)
        try:
            plan = plan_fleet(
                self._source, self.plan.past, attrs.evolve(self.plan.options, lost=lost)
            )
        except FleetError as error:
            raise FleetError(
                attrs.evolve(
                    problem, message=_ONCE_LOST.filled(problem=problem.message, lost=value)
                )
                for problem in error.problems
            ) from error
        short = list(
            filter(
                None,
                (_short(before[subject.name], subject, lost=True) for subject in plan.subjects),
            )
        )
        entries = [
            (subject, name, entry)
            for subject in plan.subjects
            for name, entry in subject.entries.items()
        ]
        joins, replicas = Counter[str](), Counter[str]()
        for decided, name, entry in entries:
            # A bool counts as 0 or 1.
            joins[name] += entry.change is Change.ADD
            replicas[name] += (decided.replicas_after(name, entry.placed) or 0) - (
                decided.replicas_before(name) or 0
            )
        return Lost(
            value,
            members,
            # False comes first: what is nowhere any more.
            tuple(sorted(short, key=lambda item: (not item.nowhere, item.name))),
            _most_first(joins),
            _most_first(replicas),
            sum(entry.change is Change.HELD for _, _, entry in entries),
            sum(subject.moves for subject in plan.subjects),
            tuple(map(for_directory, plan.refused)),
        )


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Return what is counted at all, by number."""
    # Without members that lose replicas, whose numbers are negative.
    counted = ((name, number) for name, number in counts.items() if number > 0)
    return dict(sorted(counted, key=lambda item: (-item[1], item[0])))


def _short(before: Decided, after: Decided, *, lost: bool = False) -> Short | None:
    """Return what is short of a subject; after a loss only if that has made it so, or shorter."""
    members = len(before.record.decisions), len(after.record.decisions)
    replicas = _replicas(before), _replicas(after)
    left = members[1], replicas[1] or 0
    if after.outcome.unfulfilled:
        # As short as before the loss: that is among what is short already.
        same = lost and before.outcome.unfulfilled and left == (members[0], replicas[0] or 0)
        why = after.outcome.unfulfilled
    else:
        # Fulfilled on no member at all: its policy may ask for none, but it was somewhere before.
        same, why = members[1] > 0 or not members[0], NOWHERE
    counts = None if replicas == (None, None) else (replicas[0] or 0, replicas[1] or 0)
    return None if same else Short(after.name, why, members, counts)


def _replicas(decided: Decided) -> int | None:
    """Return how many replicas all members get, after overrides; None if they are not set for each
    member.
    """
    found = [
        decided.replicas_after(name, placed) for name, placed in decided.record.decisions.items()
    ]
    counted = [number for number in found if number is not None]
    return sum(counted) if counted else None
