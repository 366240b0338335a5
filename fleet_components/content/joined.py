"""Joins the parts of objects that an observation keeps in files of its own with what people write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.content.catalogue import DEFAULT_NAMESPACE
from fleet_components.content.left_out import completed, hides
from fleet_components.content.observed import MEMBERS
from fleet_components.model.manifest import Manifest, ObjectKey


def joined(own: Iterable[Manifest], parts: Iterable[tuple[str, Manifest]]) -> list[Manifest]:
    """Return objects with what an observation keeps apart.

    A part is joined to what people have of the same object, and counts for nothing without it: that was removed. What
    hides data stands there alone, since nobody could apply it, and counts unless people have the same object.

    Args:
        own: the objects of people.
        parts: what an observation has written, each after its folder, of
            :data:`~fleet_components.content.observed.PARTS`.
    """
    own = list(own)
    apart, more = defaultdict[ObjectKey, list[Manifest]](list), list[Manifest]()
    for folder, manifest in parts:
        apart[manifest.key].append(manifest)
        more += [manifest] if folder != MEMBERS and hides(manifest) else []
    known = {key for item in own for key in keys_of(item)} if more else set[ObjectKey]()
    joined = [join(item, (part for key in dict.fromkeys(keys_of(item)) for part in apart.get(key, ()))) for item in own]
    return [*joined, *(item for item in more if item.key not in known)]


def join(own: Manifest, parts: Iterable[Manifest]) -> Manifest:
    """Return an object with the parts of it that are kept apart; a field that both have is as ``own`` has it."""
    parts = tuple(parts)
    if not parts or own.origin is None:
        return own
    data: Any = own.data
    for part in parts:
        data = _over(data, part.data) if "status" in part.data else completed(data, part)
    if data is own.data:
        return own
    return Manifest(data, attrs.evolve(own.origin, parts=(own, *parts)))


def _over(own: Any, part: Any) -> Any:
    if not isinstance(own, Mapping) or not isinstance(part, Mapping):
        return own
    both = {key: _over(value, part[key]) if key in part else value for key, value in own.items()}
    return {**both, **{key: value for key, value in part.items() if key not in own}}


def keys_of(manifest: Manifest) -> tuple[ObjectKey, ObjectKey]:
    """Return the keys that an object may have; people may leave out the namespace "default"."""
    key = manifest.key
    return key, key._replace(namespace=key.namespace or DEFAULT_NAMESPACE)
