"""Changes of written objects, small enough to be said in a phrase, and what a fleet is with them.

An edit names the field as its author would find it in the YAML. Several edits that belong together
are a change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.problem import FieldPath
from fleet_components.model.quantity import parse_quantity
from fleet_components.model.selector import Labels, Requirement

MEMBER, POLICY, OBJECT = "member", "policy", "object"
SET, UNSET, ADD, DROP = "set", "unset", "add", "drop"


@attrs.frozen
class FieldEdit:
    """One change of one field.

    Attributes:
        of: whose field it is: of a ``member``, of the ``policy`` or of the ``object`` that is
            placed.
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


Edits = tuple[FieldEdit, ...]
"""Edits that are made together."""
Ladder = tuple[Edits, ...]
"""Changes of one kind, each going further than the one before: ``numberOfClusters`` 3, 4, 5."""


def edit_words(change: Edits) -> str:
    """Return a change in words: ``with tier=gold and zone=a and without the taint
    spot:NoSchedule``.
    """
    words, preposition = [], ""
    for edit in change:
        first, _, rest = edit.words.partition(" ")
        words.append(rest if first == preposition else edit.words)
        preposition = first
    return " and ".join(words)


def joined(edits: Iterable[FieldEdit]) -> Edits:
    """Return edits that are made together, equal ones once."""
    found = list[FieldEdit]()
    for edit in edits:
        if edit not in found:
            found.append(edit)
    return tuple(found)


def _at(data: Any, path: FieldPath, edit: FieldEdit) -> Any:
    here, *rest = path
    if isinstance(data, list | tuple):
        return [
            _below(item, rest, edit) if index == here else item for index, item in enumerate(data)
        ]
    # Maps on the way that do not exist yet are made.
    known = dict(data or {})
    changed = _below(known.get(str(here)), rest, edit)
    if changed is _NOTHING:
        known.pop(str(here), None)
        return known
    return {**known, str(here): changed}


# Stands for a key to remove. None does not, since it is a value that a field may have.
_NOTHING = object()


def _below(value: Any, rest: list[str | int], edit: FieldEdit) -> Any:
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


def set_label(member: str, key: str, value: str, old: str | None) -> FieldEdit:
    """Return the edit that gives a member a label."""
    was = "" if old is None else f' (is "{old}")'
    return FieldEdit(
        MEMBER, SET, ("metadata", "labels", key), value, f"with {key}={value}{was}", member
    )


def unset_label(member: str, key: str) -> FieldEdit:
    """Return the edit that takes a label away."""
    return FieldEdit(
        MEMBER, UNSET, ("metadata", "labels", key), None, f"without the label {key}", member
    )


def add_taint(member: str, taint: Taint) -> FieldEdit:
    """Return the edit that taints a member."""
    return FieldEdit(
        MEMBER,
        ADD,
        ("spec", "taints"),
        _written(taint),
        f"with a taint {show_taint(taint)}",
        member,
    )


def drop_taint(member: str, taint: Taint) -> FieldEdit:
    """Return the edit that takes a taint away."""
    return FieldEdit(
        MEMBER,
        DROP,
        ("spec", "taints"),
        _written(taint),
        f"without the taint {show_taint(taint)}",
        member,
    )


def set_field(cluster: Cluster, field: str, value: str) -> FieldEdit:
    """Return the edit that gives a member a ``provider``, a ``region`` or a ``zone``, its only one
    then.
    """
    old = {
        "provider": cluster.provider,
        "region": cluster.region,
        "zone": ", ".join(cluster.zones),
    }[field]
    was = f' (is "{old}")' if old else ""
    name, written = ("zones", [value]) if field == "zone" else (field, value)
    return FieldEdit(
        MEMBER, SET, ("spec", name), written, f"with {field} {value}{was}", cluster.name
    )


def unset_field(cluster: Cluster, field: str) -> FieldEdit:
    """Return the edit that takes a member's ``provider``, ``region`` or ``zone`` away."""
    name, written = ("zones", []) if field == "zone" else (field, "")
    return FieldEdit(MEMBER, SET, ("spec", name), written, f"without a {field}", cluster.name)


def tolerate(field: FieldPath, taint: Taint) -> FieldEdit:
    """Return the edit of a policy, whose tolerations are at a path, that tolerates a taint."""
    value = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    return FieldEdit(POLICY, ADD, field, value, f"with a toleration of {show_taint(taint)}")


