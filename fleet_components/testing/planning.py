"""Plan a fleet for rules: from files, directories or a Pulumi project, as ``fleet plan`` does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.source import Source
from fleet_components.review.planning.past import parse_state, read_state
from fleet_components.review.planning.survey import (
    CommandLine,
    Survey,
    gathered_from,
    of_stack,
    on_hub,
    project_among,
    survey,
    survey_source,
)
from fleet_components.testing.planned_fleet import PlannedFleet

__tracebackhide__ = True
_AFTER = "the update before the loss"
"""Stands for the file of a state that is in no file."""


def plan_fleet_of(
    *paths: str | Path,
    state: str | Path | None = None,
    stack: str = "",
    lost: Iterable[str] = (),
    fleet: str = "",
) -> PlannedFleet:
    """Plan a fleet, for rules.

    Args:
        paths: files and directories, or one Pulumi project.
        state: what ``pulumi stack export`` prints, or the ``state.json`` of a render; a new fleet
            without.
        stack: the stack; asks for the program of a Pulumi project to be run.
        lost: names of members that are lost for good.
        fleet: the fleet's name, where a program has several.

    Raises:
        FleetError: the input cannot be planned; carries all problems.
    """
    if not paths:
        raise FleetError(
            [
                Problem(
                    Message("no-source-given", "no source is given"),
                    hint="give a file, a directory or a Pulumi project",
                )
            ]
        )
    command = CommandLine(stack=stack or None, lost=frozenset(lost))
    if state is not None:
        command = attrs.evolve(command, state=read_state(Path(state)))
    return _planned(_Fleet.read([Path(path) for path in paths], command, fleet), command)


@attrs.frozen
class _Fleet:
    """A fleet that is planned, and again for each loss.

    Attributes:
        paths: the paths, to be named.
        source: what is in them, read once; None for a Pulumi project, whose program is run for each
            plan.
        name: the name that is asked for.
    """

    paths: Sequence[Path]
    source: Source | None
    name: str

    @classmethod
    def read(cls, paths: Sequence[Path], command: CommandLine, name: str) -> _Fleet:
        folder = project_among(paths, command)
        if folder:
            return cls([folder.absolute()], None, name)
        return cls(paths, gathered_from(paths, command), name)

    def survey(self, command: CommandLine) -> Survey:
        if self.source is None:
            return survey(self.paths, command)
        if command.stack:
            command = of_stack(command, "", command.stack.rpartition("/")[2])
        command = on_hub(self.paths, command)
        with command.together():
            return survey_source(self.source, self.paths, command)


def _planned(fleet: _Fleet, command: CommandLine) -> PlannedFleet:
    surveyed = fleet.survey(command)

    def losing(names: frozenset[str]) -> PlannedFleet:
        """Plan again, as if this update had been carried out before the members were lost."""
        if surveyed.refused:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "update-refused-nothing-can",
                            "the update is refused, so nothing can be lost after it",
                        )
                    ),
                    *surveyed.refused,
                ]
            )
        # Through JSON, as a state that a user exports.
        after = parse_state(json.dumps(surveyed.after()).encode(), _AFTER)
        return _planned(fleet, attrs.evolve(command, state=after, lost=command.lost | names))

    return PlannedFleet(_single(surveyed, fleet.name), losing, command.lost)


def _single(surveyed: Survey, fleet: str) -> FleetPlan:
    """Return the plan of the fleet that is asked for.

    Raises:
        FleetError: there is none of this name, or several and none is named.
    """
    by_name = {plan.options.fleet: plan for plan in surveyed.plans}
    if len(by_name) == 1 and fleet in ("", *by_name):
        return surveyed.plans[0]
    known = f"the fleets are: {few(sorted(by_name), 10) or 'none'}"
    if fleet in by_name:
        return by_name[fleet]
    what = (
        Message("no-such-fleet", 'there is no fleet "{fleet}"', fleet=fleet)
        if fleet or not by_name
        else Message("several-fleets-say-one", "has several fleets: say which one is meant")
    )
    raise FleetError(
        [
            Problem(
                what, file=str(surveyed.subject.get("directory", "")), hint=f"fleet=NAME; {known}"
            )
        ]
    )
