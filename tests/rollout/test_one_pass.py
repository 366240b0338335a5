"""One pass of the real rolling update."""

from __future__ import annotations

import pytest

from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from tests.rollout.one_pass import Binding, BindingState, Condition, one_pass

READY = (Condition("Available", "True", "AllWorkAreAvailable", 600),)


def bound(name: str, *conditions: Condition, up_to_date: bool = False) -> Binding:
    return Binding(name, "Bound", conditions or READY, up_to_date)


@pytest.mark.parametrize("again", ["Scheduled", "Unscheduled", "Bound"])
def test_cluster_picked_again_while_it_is_cleaned_stops_everything(again: BindingState) -> None:
    cleaning = Binding("a", "Bound", READY, deleting=True)
    decided = one_pass([cleaning, Binding("a", again), bound("b")], RollingUpdate("100%"))
    assert (decided.act_now, decided.wait_seconds) == ((), 5)


@pytest.mark.parametrize(
    ("condition", "failed"),
    [
        (Condition("Applied", "False", "ApplyInProgress"), True),
        (Condition("Available", "False", "NotAllWorkAreAvailable"), True),
        (Condition("Available", "False", "SomethingNew"), True),
        (Condition("Applied", "False", "ApplyPending"), False),
        (Condition("Overridden", "False", "OverriddenPending"), False),
        (Condition("WorkSynchronized", "False", "WorkNotSynchronizedYet"), False),
        (Condition("Available", "False", "ResourceNotAvailableYet"), False),
        (Condition("Applied", "False", "ApplyInProgress", stale=True), False),
        (Condition("Applied", "Unknown", "ApplyInProgress"), False),
        (Condition("DiffReported", "False", "NotAllWorkHaveDiffReported"), False),
    ],
)
def test_what_counts_as_failed_goes_without_budget(condition: Condition, failed: bool) -> None:
    decided = one_pass([bound("a", condition), bound("b")], RollingUpdate(0, 0))
    assert decided.act_now == (("a",) if failed else ())
    assert decided.blocked == (("b",) if failed else ("a", "b"))


@pytest.mark.parametrize("reason", ["NotAllWorkAreAvailabilityTrackable", "WorkNotTrackable"])
@pytest.mark.parametrize(("age", "acts", "wait"), [(59, (), 1), (60, (), 0), (61, ("b",), 0)])
def test_untrackable_content_is_ready_after_the_period(
    reason: str, age: int, acts: tuple[str, ...], wait: int
) -> None:
    applied = bound("a", Condition("Available", "True", reason, age), up_to_date=True)
    decided = one_pass([applied, bound("b")], RollingUpdate(1, 0))
    assert (decided.act_now, decided.wait_seconds) == (acts, wait)


@pytest.mark.parametrize(
    ("max_unavailable", "acts"),
    [("25%", 2), ("20%", 1), ("21%", 2), (3, 3), ("0%", 0), ("100%", 5), ("3", 0)],
)
def test_percentages_round_up_and_text_without_percent_is_nothing(
    max_unavailable: int | str, acts: int
) -> None:
    bindings = [bound(name) for name in "abcde"]
    assert one_pass(bindings, RollingUpdate(max_unavailable)).act_now == tuple("abcde"[:acts])
