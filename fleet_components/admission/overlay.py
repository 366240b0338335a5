"""Overlay of a system: what its definitions do not say of a field, and what carries out their rules."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from typing import Any, TypeVar

import attrs

from fleet_components.admission.schema import Rule
from fleet_components.model.release import Release

_Value = TypeVar("_Value")


@attrs.frozen(eq=False)
class Overlay:
    """Notes on fields, for all kinds and versions of a system.

    A field is named by the end of its path, as long as it takes to tell it from others, such as
    ``tolerations[].key``; of several names the longest counts. The path begins with the kind without a leading
    ``Cluster``: ``ResourceOverride.spec.policy`` is that of a ResourceOverride and of a ClusterResourceOverride.

    Attributes:
        package: the Go package of the types of whole objects, such as ``v1beta1``.
        types: the Go types, for texts of webhooks that decode.
        order: the fields of a Go struct in its order; others follow by name.
        examples: valid values, for hints.
        pointers: whether the Go field is a pointer, where it is not as ``Schema.pointer`` says.
        rules: the rules of the definitions that are not plain data, by message.
        hints: what to write instead of a changed immutable value, by message.
        required: the fields of a status that have to be written.
        loose: the fields of a status that may be of any type.
        earlier: attributes of fields that are not as in the data files, which are of the newest release; None for one
            that is absent. The path may begin with the version, as in ``v1.ResourcePlacement.spec``.
        absent: fields that are not there, though the data files have them.
        lacking: messages of the rules that are absent, each with the version that lacks it; empty for all versions.
    """

    package: str
    types: Mapping[str, str]
    order: Mapping[str, str]
    examples: Mapping[str, Any]
    pointers: Mapping[str, bool]
    rules: Mapping[str, Rule] = attrs.field(factory=dict)
    hints: Mapping[str, str] = attrs.field(factory=dict)
    required: Collection[str] = ()
    loose: Collection[str] = ()
    earlier: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    absent: Collection[str] = ()
    lacking: Mapping[str, str] = attrs.field(factory=dict)


def without(release: Release, table: Mapping[Any, Mapping[str, _Value]]) -> dict[str, _Value]:
    """Return what a table has by rule, of all rules that a release lacks."""
    lacking = (entries for rule, entries in table.items() if not release.has(rule))
    return {name: value for entries in lacking for name, value in entries.items()}


def note_at(table: Mapping[str, _Value], path: str) -> _Value | None:
    """Return what a table says of the field at a path; None if it says nothing."""
    name = name_at(table, path)
    return None if name is None else table[name]


def name_at(table: Container[str], path: str) -> str | None:
    """Return the name under which a table has the field at a path; None if it has not."""
    while path not in table:
        path = path.partition(".")[2]
        if not path:
            return None
    return path
