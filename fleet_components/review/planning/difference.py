"""Comparison of two values in wire form, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.problem import FieldPath, show_path

HIDDEN = "[secret]"


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

    def to_wire(self) -> dict[str, Any]:
        """Return the form that documents show."""
        return {"field": self.field, "old": self.old, "new": self.new}


def differences(old: Any, new: Any, path: FieldPath = ()) -> Iterator[Difference]:
    """Yield the fields that differ. Null counts as absent; lists are compared item by item."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before, after = (items[index] if index < len(items) else None for items in (old, new))
            yield from differences(before, after, (*path, index))
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        # In Python True equals 1, in YAML it does not.
        yield Difference(path, old, new)
