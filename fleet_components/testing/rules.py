"""Rules that a team sets for its fleet, in tests against a plan: what breaks one is reported all at
once.

Example::

    def test_tier_0_survives_the_loss_of_a_region(fleet_plan):
        at_least(fleet_plan.placements(label="tier=0"), 2, by="region")
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import combinations

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few, visible
from fleet_components.plan.departures import Fate
from fleet_components.testing.planned_fleet import PlannedFleet
from fleet_components.testing.planned_member import By, Members, noun_of
from fleet_components.testing.planned_placement import PlannedPlacement
from fleet_components.testing.remedy import EXPLAIN, remedy, staying

# A test that fails shows the line of the test, not those in here.
__tracebackhide__ = True

Placements = PlannedPlacement | Iterable[PlannedPlacement]
MOST_MEMBERS = 8
"""Number of members of one violation of which is said why they were picked."""


@attrs.frozen
class Violation:
    """One thing that breaks a rule.

    Attributes:
        what: what breaks it, as a sentence without a full stop.
        name: the placement, as ``Kind/key``; empty for the fleet as a whole.
        origin: ``file:line`` of its policy; empty if unknown.
        members: the members that it is about, each of the first with why it was picked.
        hint: what would do; empty if nothing better can be said.
        when: what was assumed, such as the loss of a region; empty for the plan as it is.
    """

    what: str
    name: str = ""
    origin: str = ""
    members: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    when: str = ""

    def __str__(self) -> str:
        who = f"{self.name} ({self.origin})" if self.origin else self.name
        first = ": ".join(filter(None, [self.when, f"{who} {self.what}".strip()]))
        worded = [f"{name}: {why}" if why else name for name, why in self.members[:MOST_MEMBERS]]
        more = len(self.members) - MOST_MEMBERS
        if more:
            worded += [f"and {count(more, 'more member')}"] if more > 0 else []
        hint = [f"what would do: {self.hint}"] if self.hint else []
        return "\n".join([visible(first), *(f"  {visible(line)}" for line in (*worded, *hint))])


class BrokenRuleError(AssertionError):
    """A rule that is broken, with all that breaks it.

    Attributes:
        rule: the rule.
        violations: what breaks it.
    """

    def __init__(self, rule: str, violations: Iterable[Violation]) -> None:
        self.rule, self.violations = rule, tuple(violations)
        lines = (line for violation in self.violations for line in str(violation).splitlines())
        super().__init__(
            "\n".join(
                [f"broken in {count(len(self.violations), 'place')}: {visible(rule)}", *_in(lines)]
            )
        )


class Broken:
    """Violations of a rule, collected until the rule has been looked at everywhere; :func:`rule`
    makes one.

    Attributes:
        rule: the rule.
        violations: what breaks it, as far as it was looked at.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.violations: list[Violation] = []

    def by(
        self,
        placement: PlannedPlacement,
        what: str,
        members: Iterable[str] | None = None,
        hint: str = "",
    ) -> None:
        """Add a violation.

        Args:
            placement: the placement or template that breaks the rule.
            what: what is wrong, as a sentence that goes on after its name: ``has two replicas``.
            members: the members that it is about; those that its policy picks by default.
            hint: what would do.
        """
        about = list(map(str, placement.picked if members is None else members))
        # A reason takes time to find, and only the first ones are shown.
        reasons = placement.reasons(about[:MOST_MEMBERS])
        worded = tuple((name, reasons.get(name, "")) for name in about)
        self.violations.append(Violation(what, placement.name, placement.origin, worded, hint))

    def when(self, assumed: str) -> AbstractContextManager[None]:
        """Add what breaks the rules in a body under an assumption, and go on after it.

        Args:
            assumed: what is assumed, such as ``westeurope is lost``.
        """
        return _Assumed(self, assumed)

    def __enter__(self) -> Broken:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        # An error of the body itself says more than what was found before it.
        if self.violations and error is None:
            raise BrokenRuleError(self.rule, self.violations)


# Classes, not ``contextlib``: its frames would appear between the line of a test and the rule that
# is broken.
@attrs.frozen
class _Assumed(AbstractContextManager[None]):
    broken: Broken
    assumed: str

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> bool:
        if not isinstance(error, BrokenRuleError):
            return False
        whole = (
            attrs.evolve(violation, when=": ".join(filter(None, [self.assumed, violation.when])))
            for violation in error.violations
        )
        self.broken.violations += whole
        return True


def rule(text: str) -> Broken:
    """Look at a rule everywhere, and fail once with all that breaks it.

    Args:
        text: the rule, as a sentence without a full stop.

    Raises:
        BrokenRuleError: when the body ends, if it has found something that breaks the rule.

    Example::

        with rule("each ledger has three replicas") as broken:
            for ledger in fleet_plan.placements(label="app=ledger"):
                if sum(ledger.replicas.values()) < 3:
                    broken.by(ledger, "has fewer")
    """
    return Broken(text)


def at_least(placements: Placements, number: int, by: By = "member") -> None:
    """Require that each placement is in a number of regions, or on a number of members.

    Args:
        placements: one or several.
        number: the least number.
        by: ``member``, ``region``, ``zone``, ``provider``, the key of a label, or a function of a
            member.

    Raises:
        BrokenRuleError: one is in fewer.
    """
    with rule(f"each is {_where(by)} {number} {noun_of(by, number)} at least") as broken:
        for placement in _each(placements):
            groups = placement.spread(by)
            known = [value for value in groups if value]
            if len(known) < number:
                what = f"is {_where(by)} {few(known) or f'no {noun_of(by)}'}{_unknown(groups, by)}"
                broken.by(placement, what, hint=remedy(placement, known, number, by))


