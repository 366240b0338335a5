"""Reads the package's own declarations from YAML: camelCase fields, checked types, no unknown
fields.

Every error has the path of its field.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from fleet_components.model.codec import (
    MisfitError,
    UnlikeError,
    misfits,
    of_a,
    strict_converter,
    wire_name,
)
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import nearest

API_VERSION = "fleet-components/v1"
"""API version of all declarations."""
DECLARATIONS = ("ApplicationHealth", "KarmadaSettings")
"""Kinds of declarations, besides those of guests and of what is built."""
BUILDS = CHART, KUSTOMIZATION = "Chart", "Kustomization"
"""Kinds of declarations of what a tool builds."""

_NOT_DECLARED = ("time_added", "sizes", "kubeconfig")
"""Attributes that YAML cannot set: a recorded time, a table that the caller passes, and a
secret.
"""
_BESIDE = ("apiVersion", "kind", "metadata", "spec")
_HINTS = {"a list": "begin each entry with a dash", "a map": "write key: value"}
_converter = strict_converter()


@cache
def fields_of(kind: type) -> tuple[str, ...]:
    """Return the fields of a declared class by their YAML names."""
    return tuple(
        wire_name(field) for field in attrs.fields(kind) if field.name not in _NOT_DECLARED
    )


def read(kind: Any, data: Any, path: FieldPath = ()) -> Any:
    """Read a value of a type from plain data.

    Raises:
        MisfitError: the data does not fit the type; carries all misfits.
    """
    try:
        return _converter.structure(data, kind)
    except (BaseValidationError, ValueError, FleetError) as error:
        found = [
            problem for where, item in misfits(error, path) for problem in _problems(item, where)
        ]
    raise MisfitError(*found)


def stray_fields(manifest: Manifest) -> Iterator[Problem]:
    """Yield a problem for each field of a declaration beside its ``spec`` that does not exist."""
    for name in manifest.data:
        if name not in _BESIDE:
            yield manifest.located(unknown_field(str(name), _BESIDE, ()))


def unknown_field(name: str, known: Collection[str], path: FieldPath) -> Problem:
    """Return the problem for an unknown field, with the most similar known name as its hint."""
    hint = nearest(name, known) or f"one of {', '.join(known)}"
    return Problem(
        Message("no-field", 'there is no field "{name}"', name=name), (*path, name), hint
    )


def _problems(error: BaseException, path: FieldPath) -> Iterator[Problem]:
    """Yield the problems behind one error of the converter."""
    match error:
        case ForbiddenExtraKeysError():
            yield from (
                unknown_field(str(name), fields_of(error.cl), path)
                for name in sorted(map(str, error.extra_fields))
            )
        case KeyError():
            yield Problem(
                Message("header-field-missing", "{path} is missing", path=path[-1]),
                path,
                "write it here",
            )
        case FleetError():
            yield from (
                attrs.evolve(problem, path=(*path, *problem.path)) for problem in error.problems
            )
        case UnlikeError(noun="text", found="a number" | "true or false"):
            yield Problem(
                Message("other-error", "{reason}", reason=error), path, "write it in quotes"
            )
        case UnlikeError():
            yield Problem(
                Message("other-error", "{reason}", reason=error), path, _HINTS.get(error.noun, "")
            )
        case _:
            yield Problem(Message("other-error", "{reason}", reason=error), path)


@_converter.register_structure_hook_factory(attrs.has)
def _structure_fn(kind: Any, converter: Converter) -> Any:
    names: dict[str, Any] = {
        field.name: override(rename=wire_name(field), omit=field.name in _NOT_DECLARED)
        for field in attrs.fields(attrs.resolve_types(kind))
    }
    return of_a(Mapping, "a map", make_dict_structure_fn(kind, converter, **names))


def _is_union(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin in (Union, types.UnionType)


@_converter.register_structure_hook_factory(_is_union)
def _structure_union_fn(kind: Any, converter: Converter) -> Any:
    # YAML cannot express the other options of a union, such as Pulumi outputs.
    first = next(option for option in get_args(kind) if option is not type(None))
    return lambda value, _: None if value is None else converter.structure(value, first)
