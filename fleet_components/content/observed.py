"""Tells directories that an observation of a hub has written, by the header in their folder ``observed``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.regular_file import read_regular
from fleet_components.content.walk import files_below, walk

MEMORY = "observed"
"""Folder of what a hub has decided; of its files only those in :data:`PARTS` are a part of the source."""
MEMBERS, OBJECTS, POLICIES = "members", "objects", "policies"
PARTS = (MEMBERS, OBJECTS, POLICIES)
"""Folders in it with what changes by itself in members, and with objects whose data is hidden."""
FILES = f"{MEMORY}/files.json"
"""Inventory: what the last observation has written, and what files of people said then."""
_HEADER = f"{MEMORY}/hub.yaml"
STAGED = ".fleet-observe-"
"""Beginning of the name of the folder in which files are written before they are moved to their places."""
MEND = (
    "fleet observe --hub KUBECONFIG --out DIR --update writes it anew; or go back to the last commit of the folder "
    f"{MEMORY}/"
)
"""Hint for what was written by an observation and is damaged."""
UPGRADE = "upgrade fleet-components"
"""Hint for what a later version has written."""
_REST = (f"{MEMORY}/files.json", f"{MEMORY}/fleet.json")
# Not parsed: a header that is damaged, by a merge for example, is one still.
_MARKS = (
    re.compile(rb"^kind: Observation\b", re.MULTILINE),
    re.compile(rb"^apiVersion: fleet-components/", re.MULTILINE),
)


class LinkedError(UnreadableError):
    """Error for a file of an observation that is a link, or in one: an observation writes none."""

    def __init__(self) -> None:
        super().__init__("is a link, or in one, which an observation never writes, and which is not followed")


def read_part(folder: Path, path: str) -> bytes:
    """Return the content of a file of an observation.

    Args:
        folder: the observed directory.
        path: the path of the file in it, with slashes.

    Raises:
        OSError: it cannot be read.
        LinkedError: a link is on the way.
        UnreadableError: it is not a regular file, or is too large.
    """
    steps = path.split("/")
    if any((folder / "/".join(steps[:end])).is_symlink() for end in range(1, len(steps) + 1)):
        raise LinkedError
    return read_regular(folder / path)


def links_in(folder: Path) -> Iterator[Path]:
    """Yield the links among what an observed directory remembers of its hub, at any depth."""
    memory = folder / MEMORY
    if memory.is_symlink():
        yield memory
    yield from (path for path in files_below(memory) if path.is_symlink())


def is_observed(folder: Path) -> bool:
    """Return whether a folder is an observed directory, damaged perhaps.

    It is one without its header, too, and while the first observation is written, or where that was interrupted.
    """
    try:
        text = read_part(folder, _HEADER)
    except LinkedError:
        return os.path.exists(folder / _HEADER)  # one is meant, and whoever reads it refuses the link
    except (OSError, UnreadableError, ValueError):
        text = b"?"
    marked = not text.strip() or all(mark.search(text) for mark in _MARKS)
    return marked or all(os.path.isfile(folder / file) for file in _REST) or _is_begun(folder)


def _is_begun(folder: Path) -> bool:
    try:
        return os.path.isdir(folder / MEMORY) and any(name.startswith(STAGED) for name in os.listdir(folder))
    except OSError:
        return False


def observed_above(path: Path) -> Path | None:
    """Return the observed directory that a path is in; None if it is in none."""
    return next((folder for folder in Path(os.path.abspath(path)).parents if is_observed(folder)), None)


def observed_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the observed directories among paths and below them, hidden folders and links left out."""
    for path in paths:
        for at, folders, _ in walk(path):
            folders[:] = [name for name in sorted(folders) if not name.startswith(".")]
            if MEMORY in folders and is_observed(Path(at)):
                folders.remove(MEMORY)
                yield Path(at)
