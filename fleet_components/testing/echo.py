"""Outputs that mocks make of inputs: in the form in which a provider would return them, which may be another one.

The Azure provider takes a list of identities and returns a map of them; other fields take one kind of value and return
another. The SDK refuses a value of another form than its class declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_origin

import pulumi
from pulumi import _types

from fleet_components.plan.state import is_marked_secret

_NOTHING = object()
"""Stands for a value that says nothing of the output."""


def echoed(token: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a resource as its outputs.

    A list of names where the class declares a map becomes the map of these names. An input that is of another form
    than the output is left out: unknown in a preview, as where a provider computes it.

    Args:
        token: type token of the resource.
        inputs: its inputs, as the SDK's mock monitor hands them over.
    """
    return _fields(inputs, _declared(token))


def computed(token: str, name: str, outputs: Mapping[str, Any]) -> dict[str, str]:
    """Return texts for the outputs that a resource always has and that no input gives: ``NAME-OUTPUT``, made up.

    Args:
        token: type token of the resource.
        name: its logical name, which is its ``name`` as well.
        outputs: the outputs that are known.
    """
    missing = (key for key, kind in _declared(token).items() if kind is str and key not in outputs)
    return {key: name if key == "name" else f"{name}-{key}" for key in missing}


@cache
def _declared(token: str) -> Mapping[str, Any]:
    """Return the types of the outputs of a resource; empty if no class that is loaded declares them."""
    # The class is there, since the program has made an instance of it.
    found = next((kind for kind in _classes(pulumi.Resource) if pulumi.get_type_token(kind) == token), None)
    return _types.resource_types(found) if found else {}


def _classes(base: type[Any]) -> Iterator[type[Any]]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _classes(subclass)


def _fields(given: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: _formed(value, types.get(key)) for key, value in given.items()}
    return {key: value for key, value in found.items() if value is not _NOTHING}


def _formed(value: Any, declared: Any) -> Any:
    """Return a value in the declared form; :data:`_NOTHING` if it has another one."""
    if is_marked_secret(value):
        inner = _formed(value["value"], declared)
        return _NOTHING if inner is _NOTHING else {**value, "value": inner}
    wanted = _types.unwrap_optional_type(declared) if declared else None
    if wanted in (None, Any, object) or value is None or _types.is_discriminated_union(wanted):
        return value
    kind, parts = get_origin(wanted), get_args(wanted)
    if isinstance(value, Mapping):
        if _types.is_output_type(wanted):
            return _fields(value, _types.output_type_types(wanted))
        if wanted is dict or _is(kind, Mapping):
            return _fields(value, dict.fromkeys(value, parts[1] if parts else None))
        return _NOTHING
    if isinstance(value, (list, tuple)):
        if wanted is list or (_is(kind, Sequence) and not _is(kind, str)):
            items = (_formed(item, parts[0] if parts else None) for item in value)
            return [item for item in items if item is not _NOTHING]
        if _is(kind, Mapping) and all(isinstance(item, str) for item in value):
            return {item: {} for item in value}
        return _NOTHING
    return value


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
