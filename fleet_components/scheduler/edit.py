"""Changes of written objects, small enough to be said in a phrase, and what a fleet is with them.

An edit names the field as its author would find it in the YAML. Several edits that belong together are a change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.problem import FieldPath

MEMBER, POLICY, OBJECT = "member", "policy", "object"
SET, UNSET, ADD, DROP = "set", "unset", "add", "drop"


@attrs.frozen
class Edit:
    """One change of one field.

    Attributes:
        of: whose field it is: of a ``member``, of the ``policy`` or of the ``object`` that is placed.
        operation: ``set`` and ``unset`` a value, or ``add`` and ``drop`` an element of a list.
        field: path of the field in the object.
        value: the value or element; None for ``unset``.
        words: the change after "would be chosen": ``with tier=gold``.
        member: name of the member; empty for the others.
    """

    of: str
    operation: str
    field: FieldPath
    value: Any
    words: str
    member: str = ""

    def on(self, data: Any) -> Any:
        """Return an object with the change; the given one is left as it is."""
        return _at(data, self.field, self)


Edits = tuple[Edit, ...]
"""Edits that are made together."""
Ladder = tuple[Edits, ...]
"""Changes of one kind, each going further than the one before: ``numberOfClusters`` 3, 4, 5."""


def edit_words(change: Edits) -> str:
    """Return a change in words: ``with tier=gold and zone=a and without the taint spot:NoSchedule``."""
    words, preposition = [], ""
    for edit in change:
        first, _, rest = edit.words.partition(" ")
        words.append(rest if first == preposition else edit.words)
        preposition = first
    return " and ".join(words)


def joined(edits: Iterable[Edit]) -> Edits:
    """Return edits that are made together, equal ones once."""
    found = list[Edit]()
    for edit in edits:
        if edit not in found:
            found.append(edit)
    return tuple(found)


def _at(data: Any, path: FieldPath, edit: Edit) -> Any:
    here, *rest = path
    if isinstance(data, list | tuple):
        return [_below(item, rest, edit) if index == here else item for index, item in enumerate(data)]
    known = dict(data or {})
    changed = _below(known.get(str(here)), rest, edit)
    if changed is _NOTHING:
        known.pop(str(here), None)
        return known
    return {**known, str(here): changed}


_NOTHING = object()


def _below(value: Any, rest: list[str | int], edit: Edit) -> Any:
    if rest:
        return _at(value, tuple(rest), edit)
    match edit.operation:
        case "set":
            return edit.value
        case "add":
            return [*(value or ()), edit.value]
        case "drop":
            return [item for item in value or () if item != edit.value]
    return _NOTHING


# The edits that plug-ins propose.


def set_label(member: str, key: str, value: str, old: str | None) -> Edit:
    """Return the edit that gives a member a label."""
    was = "" if old is None else f' (is "{old}")'
    return Edit(MEMBER, SET, ("metadata", "labels", key), value, f"with {key}={value}{was}", member)


def unset_label(member: str, key: str) -> Edit:
    """Return the edit that takes a label away."""
    return Edit(MEMBER, UNSET, ("metadata", "labels", key), None, f"without the label {key}", member)


def add_taint(member: str, taint: Taint) -> Edit:
    """Return the edit that taints a member."""
    return Edit(MEMBER, ADD, ("spec", "taints"), _written(taint), f"with a taint {show_taint(taint)}", member)


def drop_taint(member: str, taint: Taint) -> Edit:
    """Return the edit that takes a taint away."""
    return Edit(MEMBER, DROP, ("spec", "taints"), _written(taint), f"without the taint {show_taint(taint)}", member)


def set_field(cluster: Cluster, field: str, value: str) -> Edit:
    """Return the edit that gives a member a ``provider``, a ``region`` or a ``zone``, its only one then."""
    old = {"provider": cluster.provider, "region": cluster.region, "zone": ", ".join(cluster.zones)}[field]
    was = f' (is "{old}")' if old else ""
    name, written = ("zones", [value]) if field == "zone" else (field, value)
    return Edit(MEMBER, SET, ("spec", name), written, f"with {field} {value}{was}", cluster.name)


def unset_field(cluster: Cluster, field: str) -> Edit:
    """Return the edit that takes a member's ``provider``, ``region`` or ``zone`` away."""
    name, written = ("zones", []) if field == "zone" else (field, "")
    return Edit(MEMBER, SET, ("spec", name), written, f"without a {field}", cluster.name)


def tolerate(field: FieldPath, taint: Taint) -> Edit:
    """Return the edit of a policy, whose tolerations are at a path, that tolerates a taint."""
    value = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    return Edit(POLICY, ADD, field, value, f"with a toleration of {show_taint(taint)}")


def show_taint(taint: Taint) -> str:
    """Format a taint as kubectl does: ``spot=true:NoSchedule``."""
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _written(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}
