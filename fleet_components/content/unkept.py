"""Empty fields that an API server does not keep.

An API server stores ``rules: []`` of a ClusterRole as nothing. The Kubernetes provider compares what
is registered with what is stored: without this, it shows the field as new in every preview, and writes
the object in every update. An empty field that means something, as ``emptyDir: {}``, is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fleet_components.model.problem import FieldPath

SENT = "__inputs"
"""The output in which the Kubernetes provider keeps an object as it was sent last (pulumi/pulumi-kubernetes v4.34.2,
``checkpointObject`` in provider/pkg/provider/provider.go)."""


def unkept(outputs: Mapping[str, Any]) -> tuple[FieldPath, ...]:
    """Return the paths of the empty maps and lists of an object that its API server does not keep.

    Args:
        outputs: the outputs of the object's resource: the object as it is stored, and as it was sent.
    """
    sent = outputs.get(SENT)
    return tuple(_unkept(sent, outputs, ())) if isinstance(sent, Mapping) else ()


def nulls(data: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the paths of the nulls in an object: no value, so that an API server may put a default there."""
    items = data.items() if isinstance(data, Mapping) else enumerate(data)
    for key, value in items:
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
    elif isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        for index, (value, there) in enumerate(zip(sent, stored, strict=True)):
            yield from _unkept(value, there, (*path, index))


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
    return {key: one for key, one in value.items() if key != step or not is_empty(one)}
