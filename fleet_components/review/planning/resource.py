"""A resource of a stack, and what would happen to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.review.planning.difference import Difference

CREATE, UPDATE, REPLACE, DELETE, SAME = "create", "update", "replace", "delete", "same"
CHANGES = (CREATE, UPDATE, REPLACE, DELETE, SAME)


@attrs.frozen
class Resource:
    """A resource, and what would happen to it.

    Attributes:
        urn: its URN.
        type: its type token.
        name: its logical name.
        inputs: its inputs in wire form; secrets read ``[secret]``, what is not known yet ``[unknown]``.
        parent: the URN of its parent.
        provider: the URN of its explicit provider.
        dependencies: the URNs that it depends on.
        options: protect, retainOnDelete and hideDiffs, where set.
        change: create, update, replace, delete or same; empty when there is nothing to compare with.
        differences: the inputs that differ.
        uncompared: inputs that are encrypted in the state, so that nobody can tell whether they differ.
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
        """Whether anything happens to it; no where there is nothing to compare with."""
        return self.change not in ("", SAME)

    def to_wire(self) -> dict[str, Any]:
        """Its form in documents."""
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
