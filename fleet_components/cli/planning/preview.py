"""Plans a Pulumi project: runs its program in process and compares what it registers with the state before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import attrs

from fleet_components.cli.planning.mocks import PlanMocks, state_of
from fleet_components.cli.planning.past import Past
from fleet_components.cli.planning.planned import Planned
from fleet_components.cli.planning.program import inside, located, refusals, run_main
from fleet_components.cli.planning.project import Project, choose_stack
from fleet_components.cli.planning.resource import Resource
from fleet_components.cli.planning.resources import STACK, compare
from fleet_components.cli.planning.settings import Settings, read_settings
from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError
from fleet_components.testing.program import ProgramRun, run_program

DEFAULT_ORGANIZATION = "organization"


@attrs.frozen
class Preview:
    """What a preview would show.

    Attributes:
        stack: the stack, as ``organization/project/stack``.
        planned: the placements.
        resources: what would happen to each resource.
        messages: what the program said, as (level, text), without what the plan tells itself.
    """

    stack: str
    planned: Planned
    resources: tuple[Resource, ...]
    messages: tuple[tuple[str, str], ...]


def preview(project: Project, stack: str | None, past: Past, as_of: datetime | None) -> Preview:
    """Plan a project.

    Args:
        project: the project.
        stack: the stack: its name, or with an organization before it; None for the only one.
        past: what was decided and done before.
        as_of: takes the place of the stack's ``fleet:asOf``.

    Raises:
        FleetError: the project or the stack cannot be read, or the program refuses its input.
    """
    prefix, _, wanted = (stack or "").rpartition("/")
    name = choose_stack(project, wanted or None)
    organization = prefix.partition("/")[0] or DEFAULT_ORGANIZATION
    settings = read_settings(project, name)
    run, mocks = _run(project, organization, name, past, settings, as_of)
    placements, templates = mocks.decided(), mocks.templates()
    if problems := [problem for template in templates for problem in template.unknown()]:
        raise FleetError(problems)
    inventories = [*(one.request.inventory for one in placements), *(one.request.inventory for one in templates)]
    planned = Planned(inventories[0] if inventories else Inventory([]), placements, templates)
    told = tuple(_told(planned))
    root = f"urn:pulumi:{name}::{project.name}::{STACK}::{project.name}-{name}"
    return Preview(
        f"{organization}/{project.name}/{name}",
        planned,
        compare(run.registrations, root, past.export, known=past.export is not None or not past.decided),
        (*_unread(settings), *(message for message in run.messages if not message[1].startswith(told))),
    )


def _told(planned: Planned) -> Iterator[str]:
    """How messages begin that say what the plan says itself."""
    for decided in planned.decided:
        yield f"{decided.request.key}:\n"


def _unread(settings: Settings) -> list[tuple[str, str]]:
    """What the Pulumi CLI reads and this does not."""
    if not settings.file.data.get("environment"):
        return []
    return [("warning", f"{settings.file.path}: the stack's environment is not read, its values are missing here")]


def _run(
    project: Project, organization: str, stack: str, past: Past, settings: Settings, as_of: datetime | None
) -> tuple[ProgramRun, PlanMocks]:
    state = state_of(project.name, stack, past)
    stored = ((past.export or {}).get("deployment") or {}).get("resources") or ()
    mocks = PlanMocks(state, {resource["urn"]: resource.get("outputs") or {} for resource in stored})
    with inside(project):
        run = run_program(
            lambda: run_main(project),
            state=state,
            project=project.name,
            stack=stack,
            organization=organization,
            config={**settings.values, **({"fleet:asOf": as_of.isoformat()} if as_of else {})},
            secret_keys=settings.secrets,
            mocks=lambda _: mocks,
        )
    if problems := mocks.problems or refusals(run.error):
        raise FleetError(located(problem, project, settings) for problem in problems)
    if run.error:
        raise run.error
    return run, mocks
