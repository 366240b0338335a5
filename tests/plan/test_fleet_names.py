"""Which fleet of a state a declared one was: found where that is clear, and asked for where it is not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet_names import DeclaredFleets, StoredFleets


def stored(*rosters: str, members: Iterable[str] = (), stack: str = "") -> StoredFleets:
    """A state with these fleets, of the members a and b, and of other records of members, as ``fleet/member``."""
    known = {fleet: {"a", "b"} for fleet in rosters}
    for item in members:
        fleet, member = item.split("/")
        known.setdefault(fleet, set()).add(member)
        for other in rosters:
            known[other].discard(member)
    named = {fleet: frozenset({stack or "dev"}) for fleet in rosters}
    listed = {fleet: frozenset("ab") for fleet in rosters}
    return StoredFleets(listed, named, {fleet: frozenset(each) for fleet, each in known.items()})


def former(
    state: StoredFleets, *fleets: str, said: tuple[str, ...] = (), stack: str = "prod"
) -> list[tuple[str, ...]]:
    """The former names of fleets in the order in which a program declares them."""
    declared, found = DeclaredFleets(), []
    for fleet in fleets:
        declared.declare(fleet)
        found.append(declared.earlier_names(fleet, said, state, stack))
    return found


def test_the_only_missing_fleet_is_the_only_unknown_one() -> None:
    assert former(stored("dev"), "prod") == [("dev",)]
    assert former(stored("dev"), "dev", "prod") == [(), ()]
    assert former(stored("first", "second"), "first", "third") == [(), ("second",)]
    assert former(stored(), "prod") == [()]


def test_a_fleet_that_is_declared_later_is_not_taken_over() -> None:
    with pytest.raises(FleetError, match="was taken for the former name of the fleet prod"):
        former(stored("dev"), "prod", "dev")


def test_where_it_is_not_clear_it_is_asked_for() -> None:
    with pytest.raises(FleetError, match="dev, test"):
        former(stored("dev", "test", stack="other"), "prod")
    assert former(stored("dev", "test"), "prod", said=("test",)) == [("test",)]
    assert former(stored("dev"), "prod", "more") == [("dev",), ()]


def test_the_fleet_that_was_called_as_the_stack_is_the_one_that_is_called_so_now() -> None:
    assert former(stored("dev", "shared"), "prod", "shared") == [("dev",), ()]
    with pytest.raises(FleetError):
        former(stored("dev", "shared"), "other", "shared")


def test_a_rename_that_broke_goes_on_and_goes_back() -> None:
    half = stored("dev", members=["prod/a"])
    assert former(half, "prod") == [("dev",)]
    assert former(half, "dev") == [("prod",)]
    assert former(half, "third") == [("dev", "prod")]
    # The records of another fleet are its own.
    beside = StoredFleets(
        {"dev": frozenset("ab")}, {}, {"dev": frozenset("ab"), "new": frozenset("a")}
    )
    assert former(beside, "dev", "new") == [(), ()]
    assert former(beside, "new", "dev") == [(), ()]
