"""The two sides of a pull request: where its branch has parted from another one, and what it makes
of that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.remainder import MOST_UPDATES, together
from fleet_components.plan.state import StackState
from fleet_components.review.planning.observed import later_observation
from fleet_components.review.planning.past import MADE_UP, StateFile, parse_state
from fleet_components.review.planning.repository import Repository
from fleet_components.review.planning.sides import Copy, Side, SideError, apart, members_changed
from fleet_components.review.planning.standing import changed_by_both, on_both
from fleet_components.review.planning.survey import (
    PIPED,
    CommandLine,
    Survey,
    on_hub,
    project_among,
    survey,
)


@attrs.frozen
class Review:
    """Result of a review.

    Attributes:
        survey: the plan of what the pull request makes of the fleet.
        notes: notes about the commits that were read, in words.
        warnings: why the base is not what is compared with.
    """

    survey: Survey
    notes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()


def review(paths: Sequence[Path], command: CommandLine, base: str, head: str = "") -> Review:
    """Plan where a branch has parted from another one, and then the branch on top of it, or on what
    really runs.

    Args:
        paths: a project, or files and directories of YAML, in a git repository.
        command: the options of the command line; its state is what really runs.
        base: the branch that the pull request is for.
        head: the commit to be reviewed; empty for the files as they are in the directory.

    Raises:
        FleetError: there is no such base, or the reviewed side cannot be planned.
    """
    if PIPED in paths:
        raise FleetError(
            [
                Problem(
                    Message("standard-input-no-base", "standard input has no base"),
                    hint="give files and directories of the repository",
                )
            ]
        )
    # place refuses the others if they are of another repository.
    repository = Repository.around(paths[0])
    places = [repository.place(path) for path in paths]
    # Not the tip of the branch: what it has got since is not the doing of the pull request.
    commit = repository.merge_base(base, head or "HEAD")
    side = Side.of(repository, commit, base, places)
    reviewed = Side.of(repository, repository.commit(head), head, places) if head else None
    mine = _on_its_hub(_Reviewed(paths, command, repository.top, reviewed), reviewed, side)
    found = _on_what_runs(mine, side) if mine.command.state.file else _as_if_new(mine, side)
    observed = mine.command.state.observed
    later = later_observation(repository, base, places, observed.as_of) if observed else ()
    notes = (*found.notes, *(mine.side.notes if mine.side else ()), *later)
    surveyed = attrs.evolve(found.survey, disregarded=mine.disregarded)
    return attrs.evolve(found, survey=surveyed, notes=tuple(dict.fromkeys(notes)))


def _on_its_hub(mine: _Reviewed, side: Side | None, base: Side) -> _Reviewed:
    """Return the reviewed side on the state that the base remembers of its hub, if that is an
    observed directory.

    Args:
        mine: the reviewed side.
        side: its commit; None for the files as they are.
        base: the base.

    Raises:
        FleetError: a side cannot be read, or what the base remembers is damaged.
    """
    memory, state = base.memory, mine.command.state
    if state.file:
        # A branch must not change the state by which it is judged.
        memory.check_state(
            state, side.entries if side else base.repository.entries(base.repository.commit("HEAD"))
        )
    # Paths that are missing are reported when the side is planned.
    if side and (side.missing or not memory.concerns(side.entries)):
        return mine
    # A project is planned with its own state; only directories may be observed.
    with mine.inside() as there:
        if project_among(there, mine.command):
            return mine
    memory.check_parts(state)
    changed = memory.against_commit(side.commit, side.entries) if side else memory.against(mine.top)
    if changed:
        folders = tuple(changed)
        given = (
            attrs.evolve(side, given=(memory, folders)) if side else Copy(mine.top, memory, folders)
        )
        mine = attrs.evolve(mine, side=given, disregarded=tuple(changed.values()))
    with mine.inside() as there:
        command = on_hub(there, mine.command)
    problems = command.state.problems
    if problems and command.state is not state:
        of_base = base.label if changed else ""
        raise FleetError(
            attrs.evolve(problem, file=f"{of_base}:{problem.file}" if of_base else problem.file)
            for problem in problems
        )
    return attrs.evolve(mine, command=command)


@attrs.frozen
class _Reviewed:
    """Reviewed side: a commit, or the files as they are in the directory.

    Attributes:
        disregarded: what the side says of hubs, and what is not believed, in words.
    """

    paths: Sequence[Path]
    command: CommandLine
    top: Path
    side: Side | Copy | None
    disregarded: tuple[str, ...] = ()

    def inside(self) -> AbstractContextManager[Sequence[Path]]:
        """Return a context in which its files are at the paths that it yields."""
        return self.side.inside() if self.side else nullcontext(self.paths)

    def planned(self, command: CommandLine) -> Survey:
        """Plan it; raises a FleetError if it cannot be planned."""
        if self.side is None:
            # The program of the base has run in this process, with modules of the same names.
            with apart(self.top):
                return survey(self.paths, command)
        missing = self.side.missing
        if missing:
            raise FleetError(
                [
                    Problem(
                        Message("not-on-this-side", "is not in {name}", name=self.side.name),
                        file=path,
                    )
                    for path in missing
                ]
            )
        planned = self.side.planned(command)
        shown = (
            {"directory": str(self.paths[0])}
            if planned.of_project
            else {"paths": list(map(str, self.paths))}
        )
        return attrs.evolve(
            planned, subject={**planned.subject, **shown}, after=_there(self.side, planned.after)
        )


def _there(
    side: Side | Copy, after: Callable[[], Mapping[str, Any]]
) -> Callable[[], Mapping[str, Any]]:
    """Return a function that is called where the files of a side are: a program is run once
    more.
    """

    def called() -> Mapping[str, Any]:
        with side.inside():
            return after()

    return called


@attrs.frozen
class _Delivered:
    """Delivery of the base to clusters that had nothing before.

    Attributes:
        state: the state after it; that of a new fleet if the base cannot be delivered.
        approve: the approvals that it needs.
        waits: what even so it waits for, in words, by subject.
        plans: the plans of the last update of it.
        problems: why it cannot be delivered.
    """

    state: StateFile = StateFile()
    approve: frozenset[str] = frozenset()
    plans: tuple[FleetPlan, ...] = ()
    waits: Mapping[str, str] = attrs.field(factory=dict)
    problems: tuple[Problem, ...] = ()


def _as_if_new(mine: _Reviewed, side: Side) -> Review:
    """Review on top of the base, as if that had been delivered to clusters that had nothing
    before.
    """
    missing, base = few(side.missing), _Delivered()
    against = f"{side.name}, as if newly made"
    # The base has none of the paths: there is nothing to plan.
    if len(side.missing) == len(side.places):
        against = f"nothing: {side.name} has no {missing}, so all of it is new"
    else:
        against += f"; it has no {missing}, so that is new" if missing else ""
        try:
            base = _delivered(side, mine.command)
        except SideError as error:
            base = _Delivered(problems=error.problems)
            more = (
                f", and {count(len(error.problems) - 1, 'more error')}"
                if error.problems[1:]
                else ""
            )
            # Its hint is about fixing the base, which is not what is reviewed.
            first = attrs.evolve(error.problems[0], hint="")
            against = f"nothing: {side.name} cannot be planned: {first}{more}"
    # The base counts as delivered, so its approvals are given on this side as well.
    approvals = mine.command.approvals | base.approve
    surveyed = mine.planned(attrs.evolve(mine.command, state=base.state, approvals=approvals))
    unsure = {**_unsure(surveyed.plans, failed=bool(base.problems)), **base.waits}
    standing = on_both(base.plans, surveyed.plans)
    against = "; ".join([against, *members_changed(base.plans, surveyed.plans)])
    # file is empty: the state comes from no file but from the plan of the base.
    surveyed = attrs.evolve(surveyed, file="", against=against, unsure=unsure, standing=standing)
    return Review(surveyed, side.notes, base.problems)


def _delivered(side: Side, command: CommandLine) -> _Delivered:
    """Return what the updates lead to that deliver the base, with all approvals that they need.

    Raises:
        FleetError: the base cannot be read.
        SideError: it cannot be planned, or would be refused.
    """
    # What is confirmed, approved, lost or returned is that in the update that is reviewed.
    nobody = frozenset[str]()
    # Problems of the options are reported with the reviewed side.
    asked = attrs.evolve(side.asked(command), state=StateFile(), problems=())
    alone = attrs.evolve(asked, confirm=nobody, approvals=nobody, lost=nobody, returned=nobody)
    with command.watch(side.name), side.inside() as paths:
        # Bounded, as a rollout may never end.
        for _ in range(MOST_UPDATES):
            planned = survey(paths, alone)
            remainders = {
                name: remainder
                for plan in planned.plans
                for name, remainder in plan.remainders.items()
            }
            left = together(remainders.values())
            alone = attrs.evolve(
                alone, state=_after(planned, side), approvals=alone.approvals.union(left.approvals)
            )
            if not (left.updates or left.approvals):
                break
    waits = {
        name: f"{side.name} waits: {remainder.words}"
        for name, remainder in remainders.items()
        if remainder.words
    }
    return _Delivered(alone.state, alone.approvals, planned.plans, waits)


def _after(planned: Survey, side: Side) -> StateFile:
    """Return the state after an update; of directories with the data of Secrets, which goes nowhere
    from here.

    Raises:
        FleetError: the update would be refused.
    """
    if planned.refused:
        raise FleetError(planned.refused)
    if not planned.of_project:
        resources = (stored for plan in planned.plans for stored in delivered(plan, redacted=False))
        return StateFile(side.name, StackState.of(resources))
    # Else the plan of the other side would note that it starts from a saved plan.
    after = {key: value for key, value in planned.after().items() if key != MADE_UP}
    return parse_state(json.dumps(after).encode(), side.name)


def _on_what_runs(mine: _Reviewed, side: Side) -> Review:
    """Review on top of what really runs, and find what the base would change there as well."""
    base, warnings = tuple[FleetPlan, ...](), tuple[Problem, ...]()
    if len(side.missing) < len(side.places) and not mine.command.state.problems:
        try:
            # Problems of the options are those of the reviewed side, which is planned next.
            base = side.planned(attrs.evolve(mine.command, problems=())).plans
        except SideError as error:
            warnings = error.problems
    surveyed = mine.planned(mine.command)
    shared = changed_by_both(base, surveyed.plans)
    pending = frozenset(name for name, alike in shared.items() if alike)
    parts = [surveyed.against or f"what runs, by {mine.command.state.file}"]
    if warnings:
        parts.append(f"{side.name} cannot be planned, so what it changes as well is not known")
    if pending:
        alike = count(len(pending), "of these changes comes", "of these changes come")
        parts.append(f"{alike} from {side.name} as well")
    others = sorted(name.partition("/")[2] for name, alike in shared.items() if not alike)
    if others:
        parts.append(f"{side.name} changes {few(others)} too, in another way")
    parts += members_changed(base, surveyed.plans)
    standing = on_both(base, surveyed.plans) if base else surveyed.standing
    surveyed = attrs.evolve(surveyed, against="; ".join(parts), pending=pending, standing=standing)
    return Review(surveyed, side.notes, warnings)


def _unsure(plans: Sequence[FleetPlan], *, failed: bool) -> dict[str, str]:
    """Return what another memory could change, by subject.

    Args:
        plans: the plans of the reviewed side; what their past does not have is newly made indeed.
        failed: whether there is a base that cannot be planned, so that nothing is known to be new.
    """
    found: dict[str, str] = {}
    for plan in plans:
        for subject in plan.subjects:
            if failed or subject.name in plan.past.records:
                parents = (
                    name
                    for key in subject.subject.required_by
                    if (name := f"{subject.subject.kind}/{key}") in found
                )
                along = next((f"it goes where {name} goes: {found[name]}" for name in parents), "")
                words = subject.subject.sticky(subject.outcome) or along
                if words:
                    found[subject.name] = words
    return found
