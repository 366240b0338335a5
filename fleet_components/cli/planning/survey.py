"""Plans whatever the command line names: directories of YAML, or a Pulumi project."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.cli.planning.directory import plan_directory
from fleet_components.cli.planning.past import Past
from fleet_components.cli.planning.planned import Planned
from fleet_components.cli.planning.project import is_project, read_project
from fleet_components.cli.planning.resource import Resource
from fleet_components.model.problem import FleetError, Problem

DEFAULT_STACK = "local"


@attrs.frozen
class Survey:
    """A fleet, planned, and where it came from.

    Attributes:
        planned: the placements.
        past: what was decided and done before.
        stack: what objects are stamped with: ``organization/project/stack``, or the stack alone for directories.
        subject: what was planned: paths and stack, or project, stack and directory.
        resources: what would happen to each resource of a stack; None for directories.
        messages: what the program said, as (level, text).
    """

    planned: Planned
    past: Past
    stack: str
    subject: dict[str, Any]
    resources: tuple[Resource, ...] | None = None
    messages: tuple[tuple[str, str], ...] = ()


def survey(paths: Sequence[Path], stack: str | None, past: Past, as_of: datetime | None) -> Survey:
    """Plan a Pulumi project, or a fleet from files and directories.

    Args:
        paths: one project, or any number of files and directories.
        stack: the stack of a project; for directories the name of the stack that they would be.
        past: what was decided and done before.
        as_of: the time at which observed members and waits are judged.

    Raises:
        FleetError: the input cannot be worked with.
    """
    if not any(map(is_project, paths)):
        name = stack or DEFAULT_STACK
        subject = {"paths": list(map(str, paths)), "stack": name}
        return Survey(plan_directory(paths, name, past, as_of), past, name, subject)
    if len(paths) > 1:
        hint = "plan the project alone; its fleet:source names the directory of its YAML"
        raise FleetError([Problem("is a Pulumi project among other paths", file=str(paths[0]), hint=hint)])
    return _project(paths[0], stack, past, as_of)


def _project(folder: Path, stack: str | None, past: Past, as_of: datetime | None) -> Survey:
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
    seen = preview(project, stack, past, as_of)
    name = seen.stack.rpartition("/")[2]
    subject = {"project": project.name, "stack": name, "directory": str(folder)}
    return Survey(seen.planned, past, seen.stack, subject, seen.resources, seen.messages)
