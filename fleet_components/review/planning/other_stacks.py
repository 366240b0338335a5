"""The other stacks whose outputs a project reads: from an export of each, or from a plan of its
project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.project import Project, is_project, read_project

if TYPE_CHECKING:
    from fleet_components.testing.other_stacks import OtherStacks

_ROOT = "pulumi:pulumi:Stack"


@attrs.frozen
class OtherStack:
    """Another stack, as the command line gives it.

    Attributes:
        name: its name, as the program spells it: ``organization/project/stack``.
        state: its state; that of a new stack if none is given.
        folder: the directory of its project, which is planned for the outputs; None to take those
            of the state.
    """

    name: str
    state: StateFile = StateFile()
    folder: Path | None = None

    @property
    def options(self) -> str:
        """The options that give it, for messages."""
        given = [f"--state-of {self.name}={self.state.file}"] if self.state.file else []
        return " ".join(
            [*given, *([f"--project-of {self.name}={self.folder}"] if self.folder else [])]
        )

    def exported(self) -> Mapping[str, Any]:
        """Return the outputs in its state, with secrets marked.

        Raises:
            FleetError: the state is none of ``pulumi stack export``.
        """
        if self.state.problems:
            raise FleetError(map(self._export_of, self.state.problems))
        if self.state.export is None:
            what = Message(
                "state-render-holds-no",
                "is the state of a render, which holds no outputs of a stack",
            )
            raise FleetError([self._export_of(Problem(what, file=self.state.file))])
        resources = self.state.export["deployment"].get("resources") or ()
        # A stack has one root resource; one that was never updated has none.
        outputs = next(
            (resource.get("outputs") for resource in resources if resource.get("type") == _ROOT),
            None,
        )
        return outputs or {}

    def project(self) -> Project:
        """Return its project.

        Raises:
            FleetError: there is none in the directory, or another one.
        """
        assert self.folder is not None, "asked of a stack with a project only"
        # A file Pulumi.yaml or Pulumi.STACK.yaml stands for its folder.
        folder = self.folder.parent if self.folder.name.startswith("Pulumi.") else self.folder
        if not is_project(folder):
            hint = "give the directory that has it"
            raise FleetError(
                [
                    Problem(
                        Message(
                            "no-pulumi-project-no", "is no Pulumi project: it has no Pulumi.yaml"
                        ),
                        file=str(folder),
                        hint=hint,
                    )
                ]
            )
        project = read_project(folder)
        # Empty if the name is that of a stack alone.
        wanted = self.name.split("/")[-2:-1]
        if wanted and wanted != [project.name]:
            what = Message(
                "project-not",
                "is the project {name}, not {wanted}",
                name=project.name,
                wanted=wanted[0],
            )
            hint = f"--project-of names the stack as the program does that reads it: {self.name}"
            raise FleetError([project.file.problem(what, ("name",), hint)])
        return project

    def misplaced(self) -> Problem | None:
        """Return a problem if its state is that of another stack."""
        project, stack = self.state.stack
        # The name may leave out the organization, and the project: compare what it has.
        if not stack or [project, stack][-len(self._parts) :] == self._parts:
            return None
        return self._export_of(
            Problem(
                Message(
                    "state-not",
                    "is the state of {project}/{stack}, not of {name}",
                    project=project,
                    stack=stack,
                    name=self.name,
                ),
                file=self.state.file,
            )
        )

    @property
    def _parts(self) -> list[str]:
        """Project and stack, as far as its name has them."""
        return self.name.split("/")[-2:]

    def _export_of(self, problem: Problem) -> Problem:
        hint = f"give the output of: {exporting(self.name)}"
        other = (
            "; that of pulumi stack output does not say what is secret"
            if problem.message.code == "neither-deployment-nor-format"
            else ""
        )
        return attrs.evolve(problem, hint=hint + other)


def exporting(stack: str) -> str:
    """Return the command that exports a stack."""
    return f"pulumi stack export --stack {stack} --file FILE"


def lacking(stack: str) -> Problem:
    """Return the problem of a stack whose outputs a program needs, and that nobody has given."""
    hint = (
        f"--state-of {stack}=FILE takes them from the output of {exporting(stack)}; "
        f"--project-of {stack}=DIR from a plan of its project"
    )
    return Problem(
        Message(
            "outputs-stack-not-known",
            'the outputs of the stack "{stack}" are not known to a plan',
            stack=stack,
        ),
        hint=hint,
    )


def unmatched(given: Iterable[OtherStack], stacks: OtherStacks) -> Iterator[Problem]:
    """Yield a problem for each stack that is given and not read, and for each that is read and not
    given.

    Args:
        given: the stacks of the command line.
        stacks: what the program received of other stacks, and what it has read.
    """
    # The program may leave out organization or project; both spellings mean one stack.
    names = {stacks.full_name(stack.name): stack for stack in given}
    read = ", ".join(sorted(stacks.read)) or "no other stack"
    for name, stack in names.items():
        if name not in stacks.read:
            yield Problem(
                Message("changes-nothing", "{options} changes nothing", options=stack.options),
                hint=f"the program reads outputs of {read}",
            )
    yield from (lacking(name) for name in sorted(stacks.read - names.keys()))
