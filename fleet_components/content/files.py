"""Finds manifest files and reads their text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fleet_components.model.problem import Problem

EXTENSIONS = (".yaml", ".yml", ".json")
_KUSTOMIZE = ("is input of kustomize, not a manifest", "build it first: kustomize build {} > manifests.yaml")
_CHART = ("is a Helm chart, not a manifest", "render it first: helm template {} > manifests.yaml")
_BUILT_FIRST = {
    "kustomization.yaml": _KUSTOMIZE,
    "kustomization.yml": _KUSTOMIZE,
    "Kustomization": _KUSTOMIZE,
    "Chart.yaml": _CHART,
}


def read_files(sources: Iterable[str | Path], problems: list[Problem]) -> Iterator[tuple[str, str]]:
    """The path and the text of each manifest file, each file once.

    A directory stands for all its files of the known extensions, those of its subdirectories included, in the
    order of their paths; hidden files and directories are passed over, links to directories not followed. What
    cannot be read is added to the problems.
    """
    found = (path for source in sources for path in _find(Path(source), problems))
    for path in dict.fromkeys(found):
        text = _read(path, problems)
        if text is not None:
            yield str(path), text


def _find(source: Path, problems: list[Problem]) -> list[Path]:
    if source.is_dir():
        return sorted(_walk(source, problems))
    if source.name in _BUILT_FIRST:
        problems.append(_built_first(source))
    elif source.exists() and source.suffix not in EXTENSIONS:
        hint = f"manifest files end in {', '.join(EXTENSIONS)}"
        problems.append(Problem(f'unknown extension "{source.suffix}"', file=str(source), hint=hint))
    else:
        return [source]
    return []


def _walk(top: Path, problems: list[Problem]) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        problems.append(_unreadable(Path(error.filename), error))

    for folder, subfolders, names in os.walk(top, onerror=failed):
        if to_build := [name for name in sorted(names) if name in _BUILT_FIRST]:
            problems.append(_built_first(Path(folder, to_build[0])))
            subfolders.clear()
            continue
        subfolders[:] = [name for name in sorted(subfolders) if not name.startswith(".")]
        shown = (Path(folder, name) for name in names if not name.startswith("."))
        yield from (path for path in shown if path.suffix in EXTENSIONS)


def _built_first(path: Path) -> Problem:
    what, hint = _BUILT_FIRST[path.name]
    return Problem(what, file=str(path), hint=hint.format(path.parent))


def _read(path: Path, problems: list[Problem]) -> str | None:
    try:
        raw = path.read_bytes()
    except OSError as error:
        problems.append(_unreadable(path, error))
        return None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        problems.append(Problem("not UTF-8", file=str(path), line=line, hint="save the file as UTF-8"))
        return None


def _unreadable(path: Path, error: OSError) -> Problem:
    missing = isinstance(error, FileNotFoundError)
    hint = f"the path is taken from {Path.cwd()}" if missing and not path.is_absolute() else ""
    return Problem(f"cannot be read: {error.strerror}", file=str(path), hint=hint)
