"""Find the names that a state has for a fleet whose name has changed, with that of its stack for
example.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.stamp import stack_of
from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.names import Urn
from fleet_components.plan.state import StoredResource

_AMBIGUOUS = Message(
    "new-state-fleets-program",
    "is new, and the state has fleets that the program does not declare: {names}",
)
_AMBIGUOUS_HINT = (
    "if it is one of them under another name, say it: fleet:renamed with fleet: OLD, or "
    'FleetArgs(renamed=Renamed(fleet="OLD")); if it is a new one, declare it after all others'
)
_TAKEN = Message(
    "taken-former-name-fleet",
    "was taken for the former name of the fleet {by}, which the program declares before it",
)
_TAKEN_HINT = Phrase("declare {by} after it if that is a new fleet")
RENAMED = Message(
    "called-now-program-does",
    "is called {fleet} now: the program does not declare it any more, and everything of it stays",
)
"""The text of a plan about a fleet whose new name follows from its stack."""


@attrs.frozen
class StoredFleets:
    """The fleets in a state.

    Attributes:
        rosters: the members that the roster of each fleet names.
        stacks: the names of the stack in the roster of each fleet, without organization and
            project.
        members: the members that have a record of their own, by fleet.
    """

    rosters: Mapping[str, frozenset[str]]
    stacks: Mapping[str, frozenset[str]]
    members: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, resources: Iterable[StoredResource]) -> StoredFleets:
        """Return the fleets in a state."""
        rosters, stacks = dict[str, frozenset[str]](), dict[str, frozenset[str]]()
        members: dict[str, set[str]] = defaultdict(set)
        for resource in resources:
            if resource.type == names.MEMBER:
                fleet, _, member = Urn.parse(resource.urn).name.rpartition("/")
                members[fleet].add(member)
            elif resource.type == names.ROSTER:
                fleet, listed = Urn.parse(resource.urn).name, resource.outputs.get("members")
                # Outputs are not checked here, and damaged ones must not fail.
                rosters[fleet] = frozenset(listed if isinstance(listed, Mapping) else ())
                stacks[fleet] = frozenset(
                    each.rpartition("/")[2] for each in stacks_in(resource.outputs)
                )
        return cls(rosters, stacks, {fleet: frozenset(known) for fleet, known in members.items()})

    @property
    def names(self) -> frozenset[str]:
        """The names of the fleets."""
        return frozenset({*self.rosters, *self.members})

    def passed(self, old: str, new: str) -> bool:
        """Return whether an update that broke was renaming a fleet: records of its members have the
        other name.
        """
        if new in self.rosters or old not in self.rosters:
            return False
        # Members of the roster without a record by the old name may have one by the new name.
        moved = self.rosters[old] - self.members.get(old, frozenset())
        return bool(moved & self.members.get(new, frozenset()))

    def also_called(self, fleet: str) -> list[str]:
        """Return the names that an update which broke has given a fleet."""
        return sorted(
            member for member in self.members if member != fleet and self.passed(fleet, member)
        )

    def left_by(self, fleet: str, elsewhere: Collection[str], stack: str) -> list[str]:
        """Return the fleets of the state that a fleet without a roster may be under another name.

        Args:
            fleet: the name of the fleet.
            elsewhere: names that other fleets of the program have, or had.
            stack: the name of the stack, without organization and project.
        """
        left = sorted(self.names - {fleet, *elsewhere})
        if fleet in self.members:  # of its own, or of one that an update was renaming when it broke
            return [text for text in left if self.passed(text, fleet)]
        # A name that an update which broke has given another fleet is not its own.
        left = [text for text in left if not any(self.passed(old, text) for old in self.rosters)]
        # A fleet that is called as the stack was called once, where the new one is called as the
        # stack is.
        as_stack = [text for text in left if fleet == stack and text in self.stacks.get(text, ())]
        return as_stack if len(as_stack) == 1 else left


def stacks_in(roster: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the stack that the outputs of a roster have, as
    ``organization/project/stack``.
    """
    listed = roster.get("stacks")
    known = listed if isinstance(listed, list | tuple) else ()
    return frozenset(
        str(item) for item in (*known, stack_of(str(roster.get("manager") or ""))) if item
    )


@attrs.define
class DeclaredFleets:
    """The fleets that a program has declared so far.

    A fleet does not know those that are declared after it. A name that was found to be the former
    one of a fleet is therefore refused if the program declares it later.

    Attributes:
        names: their names.
        previous: the fleet that had each former name.
        guessed: former names that nobody has said.
    """

    names: set[str] = attrs.field(factory=set)
    previous: dict[str, str] = attrs.field(factory=dict)
    guessed: set[str] = attrs.field(factory=set)

    def declare(self, fleet: str) -> None:
        """Add a fleet.

        Raises:
            FleetError: its name was taken for the former one of another fleet.
        """
        self.names.add(fleet)
        by = self.previous.get(fleet)
        if by:
            raise FleetError(
                [Problem(_TAKEN.filled(by=by), (), _TAKEN_HINT.filled(by=by), f"fleet {fleet}")]
            )

    def earlier_names(
        self, fleet: str, given: Sequence[str], stored: StoredFleets, stack: str
    ) -> tuple[str, ...]:
        """Return the names that the state has for a declared fleet beside its own.

        Args:
            fleet: the name of the fleet.
            given: its former names according to the program and the configuration.
            stored: the fleets in the state.
            stack: the name of the stack, without organization and project.

        Raises:
            FleetError: it may be one of several fleets under another name, and nobody says which.
        """
        elsewhere = {*self.names, *self.previous} - {fleet}
        found: list[str] = []
        # With a roster, the state has the fleet by this name.
        if fleet not in stored.rosters:
            found = [text for text in given if text in stored.names and text not in elsewhere]
            if not found:
                found = stored.left_by(fleet, elsewhere, stack)
                self.guessed.update(found)
        if len(found) > 1 and not given:
            what = _AMBIGUOUS.filled(names=", ".join(found))
            raise FleetError([Problem(what, (), _AMBIGUOUS_HINT, f"fleet {fleet}")])
        also = [
            other
            for text in (fleet, *found)
            for other in stored.also_called(text)
            if other != fleet
        ]
        known = tuple(dict.fromkeys((*found, *also)))
        self.previous.update(dict.fromkeys(known, fleet))
        return known
