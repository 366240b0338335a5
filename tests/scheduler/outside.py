"""Plug-ins as somebody outside the package writes them, good and bad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.plugins import (
    Filter,
    KubeFleetState,
    Mask,
    PostBatch,
    PreFilter,
    PreScore,
    SchedulingError,
    Score,
    State,
)

ASKED: list[str] = []
"""The extension points that :class:`Recorder` was asked at, in order."""


class Freeze(Filter[State]):
    """Stops members with the label freeze=true."""

    name = "Freeze"

    def mask(self, state: State, candidates: Mask) -> Mask:
        return candidates & (state.placed | ~state.inventory.domains("freeze").get("true", 0))

    def reason(self, state: State, position: int) -> str:
        return "is frozen"

    def remedy(self, state: State, position: int) -> str:
        return "take the label freeze away"


class Cheapest(Score[State]):
    """Prefers a low label price."""

    name = "Cheapest"

    def scores(self, state: State, candidates: Mask) -> Mapping[int, Mask]:
        return {-int(price): members for price, members in state.inventory.domains("price").items()}

    def words(self, state: State, position: int) -> str:
        return f"price {state.inventory.clusters[position].labels.get('price')}"


class Indifferent(PreFilter[State], Filter[State], PreScore[State], Score[State]):
    """Lets every member pass, and prefers none."""

    name = "Indifferent"

    def pre_filter(self, state: State) -> bool:
        return True

    def mask(self, state: State, candidates: Mask) -> Mask:
        return candidates

    def reason(self, state: State, position: int) -> str:
        raise AssertionError("it stops nobody")

    def pre_score(self, state: State) -> bool:
        return True

    def scores(self, state: State, candidates: Mask) -> Mapping[int, Mask]:
        return {7: candidates}

    def words(self, state: State, position: int) -> str:
        return "likes all"


class Recorder(PostBatch[KubeFleetState], Indifferent):
    """Notes at which extension points it is asked."""

    name = "Recorder"
    profiles = ("kubefleet",)

    def batch(self, state: KubeFleetState, wanted: int) -> int:
        ASKED.append("PostBatch")
        return 2

    def pre_filter(self, state: State) -> bool:
        ASKED.append("PreFilter")
        return True

    def mask(self, state: State, candidates: Mask) -> Mask:
        ASKED.append("Filter")
        return candidates

    def pre_score(self, state: State) -> bool:
        ASKED.append("PreScore")
        return True

    def scores(self, state: State, candidates: Mask) -> Mapping[int, Mask]:
        ASKED.append("Score")
        return {0: candidates}


class Skipping(Indifferent):
    """Skips its own filter and score, which would fail."""

    name = "Skipping"

    def pre_filter(self, state: State) -> bool:
        return False

    def mask(self, state: State, candidates: Mask) -> Mask:
        raise AssertionError

    def pre_score(self, state: State) -> bool:
        return False

    def scores(self, state: State, candidates: Mask) -> Mapping[int, Mask]:
        raise AssertionError


class Undecided(Indifferent):
    """Says that nothing can be decided."""

    name = "Undecided"

    def mask(self, state: State, candidates: Mask) -> Mask:
        raise SchedulingError("the price list is missing")


class UndecidedScore(Indifferent):
    """Says that nothing can be ranked."""

    name = "UndecidedScore"

    def scores(self, state: State, candidates: Mask) -> Mapping[int, Mask]:
        raise SchedulingError("the price list is missing")


class Crashing(Indifferent):
    """Fails with an error that holds a value."""

    name = "Crashing"

    def mask(self, state: State, candidates: Mask) -> Mask:
        raise KeyError("hunter2")


class Speechless(Indifferent):
    """Stops all, and fails when it is asked why."""

    name = "Speechless"

    def mask(self, state: State, candidates: Mask) -> Mask:
        return 0

    def reason(self, state: State, position: int) -> str:
        raise KeyError("hunter2")


class Stingy(PostBatch[KubeFleetState]):
    """Allows no pick."""

    name = "Stingy"
    profiles = ("kubefleet",)

    def batch(self, state: KubeFleetState, wanted: int) -> int:
        return 0


class Answering(Indifferent):
    """Answers a filter with what is not a mask."""

    name = "Answering"

    def mask(self, state: State, candidates: Mask) -> Mask:
        return True


class Column(Indifferent):
    """Answers a score with a column."""

    name = "Column"

    def scores(self, state: State, candidates: Mask) -> Any:
        return [1, 2, 3]


class Nameless(Filter[State]):
    """Has no name."""

    def mask(self, state: State, candidates: Mask) -> Mask:
        return candidates

    def reason(self, state: State, position: int) -> str:
        return ""


class Twin(Nameless):
    """Has the name of a plug-in of both systems."""

    name = "TaintToleration"


class Foreign(Nameless):
    """Is for a system that does not exist."""

    name = "Foreign"
    profiles = ("nomad",)


class Batch(PostBatch[State]):
    """Limits batches of a system that has none."""

    name = "Batch"

    def batch(self, state: State, wanted: int) -> int:
        return 1


class Weighty(Cheapest):
    """Adds to a part of the score that does not exist."""

    name = "Weighty"
    part = "weight"


class Unfinished(Filter[State]):
    """Does not say what it stops."""

    name = "Unfinished"


class Demanding(Nameless):
    """Cannot be made without an argument."""

    name = "Demanding"

    def __init__(self, limit: int) -> None:
        self.limit = limit


NOT_A_CLASS = Cheapest()
