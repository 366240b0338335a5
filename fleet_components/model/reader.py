"""Reads the package's own declarations from YAML: camelCase fields, checked types, no unknown fields.

Every error has the path of its field.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs

from fleet_components.model.codec import MisfitError, camel
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import nearest

API_VERSION = "fleet-components/v1"
"""API version of all declarations."""
DECLARATIONS = ("ApplicationHealth", "KarmadaSettings")
"""Kinds of declarations, besides those of guests."""

_NOT_DECLARED = ("time_added", "sizes", "kubeconfig")
"""Attributes that YAML cannot set: a recorded time, a table that the caller passes, and a secret."""
_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


@lru_cache(maxsize=64)
def fields_of(kind: type) -> Mapping[str, tuple[str, Any, bool]]:
    """Return the fields of a declared class by their YAML names: attribute, type, and whether the field is required."""
    hints = get_type_hints(kind)
    return {
        camel(field.name): (field.name, hints[field.name], field.default is attrs.NOTHING)
        for field in attrs.fields(kind)
        if field.name not in _NOT_DECLARED
    }


def read(kind: Any, data: Any, path: FieldPath = ()) -> Any:
    """Read a value of a type from plain data.

    Raises:
        MisfitError: the data does not fit the type; carries all misfits.
    """
    if kind is Any:
        return data
    if get_origin(kind) in (Union, types.UnionType):
        # YAML cannot express the other options of a union, such as Pulumi outputs.
        kind, *_ = (option for option in get_args(kind) if option is not type(None))
        return None if data is None else read(kind, data, path)
    if attrs.has(kind):
        return _declared(kind, data, path)
    if get_origin(kind) is tuple:
        return _sequence(get_args(kind)[0], data, path)
    if get_origin(kind) is Mapping:
        return _mapping(get_args(kind)[1], data, path)
    return _scalar(kind, data, path)


def unknown_field(name: str, known: Collection[str], path: FieldPath) -> Problem:
    """Return the problem for an unknown field, with the most similar known name as its hint."""
    hint = nearest(name, known) or f"one of {', '.join(known)}"
    return Problem(f'there is no field "{name}"', (*path, name), hint)


def _declared(kind: type, data: Any, path: FieldPath) -> Any:
    if not isinstance(data, Mapping):
        raise MisfitError(Problem("is not a map of fields", path, f"for example {next(iter(fields_of(kind)))}: ..."))
    fields = fields_of(kind)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in data.items():
        if name not in fields:
            problems.append(unknown_field(str(name), fields, path))
            continue
        attribute, type_, _ = fields[name]
        try:
            values[attribute] = read(type_, value, (*path, name))
        except MisfitError as misfit:
            problems += misfit.problems
    missing = [name for name, (_, _, required) in fields.items() if required and name not in data]
    problems += [Problem(f"{name} is missing", (*path, name), "write it here") for name in missing]
    if problems:
        raise MisfitError(*problems)
    return kind(**values)


def _sequence(kind: Any, data: Any, path: FieldPath) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise MisfitError(Problem("is not a list", path, "begin each entry with a dash"))
    return tuple(_each(kind, enumerate(data), path).values())


def _mapping(kind: Any, data: Any, path: FieldPath) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise MisfitError(Problem("is not a map", path, "write key: value"))
    return _each(kind, data.items(), path)


def _each(kind: Any, items: Iterable[tuple[Any, Any]], path: FieldPath) -> dict[Any, Any]:
    values: dict[Any, Any] = {}
    problems: list[Problem] = []
    for key, item in items:
        try:
            values[key] = read(kind, item, (*path, key))
        except MisfitError as misfit:
            problems += misfit.problems
    if problems:
        raise MisfitError(*problems)
    return values


def _scalar(kind: type, data: Any, path: FieldPath) -> Any:
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if isinstance(data, kind) and isinstance(data, bool) == (kind is bool):
        return data
    hint = f'in quotes: "{data}"' if kind is str and isinstance(data, int | float) else ""
    raise MisfitError(Problem(f"{data!r} is not {_WORDS[kind]}", path, hint))
