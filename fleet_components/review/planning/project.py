"""A Pulumi project on disk: its program and its stacks, as the Pulumi CLI would find them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.paths import resolved
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION, present
from fleet_components.plan import names
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source
from fleet_components.review.planning.config_file import ConfigFile

_NAMES = ("Pulumi.yaml", "Pulumi.yml")
_EXTENSIONS = (".yaml", ".yml")
_OF_PULUMI = re.compile(r"Pulumi(\.(?P<stack>.+))?\.ya?ml")


@attrs.frozen
class Project:
    """A Pulumi project on disk.

    Attributes:
        file: its ``Pulumi.yaml``.
        name: its name.
        folder: the working directory of the program.
        program: the program, relative to ``folder``: a file, or ``.`` for ``__main__.py``.
        stack_folder: the directory of the stack files.
    """

    file: ConfigFile
    name: str
    folder: Path
    program: str
    stack_folder: Path

    @property
    def config(self) -> Mapping[str, Any]:
        """Declaration of the configuration in ``Pulumi.yaml``: defaults, types, required keys."""
        config = self.file.data.get("config")
        return config if isinstance(config, Mapping) else {}

    def stacks(self) -> tuple[str, ...]:
        """Return the names of the stacks that have a file."""
        if not os.path.isdir(self.stack_folder):
            return ()
        files = (path for ext in _EXTENSIONS for path in self.stack_folder.glob(f"Pulumi.*{ext}"))
        return tuple(
            sorted(path.name.removesuffix(path.suffix).removeprefix("Pulumi.") for path in files)
        )

    def stack_file(self, stack: str) -> Path:
        """Return the path of a stack's file, which may not exist."""
        files = [self.stack_folder / f"Pulumi.{stack}{ext}" for ext in _EXTENSIONS]
        # ``.yaml`` if neither is there.
        return next(filter(os.path.isfile, files), files[0])


def is_project(folder: Path) -> bool:
    """Return whether a directory is a Pulumi project."""
    return any(os.path.isfile(folder / name) for name in _NAMES)


def asked_project(paths: Sequence[Path], *, asked: bool, allowed: bool) -> Path | None:
    """Return the directory of the project to plan; None if there is no project among the paths.

    The caller decides that a program is run, never a file: a ``Pulumi.yaml`` that somebody adds to
    a directory of YAML makes no program of it.

    Args:
        paths: the paths of the command line; a ``Pulumi.yaml`` stands for its project, and asks for
            it.
        asked: whether the command line asks for a project.
        allowed: whether a program may be run.

    Raises:
        FleetError: a project is not asked for or not allowed, or there are other paths beside it.
    """
    # A project among other paths is found too, and then refused.
    path = next((path for path in paths if path.name in _NAMES or is_project(path)), None)
    if path is None:
        return None
    folder = path.parent if path.name in _NAMES else path
    if len(paths) > 1:
        hint = "plan the project alone; its fleet:source names the directory of its YAML"
        raise FleetError(
            [
                Problem(
                    Message("pulumi-project-among-other", "is a Pulumi project among other paths"),
                    file=str(folder),
                    hint=hint,
                )
            ]
        )
    if not allowed:
        hint = "give the directory of its YAML; its program is run without this option"
        raise FleetError(
            [
                Problem(
                    Message(
                        "pulumi-project-no-program",
                        "is a Pulumi project, and --no-program runs none",
                    ),
                    file=str(folder),
                    hint=hint,
                )
            ]
        )
    # A path to Pulumi.yaml itself asks for the project.
    if not asked and folder is path:
        hint = f"say so: fleet plan {folder} --project; or give the directory of its YAML"
        raise FleetError(
            [
                Problem(
                    Message(
                        "pulumi-project-nothing-asks",
                        "is a Pulumi project, and nothing asks to run it",
                    ),
                    file=str(folder),
                    hint=hint,
                )
            ]
        )
    return folder


def instead_of(problem: Problem) -> Problem:
    """Return the problem; if its file is one of a Pulumi project, one that says so and how to plan
    the project.
    """
    file = Path(problem.file)
    named = _OF_PULUMI.fullmatch(file.name)
    if named is None:
        return problem
    # Stack files may lie below the project, as stackConfigDir says.
    folder = next((folder for folder in resolved(file).parents if is_project(folder)), None)
    stack = named["stack"]
    what = (
        Message("pulumi-stack-file", "is a Pulumi stack file")
        if stack
        else Message("file-pulumi-project", "is the file of a Pulumi project")
    )
    if folder is None:
        return Problem(
            what, file=problem.file, hint="plan its project: the directory with Pulumi.yaml"
        )
    # As the user has written paths: absolute or not.
    shown = folder if file.is_absolute() else os.path.relpath(folder)
    return Problem(
        what,
        file=problem.file,
        hint=f"fleet plan {shown} {f'--stack {stack}' if stack else '--project'}",
    )


