"""One resource of a stack, with the change that an update would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.problem import FieldPath, show_path


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


CREATE, UPDATE, REPLACE, DELETE, SAME = "create", "update", "replace", "delete", "same"
CHANGES = (CREATE, UPDATE, REPLACE, DELETE, SAME)


@attrs.frozen
class Resource:
    """A resource with its change.

    Attributes:
        urn: its URN.
        type: its type token.
        name: its logical name.
        inputs: its inputs in wire form; secrets read ``[secret]``, unknown values ``[unknown]``.
        parent: the URN of its parent.
        provider: the URN of its explicit provider.
        dependencies: the URNs that it depends on.
        options: protect, retainOnDelete and hideDiffs, where set.
        change: create, update, replace, delete or same; empty if there is no state to compare with.
        differences: the inputs that differ.
        uncompared: paths of inputs that cannot be compared, because they are encrypted in the state.
    """

    urn: str
    type: str
    name: str
    inputs: Mapping[str, Any]
    parent: str = ""
    provider: str = ""
    dependencies: tuple[str, ...] = ()
    options: Mapping[str, Any] = attrs.field(factory=dict)
    change: str = CREATE
    differences: tuple[Difference, ...] = ()
    uncompared: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """True if the resource changes; False if there is no state to compare with."""
        return self.change not in ("", SAME)

    def to_wire(self) -> dict[str, Any]:
        """Return the form that documents show."""
        return {
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "change": self.change or None,
            "differences": [difference.to_wire() for difference in self.differences],
            "uncompared": list(self.uncompared),
            "parent": self.parent or None,
            "provider": self.provider or None,
            "dependencies": list(self.dependencies),
            "options": dict(self.options),
            "inputs": dict(self.inputs),
        }
