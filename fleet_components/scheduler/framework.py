"""Contracts of the scheduler plug-ins; the place to start reading.

A profile (``kubefleet/``, ``karmada/``) is an ordered list of plug-ins, with one plug-in per file. Plug-ins work on
columns: a filter returns a mask over all members of the inventory, a score returns a number per member. The text for
a single member is built only on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import attrs

from fleet_components.model.mask import Mask

S_contra = TypeVar("S_contra", contravariant=True)


class SchedulingError(Exception):
    """Failure of a whole scheduling cycle, as in the real scheduler; the previous decision stays in force."""


class Filter(Protocol[S_contra]):
    """Plug-in that decides which members can be picked. ``S`` is the profile's state of one cycle."""

    name: str

    def mask(self, state: S_contra, candidates: Mask) -> Mask:
        """Return the candidates that pass.

        Called by :func:`run_filters` with the members that passed every earlier filter.

        Raises:
            SchedulingError: the policy or a member makes the whole cycle fail.
        """

    def reason(self, state: S_contra, position: int) -> str:
        """Return why the member at this position does not pass, in the words of the real scheduler."""

    def remedy(self, state: S_contra, position: int) -> str:
        """Return what would let the member at this position pass; empty if there is nothing to suggest."""


class Score(Protocol[S_contra]):
    """Plug-in that ranks the members that can be picked."""

    name: str

    def scores(self, state: S_contra, candidates: Mask) -> Mapping[int, int]:
        """Return the score of each candidate by position; a missing position means 0."""

    def words(self, state: S_contra, position: int) -> str:
        """Explain how the score of the member at this position comes about."""


@attrs.frozen
class Verdict:
    """Result of one plug-in for one member.

    Attributes:
        plugin: the plug-in's name.
        passed: whether a filter lets the member pass; None for a score.
        words: the reason, or how the score comes about.
        score: the score; None for a filter, or when it cannot be computed.
        remedy: what would make a filter pass; empty when it passes.
    """

    plugin: str
    passed: bool | None
    words: str
    score: int | None = None
    remedy: str = ""
