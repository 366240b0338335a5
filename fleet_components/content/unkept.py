"""Fields that an API server does not keep as they were sent, though nothing is different.

An API server stores ``rules: []`` of a ClusterRole as nothing. Somebody adds a sidecar, and it
stands before the containers that were sent. The Kubernetes provider compares what is registered
with what is stored, lists by position: without this, it shows such a field as changed in every
preview, and writes the object in every update. An empty field that means something, as
``emptyDir: {}``, is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fleet_components.model.problem import FieldPath

SENT = "__inputs"
"""The output in which the Kubernetes provider keeps an object as it was sent last
(pulumi/pulumi-kubernetes v4.34.2, ``checkpointObject`` in provider/pkg/provider/provider.go).
"""


def unkept(outputs: Mapping[str, Any]) -> tuple[FieldPath, ...]:
    """Return the paths of the fields of an object that its API server does not keep as they were
    sent.

    These are empty maps and lists that are not stored, and lists whose items have moved behind
    others that somebody has added.

    Args:
        outputs: the outputs of the object's resource: the object as it is stored, and as it was
            sent.
    """
    sent = outputs.get(SENT)
    return tuple(_unkept(sent, outputs, ())) if isinstance(sent, Mapping) else ()


def nulls(data: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the paths of the nulls in an object: no value, so that an API server may put a default
    there.
    """
    items = data.items() if isinstance(data, Mapping) else enumerate(data)
    for key, value in items:
        # Only a field of a map can get a default; a null in a list is an item.
        if value is None and isinstance(key, str):
            yield (*path, key)
        elif isinstance(value, (Mapping, list)):
            yield from nulls(value, (*path, key))


def without(data: Mapping[str, Any], paths: Collection[FieldPath]) -> Mapping[str, Any]:
    """Return an object without those of some fields that are empty in it."""
    for path in paths:
        data = _without(data, path)
    return data


def _unkept(sent: Any, stored: Any, path: FieldPath) -> Iterator[FieldPath]:
    if isinstance(sent, Mapping) and isinstance(stored, Mapping):
        for key, value in sent.items():
            if stored.get(key) is None and is_empty(value):
                yield (*path, key)
            else:
                yield from _unkept(value, stored.get(key), (*path, key))
    elif isinstance(sent, list) and isinstance(stored, list) and _has_moved(sent, stored):
        yield path
    elif isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        for index, (value, there) in enumerate(zip(sent, stored, strict=True)):
            yield from _unkept(value, there, (*path, index))


def _has_moved(sent: list[Any], stored: list[Any]) -> bool:
    """Return whether the items of a list, which have names, are stored as they were sent, at other
    positions.
    """
    wanted, there = by_name(sent), by_name(stored)
    # Items that are still the first ones have kept their positions.
    if not wanted or [*there][: len(wanted)] == [*wanted] or not wanted.keys() <= there.keys():
        return False
    return all(_holds(there[name], item) for name, item in wanted.items())


def by_name(items: list[Any]) -> dict[str, Any]:
    """Return the items of a list by their names; nothing if some have none, or share one."""
    found = {
        str(item["name"]): item for item in items if isinstance(item, Mapping) and "name" in item
    }
    # Fewer names than items: some have none, or two have the same.
    return found if len(found) == len(items) else {}


def _holds(stored: Any, sent: Any) -> bool:
    """Return whether all that was sent is stored so, beside what others have added to maps."""
    if isinstance(sent, Mapping) and isinstance(stored, Mapping):
        items = ((stored.get(key), value) for key, value in sent.items())
        return all(
            _holds(there, value) or (there is None and is_empty(value)) for there, value in items
        )
    if isinstance(sent, list) and isinstance(stored, list):
        return len(sent) == len(stored) and all(map(_holds, stored, sent))
    return bool(stored == sent)


def is_empty(value: Any) -> bool:
    """Return whether there is nothing in a value but empty maps and nulls, or no item in a list."""
    if isinstance(value, Mapping):
        return all(map(is_empty, value.values()))
    return value is None or value == []


def _without(value: Any, path: FieldPath) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        changed = _without(value[step], rest) if rest else value[step]
        return [*value[:step], changed, *value[step + 1 :]]
    if not isinstance(value, Mapping) or step not in value:
        return value
    if rest:
        return {**value, step: _without(value[step], rest)}
    # A field that has got a value since then is kept.
    return {key: item for key, item in value.items() if key != step or not is_empty(item)}
