"""A plug-in for pytest: fixtures for rules that a team sets for its fleet.

It loads with pytest in every project of an environment that has this package. So it imports nothing
but pytest, and plans nothing, before a test asks for a fixture.

PYTEST_DONT_REWRITE, which keeps pytest from warning where a session runs in the process of another
one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fleet_components.testing.planned_fleet import PlannedFleet

PlanFleetOf = Callable[..., "PlannedFleet"]
_SOURCE, _STATE, _STACK, _NAME = "fleet_source", "fleet_state", "fleet_stack", "fleet_name"
_HINT = (
    "write fleet_source = fleet/ into the [pytest] section of pytest.ini, or give --fleet-source"
    " DIRECTORY"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the fixture ``fleet_plan`` plans: keys of the ini file, and options that count
    instead.
    """
    group = parser.getgroup("fleet", "rules of a fleet")
    source = "files and directories of the fleet, or a Pulumi project"
    state = "what `pulumi stack export` prints, or the state.json of a render"
    stack = "the stack; asks for the program of a Pulumi project to be run"
    name = "the fleet's name, where a program has several"
    group.addoption("--fleet-source", action="append", metavar="PATH", help=f"{source}; repeatable")
    group.addoption("--fleet-state", metavar="FILE", help=state)
    group.addoption("--fleet-stack", metavar="NAME", help=stack)
    group.addoption("--fleet-name", metavar="NAME", help=name)
    parser.addini(_SOURCE, f"{source}; relative to this file", type="paths", default=[])
    parser.addini(_STATE, f"{state}; relative to this file", type="string", default="")
    parser.addini(_STACK, stack, type="string", default="")
    parser.addini(_NAME, name, type="string", default="")


@pytest.fixture(scope="session")
def plan_fleet_of(pytestconfig: pytest.Config) -> PlanFleetOf:
    """A function that plans a fleet, of paths and of ``state``, ``stack``, ``lost`` and ``fleet``.

    Equal plans are made once in a session. Relative paths are below the directory of the ini file,
    as those in it are.
    """
    plans: dict[Any, PlannedFleet] = {}

    def planned(
        *paths: str | Path,
        state: str | Path | None = None,
        stack: str = "",
        lost: Iterable[str] = (),
        fleet: str = "",
    ) -> PlannedFleet:
        __tracebackhide__ = True
        from fleet_components.testing.planning import plan_fleet_of

        base = _base(pytestconfig)
        found, past = (
            tuple(_shown(base / path) for path in paths),
            None if state is None else _shown(base / state),
        )
        asked = (found, past, stack, frozenset(lost), fleet)
        if asked not in plans:
            plans[asked] = plan_fleet_of(
                *found, state=past, stack=stack, lost=asked[3], fleet=fleet
            )
        return plans[asked]

    return planned


@pytest.fixture(scope="session")
def fleet_plan(pytestconfig: pytest.Config, plan_fleet_of: PlanFleetOf) -> PlannedFleet:
    """The plan of the fleet that the ini file or the command line names."""
    from fleet_components.model.problem import FleetError

    here = pytestconfig.invocation_params.dir
    # Options are relative to the working directory, keys of the ini file to that file.
    paths = [here / path for path in pytestconfig.getoption(_SOURCE) or ()] or pytestconfig.getini(
        _SOURCE
    )
    given = pytestconfig.getoption(_STATE)
    state = here / given if given else pytestconfig.getini(_STATE) or None
    stack = pytestconfig.getoption(_STACK) or pytestconfig.getini(_STACK)
    name = pytestconfig.getoption(_NAME) or pytestconfig.getini(_NAME)
    problems = f"nothing says where the fleet is ({_HINT})"
    if paths:
        try:
            return plan_fleet_of(*paths, state=state, stack=stack, fleet=name)
        except FleetError as error:
            problems = f"the fleet cannot be planned:\n{error}"
    # The frames of this function would not help anyone who has misspelt a path.
    pytest.fail(problems, pytrace=False)


def _base(config: pytest.Config) -> Path:
    return config.inipath.parent if config.inipath else config.invocation_params.dir


def _shown(path: Path) -> Path:
    """Return a path as messages should show it: relative, if it is below the working directory."""
    plain, here = os.path.abspath(path), Path.cwd()
    return (
        Path(os.path.relpath(plain)) if here in (Path(plain), *Path(plain).parents) else Path(plain)
    )
