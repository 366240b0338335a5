"""Plans whatever the command line names: directories of YAML, or a Pulumi project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.cli.directory import plan_directory
from fleet_components.cli.document import Document, plan_document
from fleet_components.cli.past import Past
from fleet_components.cli.planned import Planned
from fleet_components.cli.project import is_project, read_project
from fleet_components.cli.templates import template_document
from fleet_components.model.problem import FleetError, Problem

DEFAULT_STACK = "local"


@attrs.frozen
class Survey:
    """A fleet, planned, and where it came from.

    Attributes:
        planned: the placements.
        past: what was decided and done before.
        stack: what objects are stamped with: ``organization/project/stack``, or the stack alone for directories.
        subject: what was planned, for documents.
        resources: what would happen to each resource of a stack, in wire form; None for directories.
        messages: what the program said, as (level, text).
    """

    planned: Planned
    past: Past
    stack: str
    subject: Document
    resources: tuple[Document, ...] | None = None
    messages: tuple[tuple[str, str], ...] = ()

    def document(self) -> Document:
        """The plan as a document."""
        document = plan_document(self.planned, subject=self.subject, state=self.past.file)
        if self.planned.templates:
            document["templates"] = list(map(template_document, self.planned.templates))
        if self.resources is None:
            return document
        counted = Counter(resource["change"] for resource in self.resources)
        counts = {change: counted[change] for change in ("create", "update", "delete", "same")}
        return {
            **document,
            "resources": list(self.resources),
            "messages": [{"level": level, "text": text} for level, text in self.messages],
            "totals": {**document["totals"], "resources": counts if None not in counted else None},
        }


def survey(paths: Sequence[Path], stack: str | None, past: Past, as_of: datetime | None) -> Survey:
    """Plan a Pulumi project, or a fleet from files and directories.

    Args:
        paths: one project, or any number of files and directories.
        stack: the stack of a project; what rendered files are called for directories.
        past: what was decided and done before.
        as_of: the time at which observed members and waits are judged.

    Raises:
        FleetError: the input cannot be worked with.
    """
    if not any(map(is_project, paths)):
        subject: dict[str, Any] = {"paths": list(map(str, paths))}
        return Survey(plan_directory(paths, past, as_of), past, stack or DEFAULT_STACK, subject)
    if len(paths) > 1:
        hint = "plan the project alone; its fleet:source names the directory of its YAML"
        raise FleetError([Problem("is a Pulumi project among other paths", file=str(paths[0]), hint=hint)])
    return _project(paths[0], stack, past, as_of)


def _project(folder: Path, stack: str | None, past: Past, as_of: datetime | None) -> Survey:
    project = read_project(folder)
    try:
        from fleet_components.cli.preview import preview
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
    resources = tuple(resource.to_wire() for resource in seen.resources)
    return Survey(seen.planned, past, seen.stack, subject, resources, seen.messages)
