"""Plans whatever the command line names: directories of YAML, or a Pulumi project."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.files import Text, decoded
from fleet_components.model.extras import extra_of, not_installed
from fleet_components.model.problem import FleetError, Problem, layered
from fleet_components.plan.fleet import lacking, plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.past import LOST, Past
from fleet_components.plan.refusals import confirmed_in_vain
from fleet_components.plan.source import Source, gather
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.project import instead_of, is_project, read_project
from fleet_components.review.planning.resource import Resource

DEFAULT_STACK, DEFAULT_FLEET = "local", "fleet"
PIPED, STANDARD_INPUT = Path("-"), "standard input"


@attrs.frozen(kw_only=True)
class Told:
    """What the command line says besides the paths.

    Attributes:
        state: what was decided and done before.
        stack: the stack of a project; for directories the name of the stack that they would be.
        as_of: the time at which observed members and waits are judged.
        confirm: tokens of refused losses that are meant.
        approve: names of approvals of staged updates that are given.
        lost: the names of members that are gone for good.
        returned: the names of members that were lost and are back.
        pass_over: kinds that are not to stand in the way of a plan.
        any_state: take a state of another project or stack.
        problems: what is wrong with it, as far as that can be told without the input.
    """

    state: StateFile = StateFile()
    stack: str | None = None
    as_of: datetime | None = None
    confirm: frozenset[str] = frozenset()
    approve: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    pass_over: frozenset[str] = frozenset()
    any_state: bool = False
    problems: tuple[Problem, ...] = ()

    def wrong(self, problems: Iterable[Problem]) -> Told:
        """The same, with further problems."""
        return attrs.evolve(self, problems=(*self.problems, *problems))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Planning, at whose end all problems come together: those of the input, and those of the command line.

        Raises:
            FleetError: there are any.
        """
        found: tuple[Problem, ...] = ()
        try:
            yield
        except FleetError as error:
            found = error.problems
        if problems := (*self.problems, *layered(self.state.problems, found)):
            raise FleetError(problems)


@attrs.frozen
class Survey:
    """What was planned, and where it came from.

    Attributes:
        plans: the fleets; one, unless a program has several.
        file: what it starts from; empty for a new fleet.
        stack: what objects are stamped with: ``organization/project/stack``, or the stack alone for directories.
        subject: what was planned: paths and stack, or project, stack and directory.
        resources: what would happen to each resource of a stack; None for directories, and where it is refused.
        messages: what the program said, as (level, text).
    """

    plans: tuple[FleetPlan, ...]
    file: str
    stack: str
    subject: dict[str, Any]
    resources: tuple[Resource, ...] | None = None
    messages: tuple[tuple[str, str], ...] = ()

    @property
    def of_project(self) -> bool:
        """Whether it is a Pulumi project, and no directory."""
        return "project" in self.subject

    @property
    def refused(self) -> tuple[Problem, ...]:
        """Why the update must not happen."""
        return tuple(problem for plan in self.plans for problem in plan.refused)


def survey(paths: Sequence[Path], told: Told) -> Survey:
    """Plan a Pulumi project, or a fleet from files and directories.

    Args:
        paths: one project, or any number of files and directories, charts and kustomizations; ``-`` for standard input.
        told: what the command line says besides.

    Raises:
        FleetError: the input cannot be worked with: all that is wrong with it, and with what the command line says.
    """
    if not any(map(is_project, paths)):
        return _directory(paths, told)
    if len(paths) > 1:
        hint = "plan the project alone; its fleet:source names the directory of its YAML"
        raise FleetError([Problem("is a Pulumi project among other paths", file=str(paths[0]), hint=hint)])
    return _project(paths[0], told)


def of_stack(told: Told, project: str, stack: str) -> Told:
    """What the command line says, but without a state of another project or stack: nothing would be found in it.

    Args:
        told: what the command line says.
        project: the project that is planned; empty for a directory, which has none.
        stack: the stack that is planned.
    """
    its_project, its_stack = told.state.stack
    same = its_stack == stack and (not project or its_project == project)
    if told.any_state or not its_stack or same:
        return told
    what = f"is the state of {_named(its_project, its_stack)}, not of {_named(project, stack)}"
    hint = f"pulumi stack export --stack {stack} --file FILE; or --any-state, if it is meant"
    return attrs.evolve(told, state=told.state.unread([Problem(what, file=told.state.file, hint=hint)]))


def _named(project: str, stack: str) -> str:
    return f"stack {stack}" + (f" of project {project}" if project else "")


