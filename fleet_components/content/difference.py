"""Differences between two objects, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import attrs

from fleet_components.content.secret import REDACTED, is_hidden, redacted, secret_fields
from fleet_components.model.problem import FieldPath, show_path
from fleet_components.model.quantity import is_quantity, parse_quantity

CHANGED = f"{REDACTED}, changed"
"""Stands for the new value of something secret that changes."""
_AMOUNTS = frozenset({"limits", "requests", "hard", "capacity", "sizeLimit"})
"""Fields of built-in kinds with quantities in them."""


@attrs.frozen
class Difference:
    """One field that differs; ``old`` is None if it was absent, ``new`` if it is removed."""

    path: FieldPath
    old: Any
    new: Any

    @property
    def field(self) -> str:
        """Path of the field, as the Kubernetes API writes it."""
        return show_path(self.path)

    @property
    def hidden(self) -> Difference:
        """The same without its values."""
        return Difference(
            self.path,
            None if self.old is None else REDACTED,
            None if self.new is None else REDACTED,
        )

    def to_wire(self) -> dict[str, Any]:
        """Return the form that documents show."""
        return {"field": self.field, "old": self.old, "new": self.new}


def differences(old: Any, new: Any, path: FieldPath = ()) -> Iterator[Difference]:
    """Yield the fields that differ. Null counts as absent; lists are compared item by item."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        # What is beyond the end of one list is absent there.
        for index in range(max(len(old), len(new))):
            before, after = (items[index] if index < len(items) else None for items in (old, new))
            yield from differences(before, after, (*path, index))
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        # In Python True equals 1, in YAML it does not.
        yield Difference(path, old, new)


def shown_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the fields that differ; on both sides, what is secret in the old or in the new object
    is hidden.
    """
    secret = secret_fields(old) | secret_fields(new)
    for difference in differences(old, new):
        yield (
            difference.hidden
            if difference.path[:1] and difference.path[0] in secret
            else difference
        )


def shown_sides(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return two versions of an object without what is secret in either of them.

    In a field that holds something secret, only what is alike and public in both is shown, and what
    changes is marked: a secret may have moved within the field, and is no mark of its kind any
    more.
    """
    secret = secret_fields(old) | secret_fields(new)
    hidden_old, hidden_new = dict(old), dict(new)
    for field in secret & old.keys() | secret & new.keys():
        sides = _hidden_sides(
            old.get(field), new.get(field), redacted(old).get(field), redacted(new).get(field)
        )
        # A side without the field gets null for it, which counts as absent.
        for side, value in zip((hidden_old, hidden_new), sides, strict=True):
            side[field] = value
    return hidden_old, hidden_new


def _hidden_sides(old: Any, new: Any, hidden_old: Any, hidden_new: Any) -> tuple[Any, Any]:
    """Return what is shown of two values, of which the others are the parts that are public by
    themselves.
    """
    parts = old, new, hidden_old, hidden_new
    if all(part is None or isinstance(part, Mapping) for part in parts) and (old or new):
        keys = (old or {}).keys() | (new or {}).keys()
        # A side without the map stays None.
        pairs = {key: _hidden_sides(*(part and part.get(key) for part in parts)) for key in keys}
        return old and {key: pairs[key][0] for key in old}, new and {
            key: pairs[key][1] for key in new
        }
    if all(isinstance(part, list) for part in parts):
        # What a shorter list is filled up with is cut off again below.
        items = [_hidden_sides(*sides) for sides in zip_longest(*parts)]
        return [item for item, _ in items[: len(old)]], [item for _, item in items[: len(new)]]
    alike = not any(differences(old, new))
    if alike and not is_hidden(hidden_old) and not is_hidden(hidden_new):
        return old, new
    return (
        None if old is None else REDACTED,
        None if new is None else REDACTED if alike or old is None else CHANGED,
    )


def amounts_alike(difference: Difference) -> bool:
    """Return whether a field has one amount, written in two ways."""
    if (
        difference.path[:1] != ("spec",)
        or _AMOUNTS.isdisjoint(difference.path)
        or None in (difference.old, difference.new)
    ):
        return False
    old, new = str(difference.old), str(difference.new)
    return is_quantity(old) and is_quantity(new) and parse_quantity(old) == parse_quantity(new)
