"""One resource of a stack, with the change that an update would make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.content.difference import Difference

CREATE, UPDATE, REPLACE, DELETE, SAME = "create", "update", "replace", "delete", "same"
CHANGES = (CREATE, UPDATE, REPLACE, DELETE, SAME)


@attrs.frozen
class ChangedResource:
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
        uncompared: paths of inputs that cannot be compared, because they are encrypted in the
            state.
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
