"""Completes an object in a file of people by what the file leaves out, as an apply to the hub would.

Of such an object an observation keeps below ``observed`` what the hub has in full, and in its inventory what the file
has said: a field that the file does not have was left out and is the hub's, unless the file has said it before.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.observed import FILES, MEMORY, OBJECTS, POLICIES, is_observed, read_part
from fleet_components.content.secret import is_hidden, is_secret
from fleet_components.content.three_way import Shape, extended, is_shape, shape_of, three_way
from fleet_components.model.manifest import Manifest

_PARTS = (OBJECTS, POLICIES)


def completed(own: Mapping[str, Any], full: Manifest) -> Mapping[str, Any]:
    """Return an object with the fields that it leaves out.

    Args:
        own: the object, as people write it.
        full: the same object, as an observation has written it below ``observed``. One whose data is hidden completes
            nothing.
    """
    if hides(full):
        return own
    before = _shape_before(full)
    base = None if before is None else extended(before, shape_of(full.data), shape_of(own))
    found: Mapping[str, Any] = three_way(base, own, full.data).whole
    return found


def hides(part: Manifest) -> bool:
    """Return whether an object has data that was left out when it was observed."""
    return is_secret(part.data) or is_hidden(part.data)


def _shape_before(full: Manifest) -> Shape:
    """Return the shape of what the file of people has said when it was observed last; None if that is not known."""
    steps = Path(full.origin.file if full.origin else "").parts
    for at, step in enumerate(steps[:-1]):
        folder = Path(*steps[:at])
        if step == MEMORY and steps[at + 1] in _PARTS and is_observed(folder):
            path = "/".join(steps[at + 1 :])
            return next((part[path] for part in _inventory(folder) if path in part), None)
    return None


def _inventory(folder: Path) -> tuple[Mapping[str, Shape], ...]:
    try:
        state = os.stat(folder / FILES)
    except OSError:
        return ()
    return _read(str(folder), state.st_mtime_ns, state.st_size)


@lru_cache(8)
def _read(folder: str, _time: int, _size: int) -> tuple[Mapping[str, Shape], ...]:
    """Return the shapes by path, those of people's own files first; none if the inventory is damaged."""
    try:
        whole = read_json(read_part(Path(folder), FILES))
    except (OSError, UnreadableError):
        return ()
    parts = [whole.get(key) for key in ("own", "objects")] if isinstance(whole, Mapping) else []
    return tuple(part for part in parts if isinstance(part, Mapping) and is_shape(part))
