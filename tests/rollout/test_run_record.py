"""What an update run remembers: what it began with, why it cannot go on, and how far it came."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.model.selector import LabelSelector
from fleet_components.rollout.rollout import Wanted
from fleet_components.systems.kubefleet.rollout.run_record import (
    FAILED,
    RunRecord,
    ScheduledPlacement,
    begin,
    come_so_far,
    outdated,
    preempted,
)
from fleet_components.systems.kubefleet.rollout.strategy import (
    RolloutStage,
    Task,
    UpdateRun,
    in_reach,
)

STAGES = (
    RolloutStage("canary", LabelSelector({"env": "test"}), before=(Task("Approval"),)),
    RolloutStage("prod", LabelSelector({"env": "prod"})),
)
LABELS = {"a": {"env": "test"}, "b": {"env": "prod"}, "c": {"env": "prod"}, "d": {"env": "prod"}}
RUN = UpdateRun("go", "/careful", STAGES, "Run")


def scheduled(names: str = "abc", target: int | None = None, **more: Any) -> ScheduledPlacement:
    wanted = Wanted({name: rank for rank, name in enumerate(names)}, 2, target, labels=LABELS)
    return attrs.evolve(ScheduledPlacement(placement="shop", wanted=wanted), **more)


def begun(on: ScheduledPlacement | None = None) -> RunRecord:
    return begin(RUN, on or scheduled(), 2, {1, 2})


def test_it_takes_revision_stages_and_clusters_when_it_begins() -> None:
    record = begun(scheduled(standing={"a": (2, None), "b": (1, None)}, leaving=frozenset("x")))
    assert (record.revision, record.clusters, record.leaving) == (2, (("a",), ("b", "c")), ("x",))
    assert (record.count, record.had, record.over) == (-1, ("a",), False)
    assert record.concerned == set("abcx")
    assert record.asked("go") == ("go-before-canary",)


@pytest.mark.parametrize(
    ("index", "revision", "message"),
    [
        ("", 2, ""),
        ("1", 1, ""),
        ("7", -1, "no resourceSnapshots with index `7` found for placement `/shop`"),
        ("01", -1, "no resourceSnapshots with index `1` found for placement `/shop`"),
        ("x", -1, "invalid resource snapshot index `x` provided, expected an integer >= 0"),
        (str(2**31), -1, f"invalid resource snapshot index `{2**31}` provided"),
    ],
)
def test_the_index_says_which_revision_it_rolls_out(
    index: str, revision: int, message: str
) -> None:
    record = begin(attrs.evolve(RUN, index=index), scheduled(), 2, {1, 2})
    assert record.revision == revision
    assert message in record.message
    assert record.over == bool(message)
    assert bool(record.asked("go")) != record.over


def test_without_clusters_it_does_not_begin_unless_some_are_left() -> None:
    failed = begun(scheduled("", snapshot=3))
    assert (failed.outcome, failed.revision) == (FAILED, -1)
    assert "for the latest policy snapshot /shop-3" in failed.message
    assert begun(scheduled("", leaving=frozenset("a"))).outcome == ""


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (scheduled(), ""),
        (scheduled(snapshot=1), "policy snapshot index used in the updateRun is outdated"),
        (scheduled(target=3), "outdated, latest: 3, recorded: -1"),
        (scheduled("abcd"), "clusters in index `1` stage has changed, new: 3, existing: 2"),
        (scheduled("abd"), "the `1` cluster in the `1` stage has changed, new: d, existing: c"),
        (scheduled(leaving=frozenset("x")), "the cluster `x` to be deleted is not in the delete"),
    ],
)
def test_another_schedule_ends_it(now: ScheduledPlacement, why: str) -> None:
    said = outdated(begun(), RUN, now)
    assert why in said
    assert bool(said) == bool(why)


def test_a_cluster_that_sorts_before_the_recorded_one_ends_it_too() -> None:
    said = outdated(begun(scheduled("abd")), RUN, scheduled())
    assert "the `1` cluster in the `1` stage has changed, new: c, existing: d" in said


def test_it_has_updated_what_runs_its_revision_with_its_overrides() -> None:
    record = attrs.evolve(begun(scheduled("abcd")), overrides={"b": 1, "c": 1})
    standing = {"a": (2, None), "b": (2, 1), "c": (2, 0), "d": (1, None)}
    done = come_so_far(record, scheduled("abcd", standing=standing, stopped=frozenset("dx")))
    assert (done.updated, done.updating) == (("a", "b"), ("d",))


def test_a_run_that_is_preempted_fails_with_each_cluster_that_was_under_way() -> None:
    idle = preempted(begun(), "next")
    assert (idle.outcome, idle.taken) == (FAILED, False)
    assert "update run next of the same placement counts from now on" in idle.message
    assert not idle.message.startswith("[")
    item = preempted(attrs.evolve(begun(), updating=("b",)), "next")
    assert item.taken
    assert "the updating cluster `b` in the stage `prod`" in item.message
    assert not item.message.startswith("[")
    two = preempted(attrs.evolve(begun(), updating=("a", "b")), "next")
    assert two.message.startswith("[")
    assert "cluster `a` in the stage `canary`" in two.message


def test_a_renamed_member_is_renamed_everywhere() -> None:
    record = attrs.evolve(
        begun(scheduled(leaving=frozenset("x"))),
        had=("a",),
        updated=("a",),
        updating=("b",),
        overrides={"c": 1},
    )
    renamed = record.renamed(str.upper)
    assert (renamed.clusters, renamed.leaving) == ((("A",), ("B", "C")), ("X",))
    assert (renamed.had, renamed.updated, renamed.updating) == (("A",), ("A",), ("B",))
    assert renamed.overrides == {"C": 1}


@pytest.mark.parametrize(
    ("text", "fits"),
    [("1h30m", True), ("2562047h", True), ("2562048h", False), ("1d", False), ("", False)],
)
def test_a_duration_is_what_go_reads_and_can_hold(text: str, fits: bool) -> None:
    assert in_reach(text) is fits
