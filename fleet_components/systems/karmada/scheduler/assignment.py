"""Replicas assigned to the members, and how they were divided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from fleet_components.model.text import count
from fleet_components.systems.karmada.model.webster import divide

Replicas = dict[str, int]
"""Replicas by member, in the order in which Karmada lists them."""


@attrs.frozen
class Division:
    """Record of one division of replicas.

    Attributes:
        amount: the number of replicas that were divided.
        weights: the weight of each member.
        shares: the replicas that each member got, by name.
        basis: the meaning of the weights, in words.
        kept: replicas that members had before and keep in addition.
    """

    amount: int
    weights: Mapping[str, int]
    shares: Mapping[str, int]
    basis: str
    kept: Mapping[str, int]

    @property
    def words(self) -> str:
        """Description, for example ``12 replicas over a, b, c by static weights 6:12:18 -> 2, 4, 6``."""
        names = list(self.shares)
        weights = ":".join(str(self.weights[name]) for name in names)
        shares = ", ".join(str(self.shares[name]) for name in names)
        replicas = count(self.amount, "more replica" if self.kept else "replica")
        return f"{replicas} over {', '.join(names)} by {self.basis} {weights} -> {shares}"


@attrs.frozen
class Assignment:
    """Replicas of each member in the order in which Karmada lists them, with the divisions that led to them."""

    clusters: Replicas
    divisions: tuple[Division, ...] = ()

    def reaching(self, names: Iterable[str]) -> Assignment:
        """Return a copy with 0 replicas for each named member that has no entry."""
        # Named twice, once for the order, in which Karmada appends the others, and once for the replicas.
        return attrs.evolve(self, clusters={**self.clusters, **dict.fromkeys(names, 0), **self.clusters})


def divided(
    amount: int, weights: Mapping[str, int], basis: str, uid: str, kept: Mapping[str, int] | None = None
) -> Assignment:
    """Divide an amount by weights and add the shares to the kept replicas; members that end with 0 are left out."""
    kept = kept or {}
    shares = divide(amount, weights, uid)
    # Members that only keep their replicas come last. Karmada appends them in the random order of a Go map.
    clusters = {name: share + kept.get(name, 0) for name, share in shares.items()}
    clusters |= {name: replicas for name, replicas in kept.items() if name not in shares}
    return Assignment(without_zeros(clusters), (Division(amount, weights, shares, basis, kept),))


def without_zeros(clusters: Mapping[str, int]) -> Replicas:
    """Return the members that have replicas."""
    return {name: replicas for name, replicas in clusters.items() if replicas}
