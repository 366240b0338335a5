"""Loads manifests from files, directories, text, charts and kustomizations, with the location of
every field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.build import Build
from fleet_components.content.chart import HOOK, Chart, is_hook
from fleet_components.content.declared import misplaced, names_a_build, read_build
from fleet_components.content.document import Document, documents
from fleet_components.content.files import SourceEntry, Text, find, read_file, unbuilt
from fleet_components.content.header import check_header, fill_nulls
from fleet_components.content.kustomization import Kustomization
from fleet_components.content.observed import MEND, joined
from fleet_components.content.paths import resolved
from fleet_components.content.tool import ToolError
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.model.watch import Watch, unwatched

_FIRST_FIELDS = ("apiVersion", "kind", "metadata")
_NO_OBJECT = Message("no-kubernetes-object", "not a Kubernetes object")
_OBJECT = f"an object starts with {', '.join(_FIRST_FIELDS[:-1])} and {_FIRST_FIELDS[-1]}"
_OF_OTHERS = (
    f"{_OBJECT}; a file of another tool is passed over if it stands elsewhere, or its name begins"
    " with a dot"
)


def load(
    *sources: str | Path | Text, warnings: list[Problem] | None = None
) -> tuple[Manifest, ...]:
    """Return the objects in files and directories (at any depth), in the order of paths and
    documents.

    Files end in ``.yaml``, ``.yml`` or ``.json`` and contain any number of objects; a ``List``
    stands for its items. The directory of a Helm chart or a kustomization stands for the output of
    ``helm template`` or ``kustomize build``. If it is only found in a directory, it is built if an
    object there declares it, and refused otherwise. Of an
    observed directory the parts in its folder ``observed`` count, too: what changes by itself in
    members, and objects whose data is hidden, unless another file has the same object.

    Args:
        sources: paths, and named texts.
        warnings: warnings about skipped and probably unintended input are added here.

    Raises:
        FleetError: something cannot be read or built, is not a Kubernetes object, or nothing was
            found; carries the problems of all files.
    """
    problems: list[Problem] = []
    found_warnings: list[Problem] = []
    manifests = readable(sources, problems, found_warnings)
    if warnings is not None:
        warnings += found_warnings
    if problems:
        raise FleetError(problems)
    return manifests


def readable(
    sources: Iterable[str | Path | Text],
    problems: list[Problem],
    warnings: list[Problem],
    *,
    build: bool = True,
    watch: Watch = unwatched,
) -> tuple[Manifest, ...]:
    """Return the objects as :func:`load` does, as far as possible.

    Problems are added to ``problems`` instead of raised. Without ``build`` charts and
    kustomizations are refused; ``watch`` gets the one that is built.
    """
    sources = tuple(sources)
    # All are read before any is used: a chart may have a file of another source as its values.
    read = list(_read_all(sources, problems))
    inputs = frozenset[Path]().union(*(build.uses for item in read for build in item.builds))
    used = [item for item in read if item.place not in inputs]
    misspelt = any(item.misspelt for item in used)
    # A declaration that cannot be read may be the one of this folder, so only the declaration is
    # reported.
    problems += (
        problem for item in used if not (item.unnamed and misspelt) for problem in item.problems
    )
    warnings += _named_and_declared([build for item in used for build in item.builds])
    problems += (problem for item in read if item.place in inputs for problem in _both(item))
    manifests = [manifest for item in used if not item.part for manifest in item.manifests]
    found_warnings: list[Problem] = []
    for item in used:
        # A file with a problem may declare its build in another way than is meant.
        for asked in () if item.problems else item.builds:
            if build:
                with watch(f"building {asked.folder}"):
                    manifests += _built(asked, problems, found_warnings)
            else:
                problems.append(
                    asked.problem(
                        Message("built-program", "would be built by a program"),
                        f"build it elsewhere: {asked.by_hand}",
                    )
                )
    warnings += (*_hooks_among(manifests), *found_warnings)
    manifests = joined(
        manifests,
        ((item.part, manifest) for item in used if item.part for manifest in item.manifests),
    )
    if not manifests and not problems:
        problems.append(_nothing_found(", ".join(map(named, sources))))
    return tuple(manifests)


def named(source: str | Path | Text) -> str:
    """Return the name of a source in messages."""
    return source.file if isinstance(source, Text) else str(source)


def load_text(text: str, file: str = "<text>") -> tuple[Manifest, ...]:
    """Return the objects in a text; ``file`` is its name in messages.

    Raises:
        FleetError: as :func:`load`.
    """
    return load(Text(file, text))


@attrs.define
class _Read:
    """Content of a file, a text or a folder.

    Attributes:
        place: its path with links resolved; None if it cannot be input of a build.
        manifests: the objects.
        builds: the charts and kustomizations that it declares or is.
        problems: the problems found.
        unnamed: it is a chart or kustomization that is not a source, so an object must declare it.
        misspelt: it contains an invalid declaration of a chart or kustomization.
        part: as that of :class:`~fleet_components.content.files.SourceEntry`.
    """

    place: Path | None = None
    manifests: list[Manifest] = attrs.field(factory=list)
    builds: list[Build] = attrs.field(factory=list)
    problems: list[Problem] = attrs.field(factory=list)
    unnamed: bool = False
    misspelt: bool = False
    part: str = ""


def _read_all(sources: Iterable[str | Path | Text], problems: list[Problem]) -> Iterator[_Read]:
    # All sources are listed first, because a later one may name a folder that an earlier one has.
    found = [
        source if isinstance(source, Text) else list(find(Path(source), problems))
        for source in sources
    ]
    entries = [entry for each in found if not isinstance(each, Text) for entry in each]
    named = {entry.path for entry in entries if entry.named}
    seen: set[Path] = set()
    for each in found:
        if isinstance(each, Text):
            read = _read_text(each)
            if not read.manifests and not read.problems:
                read.problems.append(_nothing_found(each.file))
            yield read
            continue
        for entry in each:
            # A folder that one source only contains may be named as another source.
            if entry.path not in seen and (entry.named or entry.path not in named):
                seen.add(entry.path)
                read = attrs.evolve(_read_entry(entry), part=entry.part)
                if entry.part:
                    read.problems = [attrs.evolve(problem, hint=MEND) for problem in read.problems]
                yield read


def _read_entry(entry: SourceEntry) -> _Read:
    path = entry.path
    if entry.kind != "file":
        if not entry.named:
            return _Read(resolved(path), problems=[unbuilt(entry)], unnamed=True)
        build = (
            Chart.named(path) if entry.kind == "chart" else Kustomization(folder=path, root=path)
        )
        return _Read(builds=[build], problems=list(build.problems()))
    try:
        return _read_text(Text(str(path), read_file(path), entry.root), resolved(path))
    except FleetError as error:
        return _Read(resolved(path), problems=list(error.problems))


def _read_text(text: Text, place: Path | None = None) -> _Read:
    read = _Read(place)
    for manifest in _manifests(text, read.problems):
        if not names_a_build(manifest):
            read.manifests.append(manifest)
        elif text.root is None:
            read.problems.append(misplaced(manifest))
        elif build := read_build(manifest, text.root, read.problems):
            read.builds.append(build)
        else:
            read.misspelt = True
    return read


def _built(build: Build, problems: list[Problem], warnings: list[Problem]) -> list[Manifest]:
    try:
        texts = build.build(warnings)
    except ToolError as error:
        first = (
            "install it, or build it elsewhere"
            if error.missing
            else "mend it, or build it elsewhere"
        )
        hint = f"{first} and give what comes out: {build.by_hand} > manifests.yaml"
        problems.append(build.problem(Message("other-error", "{reason}", reason=error), hint))
        return []
    read = [_read_text(text) for text in texts]
    wrong = [problem for item in read for problem in item.problems]
    problems += wrong
    placed = list(
        build.placed((manifest for item in read for manifest in item.manifests), warnings)
    )
    if not placed and not wrong:
        warnings.append(
            build.problem(
                Message("nothing-comes", "nothing comes of it"),
                f"see what is printed: {build.by_hand}",
            )
        )
    return placed


def _named_and_declared(builds: Iterable[Build]) -> Iterator[Problem]:
    """Yield a problem for each folder that is both a source and declared, because it is built for
    either.
    """
    builds = tuple(builds)
    declared = {resolved(build.folder): build.declared for build in builds if build.declared}
    for build in builds:
        if not build.declared and (other := declared.get(resolved(build.folder))):
            hint = "leave it out of the sources: what declares it says how it is built"
            yield other.problem(
                Message(
                    "source-well-built-twice",
                    "{folder} is a source as well, so it is built twice",
                    folder=build.folder,
                ),
                ("spec", "path"),
                hint,
            )


def _both(read: _Read) -> Iterator[Problem]:
    """Yield a problem for each object in a file that is also a value file of a chart, since it
    would not be placed.
    """
    hint = "keep the values in a file of their own"
    for manifest in (*read.manifests, *(build.declared for build in read.builds)):
        if manifest:
            yield manifest.problem(
                Message(
                    "stands-file-chart-values", "stands in a file that a chart has as its values"
                ),
                (),
                hint,
            )


def _hooks_among(manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield a warning if the objects contain hooks of a chart that was rendered elsewhere."""
    hooks = [manifest for manifest in manifests if is_hook(manifest)]
    if hooks:
        shown = few([str(manifest.key) for manifest in hooks])
        what = Message(
            "helm-chart-placed-any",
            "{count} of a Helm chart placed as any other object: {shown}",
            count=count(len(hooks), "hook"),
            shown=shown,
        )
        hint = (
            "take out what does not belong on the members; of a chart that is rendered here they"
            " are passed over"
        )
        yield hooks[0].problem(what, ("metadata", "annotations", HOOK), hint)


