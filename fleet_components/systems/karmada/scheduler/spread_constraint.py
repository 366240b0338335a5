"""SpreadConstraint: a member must have every property that the constraints spread by."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import Edits, set_field
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.karmada.scheduler.state import KarmadaState, providers, regions, zones

_PROPERTIES = {
    "provider": (providers, "provider"),
    "region": (regions, "region"),
    "zone": (zones, "zones"),
}


class SpreadConstraint(Filter[KarmadaState]):
    """Filter that rejects members without region, zones or provider if the placement spreads by
    these.
    """

    name = "SpreadConstraint"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates that have every property that is spread by."""
        for field in _fields(state):
            candidates &= _having(state, field)
        return candidates

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text for the first missing property, in the order of the constraints."""
        return f"cluster(s) did not have {_PROPERTIES[self._missing(state, position)][1]} property"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield for each value that other members have that this one declares it."""
        missing = [field for field in _fields(state) if not _having(state, field) >> position & 1]
        known = [_PROPERTIES[field][0](state.inventory) for field in missing]
        for values in product(*known):
            yield tuple(
                set_field(state.inventory.clusters[position], field, value)
                for field, value in zip(missing, values, strict=True)
            )

    def _missing(self, state: KarmadaState, position: int) -> str:
        return next(field for field in _fields(state) if not _having(state, field) >> position & 1)


def _fields(state: KarmadaState) -> list[str]:
    constraints = state.placement.spread_constraints
    return [
        constraint.spread_by_field
        for constraint in constraints
        if constraint.spread_by_field in _PROPERTIES
    ]


def _having(state: KarmadaState, field: str) -> Mask:
    having = 0
    for members in _PROPERTIES[field][0](state.inventory).values():
        having |= members
    return having