def show_taint(taint: Taint) -> str:
    """Format a taint as kubectl does: ``spot=true:NoSchedule``."""
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _written(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


# Finds the values of labels, fields and properties with which a member meets requirements, or
# does not.


_ANY = "true"
"""Value of a label for which a requirement demands only that it exists."""
# Without exponents: stepping 1e3 by its last place would give an amount nobody writes.
_FORM = re.compile(r"([+-]?[0-9.]+)([A-Za-z]*)")


def to_match(member: str, requirements: Iterable[Requirement], labels: Labels) -> Edits | None:
    """Return the fewest edits of labels with which a member meets all requirements; None if no
    labels do.
    """
    found = []
    for key, asked in _by_key(requirements).items():
        old = labels.get(key)
        if not all(_met(requirement, old) for requirement in asked):
            values = (
                value
                for value in _values(asked)
                if all(_met(requirement, value) for requirement in asked)
            )
            value = next(values, _NOWHERE)
            if value is _NOWHERE:
                return None
            found.append(
                unset_label(member, key)
                if value is None
                else set_label(member, key, str(value), old)
            )
    return tuple(found)


def to_miss(member: str, requirements: Iterable[Requirement], labels: Labels) -> Iterator[Edits]:
    """Yield edits of one label with which a member that meets all requirements fails one of
    them.
    """
    for key, asked in _by_key(requirements).items():
        values = (
            None,
            *_values(asked),
            # For In, where every value of the list meets the requirement: a value outside of it.
            *(f"not-{value}" for requirement in asked for value in requirement.values),
        )
        for value in values:
            if value != labels.get(key) and not all(
                _met(requirement, value) for requirement in asked
            ):
                edit = (
                    unset_label(member, key)
                    if value is None
                    else set_label(member, key, value, labels.get(key))
                )
                yield (edit,)
                break


def _by_key(requirements: Iterable[Requirement]) -> Mapping[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        found.setdefault(requirement.key, []).append(requirement)
    return found


# Stands for no value at all. None means that the label has to be absent.
_NOWHERE = object()


def _values(requirements: Sequence[Requirement]) -> Iterator[str | None]:
    """Yield the values that requirements of one key name, then none, then any, then those that they
    exclude.
    """
    yield from (
        value
        for requirement in requirements
        if requirement.operator == "In"
        for value in requirement.values
    )
    yield from (None, _ANY)
    yield from (
        value
        for requirement in requirements
        if requirement.operator == "NotIn"
        for value in requirement.values
    )


def _met(requirement: Requirement, value: str | None) -> bool:
    return requirement.met_by({} if value is None else {requirement.key: value})


def first_amount(asked: Iterable[str], holds: Callable[[str], bool]) -> str | None:
    """Return the first amount that does, of those that are asked for and their neighbours in the
    last place.
    """
    for text in asked:
        for amount in (text, stepped(text, 1), stepped(text, -1)):
            if amount is not None and holds(amount):
                return amount
    return None


def stepped(text: str, steps: int) -> str | None:
    """Return an amount that is some units of its last place more or less; None where it is not
    written plainly.
    """
    read = _read(text)
    if read is None:
        return None
    number, suffix = read
    exponent = min(0, int(number.as_tuple().exponent))
    return f"{number + steps * Decimal(1).scaleb(exponent):f}{suffix}"


def _read(text: str) -> tuple[Decimal, str] | None:
    match = _FORM.fullmatch(text)
    try:
        return (Decimal(match[1]), match[2]) if match else None
    except InvalidOperation:
        return None


def more(new: str, old: str | None) -> str:
    """Return how much more an amount is than another: ``2``; empty where they are not written
    alike.
    """
    # No amount counts as 0, in the notation of the new one.
    ends = _read(new), _read(old or "0" + _suffix(new))
    if ends[0] is None or ends[1] is None or ends[0][1] != ends[1][1]:
        return ""
    return f"{ends[0][0] - ends[1][0]:f}{ends[0][1]}"


def _suffix(text: str) -> str:
    read = _read(text)
    return read[1] if read else ""


_MOST_RUNGS = 500


def between(old: str, goal: str) -> list[str]:
    """Return the amounts from one to another without the first, in steps of their last place or of
    a fair part.
    """
    here, there = _read(old), _read(goal)
    if here is None or there is None or here[1] != there[1]:
        return [goal]
    (first, suffix), last = here, there[0]
    place = min(0, int(first.as_tuple().exponent), int(last.as_tuple().exponent))
    unit = Decimal(1).scaleb(place)
    while abs(last - first) / unit > _MOST_RUNGS:
        unit *= 10
    sign = 1 if last > first else -1
    rungs = [
        f"{first + sign * unit * step:f}{suffix}"
        for step in range(1, int(abs(last - first) / unit) + 1)
    ]
    # The steps may pass by the goal, which has to be the last rung in any case.
    return rungs if rungs and parse_quantity(rungs[-1]) == parse_quantity(goal) else [*rungs, goal]
