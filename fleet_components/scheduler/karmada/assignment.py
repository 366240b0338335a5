"""What the members get, and how the replicas were divided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from fleet_components.model.text import count
from fleet_components.model.webster import divide

Replicas = dict[str, int]
"""Replicas by member, in the order in which Karmada lists them."""


@attrs.frozen
class Division:
    """How an amount was divided.

    Attributes:
        amount: how many replicas were divided.
        weights: the weight of each member.
        shares: what each member got, by name.
        basis: what the weights are, in words.
        kept: what members had before and keep in addition.
    """

    amount: int
    weights: Mapping[str, int]
    shares: Mapping[str, int]
    basis: str
    kept: Mapping[str, int]

    @property
    def words(self) -> str:
        """For example ``12 replicas over a, b, c by static weights 6:12:18 -> 2, 4, 6``."""
        names = list(self.shares)
        weights = ":".join(str(self.weights[name]) for name in names)
        shares = ", ".join(str(self.shares[name]) for name in names)
        replicas = count(self.amount, "more replica" if self.kept else "replica")
        return f"{replicas} over {', '.join(names)} by {self.basis} {weights} -> {shares}"


@attrs.frozen
class Assignment:
    """What the members get, in the order in which Karmada lists them, and the divisions that it comes from."""

    clusters: Replicas
    divisions: tuple[Division, ...] = ()

    def reaching(self, names: Iterable[str]) -> Assignment:
        """The same, with 0 replicas for each of these members that has none."""
        return attrs.evolve(self, clusters={**self.clusters, **dict.fromkeys(names, 0), **self.clusters})


def divided(
    amount: int, weights: Mapping[str, int], basis: str, uid: str, kept: Mapping[str, int] | None = None
) -> Assignment:
    """Divide an amount by weights and add it to what is kept; members that end with nothing are left out."""
    kept = kept or {}
    shares = divide(amount, weights, uid)
    # Those that only keep what they have come last; Karmada puts them in any order.
    clusters = {name: share + kept.get(name, 0) for name, share in shares.items()}
    clusters |= {name: replicas for name, replicas in kept.items() if name not in shares}
    return Assignment(without_zeros(clusters), (Division(amount, weights, shares, basis, kept),))


def without_zeros(clusters: Mapping[str, int]) -> Replicas:
    """Leave out the members that have none."""
    return {name: replicas for name, replicas in clusters.items() if replicas}