def read_project(folder: Path) -> Project:
    """Read a project.

    Raises:
        FleetError: ``Pulumi.yaml`` cannot be read, or the program does not exist or is not in
            Python.
    """
    files = [folder / name for name in _NAMES]
    file = ConfigFile.read(next(filter(os.path.isfile, files), files[0]))
    name, main = file.data.get("name"), file.data.get("main") or "."
    problems = (
        []
        if isinstance(name, str) and name
        else [
            file.problem(
                Message("name-missing", "name is missing"), ("name",), "write name: my-fleet"
            )
        ]
    )
    problems += _check_runtime(file)
    place = folder / str(main)
    # Unlike those of Path, these functions take any text.
    is_folder = os.path.isdir(place)
    path, program = (place, ".") if is_folder else (place.parent, place.name)
    if not os.path.isfile(place / "__main__.py" if is_folder else place):
        missing = Message("no-program", 'there is no program at "{main}"', main=main)
        problems.append(
            file.problem(
                missing, ("main",), "main names a Python file, or a directory with __main__.py"
            )
        )
    if problems:
        raise FleetError(problems)
    return Project(file, str(name), path, program, folder / _stack_folder(file))


def choose_stack(project: Project, wanted: str | None) -> str:
    """Return the name of the stack to plan.

    Raises:
        FleetError: no stack is named and there is not exactly one, or the named one does not exist.
    """
    known = project.stacks()
    if wanted is None and len(known) == 1:
        return known[0]
    names = f"the stacks are: {', '.join(known)}" if known else ""
    if wanted is None:
        what = (
            Message("several-stacks-say-one", "has several stacks: say which one")
            if known
            else Message("no-stack-file-say", "has no stack file: say what the stack is called")
        )
        raise FleetError(
            [Problem(what, file=str(project.file.path), hint=f"--stack NAME; {names}".rstrip("; "))]
        )
    # Stacks need not have a file: where none has, any name may be meant.
    if known and wanted not in known:
        file = str(project.stack_file(wanted))
        raise FleetError(
            [
                Problem(
                    Message("no-stack", 'there is no stack "{wanted}"', wanted=wanted),
                    file=file,
                    hint=names,
                )
            ]
        )
    return wanted


def _check_runtime(file: ConfigFile) -> list[Problem]:
    runtime = file.data.get("runtime")
    name = runtime.get("name") if isinstance(runtime, Mapping) else runtime
    if name == "python":
        return []
    return [
        file.problem(
            Message("runtime-not-python", "the runtime is {name}", name=name or "missing"),
            ("runtime",),
            "only runtime: python can be planned",
        )
    ]


def _stack_folder(file: ConfigFile) -> str:
    """Return ``stackConfigDir``, whose former name is ``config``."""
    config = file.data.get("config")
    return str(file.data.get("stackConfigDir") or (config if isinstance(config, str) else "."))


def only_of_a_project(source: Source, past: Past) -> Iterator[Problem]:
    """Yield a warning if clusters are declared, or were provisioned: only a project's program
    provides for them.
    """
    manifests = source.catalogue.manifests
    kinds = {kind for guest in present(manifests) for kind in guest.KINDS}
    declared = [
        manifest
        for manifest in manifests
        if manifest.api_version == API_VERSION and manifest.kind in kinds
    ]
    hint = "plan the project whose program provisions it: fleet plan PROJECT --stack STACK"
    if declared:
        named = ", ".join(f"{item.kind} {item.name}" for item in declared)
        what = Message(
            "only-project-provisions-plan",
            "{named}: only a project provisions that; this plan places on the declared members, and"
            " neither shows nor guards what would be made, changed or deleted for them",
            named=named,
        )
        yield attrs.evolve(declared[0].problem(what, (), hint), subject="")
    # Declared nowhere any more, but in the state: the next update would delete them.
    elif any(kind == names.PROVISIONED for kind, _ in past.urns):
        what = Message(
            "project-provisioned-clusters-nothing",
            "a project has provisioned clusters that nothing declares here; this plan does not"
            " guard their deletion",
        )
        yield Problem(what, file=past.file, hint=hint)
