"""Finds manifest files, charts and kustomizations under a path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Literal

import attrs

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.observed import MEMORY, PARTS, is_observed, observed_above
from fleet_components.content.paths import files_below, read_regular, walk, within
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

EXTENSIONS = (".yaml", ".yml", ".json")
CHART = "Chart.yaml"
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BUILT = dict.fromkeys(KUSTOMIZATIONS, "kustomization") | {CHART: "chart"}
_INSTEAD = {
    "chart": (Message("helm-chart-not-manifest", "is a Helm chart, not a manifest"), "Chart"),
    "kustomization": (
        Message("kustomize-input-not-manifest", "is input of kustomize, not a manifest"),
        "Kustomization",
    ),
}
_DECLARATION = (
    "{{apiVersion: fleet-components/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {{path:"
    " {path}}}}}"
)


@attrs.frozen
class Text:
    """A text that contains objects.

    Attributes:
        file: its name in messages.
        text: the text.
        root: the directory that paths in it must not lead out of; None if it must not contain
            paths.
        built: it is the output of a tool, so its line numbers are meaningless to users.
    """

    file: str
    text: str = attrs.field(repr=False)
    root: Path | None = None
    built: bool = False


@attrs.frozen
class SourceEntry:
    """Something that was found under a path.

    Attributes:
        path: a file, or the folder of a chart or kustomization.
        root: the directory of the source that it belongs to.
        kind: whether it is a file, a chart or a kustomization.
        named: it is itself a source, not only found in one.
        part: the folder in which an observation has written it, of
            :data:`~fleet_components.content.observed.PARTS`; empty for a file of people.
    """

    path: Path
    root: Path
    kind: Literal["file", "chart", "kustomization"] = "file"
    named: bool = False
    part: str = ""


def find(source: Path, problems: list[Problem]) -> Iterator[SourceEntry]:
    """Yield the manifest files, charts and kustomizations under a path.

    A directory stands for all files in it with a known extension, at any depth, ordered by path;
    hidden files and directories are skipped, as is what an observed directory remembers of its hub
    but for the parts of the source there, and links to directories are not followed. A link that
    leads out of the directory is a problem: it could lead to any file that the caller may read. So
    is a hidden file that ``kubectl apply -R`` would bring to an observed hub. A chart or
    kustomization is one entry. Problems are added to ``problems``.
    """
    # Unlike those of Path, these functions take any text.
    if os.path.isdir(source):
        yield from _in_folder(source, problems)
    elif source.name in _BUILT:
        problems.append(unbuilt(SourceEntry(source.parent, source.parent, _kind(source.name))))
    elif os.path.exists(source) and source.suffix not in EXTENSIONS:
        known = f"manifest files end in {', '.join(EXTENSIONS)}"
        hint = "unpack it, and give its folder" if source.suffix == ".tgz" else known
        problems.append(
            Problem(
                Message("unknown-extension", 'unknown extension "{suffix}"', suffix=source.suffix),
                file=str(source),
                hint=hint,
            )
        )
    else:
        yield SourceEntry(source, source.parent)


def unbuilt(entry: SourceEntry) -> Problem:
    """Return the problem for a chart or kustomization that is not named by the user, with how to
    name it.
    """
    what, kind = _INSTEAD[entry.kind]
    hint = f"give its folder as a source of its own: {entry.path}"
    if entry.path != entry.root:
        path = entry.path.relative_to(entry.root)
        declaration = _DECLARATION.format(kind=kind, name=entry.path.name, path=path.as_posix())
        hint += f"; or declare it, with its settings, in a file in {entry.root}: {declaration}"
    return Problem(what, file=str(_marker(entry.path)), hint=hint)


def read_file(path: Path) -> str:
    """Return the text of a file.

    Raises:
        FleetError: the file cannot be read or is not UTF-8.
    """
    try:
        raw = read_regular(path)
    except OSError as error:
        raise FleetError([unreadable(path, error)]) from error
    except UnreadableError as error:
        raise FleetError([error.problem(str(path))]) from None
    return decoded(raw, str(path))


def decoded(raw: bytes, file: str) -> str:
    """Decode UTF-8, with or without a byte order mark.

    Raises:
        FleetError: the bytes are not UTF-8.
    """
    try:
        # A byte order mark is no part of the text, and lines and columns do not count it.
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise FleetError(
            [
                Problem(
                    Message("not-utf", "not UTF-8"),
                    file=file,
                    line=line,
                    hint="save the file as UTF-8",
                )
            ]
        ) from error


def _in_folder(source: Path, problems: list[Problem]) -> Iterator[SourceEntry]:
    marker = _marker(source)
    if marker != source and not is_observed(source):
        yield SourceEntry(source, source, _kind(marker.name), named=True)
    else:
        yield from sorted(_walk(source, source, problems), key=lambda entry: entry.path)


def _walk(start: Path, top: Path, problems: list[Problem]) -> Iterator[SourceEntry]:
    def failed(error: OSError) -> None:
        problems.append(unreadable(Path(error.filename), error))

    # The source may be a folder inside an observed directory.
    root = start if is_observed(start) else observed_above(start)
    for folder, subfolders, names in walk(start, failed):
        at = Path(folder)
        # The name first, because is_observed reads a file.
        observed = MEMORY in subfolders and is_observed(at)
        inside = root is not None and _is_in_part(at, root)
        if observed and not inside:
            root = at
            problems += _linked_parts(at)
        elif observed:
            problems.append(_nested(at))
        marker = _marker(at)
        if marker != at and (inside or observed):
            names = [name for name in names if name not in _BUILT]
            problems.append(_beside_files(marker))
        elif marker != at:
            yield SourceEntry(at, top, _kind(marker.name))
            # What is inside is input of the build: the templates of a chart are not even YAML.
            subfolders.clear()
            continue
        if observed:
            yield from _parts(at / MEMORY, top, problems)
        if inside:
            problems += _hidden(at, subfolders, names)
        # In place and sorted: os.walk goes on into what the list has then.
        subfolders[:] = [
            name
            for name in sorted(subfolders)
            if not (name.startswith(".") or (observed and name == MEMORY))
        ]
        shown = (Path(folder, name) for name in names if not name.startswith("."))
        for path in (path for path in shown if path.suffix in EXTENSIONS):
            if path.is_symlink() and not within(path, top):
                hint = "copy what it leads to, or give that as a source of its own"
                problems.append(
                    Problem(
                        Message("link-leaves-source", "is a link that leads out of {top}", top=top),
                        file=str(path),
                        hint=hint,
                    )
                )
            else:
                yield SourceEntry(path, top)


def _is_in_part(folder: Path, root: Path) -> bool:
    """Return whether an observation writes into a folder below its directory."""
    return any(
        PurePath(os.path.abspath(folder)).is_relative_to(os.path.abspath(root / part))
        for part in PARTS
    )


def _hidden(folder: Path, subfolders: Iterable[str], names: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each hidden file in a part of an observed directory that ``kubectl apply
    -R`` would apply.

    It takes every regular file and link below a directory whose name ends in one of
    :data:`EXTENSIONS`: see ``ExpandPathsToFileVisitors`` and ``FileExtensions`` of
    k8s.io/cli-runtime.
    """
    found = [folder / name for name in names if name.startswith(".") and name.endswith(EXTENSIONS)]
    for hidden in (name for name in subfolders if name.startswith(".")):
        found += files_below(folder / hidden, EXTENSIONS)
    for path in sorted(found):
        what = Message(
            "hidden-dot-not-read",
            "is hidden by a dot, so that it is not read here, and kubectl apply -R would apply it",
        )
        yield Problem(what, file=str(path), hint="rename it, or remove it")


