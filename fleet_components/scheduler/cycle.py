"""One pass of an ordered list of filters over the whole fleet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter

S = TypeVar("S")


@attrs.frozen
class Filtered(Generic[S]):
    """Result of a list of filters: the members that passed, and the members that each filter was the first to stop."""

    passed: Mask
    stopped: tuple[tuple[Filter[S], Mask], ...]

    def stopped_by(self, position: int) -> Filter[S] | None:
        """Return the filter that stopped the member at this position; None if the member passed."""
        return next((plugin for plugin, mask in self.stopped if masks.has(mask, position)), None)


def run_filters(filters: Iterable[Filter[S]], state: S, candidates: Mask) -> Filtered[S]:
    """Run the filters in order on the candidates; each member is attributed to the first filter that stops it."""
    stopped = []
    for plugin in filters:
        passed = plugin.mask(state, candidates) & candidates
        stopped.append((plugin, candidates & ~passed))
        candidates = passed
    return Filtered(candidates, tuple(stopped))
