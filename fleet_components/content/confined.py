"""Paths that others wrote, kept within the directory that they were written for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from fleet_components.model.problem import Problem

_FETCHED = "nothing is fetched from elsewhere: copy it into the directory, so that it is reviewed with the rest"


def confined(written: str, folder: Path, root: Path) -> Path | Problem:
    """Where a path leads that was written in a file, or why it must not be followed.

    Args:
        written: the path, relative to the folder.
        folder: where the file lies that it was written in.
        root: what it must not lead out of.
    """
    if "://" in written or written.startswith("git@"):
        return Problem(f'"{written}" is an address', hint=_FETCHED)
    if PurePosixPath(written).is_absolute() or PureWindowsPath(written).anchor or ".." in Path(written).parts:
        return Problem(f'"{written}" may lead anywhere', hint=f"write a path below {folder}, without ..")
    path = folder / written
    if "\0" in written or not path.exists():
        return Problem(f'there is no "{written}"', hint=f"paths are taken from {folder}")
    if not within(path, root):
        return Problem(f'"{written}" is a link that leads out of {root}', hint="copy what it leads to")
    return path


def links_out(folder: Path, root: Path) -> Iterator[Path]:
    """The links in a folder and below that lead out of a directory: tools follow them."""
    for at, folders, names in os.walk(folder):
        for name in sorted((*folders, *names)):
            path = Path(at, name)
            if path.is_symlink() and not within(path, root):
                yield path


def within(path: Path, root: Path) -> bool:
    """Whether a path leads nowhere but into a directory, whatever links are on its way."""
    return path.resolve().is_relative_to(root.resolve())
