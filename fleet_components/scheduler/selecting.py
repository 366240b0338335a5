"""Finds the values of labels, fields and properties with which a member meets requirements, or does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from fleet_components.model.quantity import parse_quantity
from fleet_components.model.selector import Labels, Requirement
from fleet_components.scheduler.edit import Edits, set_label, unset_label

_ANY = "true"
"""Value of a label of which only the presence is asked."""
_FORM = re.compile(r"([+-]?[0-9.]+)([A-Za-z]*)")


def to_match(member: str, requirements: Iterable[Requirement], labels: Labels) -> Edits | None:
    """Return the fewest edits of labels with which a member meets all requirements; None if no labels do."""
    found = []
    for key, asked in _by_key(requirements).items():
        old = labels.get(key)
        if not all(_met(requirement, old) for requirement in asked):
            values = (value for value in _values(asked) if all(_met(requirement, value) for requirement in asked))
            value = next(values, _NOWHERE)
            if value is _NOWHERE:
                return None
            found.append(unset_label(member, key) if value is None else set_label(member, key, str(value), old))
    return tuple(found)


def to_miss(member: str, requirements: Iterable[Requirement], labels: Labels) -> Iterator[Edits]:
    """Yield edits of one label with which a member that meets all requirements fails one of them."""
    for key, asked in _by_key(requirements).items():
        values = (None, *_values(asked), *(f"not-{value}" for requirement in asked for value in requirement.values))
        for value in values:
            if value != labels.get(key) and not all(_met(requirement, value) for requirement in asked):
                edit = unset_label(member, key) if value is None else set_label(member, key, value, labels.get(key))
                yield (edit,)
                break


def _by_key(requirements: Iterable[Requirement]) -> Mapping[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        found.setdefault(requirement.key, []).append(requirement)
    return found


_NOWHERE = object()


def _values(requirements: Sequence[Requirement]) -> Iterator[str | None]:
    """Yield the values that requirements of one key name, then none, then any, then those that they exclude."""
    yield from (value for requirement in requirements if requirement.operator == "In" for value in requirement.values)
    yield from (None, _ANY)
    yield from (
        value for requirement in requirements if requirement.operator == "NotIn" for value in requirement.values
    )


def _met(requirement: Requirement, value: str | None) -> bool:
    return requirement.met_by({} if value is None else {requirement.key: value})


def first_amount(asked: Iterable[str], holds: Callable[[str], bool]) -> str | None:
    """Return the first amount that does, of those that are asked for and their neighbours in the last place."""
    for text in asked:
        for amount in (text, stepped(text, 1), stepped(text, -1)):
            if amount is not None and holds(amount):
                return amount
    return None


def stepped(text: str, steps: int) -> str | None:
    """Return an amount that is some units of its last place more or less; None where it is not written plainly."""
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
    """Return how much more an amount is than another: ``2``; empty where they are not written alike."""
    ends = _read(new), _read(old or "0" + _suffix(new))
    if ends[0] is None or ends[1] is None or ends[0][1] != ends[1][1]:
        return ""
    return f"{ends[0][0] - ends[1][0]:f}{ends[0][1]}"


def _suffix(text: str) -> str:
    read = _read(text)
    return read[1] if read else ""


_MOST_RUNGS = 500


def between(old: str, goal: str) -> list[str]:
    """Return the amounts from one to another without the first, in steps of their last place or of a fair part."""
    here, there = _read(old), _read(goal)
    if here is None or there is None or here[1] != there[1]:
        return [goal]
    (first, suffix), last = here, there[0]
    place = min(0, int(first.as_tuple().exponent), int(last.as_tuple().exponent))
    unit = Decimal(1).scaleb(place)
    while abs(last - first) / unit > _MOST_RUNGS:
        unit *= 10
    sign = 1 if last > first else -1
    rungs = [f"{first + sign * unit * step:f}{suffix}" for step in range(1, int(abs(last - first) / unit) + 1)]
    return rungs if rungs and parse_quantity(rungs[-1]) == parse_quantity(goal) else [*rungs, goal]
