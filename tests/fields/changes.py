"""Other values for a field, made from its schema and from what else is written."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleet_components.admission import Existing, admit
from fleet_components.admission.hint import example
from fleet_components.admission.schema import Schema
from fleet_components.model.manifest import Manifest
from fleet_components.plan.effect import Steps
from tests.fields.schemas import RELEASES, Field
from tests.fields.seen import Object, Step

_GONE = object()
_NUMBERS = (0, 1, 2, 3, 100)
_WORDS = (
    "In",
    "NotIn",
    "Exists",
    "DoesNotExist",
    "Gt",
    "Lt",
    "Eq",
    "Ne",
    "Equal",
    "zone",
    "provider",
)


def changed(steps: Sequence[Step], field: Field, *, make: bool = False) -> Iterator[list[Step]]:
    """The same updates with one value of the field changed, wherever that object is written.

    The object is in the version of the field. What an API server would refuse is left out.

    Args:
        steps: the updates.
        field: the field.
        make: what holds the field is made where it is missing.
    """
    now = steps[-1].objects
    words = (
        ["shop", "a"]
        if make
        else [*_WORDS, *sorted({text for item in now for text in _texts(item)})]
    )
    for number, item in enumerate(now):
        if not field.is_of(item):
            continue
        written = {**item, "apiVersion": field.kind.api_version}
        for other in others(written, field, words, make=make):
            around = [Manifest(it) for at, it in enumerate(now) if at != number]
            if (
                other != written
                and not admit(Manifest(other), context=Existing(tuple(around), RELEASES)).problems
            ):
                yield [_with(step, item, other) for step in steps]


def in_version(steps: Sequence[Step], field: Field) -> list[Step]:
    """The same updates, the objects of the field's kind in its version."""
    return [
        Step(
            objects=[_in_version(data, field) for data in step.objects],
            as_of=step.as_of,
            approvals=step.approvals,
        )
        for step in steps
    ]


def _in_version(data: Object, field: Field) -> Object:
    return {**data, "apiVersion": field.kind.api_version} if field.is_of(data) else data


def _with(step: Step, data: Object, other: Object) -> Step:
    same = (data["kind"], data["metadata"].get("namespace"), data["metadata"]["name"])
    objects = [
        _replaced(it, data, other)
        if (it["kind"], it["metadata"].get("namespace"), it["metadata"]["name"]) == same
        else it
        for it in step.objects
    ]
    return Step(objects=objects, as_of=step.as_of, approvals=step.approvals)


def _replaced(it: Object, data: Object, other: Object) -> Object:
    """The object of an earlier step, changed in the same way where it is the same."""
    return (
        other
        if {**it, "apiVersion": ""} == {**data, "apiVersion": ""}
        else {**it, "apiVersion": other["apiVersion"]}
    )


def others(
    data: Object, field: Field, words: Sequence[str] = (), *, make: bool = False
) -> Iterator[Object]:
    """The object with other values of a field.

    Args:
        one: the object.
        field: the field.
        words: texts that may do.
        make: what holds the field is made where it is missing.
    """
    yield from _changed(data, field.steps, field.kind.structure, words, make)


def _changed(
    value: Any, steps: Steps, schema: Schema, words: Sequence[str], make: bool
) -> Iterator[Any]:
    if not steps:
        yield from _others(value, schema, words)
        return
    step, *rest = steps
    inner = schema.items or schema.fields[step]
    for key in _keys(value, step, ("new", *(words if make else ())) if make or not rest else ()):
        there = value[key] if _holds(value, key) else _GONE
        if there is _GONE and rest:
            if not make:
                continue
            there = example(inner)
        for other in _changed(there, tuple(rest), inner, words, make):
            yield _put(value, key, other)


def _keys(value: Any, step: str, more: Sequence[str]) -> list[Any]:
    """What is there, then what may come."""
    match step, value:
        case "[]", list():
            return [*range(len(value) + bool(more))]
        case "{}", Mapping():
            return [*value, *more]
    return [step]


def _holds(value: Any, key: Any) -> bool:
    return key in value if isinstance(value, Mapping) else key < len(value)


def _put(value: Any, key: Any, inner: Any) -> Any:
    value = copy.copy(value)
    if isinstance(value, list):
        value[key : key + 1] = [] if inner is _GONE else [inner]
        return value
    if inner is _GONE:
        value.pop(key, None)
        return value
    return {**value, key: inner}


def _others(value: Any, schema: Schema, words: Sequence[str]) -> Iterator[Any]:
    """Other values of the field, the likely ones first."""
    if value is not _GONE:
        yield _GONE
    match schema.type:
        case "boolean":
            yield value is not True
        case "integer" | "number":
            yield from _NUMBERS
        case "int-or-string":
            yield from (*_NUMBERS, "100%", "1%", "8")
        case "string" if schema.enum:
            yield from schema.enum
        case "string":
            yield from (schema.example or "other", f"{'' if value is _GONE else value}x", *words)
        case _:
            yield from ("other", {}, {"other": "other"}, 7, *words)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for key, item in value.items():
                yield str(key)
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