def _nested(folder: Path) -> Problem:
    """Return the problem of an observed directory in the files of another one."""
    what = Message(
        "observed-directory-among-files",
        "is an observed directory among the files of another one, which the hub gets as they are",
    )
    return Problem(what, file=str(folder), hint=f"remove its folder {MEMORY}")


def _linked_parts(observed: Path) -> Iterator[Problem]:
    """Yield a problem for each part of an observed directory that is a link: nothing is read
    through it here.
    """
    for part in PARTS:
        if (observed / part).is_symlink():
            what = Message(
                "link-not-followed-here",
                "is a link, which is not followed here, and kubectl may follow it",
            )
            yield Problem(what, file=str(observed / part), hint="put the files themselves there")


def _beside_files(marker: Path) -> Problem:
    """Return the problem of an input of kustomize or helm among the files of an observation."""
    tool = "helm" if marker.name == CHART else "kustomize"
    what = Message(
        "input-observed-directory-whose",
        "is input of {tool} in an observed directory, whose files are what the hub gets, as"
        " they are",
        tool=tool,
    )
    hint = (
        "move it out of the directory: beside it, it can have the folders policies and objects as"
        " resources"
    )
    return Problem(what, file=str(marker), hint=hint)


def _parts(memory: Path, top: Path, problems: list[Problem]) -> Iterator[SourceEntry]:
    """Yield the files with parts of the source that an observation has written."""
    for part in PARTS:
        place = memory / part
        if place.is_dir() and not (memory.is_symlink() or place.is_symlink()):
            yield from (attrs.evolve(entry, part=part) for entry in _walk(place, top, problems))


def _marker(folder: Path) -> Path:
    """Return the file that makes a folder a chart or kustomization; the folder itself if there is
    none.
    """
    # Chart.yaml comes first: a folder with both is a chart.
    return next((folder / name for name in sorted(_BUILT) if (folder / name).is_file()), folder)


def _kind(name: str) -> Literal["chart", "kustomization"]:
    return "chart" if name == CHART else "kustomization"


def unreadable(path: Path, error: OSError) -> Problem:
    """Return the problem of a path that cannot be read."""
    missing = isinstance(error, FileNotFoundError)
    hint = f"the path is taken from {Path.cwd()}" if missing and not path.is_absolute() else ""
    return Problem(
        Message("cannot-read", "cannot be read: {strerror}", strerror=error.strerror),
        file=str(path),
        hint=hint,
    )
