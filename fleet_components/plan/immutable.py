"""Check policies against fields that API servers do not allow to change: what to remember, and what
is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.admission import KINDS, Existing, admit
from fleet_components.admission.registry import AdmittedKind
from fleet_components.admission.structure import mismatches
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.problem import FieldPath, Problem, show_path
from fleet_components.model.releases import Releases

Held = Mapping[str, Mapping[str, Any]]
"""Values of the fields that updates are compared with, by path, for each ``Kind/name`` or
``Kind/namespace/name``.
"""


def held_fields(policies: Iterable[Manifest]) -> dict[str, dict[str, Any]]:
    """Return what to remember of the policies.

    Args:
        policies: the objects that steer a hub, defaulted.
    """
    found = ((_name(policy), _fields(policy)) for policy in policies)
    return {name: fields for name, fields in sorted(found) if fields}


def refused_changes(
    policies: Iterable[Manifest], before: Held, releases: Releases = Releases()
) -> Iterator[Problem]:
    """Yield what a hub would refuse in the policies as updates: the rules of its API servers that
    compare old and new.

    A policy under another name is a new object, to which no such rule applies.

    Args:
        policies: the objects that steer a hub, defaulted and admitted as new objects.
        before: what was remembered of them.
        releases: the releases that judge.
    """
    context = Existing(tuple(policies), releases)
    for policy in context.manifests:
        known = before.get(_name(policy))
        # Most policies have not changed, and need no second admission.
        if known is not None and known != _fields(policy):
            # The old object is the new one with the remembered values: rules compare nothing else.
            old = attrs.evolve(policy, data=_with(policy, known))
            yield from admit(policy, old=old, context=context).problems


def damaged(held: Held) -> str:
    """Return a message about the first policy with remembered fields that no version of its kind
    has; empty if none.
    """
    for name, fields in held.items():
        kind = name.partition("/")[0]
        if not any(_fits(item, fields) for (_, other), item in KINDS.items() if kind == other):
            return f"says of {name} what it cannot have been"
    return ""


def _fits(kind: AdmittedKind, fields: Mapping[str, Any]) -> bool:
    data: dict[str, Any] = {}
    for path in kind.held:
        data = _put(data, path, fields.get(show_path(path)))
    return fields.keys() <= set(map(show_path, kind.held)) and not mismatches(kind.schema, data)


def _name(policy: Manifest) -> str:
    return "/".join(part for part in (policy.kind, policy.namespace, policy.name) if part)


def _held(policy: Manifest) -> tuple[FieldPath, ...]:
    return KINDS[policy.api_version, policy.kind].held


def _fields(policy: Manifest) -> dict[str, Any]:
    found = {show_path(path): value_at(policy.data, path) for path in _held(policy)}
    # A hub writes out empty texts that nobody has given, as ``resourceSnapshotIndex`` of a run:
    # they mean the same.
    return {path: value for path, value in found.items() if value not in (None, "")}


def _with(policy: Manifest, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with the remembered values of its held fields."""
    data: dict[str, Any] = dict(policy.data)
    for path in _held(policy):
        data = _put(data, path, known.get(show_path(path)))
    return data


def _put(data: Mapping[str, Any], path: FieldPath, value: Any) -> dict[str, Any]:
    """Return the map with the value at a path, or without that path if the value is None."""
    key, rest = str(path[0]), path[1:]
    if rest:
        inner = _put(data.get(key) or {}, rest, value)
        # No empty map where the object has none.
        value = inner if inner or key in data else None
    others = {name: item for name, item in data.items() if name != key}
    return others if value is None else {**others, key: value}
