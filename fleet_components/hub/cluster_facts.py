"""The facts that a cluster reports about itself, and sums over its nodes and pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.admission.decode import amount_text
from fleet_components.hub.listing import Object
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.quantity import parse_quantity

_ENDED = ("Succeeded", "Failed")


@attrs.frozen
class ServedKind:
    """A kind that a cluster serves, listable or not.

    Attributes:
        api_version: its group and version.
        kind: the kind.
        plural: its name in paths.
    """

    api_version: str
    kind: str
    plural: str


def _sorted(found: Iterable[Object]) -> tuple[Object, ...]:
    # Sorted, because a sum takes the form of the first quantity: see Amount.
    return tuple(sorted(found, key=lambda data: Manifest(data).key))


@attrs.frozen
class ClusterFacts:
    """Facts that a cluster tells of itself.

    Attributes:
        nodes: its nodes, sorted by name.
        pods: its pods, sorted by namespace and name.
        version: the version of its API server, as ``v1.36.3``; empty if unknown.
        kinds: the kinds that it serves, in all versions.
    """

    nodes: tuple[Object, ...] = attrs.field(repr=False, converter=_sorted)
    pods: tuple[Object, ...] = attrs.field(repr=False, converter=_sorted)
    version: str = ""
    kinds: tuple[ServedKind, ...] = attrs.field(default=(), repr=False)

    @property
    def running(self) -> tuple[Object, ...]:
        """The pods that occupy a node: assigned to one, and not ended. Both agents count these."""
        return tuple(
            pod
            for pod in self.pods
            if node_of(pod) and value_at(pod, ("status", "phase")) not in _ENDED
        )


@attrs.frozen
class Amount:
    """A sum of quantities, in the form that Go's ``Quantity`` gives it: that of the first one that
    counts.

    Attributes:
        nano: the sum in units of 1e-9.
        like: a quantity in the family of suffixes of the sum.
    """

    nano: int = 0
    like: str = ""

    def plus(self, text: str) -> Amount:
        """Return the sum with another quantity.

        Raises:
            ValueError: the text is none.
        """
        # As Go's Quantity adds: a sum of 0 takes the form of what is added to it.
        return Amount(self.nano + parse_quantity(text).nano, self.like if self.nano else text)

    def minus(self, other: Amount) -> Amount:
        """Return the difference."""
        return Amount(self.nano - other.nano, self.like if self.nano else other.like)

    def __str__(self) -> str:
        return amount_text(self.nano, self.like)


def total(amounts: Iterable[Mapping[str, Any]], name: str) -> Amount:
    """Return the sum of one resource; where it is not listed, it is 0."""
    found = Amount()
    for amount in amounts:
        if name in amount:
            found = found.plus(str(amount[name]))
    return found


def node_of(pod: Object) -> str:
    """Return the node that a pod is assigned to; empty if it is to none."""
    return str(value_at(pod, ("spec", "nodeName")) or "")


def amounts_at(data: Object, *path: str) -> Mapping[str, Any]:
    """Return a map of quantities by resource; empty if it is missing."""
    found: Mapping[str, Any] = value_at(data, path) or {}
    return found
