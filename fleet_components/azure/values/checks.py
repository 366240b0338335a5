"""The checks that several declarations share: choices, ranges, duplicates, labels, taints, networks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network

from fleet_components.model.cluster import Taint
from fleet_components.model.labels import key_errors, value_errors
from fleet_components.model.problem import FieldPath, Problem


def one_of(value: str, choices: Iterable[str], path: FieldPath) -> Iterator[Problem]:
    """The value must be one of a few."""
    choices = tuple(choices)
    if value not in choices:
        yield Problem(f'"{value}" is not known here', path, f"one of {', '.join(choices)}")


def in_range(value: int | None, low: int, high: int, path: FieldPath) -> Iterator[Problem]:
    """The number, if there is one, must lie between two others, both included."""
    if value is not None and not low <= value <= high:
        yield Problem(f"{value} is out of range", path, f"{low} to {high}")


def unique(names: Iterable[str], what: str, path: FieldPath, field: str = "name") -> Iterator[Problem]:
    """No name may be there twice."""
    seen: set[str] = set()
    for position, name in enumerate(names):
        if name in seen:
            yield Problem(f'the {what} "{name}" is declared twice', (*path, position, field), "give each its own name")
        seen.add(name)


def labels(values: Mapping[str, str], reserved: Iterable[str], path: FieldPath) -> Iterator[Problem]:
    """Keys and values must be those of Kubernetes labels, and no key may have a reserved prefix."""
    for key, value in values.items():
        prefix = next((prefix for prefix in reserved if key.startswith(prefix)), None)
        if prefix:
            yield Problem(f'labels that begin with "{prefix}" are set by Azure', (*path, key), "leave it out")
        yield from (Problem(f'"{key}" is no label key: {error}', (*path, key)) for error in key_errors(key))
        yield from (Problem(f'"{value}" is no label value: {error}', (*path, key)) for error in value_errors(value))


def taints(values: Iterable[Taint], effects: Iterable[str], path: FieldPath) -> Iterator[Problem]:
    """Keys, values and effects must be those of Kubernetes taints; key and effect together are unique."""
    values = tuple(values)
    for position, taint in enumerate(values):
        at = (*path, position)
        yield from (Problem(f'"{taint.key}" is no taint key: {error}', (*at, "key")) for error in key_errors(taint.key))
        yield from (
            Problem(f'"{taint.value}" is no taint value: {error}', (*at, "value"))
            for error in value_errors(taint.value)
        )
        yield from one_of(taint.effect, effects, (*at, "effect"))
    yield from unique((f"{taint.key}:{taint.effect}" for taint in values), "taint", path, "key")


def network(text: str) -> IPv4Network | None:
    """The IPv4 range written as ``10.1.0.0/16``; None when it is none, or has bits set beyond its prefix."""
    try:
        return IPv4Network(text)
    except ValueError:
        return None


def networks_apart(ranges: Mapping[str, str], path: FieldPath) -> Iterator[Problem]:
    """Each range, by field, must be an IPv4 network, and no two may overlap."""
    known = {field: network(text) for field, text in ranges.items()}
    for field, found in known.items():
        if found is None:
            yield Problem(f'"{ranges[field]}" is no IPv4 range', (*path, field), "for example 10.1.0.0/16")
    valid = [(field, found) for field, found in known.items() if found]
    for position, (field, found) in enumerate(valid):
        for other_field, other in valid[:position]:
            if found.overlaps(other):
                yield Problem(f"{found} overlaps {other} of {other_field}", (*path, field), "give each its own range")
