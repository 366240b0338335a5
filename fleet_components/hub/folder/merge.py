"""One object of an observed directory from three sides: as it was observed last, as the file has it, as the hub has it.

What people have changed in a file stays until the hub has it or has changed the same part: see :func:`merged`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.hub.folder.form import digests
from fleet_components.hub.listing import Object

Base = Mapping[str, str] | None
"""Digests of the parts of an object as it was observed last; None if it was not."""
_IDENTITY = ("apiVersion", "kind")


@attrs.frozen
class Merged:
    """Result for one file.

    Attributes:
        data: what the file is to have; None for no file.
        edited: True if it has something that the hub does not have.
        lost: the parts in which the hub has replaced what the file had; empty if nothing was lost.
    """

    data: Object | None
    edited: bool = False
    lost: tuple[str, ...] = ()


def merged(base: Base, mine: Object | None, hub: Object | None) -> Merged:
    """Return what becomes of a file.

    A part is a field of the object, ``metadata``, ``spec`` or ``data``. A part that only the file has changed stays,
    one that only the hub has changed follows the hub. Of a part that both have changed the hub's counts.

    Args:
        base: the object as it was observed last.
        mine: the object that the file has.
        hub: the object that the hub has.
    """
    if hub is None:
        lost = mine is not None and base is not None and digests(mine) != base
        return Merged(None, lost=("",) if lost else ()) if base is not None else Merged(mine, edited=mine is not None)
    if mine is None:
        removed_here = base is not None and base == digests(hub)
        return Merged(
            None if removed_here else hub, edited=removed_here, lost=("",) if base and not removed_here else ()
        )
    if base is None:
        return Merged(hub, lost=() if holds(hub, mine) else tuple(_differing(mine, hub)))
    return _by_part(base, mine, hub)


def holds(hub: Any, mine: Any) -> bool:
    """Return whether a value has all that another one says; servers add fields with their defaults."""
    match mine:
        case Mapping():
            return isinstance(hub, Mapping) and all(key in hub and holds(hub[key], mine[key]) for key in mine)
        case list() | tuple():
            return isinstance(hub, list | tuple) and len(hub) == len(mine) and all(map(holds, hub, mine))
    return bool(hub == mine)


def _by_part(base: Mapping[str, str], mine: Object, hub: Object) -> Merged:
    ours, theirs = digests(mine), digests(hub)
    data: dict[str, Any] = {key: hub[key] for key in _IDENTITY}
    edited, lost = False, list[str]()
    for part in sorted({*ours, *theirs}):
        old, here, there = base.get(part), ours.get(part), theirs.get(part)
        kept = here != there and there == old
        edited |= kept
        if not kept and here not in (old, there):
            lost.append(part)
        if not kept and here == there and mine[part] != hub[part]:  # the data of a Secret, which digests leave out
            lost.append(part)
        side = mine if kept else hub
        if part in side:
            data[part] = side[part]
    return Merged(data, edited, tuple(lost))


def _differing(mine: Object, hub: Object) -> list[str]:
    return [part for part in sorted(mine) if part not in hub or not holds(hub[part], mine[part])]
