"""Checks paths written in files: they must not lead out of a directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from fleet_components.content.address import FETCHED, is_address
from fleet_components.content.walk import walk
from fleet_components.model.problem import Problem


def confined(written: str, folder: Path, root: Path) -> Path | Problem:
    """Return the path that was written in a file, or the problem with it.

    Args:
        written: the path as written, relative to ``folder``.
        folder: the folder of the file in which it was written.
        root: the directory that the path must not lead out of.
    """
    if "://" in written or is_address(written):
        return Problem(f'"{written}" is an address', hint=FETCHED)
    # By the rules of both systems, so that a source is judged alike wherever it is read.
    if PurePosixPath(written).is_absolute() or PureWindowsPath(written).anchor or ".." in Path(written).parts:
        return Problem(f'"{written}" may lead anywhere', hint=f"write a path below {folder}, without ..")
    path = folder / written
    if not os.path.exists(path):  # unlike Path.exists, it takes any text
        return Problem(f'there is no "{written}"', hint=f"paths are taken from {folder}")
    if not within(path, root):
        return Problem(f'"{written}" is a link that leads out of {root}', hint="copy what it leads to")
    return path


def resolved(path: Path) -> Path:
    """Return a path with all links resolved; a link that leads to itself stays."""
    return Path(os.path.realpath(path))  # Path.resolve raises an error for such a link, until Python 3.13


def links_out(folder: Path, root: Path) -> Iterator[Path]:
    """Yield the links in a folder, at any depth, that lead out of ``root``. Tools would follow them."""
    for at, folders, names in walk(folder):
        for name in sorted((*folders, *names)):
            path = Path(at, name)
            if path.is_symlink() and not within(path, root):
                yield path


def within(path: Path, root: Path) -> bool:
    """Return whether a path is inside a directory after all links are resolved."""
    return resolved(path).is_relative_to(resolved(root))