def _nothing_found(where: str) -> Problem:
    hint = "give files or a directory with objects in .yaml, .yml or .json"
    return Problem(
        Message("no-kubernetes-objects-found", "no Kubernetes objects found"), file=where, hint=hint
    )


def _manifests(text: Text, problems: list[Problem]) -> Iterator[Manifest]:
    found: list[Problem] = []
    before = 0
    for document in documents(text.text, text.file, found):
        broken = [problem.path for problem in found[before:]]
        for path, data in objects_in(document.data):
            manifests = _manifest(document, data, path, text, found)
            # An object with a syntax problem is incomplete, so further checks would report wrong
            # problems.
            yield from (
                manifest
                for manifest in manifests
                if not any(field[: len(path)] == path for field in broken)
            )
        before = len(found)
    # Problems of syntax and of objects are found in turns, and are shown by line.
    found.sort(key=lambda problem: problem.line or 0)
    problems += [attrs.evolve(problem, line=None) for problem in found] if text.built else found


def objects_in(data: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield the object itself, or the items of a list, with their paths.

    Items of a typed list get its kind, as in the API.
    """
    kind = str(data.get("kind")) if isinstance(data, Mapping) else ""
    # The default is not a list on purpose: an object of a kind such as AllowList that has no items
    # is an object.
    items = data.get("items", ()) if kind.endswith("List") else ()
    if not isinstance(items, list | None):
        yield path, data
        return
    inherited = {"apiVersion": data.get("apiVersion"), "kind": kind.removesuffix("List")}
    for index, item in enumerate(items or []):
        typed = {**inherited, **item} if kind != "List" and isinstance(item, Mapping) else item
        yield from objects_in(typed, (*path, "items", index))


def _manifest(
    document: Document, data: Any, path: FieldPath, text: Text, problems: list[Problem]
) -> Iterator[Manifest]:
    section = document.section(path)
    origin = (
        Origin(text.file, None, lambda _: None)
        if text.built
        else Origin(text.file, section.line(), section.line)
    )
    if not isinstance(data, Mapping) or data.keys().isdisjoint(_FIRST_FIELDS):
        # Of a file of another tool one is enough, however many documents it has.
        if not any(problem.message == _NO_OBJECT for problem in problems):
            hint = _OF_OTHERS if text.root else _OBJECT
            problems.append(Problem(_NO_OBJECT, path, hint, file=origin.file, line=origin.line))
        return
    manifest = Manifest(fill_nulls(data), origin)
    found = check_header(manifest)
    problems += found
    if not found:
        yield manifest
