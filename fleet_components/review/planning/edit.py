"""A change of the source for a pull request: the files that change, and the fleet as it is with
them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import attrs

from fleet_components.content.files import Text
from fleet_components.content.guarded import read_json
from fleet_components.content.observed import join
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.source import Source, gather, gathered
from fleet_components.review.planning.project import choose_stack, is_project, read_project
from fleet_components.review.planning.stack_config import read_stack_config
from fleet_components.review.planning.survey import PIPED, CommandLine, of_stack, on_hub


@attrs.frozen
class FileEdit:
    """A file that changes.

    Attributes:
        file: the file.
        old: its text; empty for a new file.
        new: the text that it gets.
    """

    file: str
    old: str
    new: str

    def write(self) -> None:
        """Write the file."""
        # As bytes, since the line ends of the text are those of the file.
        Path(self.file).parent.mkdir(exist_ok=True)
        Path(self.file).write_bytes(self.new.encode())


def beside(manifest: Manifest) -> str:
    """Return the file that an object is in, beside which others can be written.

    Raises:
        FleetError: it is in no file: a program has made it, or it was piped in.
    """
    origin = manifest.origin
    if origin is None or not os.path.isfile(origin.file):
        hint = "give the directory that it is written in"
        raise FleetError(
            [
                manifest.problem(
                    Message(
                        "no-file-beside-anything",
                        "is in no file, beside which anything could be written",
                    ),
                    (),
                    hint,
                )
            ]
        )
    return origin.file


class Drafts:
    """Texts of files that change, as they are to be written."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._folders = [path for path in paths if path != PIPED and path.is_dir()]
        self._old: dict[str, str] = {}
        self._new: dict[str, str] = {}

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The files that change."""
        found = (FileEdit(file, self._old[file], new) for file, new in self._new.items())
        return tuple(edit for edit in found if edit.old != edit.new)

    def text(self, file: str) -> str:
        """Return the text of a file with the changes so far; empty if there is no such file."""
        if file not in self._new:
            # As bytes, since the line ends of the text are those of the file.
            old = Path(file).read_bytes().decode() if os.path.exists(file) else ""
            self._old[file] = self._new[file] = old
        return self._new[file]

    def put(self, file: str, text: str) -> None:
        """Change the text of a file."""
        # Remembers the text as it was: it is the old side of the difference.
        self.text(file)
        self._new[file] = text

    def add(self, name: str, beside: str, text: str) -> None:
        """Add documents in a file of their own beside another one, or below it where no directory
        was given.
        """
        # A single file that was given is all that is read: a file beside it would not be.
        if any(Path(beside).resolve().is_relative_to(folder.resolve()) for folder in self._folders):
            beside = str(Path(beside).parent / name)
        old = self.text(beside)
        if "\r\n" in old:
            text = text.replace("\n", "\r\n")
        end = "" if not old or old.endswith("\n") else "\n"
        self.put(beside, f"{old}{end}---\n{text}" if old else text)


def written_in(
    paths: Sequence[Path], command: CommandLine, instead: str
) -> tuple[Sequence[Path], CommandLine]:
    """Return the paths whose files may change, and the options for them.

    Args:
        paths: files and directories of a fleet, or a Pulumi project, which stands for what its
            ``fleet:source`` names.
        command: the options of the command line.
        instead: what to write in the program of a project that has no ``fleet:source``.

    Raises:
        FleetError: there is no ``fleet:source``, or the project cannot be read.
    """
    written = source_paths(paths, command, instead)
    if command.stack:
        command = of_stack(command, "", command.stack.rpartition("/")[2])
    # A project has a state of its own: only paths of YAML may be an observed directory.
    return written, on_hub(paths, command) if written is paths else command


def source_paths(paths: Sequence[Path], command: CommandLine, instead: str) -> Sequence[Path]:
    """Return the paths in which a fleet is written: those of a project are what its
    ``fleet:source`` names.

    Raises:
        FleetError: as for :func:`written_in`.
    """
    # A project is always planned alone.
    if len(paths) != 1 or not is_project(paths[0]):
        return paths
    project = read_project(paths[0])
    config = read_stack_config(project, choose_stack(project, command.stack))
    configured = config.values.get("fleet:source", "")
    if not configured:
        what = Message(
            "says-no-fleet-source",
            "says no fleet:source: its program makes the fleet, in which no file can be changed",
        )
        raise FleetError(
            [Problem(what, file=str(config.file.path), hint=f"in the program: {instead}")]
        )
    # fleet:source is one path, or several in JSON.
    listed = read_json(configured) if configured.startswith("[") else [configured]
    return [Path(os.path.relpath(project.folder / item)) for item in listed]


def edited(source: Source, edits: Sequence[FileEdit]) -> Source:
    """Return the source as it is once the edits are written."""
    files = {edit.file for edit in edits}
    kept = [
        manifest
        for manifest in source.given.manifests
        if manifest.origin is None or manifest.origin.file not in files
    ]
    # What an observation keeps in other files, such as a status: the edited file does not have it.
    apart = {
        manifest.key: manifest.origin.parts[1:]
        for manifest in source.given.manifests
        if manifest.origin
    }
    read = [
        manifest for edit in edits for manifest in gather(Text(edit.file, edit.new)).given.manifests
    ]
    manifests = (*kept, *(join(item, apart.get(item.key, ())) for item in read))
    return gathered(attrs.evolve(source.given, manifests=manifests))
