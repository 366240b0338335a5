"""Tells directories that an observation of a hub has written, by the header in their folder ``observed``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.regular_file import read_regular

MEMORY = "observed"
"""Folder of what a hub has decided; of its files only those in :data:`PARTS` are a part of the source."""
MEMBERS, OBJECTS, POLICIES = "members", "objects", "policies"
PARTS = (MEMBERS, OBJECTS, POLICIES)
"""Folders in it with what changes by itself in members, and with objects whose data is hidden."""
FILES = f"{MEMORY}/files.json"
"""Inventory: what the last observation has written, and what files of people said then."""
_HEADER = f"{MEMORY}/hub.yaml"
# Not parsed: a header that is damaged, by a merge for example, is one still.
_MARKS = (
    re.compile(rb"^kind: Observation\b", re.MULTILINE),
    re.compile(rb"^apiVersion: fleet-components/", re.MULTILINE),
)


def is_observed(folder: Path) -> bool:
    """Return whether a folder is an observed directory, damaged perhaps."""
    try:
        text = read_regular(folder / _HEADER)
    except (OSError, UnreadableError, ValueError):
        return False
    return not text.strip() or all(mark.search(text) for mark in _MARKS)


def observed_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the observed directories among paths and below them, hidden folders and links left out."""
    for path in paths:
        for at, folders, _ in os.walk(path):
            folders[:] = [name for name in sorted(folders) if not name.startswith(".")]
            if MEMORY in folders and is_observed(Path(at)):
                folders.remove(MEMORY)
                yield Path(at)
