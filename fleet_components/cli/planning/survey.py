"""Plans whatever the command line names: directories of YAML, or a Pulumi project."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.cli.planning.past import StateFile
from fleet_components.cli.planning.project import instead_of, is_project, read_project
from fleet_components.cli.planning.resource import Resource
from fleet_components.content.files import Text, decoded
from fleet_components.content.load import load
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.past import LOST, Past
from fleet_components.plan.source import Source, source_of

DEFAULT_STACK, DEFAULT_FLEET = "local", "fleet"
PIPED, STANDARD_INPUT = Path("-"), "standard input"
_POLICIES = ("PropagationPolicy", "ClusterPropagationPolicy")


@attrs.frozen(kw_only=True)
class Told:
    """What the command line says besides the paths.

    Attributes:
        state: what was decided and done before.
        stack: the stack of a project; for directories the name of the stack that they would be.
        as_of: the time at which observed members and waits are judged.
        confirm: tokens of refused losses that are meant.
        lost: the names of members that are gone for good.
        returned: the names of members that were lost and are back.
        pass_over: kinds that are not to stand in the way of a plan.
        any_state: take a state of another project or stack.
    """

    state: StateFile = StateFile()
    stack: str | None = None
    as_of: datetime | None = None
    confirm: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    pass_over: frozenset[str] = frozenset()
    any_state: bool = False


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
        FleetError: the input cannot be worked with.
    """
    if not any(map(is_project, paths)):
        return _directory(paths, told)
    if len(paths) > 1:
        hint = "plan the project alone; its fleet:source names the directory of its YAML"
        raise FleetError([Problem("is a Pulumi project among other paths", file=str(paths[0]), hint=hint)])
    return _project(paths[0], told)


def check_stack(told: Told, project: str, stack: str) -> None:
    """Refuse a state of another project or stack, in which nothing that is planned would be found.

    Args:
        told: what the command line says.
        project: the project that is planned; empty for a directory, which has none.
        stack: the stack that is planned.

    Raises:
        FleetError: it is.
    """
    its_project, its_stack = told.state.stack
    same = its_stack == stack and (not project or its_project == project)
    if told.any_state or not its_stack or same:
        return
    what = f"is the state of {_named(its_project, its_stack)}, not of {_named(project, stack)}"
    hint = f"pulumi stack export --stack {stack} --file FILE; or --any-state, if it is meant"
    raise FleetError([Problem(what, file=told.state.file, hint=hint)])


def _named(project: str, stack: str) -> str:
    return f"stack {stack}" + (f" of project {project}" if project else "")


def _directory(paths: Sequence[Path], told: Told) -> Survey:
    stack = told.stack or told.state.stack[1] or DEFAULT_STACK
    if told.stack:
        check_stack(told, "", told.stack.rpartition("/")[2])
    fleet = told.state.fleet or DEFAULT_FLEET
    past = told.state.past(fleet)
    source = _read(paths, told)
    if problems := list(_lacking(source, paths, past)):
        raise FleetError(problems)
    options = Options(
        stack=stack,
        fleet=fleet,
        settings=past.settings,
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
    return Survey((plan,), past.file, stack, subject)


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


def _read(paths: Sequence[Path], told: Told) -> Source:
    asked = paths.count(PIPED) + (told.state.file == STANDARD_INPUT)
    if asked > 1:
        raise FleetError([Problem("is asked for twice", file=STANDARD_INPUT, hint="give one of the two as a file")])
    warnings: list[Problem] = []
    try:
        return source_of(load(*(_piped() if path == PIPED else path for path in paths), warnings=warnings), warnings)
    except FleetError as error:
        raise FleetError(dict.fromkeys(map(instead_of, error.problems))) from error


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


def _lacking(source: Source, paths: Sequence[Path], past: Past) -> Iterator[Problem]:
    """What a new fleet cannot be without; from one that is known everything may be taken, and the plan says so."""
    if past.members:
        return
    where = ", ".join(_shown(paths))
    if not source.clusters:
        yield Problem("there is no member", file=where, hint="add MemberCluster objects, as a hub exports them")
    if not source.placements and not any(policy.kind in _POLICIES for policy in source.policies):
        yield Problem("there is no placement", file=where, hint="add a ClusterResourcePlacement or ResourcePlacement")
    if not source.catalogue.manifests:
        hint = "add manifests of what is to be placed, a Namespace with its contents for example"
        yield from (
            policy.problem("there is no object that could be selected", ("spec", "resourceSelectors"), hint)
            for policy in source.policies
            if policy.kind in ("ClusterResourcePlacement", "ResourcePlacement")
        )


def _project(folder: Path, told: Told) -> Survey:
    project = read_project(folder)
    try:
        from fleet_components.cli.planning.preview import preview
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("pulumi", "pulumi_kubernetes"):
            raise
        hint = "pip install 'fleet-components[kubernetes]', or plan the directory of its YAML"
        what = f"is a Pulumi project, and {package} is not installed here"
        raise FleetError([Problem(what, file=str(folder), hint=hint)]) from error
    seen = preview(project, told)
    name = seen.stack.rpartition("/")[2]
    subject = {"project": project.name, "stack": name, "directory": str(folder)}
    return Survey(seen.plans, told.state.file, seen.stack, subject, seen.resources, seen.messages)
