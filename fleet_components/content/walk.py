"""Walks folders down to a number of levels, beyond which Python cannot follow them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from fleet_components.model.problem import FleetError, Problem

MOST_FOLDERS = 100
"""Levels of folders in one another."""


def walk(top: Path, onerror: Callable[[OSError], object] | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield folders with their folders and files, as :func:`os.walk` does. No link to a folder is followed.

    Raises:
        FleetError: there are more levels than :data:`MOST_FOLDERS`.
    """
    for at, folders, names in os.walk(top, onerror=onerror):
        yield at, folders, names
        levels = len(Path(at).relative_to(top).parts)
        if folders and levels >= MOST_FOLDERS:
            raise FleetError([Problem(f"has more than {MOST_FOLDERS} folders in one another", file=str(top))])


def files_below(top: Path, suffix: str | tuple[str, ...] = "") -> list[Path]:
    """Return the files below a folder, and the links to folders, sorted.

    Args:
        top: the folder.
        suffix: how their names end, or several ends of which one counts.

    Raises:
        FleetError: as :func:`walk`.
    """
    found = [
        Path(at, name)
        for at, folders, names in walk(top)
        for name in (*names, *(folder for folder in folders if os.path.islink(os.path.join(at, folder))))
        if name.endswith(suffix)
    ]
    return sorted(found)
