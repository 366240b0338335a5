"""A kustomization, built as ``kustomize build`` does: without plugins, and from local files only.

::

    apiVersion: fleet-components/v1
    kind: Kustomization
    metadata: {name: shop}
    spec: {path: overlays/production}    # below the folder of this file
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import attrs

from fleet_components.content.build import Build
from fleet_components.content.document import Document, documents
from fleet_components.content.files import KUSTOMIZATIONS, Text, read_file
from fleet_components.content.paths import (
    FETCHED,
    PLUGINS,
    addresses,
    has_address,
    is_address,
    is_inline,
    is_repository,
    resolved,
    within,
)
from fleet_components.content.tool import as_argument, find_tool, run_tool
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

_FOLDERS = ("resources", "bases", "components", *PLUGINS)
_PLAIN = ("apiVersion", "kind", "metadata", "resources", "bases", "components")
"""Fields with which a kustomization gives files as they are."""
_ADDRESS = Message("is-address", "{what} is an address")
_LOCAL = f"{FETCHED}; a path of its own begins with ./"


@attrs.frozen(kw_only=True)
class Kustomization(Build):
    """A kustomization, including its bases."""

    @property
    def uses(self) -> frozenset[Path]:
        """Its folder and those of its bases."""
        return frozenset(self._read[0])

    @property
    def by_hand(self) -> str:
        """The command that prints the same."""
        return f"kustomize build {self.folder}"

    def problems(self) -> Iterator[Problem]:
        """Yield problems of paths that do not exist, or that must not be read."""
        yield from self._read[1]

    def build(self, warnings: list[Problem]) -> list[Text]:
        """Return the output of kustomize as one text, named after the kustomization file."""
        tool = find_tool("a kustomization", "kustomize", "kubectl")
        # kubectl has kustomize as one of its commands.
        command = "build" if tool.stem == "kustomize" else "kustomize"
        printed = run_tool(tool, [command, as_argument(self.folder)])
        if printed.message:
            warnings.append(
                self.problem(
                    Message(
                        "kustomization-refused",
                        "{stem} says: {message}",
                        stem=tool.stem,
                        message=printed.message,
                    ),
                    f"see what is printed: {self.by_hand}",
                )
            )
        return [Text(str(_file(self.folder)), printed.text, built=True)]

    def placed(self, manifests: Iterable[Manifest], warnings: list[Problem]) -> Iterable[Manifest]:
        """Return the objects unchanged."""
        return manifests

    @cached_property
    def _read(self) -> tuple[set[Path], list[Problem]]:
        """The folders that it uses, and the problems found in them."""
        problems: list[Problem] = []
        waiting, seen = [_Folder(self.folder)], {(resolved(self.folder), False)}
        while waiting:
            for base in self._bases(waiting.pop(), problems):
                # A folder may be used in both ways, and as a plug-in it has more rules.
                pair = resolved(base.path), base.plugin
                if pair not in seen:
                    seen.add(pair)
                    waiting.append(base)
        # A folder that is used in both ways is read twice, with the same problems.
        return {path for path, _ in seen}, list(dict.fromkeys(problems))

    def _bases(self, folder: _Folder, problems: list[Problem]) -> Iterator[_Folder]:
        """Yield the folders that one names. Files of plug-ins are read here."""
        for entry in _entries(folder, problems):
            path, plugin = folder.path / entry.written, folder.plugin or entry.field in PLUGINS
            if entry.field in PLUGINS and is_inline(entry.written):
                continue
            if not os.path.exists(path):
                hint = f"paths are taken from {folder.path}, and nothing is fetched from elsewhere"
                problems.append(
                    entry.problem(
                        Message("no-such-path", 'there is no "{written}"', written=entry.written),
                        hint,
                    )
                )
            # A kustomization that is a source itself may have its bases outside of its folder, as
            # overlays usually do.
            elif self.declared and not within(path, self.root):
                problems.append(
                    entry.problem(
                        Message(
                            "leads-out",
                            '"{written}" leads out of {root}',
                            written=entry.written,
                            root=self.root,
                        ),
                        "copy it into there",
                    )
                )
            elif path.is_dir():
                yield _Folder(path, plugin)
            elif plugin:
                problems += _in_file(path)


@attrs.frozen
class _Folder:
    """A folder of a kustomization; ``plugin`` is True if plug-ins come of it."""

    path: Path
    plugin: bool = False


@attrs.frozen
class _Entry:
    """A path in a kustomization file, with its location."""

    written: str
    field: str
    position: int
    document: Document

    def problem(self, what: Message, hint: str) -> Problem:
        path = self.field, self.position
        return Problem(
            what, path, hint, file=self.document.file, line=self.document.section(()).line(path)
        )


def _entries(folder: _Folder, problems: list[Problem]) -> Iterator[_Entry]:
    """Yield the entries that may be paths of folders. Entries of a wrong type are left to kustomize
    to report.

    A file is refused that has an address in any field, and one that kustomize could read in another
    way, and so find
    other paths in: it takes the last of two equal fields, and fields in any letters.
    """
    for document in _documents(_file(folder.path), problems):
        problems += _fetching(document, folder)
        fields = document.data if isinstance(document.data, dict) else {}
        for field in fields:
            if field not in _FOLDERS and field.casefold() in _FOLDERS:
                line = document.section(()).line((field,))
                problems.append(
                    Problem(
                        Message("not-written", "is not written so"),
                        (field,),
                        f"write {field.casefold()}",
                        "",
                        document.file,
                        line,
                    )
                )
        for field in _FOLDERS:
            entries = fields.get(field)
            for position, written in enumerate(entries if isinstance(entries, list) else ()):
                # Addresses anywhere in the file are reported by _fetching().
                if not isinstance(written, str) or is_address(written):
                    continue
                entry = _Entry(written, field, position, document)
                if is_repository(written):
                    problems.append(
                        entry.problem(
                            Message(
                                "address-repository-kustomize",
                                '"{written}" is the address of a repository to kustomize',
                                written=written,
                            ),
                            _LOCAL,
                        )
                    )
                else:
                    yield entry


def _fetching(document: Document, folder: _Folder) -> Iterator[Problem]:
    """Yield a problem for each address in a kustomization, and for each field that could put one
    together in a plug-in.

    Replacements, patches and prefixes are carried out on plug-ins before these are read.
    """
    for path, text in addresses(document.data, plugin=folder.plugin):
        what = _ADDRESS.filled(what="what it holds" if is_inline(text) else f'"{text}"')
        yield Problem(what, path, FETCHED, file=document.file, line=document.section(()).line(path))
    for field in document.data if folder.plugin and isinstance(document.data, dict) else ():
        if field not in _PLAIN:
            what, hint = (
                Message(
                    "changes-plug-ins", "changes plug-ins, so that what they read is not known"
                ),
                "write the plug-ins as they are to be",
            )
            yield Problem(
                what, (field,), hint, file=document.file, line=document.section(()).line((field,))
            )


def _in_file(path: Path) -> Iterator[Problem]:
    """Yield the problem of a file that plug-ins come of, if it has an address."""
    try:
        found = has_address(read_file(path))
    except FleetError as error:
        yield from error.problems
        return
    if found:
        yield Problem(_ADDRESS.filled(what="a text in it"), file=str(path), hint=FETCHED)


def _file(folder: Path) -> Path:
    # Without such a file the folder itself, of which _documents() reads nothing.
    return next((folder / name for name in KUSTOMIZATIONS if (folder / name).is_file()), folder)


def _documents(file: Path, problems: list[Problem]) -> list[Document]:
    try:
        return list(documents(read_file(file), str(file), problems)) if file.is_file() else []
    except FleetError as error:
        problems += error.problems
        return []
