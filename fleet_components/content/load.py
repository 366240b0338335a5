"""Manifests from files, directories and text, each with the file and the line of every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    texts = read_files(sources, problems)
    manifests = [manifest for file, text in texts for manifest in _manifests(text, file, problems)]
    return _checked(manifests, problems, ", ".join(map(str, sources)))


def load_text(text: str, file: str = "<text>") -> tuple[Manifest, ...]:
    """The objects in a text, which messages call ``file``.

    Raises:
        FleetError: as for :func:`load`.
    """
    problems: list[Problem] = []
    return _checked(list(_manifests(text, file, problems)), problems, file)


def _checked(manifests: list[Manifest], problems: list[Problem], where: str) -> tuple[Manifest, ...]:
    if not manifests and not problems:
        hint = "give files or a directory with objects in .yaml, .yml or .json"
        problems.append(Problem("no Kubernetes objects found", file=where, hint=hint))
    if problems:
        raise FleetError(problems)
    return tuple(manifests)


def _manifests(text: str, file: str, problems: list[Problem]) -> Iterator[Manifest]:
    found: list[Problem] = []
    for document in documents(text, file, found):
        for path, data in _objects(document.data):
            yield from _manifest(document, data, path, found)
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
