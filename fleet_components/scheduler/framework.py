"""The contracts of the scheduler. Read this first.

A profile (``kubefleet/``, ``karmada/``) is a list of plug-ins in order, one plug-in a file. Plug-ins speak in
columns: a filter answers with a mask over all members of the inventory, a score with a number per member. The
text for one member is made only when somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import attrs

from fleet_components.model.mask import Mask

S_contra = TypeVar("S_contra", contravariant=True)


class SchedulingError(Exception):
    """The scheduling cycle fails as a whole, as the real one does; what was decided before stays."""


class Filter(Protocol[S_contra]):
    """Says which members can be picked. ``S`` is the profile's state of one cycle."""

    name: str

    def mask(self, state: S_contra, candidates: Mask) -> Mask:
        """The candidates that pass. Called by :func:`run_filters` with those that passed every filter before.

        Raises:
            SchedulingError: the policy or a member makes the whole cycle fail.
        """

    def reason(self, state: S_contra, position: int) -> str:
        """Why the member at this position does not pass, in the words of the real scheduler."""

    def remedy(self, state: S_contra, position: int) -> str:
        """What would let that member pass; empty where there is nothing to say."""


class Score(Protocol[S_contra]):
    """Ranks the members that can be picked."""

    name: str

    def scores(self, state: S_contra, candidates: Mask) -> Mapping[int, int]:
        """The score of each candidate by position; absent means 0."""

    def words(self, state: S_contra, position: int) -> str:
        """How the score of a member comes about."""


@attrs.frozen
class Verdict:
    """What one plug-in says of one member.

    Attributes:
        plugin: the plug-in's name.
        passed: whether a filter lets the member pass; None for a score.
        words: the reason, or how the score comes about.
        score: the score; None for a filter, or when it cannot be told.
        remedy: what would make a filter pass; empty when it passes.
    """

    plugin: str
    passed: bool | None
    words: str
    score: int | None = None
    remedy: str = ""