def _directory(paths: Sequence[Path], told: Told) -> Survey:
    stack = told.stack or told.state.stack[1] or DEFAULT_STACK
    if told.stack:
        told = of_stack(told, "", told.stack.rpartition("/")[2])
    with told.together():
        return _planned(paths, told, stack)


def _planned(paths: Sequence[Path], told: Told, stack: str) -> Survey:
    fleet, past, damaged = told.state.only(DEFAULT_FLEET)
    source = _gathered(paths, told)
    problems = layered((*damaged, *map(instead_of, source.problems)), lacking(source, past))
    source = attrs.evolve(source, problems=problems)
    options = Options(
        stack=stack,
        fleet=fleet,
        settings=attrs.evolve(past.settings, approvals=tuple(sorted(told.approve.union(past.settings.approvals)))),
        as_of=told.as_of,
        confirm=told.confirm,
        lost=_lost(source, past, told),
        pass_over=told.pass_over,
    )
    subject = {"paths": _shown(paths), "stack": stack}
    try:
        plan = plan_fleet(source, past, options)
    except FleetError as error:
        raise FleetError(map(_said_here, error.problems)) from error
    refused, warnings = map(_said_here, plan.refused), map(_said_here, plan.warnings)
    plan = attrs.evolve(plan, refused=tuple(refused), warnings=tuple(warnings))
    return Survey(tuple(_heard([plan], told)), past.file, stack, subject)


def _heard(plans: Sequence[FleetPlan], told: Told) -> Iterator[FleetPlan]:
    """The plans; the first one warns of what the command line says and none of them goes by."""
    allowed = {token for plan in plans for token in plan.options.confirm - confirmed_in_vain(plan)}
    lost = {name for plan in plans for name, member in plan.past.members.items() if member.state == LOST}
    allows, knows = "nothing that is refused has this token", "as far as the state knows, it was not lost"
    warnings = [
        *(Problem(f"--confirm {token} allows nothing", hint=allows) for token in sorted(told.confirm - allowed)),
        *(Problem(f"--returned {member} changes nothing", hint=knows) for member in sorted(told.returned - lost)),
    ]
    for plan in plans:
        yield attrs.evolve(plan, warnings=(*plan.warnings, *warnings))
        warnings = []


def _said_here(problem: Problem) -> Problem:
    """The problem in words for a directory, which has no configuration."""
    what, hint = problem.what, problem.hint.replace("fleet:confirm=", "--confirm ")
    what, hint = (text.replace("fleet:passOver", "--pass-over") for text in (what, hint))
    return attrs.evolve(problem, what=what, hint=hint)


def _lost(source: Source, past: Past, told: Told) -> frozenset[str]:
    """The members that are marked lost: those that were, while they are declared, and those that are told now."""
    declared = {cluster.name for cluster in source.clusters}
    known = {name for name, member in past.members.items() if member.state == LOST and name in declared}
    return told.lost | (known - told.returned)


def _gathered(paths: Sequence[Path], told: Told) -> Source:
    asked = paths.count(PIPED) + (told.state.file == STANDARD_INPUT)
    if asked > 1:
        raise FleetError([Problem("is asked for twice", file=STANDARD_INPUT, hint="give one of the two as a file")])
    return gather(*(_piped() if path == PIPED else path for path in paths))


def _shown(paths: Sequence[Path]) -> list[str]:
    return [STANDARD_INPUT if path == PIPED else str(path) for path in paths]


def _piped() -> Text:
    """What stands before the pipe; nothing at all is most likely a command that has failed there.

    Raises:
        FleetError: it is empty, or no text.
    """
    text = decoded(sys.stdin.buffer.read(), STANDARD_INPUT)
    if not text.strip():
        hint = "see whether the command before the pipe has failed; set -o pipefail ends a script there"
        raise FleetError([Problem("is empty", file=STANDARD_INPUT, hint=hint)])
    return Text(STANDARD_INPUT, text)


def _project(folder: Path, told: Told) -> Survey:
    project = read_project(folder)
    try:
        from fleet_components.review.planning.preview import preview
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if not extra_of(module):
            raise
        hint = f"{not_installed(module).hint}, or plan the directory of its YAML"
        what = f"is a Pulumi project, and {module} is not installed here"
        raise FleetError([Problem(what, file=str(folder), hint=hint)]) from error
    seen = preview(project, told)
    name = seen.stack.rpartition("/")[2]
    subject = {"project": project.name, "stack": name, "directory": str(folder)}
    return Survey(tuple(_heard(seen.plans, told)), told.state.file, seen.stack, subject, seen.resources, seen.messages)
