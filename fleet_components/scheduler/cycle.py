"""One pass of a chain of filters over the whole fleet."""

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
    """The outcome of a chain of filters: who passed, and which filter stopped whom first."""

    passed: Mask
    stopped: tuple[tuple[Filter[S], Mask], ...]

    def stopped_by(self, position: int) -> Filter[S] | None:
        """The filter that stopped the member at this position; None if it passed."""
        return next((plugin for plugin, mask in self.stopped if masks.has(mask, position)), None)


def run_filters(filters: Iterable[Filter[S]], state: S, candidates: Mask) -> Filtered[S]:
    """Run the filters in order; the first that stops a member gives the reason."""
    stopped = []
    for plugin in filters:
        passed = plugin.mask(state, candidates) & candidates
        stopped.append((plugin, candidates & ~passed))
        candidates = passed
    return Filtered(candidates, tuple(stopped))
