"""Plans a Pulumi project: runs its program in process and compares what it registers with the state before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from fleet_components.components.config import WrongValueError, names_in
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.describe import heading, not_fulfilled
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.mocks import PlanMocks
from fleet_components.review.planning.program import from_here, inside, located, refused_plan, run_main, what_ended
from fleet_components.review.planning.project import Project, choose_stack
from fleet_components.review.planning.resource import Resource
from fleet_components.review.planning.resources import STACK, compare, stored_in
from fleet_components.review.planning.settings import Settings, read_settings
from fleet_components.review.planning.survey import Told, of_stack
from fleet_components.testing.program import ProgramRun, run_program

DEFAULT_ORGANIZATION = "organization"


@attrs.frozen
class Preview:
    """Result of planning a Pulumi project: what ``pulumi preview`` would show.

    Attributes:
        stack: the stack, as ``organization/project/stack``.
        plans: the fleets of the program.
        resources: what would happen to each resource; None where the update is refused.
        messages: what the program logged, as (level, text), without messages that repeat the plan.
    """

    stack: str
    plans: tuple[FleetPlan, ...]
    resources: tuple[Resource, ...] | None
    messages: tuple[tuple[str, str], ...]


def preview(project: Project, told: Told) -> Preview:
    """Plan a Pulumi project.

    Args:
        project: the project.
        told: the options of the command line. The time replaces the stack's ``fleet:asOf``; tokens and lost members
            are added to those of the stack.

    Raises:
        FleetError: the project or the stack cannot be read, or the program refuses its input or fails.
    """
    prefix, _, wanted = (told.stack or "").rpartition("/")
    name = choose_stack(project, wanted or None)
    told = of_stack(told, project.name, name)
    told = attrs.evolve(told, state=told.state.sound())
    organization = prefix.partition("/")[0] or DEFAULT_ORGANIZATION
    with told.together():
        settings = read_settings(project, name)
        run, mocks = _run(project, organization, name, told, settings)
    refused = refused_plan(run.error)
    plans = (*mocks.plans, *([refused] if refused else []))
    root = f"urn:pulumi:{name}::{project.name}::{STACK}::{project.name}-{name}"
    said = tuple(_said(plans))
    known = told.state.export is not None or not told.state.file
    return Preview(
        f"{organization}/{project.name}/{name}",
        tuple(_located(plan, project, settings) for plan in plans),
        None if refused else compare(run.registrations, root, told.state.export, known=known),
        (*_unread(settings), *(message for message in run.messages if not message[1].startswith(said))),
    )


def _located(plan: FleetPlan, project: Project, settings: Settings) -> FleetPlan:
    """Return the plan with the paths of files relative to the current directory, not to the program's."""

    def seen(problems: Iterable[Problem]) -> tuple[Problem, ...]:
        return tuple(located(problem, project, settings) for problem in problems)

    def moved(decided: Decided) -> Decided:
        subject: Any = decided.subject
        origin = from_here(subject.origin, project)
        return attrs.evolve(decided, subject=attrs.evolve(subject, warnings=seen(subject.warnings), origin=origin))

    subjects = tuple(map(moved, plan.subjects))
    return attrs.evolve(plan, refused=seen(plan.refused), warnings=seen(plan.warnings), subjects=subjects)


def _said(plans: Iterable[FleetPlan]) -> Iterator[str]:
    """Yield the beginnings of log messages that repeat the plan."""
    for plan in plans:
        yield f"{plan.options.fleet}:\n"
        yield from map(str, plan.warnings)
        for decided in plan.subjects:
            yield f"{heading(decided)}\n"
            yield from map(str, decided.subject.warnings)
            yield not_fulfilled(decided)


def _unread(settings: Settings) -> list[tuple[str, str]]:
    """Return warnings about configuration that the Pulumi CLI reads and this package does not."""
    if not settings.file.data.get("environment"):
        return []
    return [("warning", f"{settings.file.path}: the stack's environment is not read, its values are missing here")]


def _run(
    project: Project, organization: str, stack: str, told: Told, settings: Settings
) -> tuple[ProgramRun, PlanMocks]:
    state = told.state.state
    mocks = PlanMocks(
        state, {resource["urn"]: resource.get("outputs") or {} for resource in stored_in(told.state.export)}
    )
    with inside(project):
        run = run_program(
            lambda: run_main(project),
            state=state,
            project=project.name,
            stack=stack,
            organization=organization,
            config={**settings.values, **_told(told, settings)},
            secret_keys=settings.secrets,
            mocks=lambda _: mocks,
        )
    problems = () if refused_plan(run.error) else mocks.problems or what_ended(run.error, project)
    if problems:
        raise FleetError(located(problem, project, settings) for problem in problems)
    return run, mocks


def _told(told: Told, settings: Settings) -> dict[str, str]:
    """Return the configuration keys that carry the options of the command line, merged with the stack's."""
    config = {"fleet:asOf": told.as_of.isoformat()} if told.as_of else {}
    nothing = frozenset[str]()
    for key, more, less in (
        ("fleet:confirm", sorted(told.confirm), nothing),
        ("fleet:approvals", sorted(told.approve), nothing),
        ("fleet:passOver", sorted(told.pass_over), nothing),
        ("fleet:plugins", told.plugins, nothing),
        ("fleet:lost", sorted(told.lost), told.returned),
    ):
        if more or less:
            try:
                listed = names_in(settings.values.get(key, ""))
            except WrongValueError:
                continue  # the program says what is wrong with it
            config[key] = ",".join(name for name in dict.fromkeys((*listed, *more)) if name not in less)
    return config
