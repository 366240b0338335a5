"""Plans in words."""

from __future__ import annotations

import pytest

from fleet_components.rollout.describe import describe, describe_stages
from fleet_components.rollout.rollout import StageProgress
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.strategy import External, UpdateRun
from tests.rollout.world import SimulatedClusters, picked


def test_who_moves_who_waits_and_why() -> None:
    world = SimulatedClusters(dict.fromkeys("abcd", 1))
    plan = world.plan(picked("cdef", 2), RollingUpdate(1, 0, 30), untrackable=True)
    assert describe(plan) == (
        "wave 1: update c (revision 2)",
        "wave 1: then wait 30 s",
        "wave 2: update d (revision 2)",
        "wave 2: then wait 30 s",
        "at the end: remove a",
        "held: b not removed (keep revision 1): 3 of 4 clusters must stay available, and 3 are",
        "held: e, f not added: maxSurge allows 4 clusters at a time, and 4 have it; the next update goes on",
    )


def test_additions_and_updates_of_one_wave() -> None:
    plan = SimulatedClusters(dict.fromkeys("abc", 1)).plan(picked("abcd", 2), RollingUpdate(2))
    assert describe(plan)[:2] == ("wave 1: update a (revision 2)", "wave 1: add d (revision 2)")


def test_reasons_are_told_once_for_all_that_share_them() -> None:
    plan = SimulatedClusters(dict.fromkeys("abc", 1)).plan(picked("bcdef", 2), RollingUpdate(4, 4))
    reasons = {
        "a": "it is tainted",
        "b": "a new image",
        "c": "a new image",
        "d": "near",
        "e": "cheap",
        "f": "near",
    }
    assert describe(plan, reasons) == (
        "wave 1: update b, c (revision 2): a new image",
        "wave 1: add d, f (revision 2): near",
        "wave 1: add e (revision 2): cheap",
        "at the end: remove a: it is tainted",
    )


def test_updates_that_are_held() -> None:
    names = [f"m{i:02}" for i in range(12)]
    rows = describe(
        SimulatedClusters(dict.fromkeys(names, 1)).plan(picked(names, 2), RollingUpdate(0))
    )
    assert rows == (
        "held: m00, m01, m02, m03, m04, m05, m06, m07, m08, m09 and 2 more not updated (keep revision 1): "
        "maxUnavailable is 0, so that no running cluster is ever updated; 1 or more lets it go on",
    )


def test_ten_names_are_all_shown() -> None:
    names = [f"m{i}" for i in range(10)]
    assert describe(SimulatedClusters().plan(picked(names, 1), RollingUpdate())) == (
        "wave 1: add m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 (revision 1)",
    )


def test_run_that_does_not_begin() -> None:
    rows = describe(
        SimulatedClusters({"a": 1}).plan(picked("a", 2), External(UpdateRun("r", "/s", (), "Run")))
    )
    assert rows[0].startswith("the update run does not begin: cannot continue the updateRun: ")


def test_nothing_to_do() -> None:
    assert describe(SimulatedClusters({"a": 1}).plan(picked("a", 1), RollingUpdate())) == (
        "nothing to do: 1 cluster as wanted",
    )


@pytest.mark.parametrize(
    ("stage", "line"),
    [
        (
            StageProgress("s"),
            "stage s: skipped with its tasks, as none of the picked members is in it",
        ),
        (StageProgress("s", (("a",), ("b",))), "stage s: a, then b"),
        (StageProgress("s", (("a", "b"),), moves=("a", "b")), "stage s: a, b; now"),
        (
            StageProgress("s", (("a", "b"),), done=("a",), moves=("b",)),
            "stage s: a, b; a done; b now",
        ),
        (StageProgress("s", (("a",),), before="an approval"), "stage s: a; waits: an approval"),
        (StageProgress("s", (("a",),), ("a",), before="an approval"), "stage s: a; done"),
        (
            StageProgress("s", (("a",),), ("a",), after="an approval"),
            "stage s: a; done; then an approval",
        ),
    ],
)
def test_a_stage_says_how_far_it_is_and_what_it_waits_for(stage: StageProgress, line: str) -> None:
    assert list(describe_stages([stage])) == [line]
