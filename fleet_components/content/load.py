"""Manifests from files, directories and text, each with the file and the line of every field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fleet_components.content.document import Document, documents
from fleet_components.content.files import read_files
from fleet_components.content.header import check_header, fill_nulls
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.problem import FieldPath, FleetError, Problem


def load(*sources: str | Path) -> tuple[Manifest, ...]:
    """The objects in files and directories (recursively), in the order of paths and documents.

    Files end in ``.yaml``, ``.yml`` or ``.json`` and hold any number of objects; a ``List`` stands for its items.

    Raises:
        FleetError: anything that cannot be read or is no Kubernetes object, for all files at once; or nothing
            was found at all.
    """
    problems: list[Problem] = []
    manifests = readable(sources, problems)
    if problems:
        raise FleetError(problems)
    return manifests


def readable(sources: Iterable[str | Path], problems: list[Problem]) -> tuple[Manifest, ...]:
    """As :func:`load`, as far as anything can be read: what is wrong is added to the problems."""
    sources = tuple(sources)
    texts = read_files(sources, problems)
    manifests = [manifest for file, text in texts for manifest in _manifests(text, file, problems)]
    _check_any(manifests, problems, ", ".join(map(str, sources)))
    return tuple(manifests)


def load_text(text: str, file: str = "<text>") -> tuple[Manifest, ...]:
    """The objects in a text, which messages call ``file``.

    Raises:
        FleetError: as for :func:`load`.
    """
    problems: list[Problem] = []
    manifests = tuple(_manifests(text, file, problems))
    _check_any(manifests, problems, file)
    if problems:
        raise FleetError(problems)
    return manifests


def _check_any(manifests: Sequence[Manifest], problems: list[Problem], where: str) -> None:
    if not manifests and not problems:
        hint = "give files or a directory with objects in .yaml, .yml or .json"
        problems.append(Problem("no Kubernetes objects found", file=where, hint=hint))


def _manifests(text: str, file: str, problems: list[Problem]) -> Iterator[Manifest]:
    found: list[Problem] = []
    before = 0
    for document in documents(text, file, found):
        broken = [problem.path for problem in found[before:]]
        for path, data in _objects(document.data):
            manifests = _manifest(document, data, path, found)
            # What is left of a broken object is none, and is not judged any further.
            yield from (one for one in manifests if not any(field[: len(path)] == path for field in broken))
        before = len(found)
    problems += sorted(found, key=lambda problem: problem.line or 0)


def _objects(data: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """The object itself, or the items of a list; those of a typed list take its kind, as in the API."""
    kind = str(data.get("kind")) if isinstance(data, Mapping) else ""
    items = data.get("items", ()) if kind.endswith("List") else ()
    if not isinstance(items, list | None):
        yield path, data
        return
    inherited = {"apiVersion": data.get("apiVersion"), "kind": kind.removesuffix("List")}
    for index, item in enumerate(items or []):
        typed = {**inherited, **item} if kind != "List" and isinstance(item, Mapping) else item
        yield from _objects(typed, (*path, "items", index))


def _manifest(document: Document, data: Any, path: FieldPath, problems: list[Problem]) -> Iterator[Manifest]:
    place = document.place(path)
    origin = Origin(document.file, place.line(), place.line)
    if not isinstance(data, Mapping):
        hint = "an object starts with apiVersion, kind and metadata"
        problems.append(Problem("not a Kubernetes object", path, hint, file=origin.file, line=origin.line))
        return
    manifest = Manifest(fill_nulls(data), origin)
    found = check_header(manifest)
    problems += found
    if not found:
        yield manifest