def stays_in(placements: Placements, allowed: Collection[str], by: By = "region") -> None:
    """Require that no placement is anywhere else, now or once its rollout is through: data
    residency.

    Args:
        placements: one or several.
        allowed: the regions, or whatever ``by`` says, that are allowed.
        by: as for :func:`at_least`. A member of which it is unknown is not allowed.

    Raises:
        BrokenRuleError: one is elsewhere.
    """
    # A text is a collection, too: of its letters.
    if isinstance(allowed, str):
        raise FleetError(
            [
                Problem(
                    Message("one-text", '"{allowed}" is one text', allowed=visible(allowed)),
                    hint="give a set, a list or a tuple of texts",
                )
            ]
        )
    with rule(f"each stays in {few(sorted(allowed), 10)}") as broken:
        for placement in _each(placements):
            # Both, because a rollout may hold members back; ``fromkeys`` names each once.
            groups = placement.fleet.grouped(
                dict.fromkeys((*placement.picked, *placement.members)), by
            )
            for value in sorted(groups.keys() - set(allowed)):
                what = (
                    f"is {_where(by)} {value}"
                    if value
                    else f"is where the {noun_of(by)} is unknown"
                )
                broken.by(
                    placement, what, groups[value], staying(placement, allowed, groups[value], by)
                )


def not_only_together(placements: Placements, by: By = "region") -> None:
    """Require that no two placements are in one region only, and that the same: its loss would take
    both.

    Args:
        placements: several.
        by: as for :func:`at_least`.

    Raises:
        BrokenRuleError: two are.
    """
    with rule(f"no two are {_where(by)} one {noun_of(by)} only, and that the same") as broken:
        alone: dict[str, list[PlannedPlacement]] = {}
        for placement in _each(placements):
            groups = placement.spread(by)
            if len(groups) == 1:
                alone.setdefault(next(iter(groups)), []).append(placement)
        for value, several in alone.items():
            for placement in several if len(several) > 1 else ():
                others = few([other.name for other in several if other is not placement])
                where = (
                    f"{_where(by)} {value} only"
                    if value
                    else f"only where the {noun_of(by)} is unknown"
                )
                broken.by(
                    placement,
                    f"is {where}, as {others}",
                    hint=remedy(placement, [value] if value else [], 2, by),
                )


def never_together(placements: Placements, by: By = "member") -> None:
    """Require that no two placements share a member, or a region.

    Args:
        placements: several.
        by: as for :func:`at_least`.

    Raises:
        BrokenRuleError: two do.
    """
    with rule(f"no two share a {noun_of(by)}") as broken:
        for placement, other in combinations(_each(placements), 2):
            here, there = placement.spread(by), other.spread(by)
            shared = sorted(here.keys() & there.keys())
            if shared:
                what = (
                    f"shares {few([value or f'an unknown {noun_of(by)}' for value in shared])} with"
                    f" {other.name}"
                )
                members = dict.fromkeys(member for value in shared for member in here[value])
                broken.by(
                    placement,
                    what,
                    members,
                    "let the two require different labels of their members",
                )


def fulfilled(placements: Placements) -> None:
    """Require that every policy finds the members and replicas that it asks for.

    Raises:
        BrokenRuleError: one is not fulfilled.
    """
    with rule("each policy is fulfilled") as broken:
        for placement in _each(placements):
            if not placement.fulfilled:
                broken.by(placement, f"is not fulfilled: {placement.unfulfilled}", hint=EXPLAIN)


def loses_at_most(placements: Placements, number: int = 0) -> None:
    """Require that no placement loses more than a number of its members: with this update, or once
    it is through.

    Raises:
        BrokenRuleError: one does.
    """
    with rule(f"none loses more than {count(number, 'member')}") as broken:
        for placement in _each(placements):
            if len(placement.dropped) > number:
                # The members before the update.
                had = {*placement.members, *placement.dropped} - {*placement.joins}
                broken.by(
                    placement,
                    f"loses {len(placement.dropped)} of {count(len(had), 'member')}",
                    placement.dropped,
                )


def deletes_nothing(fleet: PlannedFleet, *kinds: str) -> None:
    """Require that the update deletes no object from a member; those on lost members do not count.

    Args:
        fleet: the plan.
        kinds: kinds of objects, such as ``PersistentVolumeClaim``; all without any.

    Raises:
        BrokenRuleError: it does.
    """
    with rule(f"no {' or '.join(kinds) or 'object'} is deleted") as broken:
        for departure in fleet.departures:
            if departure.fate in (Fate.DELETED, Fate.SWEPT, Fate.UNDONE) and (
                not kinds or departure.key.kind in kinds
            ):
                of = f" of {departure.subject}" if departure.subject else ""
                broken.violations.append(
                    Violation(f"{departure.key}{of} on {departure.cluster} is deleted")
                )


def _each(placements: Placements) -> tuple[PlannedPlacement, ...]:
    return (placements,) if isinstance(placements, PlannedPlacement) else tuple(placements)


def _where(by: By) -> str:
    return "on" if by == "member" else "in"


def _unknown(groups: dict[str, Members], by: By) -> str:
    return f"; the {noun_of(by)} of {few(groups[''])} is unknown" if "" in groups else ""


def _in(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
