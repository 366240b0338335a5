"""Staged updates: stages become waves, gates hold what follows them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.manifest import Manifest
from fleet_components.rollout.rollout import Change, Done, Gates, Placed, Rollout, Wanted
from fleet_components.systems.kubefleet.model.release import RELEASES
from fleet_components.systems.kubefleet.rollout.run_record import RunRecord, preempted
from fleet_components.systems.kubefleet.rollout.strategy import (
    External,
    RolloutStage,
    UpdateRun,
    read_update_run,
)
from tests.rollout.world import SimulatedClusters
from tests.vectors import vectors

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LABELS = {
    "a": {"env": "test"},
    "b": {"env": "prod", "order": "2"},
    "c": {"env": "prod", "order": "10"},
    "d": {"env": "prod", "order": "-1"},
    "e": {"env": "prod", "order": "2"},
}
APPROVAL = {"type": "Approval"}


def stage(name: str, env: str | None = None, **fields: Any) -> dict[str, Any]:
    selector = {} if env is None else {"matchLabels": {"env": env}}
    return {"name": name, "labelSelector": selector, **fields}


def run(*stages: dict[str, Any], state: str | None = "Run", release: str = "0.3.1") -> External:
    strategy = Manifest({"metadata": {"name": "rings"}, "spec": {"stages": list(stages)}})
    spec = {"state": state, "stagedRolloutStrategyName": "rings"}
    update = Manifest({"metadata": {"name": "r1"}, "spec": spec})
    return External(read_update_run(update, strategy), release=RELEASES[release])


def wanted(names: str = "abcde", revision: int = 2) -> Wanted:
    return Wanted({name: rank for rank, name in enumerate(names)}, revision, labels=LABELS)


def waves(plan: Rollout) -> list[str]:
    return [
        f"{w.number}:{''.join(w.clusters)}" + (f"+{w.wait_seconds}" if w.wait_seconds else "")
        for w in plan.waves
    ]


def old(names: str = "abcde") -> SimulatedClusters:
    return SimulatedClusters(dict.fromkeys(names, 1))


CANARY = stage("canary", "test")
PROD = stage("prod", "prod")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["1:a", "2:b", "3:c", "4:d", "5:e"]),
        ({"sortingLabelKey": "order"}, ["1:a", "2:d", "3:b", "4:e", "5:c"]),
        ({"maxConcurrency": 3}, ["1:a", "2:bcd", "3:e"]),
        ({"maxConcurrency": "74%"}, ["1:a", "2:bc", "3:de"]),
        ({"maxConcurrency": "10%"}, ["1:a", "2:b", "3:c", "4:d", "5:e"]),
        ({"maxConcurrency": "100%"}, ["1:a", "2:bcde"]),
        ({"sortingLabelKey": "order", "maxConcurrency": 2}, ["1:a", "2:bd", "3:ce"]),
    ],
)
def test_stages_become_waves(fields: dict[str, Any], expected: list[str]) -> None:
    assert waves(old().plan(wanted(), run(CANARY, stage("prod", "prod", **fields)))) == expected


def test_without_a_run_nothing_rolls_out() -> None:
    plan = old("abx").update(wanted("abc"), External())
    assert (plan.waves, plan.removals, plan.held_removals) == ((), (), ("x",))
    assert plan.held == dict.fromkeys(
        "abcx", "the strategy type is External, and no update run rolls it out"
    )
    assert {name: placed.revision for name, placed in plan.placed.items()} == {
        "a": 1,
        "b": 1,
        "x": 1,
    }


@pytest.mark.parametrize("state", [None, "Initialize", "Stop"])
def test_a_run_that_does_not_run_holds_everything(state: str | None) -> None:
    plan = old().plan(wanted(), run(CANARY, PROD, state=state))
    assert not plan.waves
    assert plan.held["a"] == f"update run r1 has state {state or 'Initialize'}; Run lets it go on"


def test_a_stopped_run_ends_what_it_has_begun_and_goes_on_where_it_was() -> None:
    world, stages = old(), (CANARY, stage("prod", "prod", maxConcurrency=2))
    world.update(wanted(), run(*stages), failing="c")
    stopped = world.update(wanted(), run(*stages, state="Stop"))
    assert waves(stopped) == ["2:c"]
    assert sorted(stopped.held) == ["d", "e"]
    assert waves(world.update(wanted(), run(*stages))) == ["3:de"]


@pytest.mark.parametrize(
    ("canary", "prod", "missing", "moves"),
    [
        ({"beforeStageTasks": [APPROVAL]}, {}, "r1-before-canary", ""),
        ({"afterStageTasks": [APPROVAL]}, {}, "r1-after-canary", "a"),
        ({}, {"beforeStageTasks": [APPROVAL]}, "r1-before-prod", "a"),
        ({}, {"afterStageTasks": [APPROVAL]}, "r1-after-prod", "abcde"),
    ],
)
def test_missing_approval_holds_what_follows(
    canary: dict[str, Any], prod: dict[str, Any], missing: str, moves: str
) -> None:
    strategy = run(stage("canary", "test", **canary), stage("prod", "prod", **prod))
    world = old("abcdex")
    plan = world.update(wanted(), strategy)
    assert "".join(sorted(c for w in plan.waves for c in w.clusters)) == moves
    assert plan.held == dict.fromkeys(
        sorted(set("abcdex") - set(moves)), f"approval {missing} is missing"
    )
    assert plan.removals == ()
    plan = world.update(wanted(), strategy, Gates(frozenset({missing})))
    assert (plan.held, plan.removals) == ({}, ("x",))
    assert world.running == dict.fromkeys("abcde", 2)


def test_stage_without_clusters_is_skipped_with_its_tasks() -> None:
    empty = stage("empty", "none", beforeStageTasks=[APPROVAL], afterStageTasks=[APPROVAL])
    none = {"name": "nil", "afterStageTasks": [APPROVAL]}
    assert waves(old("a").plan(wanted("a"), run(empty, none, CANARY, release="main-2026-08"))) == [
        "1:a"
    ]


@pytest.mark.parametrize(
    ("tasks", "missing"),
    [
        ({"beforeStageTasks": [APPROVAL]}, "r1-before-empty"),
        ({"afterStageTasks": [APPROVAL]}, "r1-after-empty"),
    ],
)
def test_stage_without_clusters_asks_for_its_approvals_in_older_releases(
    tasks: dict[str, Any], missing: str
) -> None:
    strategy = run(stage("empty", "none", **tasks), CANARY)
    world = old("a")
    assert world.update(wanted("a"), strategy).held == {"a": f"approval {missing} is missing"}
    assert waves(world.plan(wanted("a"), strategy, Gates(frozenset({missing})))) == ["1:a"]


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ((CANARY, "empty", PROD), ["1:a+90", "2:b"]),
        (("empty", CANARY, PROD), ["1:+90", "2:a", "3:b"]),
        ((CANARY, "empty", "empty", PROD), ["1:a+180", "2:b"]),
        ((CANARY, PROD, "empty"), ["1:a", "2:b"]),
    ],
)
@pytest.mark.parametrize("as_of", [NOON, None])
def test_stage_without_clusters_keeps_its_wait_in_older_releases(
    stages: tuple[Any, ...], expected: list[str], as_of: datetime | None
) -> None:
    waiting = stage("empty", "none", afterStageTasks=[{"type": "TimedWait", "waitTime": "90s"}])
    named = [
        waiting | {"name": f"empty{n}"} if item == "empty" else item
        for n, item in enumerate(stages)
    ]
    world = old("ab")
    assert waves(world.plan(wanted("ab"), run(*named), Gates(as_of=as_of))) == expected


def test_long_wait_of_a_stage_without_clusters_is_counted_from_its_begin() -> None:
    waiting = stage("empty", "none", afterStageTasks=[{"type": "TimedWait", "waitTime": "24h"}])
    strategy, world = run(CANARY, waiting, PROD), old("ab")
    plan = world.update(wanted("ab"), strategy, Gates(as_of=NOON))
    until = "stage empty is followed by a wait of 24h0m0s, until 2026-11-21T12:00:00+00:00"
    assert (waves(plan), plan.held) == (["1:a"], {"b": until})
    early = world.update(wanted("ab"), strategy, Gates(as_of=NOON + timedelta(hours=23)))
    assert (waves(early), early.held) == ([], {"b": until})
    assert waves(world.plan(wanted("ab"), strategy, Gates(as_of=NOON + timedelta(hours=24)))) == [
        "2:b"
    ]


def test_short_wait_is_waited_out_between_the_stages() -> None:
    canary = stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "1m30s"}])
    assert waves(old("abx").plan(wanted("ab"), run(canary, PROD))) == ["1:a+90", "2:b"]
    last = stage("prod", "prod", afterStageTasks=[{"type": "TimedWait", "waitTime": "20s"}])
    assert waves(old("abx").plan(wanted("ab"), run(CANARY, last))) == ["1:a", "2:b+20"]
    assert waves(old("ab").plan(wanted("ab"), run(CANARY, last))) == ["1:a", "2:b"]


def test_wait_that_is_left_comes_before_the_next_stage() -> None:
    """The approval came after 60 of 90 seconds; without a time the whole wait is kept again."""
    tasks = [{"type": "TimedWait", "waitTime": "90s"}, APPROVAL]
    strategy = run(stage("canary", "test", afterStageTasks=tasks), PROD)
    approved = frozenset({"r1-after-canary"})
    world = old("ab")
    world.update(wanted("ab"), strategy, Gates(as_of=NOON))
    later = Gates(approved, NOON + timedelta(seconds=60))
    assert waves(world.plan(wanted("ab"), strategy, later)) == ["1:+30", "2:b"]
    assert waves(world.plan(wanted("ab"), strategy, Gates(approved))) == ["1:+90", "2:b"]
    world.done["a"] = attrs.evolve(world.done["a"], since=None)
    assert waves(world.plan(wanted("ab"), strategy, later)) == ["1:+90", "2:b"]


def test_a_wait_is_not_repeated_once_the_next_stage_has_begun() -> None:
    canary = stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "90s"}])
    world = old("abc")
    world.update(wanted("abc"), run(canary, PROD), failing="c")
    assert waves(world.plan(wanted("abc"), run(canary, PROD))) == ["3:c"]


def test_a_wait_is_not_over_because_later_clusters_happen_to_run_the_same() -> None:
    canary = stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "90s"}])
    world = SimulatedClusters({"a": 1, "b": 2, "c": 1})
    assert waves(world.plan(wanted("abc"), run(canary, PROD))) == ["1:a+90", "3:c"]


def test_a_wait_is_not_over_because_later_clusters_ran_the_same_before_the_run() -> None:
    prod = run(
        stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "90s"}]), PROD
    )
    assert prod.run
    begun = External(attrs.evolve(prod.run, had=("a", "b")))
    assert waves(SimulatedClusters({"a": 2, "b": 2, "c": 1}).plan(wanted("abc"), begun)) == [
        "1:+90",
        "3:c",
    ]


def test_a_wait_counts_from_the_last_cluster_of_the_stage() -> None:
    prod = stage("prod", "prod", afterStageTasks=[{"type": "TimedWait", "waitTime": "90s"}])
    world = SimulatedClusters({"a": 1, "b": 2, "c": 2})
    world.done |= {"b": Done(2, since=NOON + timedelta(seconds=30)), "c": Done(2, since=NOON)}
    plan = world.plan(wanted("abc"), run(prod, CANARY), Gates(as_of=NOON + timedelta(seconds=60)))
    assert waves(plan) == ["2:+60", "3:a"]


def test_long_wait_holds_the_next_stage_until_its_time() -> None:
    strategy = run(
        stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "24h"}]), PROD
    )
    world = old("ab")
    plan = world.update(wanted("ab"), strategy, Gates(as_of=NOON))
    until = "stage canary is followed by a wait of 24h0m0s, until 2026-11-21T12:00:00+00:00"
    assert (waves(plan), plan.held) == (["1:a"], {"b": until})
    early = world.update(wanted("ab"), strategy, Gates(as_of=NOON + timedelta(hours=23)))
    assert (waves(early), early.held) == ([], {"b": until})
    assert (
        world.plan(wanted("ab"), strategy).held["b"]
        == f"{until}; only as_of can tell that it is over"
    )
    due = world.plan(wanted("ab"), strategy, Gates(as_of=NOON + timedelta(hours=24)))
    assert waves(due) == ["2:b"]


def test_approval_and_wait_after_a_stage_are_told_together() -> None:
    tasks = [{"type": "TimedWait", "waitTime": "24h"}, APPROVAL]
    strategy = run(stage("canary", "test", afterStageTasks=tasks), PROD)
    missing = "approval r1-after-canary is missing"
    wait = "stage canary is followed by a wait of 24h0m0s, until 2026-11-21T12:00:00+00:00"
    world = old("ab")
    assert world.update(wanted("ab"), strategy, Gates(as_of=NOON)).held == {
        "b": f"{missing}; {wait}"
    }
    late = NOON + timedelta(hours=24)
    assert world.plan(wanted("ab"), strategy, Gates(as_of=late)).held == {"b": missing}
    given = frozenset({"r1-after-canary"})
    assert world.plan(wanted("ab"), strategy, Gates(given, NOON)).held == {"b": wait}
    assert waves(world.plan(wanted("ab"), strategy, Gates(given, late))) == ["2:b"]


@pytest.mark.parametrize(("longest", "moves"), [(29, ["1:a"]), (30, ["1:a+30", "2:b"])])
def test_how_long_an_update_waits_is_a_setting(longest: int, moves: list[str]) -> None:
    canary = stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "0.5m"}])
    gates = Gates(max_wait=timedelta(seconds=longest))
    assert waves(old("ab").plan(wanted("ab"), run(canary, PROD), gates)) == moves


def test_long_wait_without_any_time_holds_the_next_stage() -> None:
    strategy = run(
        stage("canary", "test", afterStageTasks=[{"type": "TimedWait", "waitTime": "16m"}]), PROD
    )
    assert old("ab").plan(wanted("ab"), strategy).held["b"] == (
        "stage canary is followed by a wait of 16m0s, from a time that is not recorded; "
        "only as_of can tell that it is over"
    )


def test_retry_keeps_the_waves_and_the_order_of_stages() -> None:
    world, strategy = old(), run(CANARY, PROD)
    before = world.update(wanted(), strategy, failing="c")
    retry = world.plan(wanted(), strategy)
    assert waves(retry) == ["3:c", "4:d", "5:e"]
    assert retry.placed == before.placed


def test_new_content_goes_through_the_stages_even_where_something_broke() -> None:
    world, strategy = old(), run(CANARY, PROD)
    world.update(wanted(), strategy, failing="c")
    assert waves(world.plan(wanted(revision=3), strategy))[0] == "1:a"


def test_joining_cluster_follows_the_stages() -> None:
    world, strategy = old("ab"), run(CANARY, PROD)
    world.update(wanted("ab"), strategy)
    plan = world.update(wanted("abc"), strategy)
    assert waves(plan) == ["3:c"]
    assert plan.entries["c"].change is Change.ADD


def test_second_plan_is_silent() -> None:
    strategy = run(CANARY, stage("prod", "prod", beforeStageTasks=[APPROVAL]))
    world = old()
    for gates in (Gates(), Gates(frozenset({"r1-before-prod"}))):
        done = world.update(wanted(), strategy, gates)
        assert done.waves
        silent = world.plan(wanted(), strategy, gates)
        assert silent.placed == done.placed
        assert not silent.waves


@settings(max_examples=100)
@given(
    st.dictionaries(st.sampled_from("abcde"), st.integers(1, 2)),
    st.sets(st.sampled_from("abcde")),
    st.sampled_from([1, 2, "50%"]),
    st.lists(st.sets(st.sampled_from("abcde")), max_size=4),
)
def test_stages_come_to_their_end_through_failures(
    running: dict[str, int], names: set[str], together: int | str, failures: list[set[str]]
) -> None:
    strategy = run(CANARY, stage("prod", "prod", maxConcurrency=together))
    wish = wanted("".join(sorted(names)))
    world = SimulatedClusters(running)
    for failing in (*failures, ()):
        numbers = {c: w.number for w in world.plan(wish, strategy).waves for c in w.clusters}
        planned = world.update(wish, strategy, failing=failing)
        assert all(
            planned.entries[c].placed == Placed(wish.ranks[c], n, 2) for c, n in numbers.items()
        )
        assert all(numbers[c] > numbers["a"] for c in numbers if c != "a" and "a" in numbers)
    assert world.running == dict.fromkeys(names, 2)
    silent = world.plan(wish, strategy)
    assert (silent.placed, silent.waves, silent.removals) == (world.previous, (), ())


USER = (
    "cannot continue the updateRun: failed to validate the updateRun: "
    "failed to process the request due to a client error: "
)


@pytest.mark.parametrize(
    ("stages", "text"),
    [
        (
            (CANARY,),
            "some clusters are not placed in any stage, total 4, showing up to 10: b, c, d, e",
        ),
        ((CANARY, stage("all")), "cluster `a` appears in more than one stages"),
        (
            (stage("all", sortingLabelKey="order"),),
            'the sorting label `order:` on cluster `a` is not valid: strconv.Atoi: parsing "": invalid syntax',
        ),
        (
            (stage("all", sortingLabelKey="env"),),
            'the sorting label `env:test` on cluster `a` is not valid: strconv.Atoi: parsing "test": invalid syntax',
        ),
        (
            (stage("all", beforeStageTasks=[APPROVAL, APPROVAL]),),
            "the before stage tasks are invalid, updateStrategy: `/rings`, stage: all, "
            "err: beforeStageTasks can have at most one task",
        ),
        (
            (stage("all", beforeStageTasks=[{"type": "TimedWait", "waitTime": "1s"}]),),
            "the before stage tasks are invalid, updateStrategy: `/rings`, stage: all, "
            "err: task 0 of type TimedWait is not allowed in beforeStageTasks, allowed type: Approval",
        ),
        (
            (stage("all", beforeStageTasks=[{"type": "Approval", "waitTime": "1s"}]),),
            "the before stage tasks are invalid, updateStrategy: `/rings`, stage: all, "
            "err: task 0 of type Approval cannot have wait duration set",
        ),
        (
            (stage("all", afterStageTasks=[APPROVAL, APPROVAL]),),
            "the after stage tasks are invalid, updateStrategy: `/rings`, stage: all, "
            "err: afterStageTasks cannot have two tasks of the same type: Approval",
        ),
        (
            (stage("all", afterStageTasks=[APPROVAL, {"type": "TimedWait", "waitTime": "0s"}]),),
            "the after stage tasks are invalid, updateStrategy: `/rings`, stage: all, "
            "err: task 1 of type TimedWait has wait duration <= 0",
        ),
        (
            (stage("all", afterStageTasks=[{"type": "TimedWait"}]),),
            "the after stage tasks are invalid, updateStrategy: `/rings`, stage: all, "
            "err: task 0 of type TimedWait has wait duration set to nil",
        ),
        (
            (
                {
                    "name": "x",
                    "labelSelector": {"matchExpressions": [{"key": "env", "operator": "Is"}]},
                },
            ),
            "the stage label selector is invalid, updateStrategy: `/rings`, stage: x, "
            'err: "Is" is not a valid label selector operator',
        ),
        (
            (
                {
                    "name": "x",
                    "labelSelector": {"matchExpressions": [{"key": "env", "operator": "In"}]},
                },
            ),
            "the stage label selector is invalid, updateStrategy: `/rings`, stage: x, "
            "err: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            (
                {
                    "name": "x",
                    "labelSelector": {
                        "matchLabels": {"env": "nowhere"},
                        "matchExpressions": [{"key": "env", "operator": "Is"}],
                    },
                },
            ),
            "the stage label selector is invalid, updateStrategy: `/rings`, stage: x, "
            'err: "Is" is not a valid label selector operator',
        ),
    ],
)
def test_run_that_does_not_begin_holds_everything(
    stages: tuple[dict[str, Any], ...], text: str
) -> None:
    plan = old("abcdex").plan(wanted(), run(*stages))
    assert plan.failure == USER + text
    assert sorted(plan.held) == [*"abcdex"]
    assert not plan.waves
    assert not plan.removals


def test_run_does_not_begin_before_all_is_scheduled() -> None:
    plan = old().plan(attrs.evolve(wanted(), unscheduled="web-0"), run(CANARY, PROD))
    assert plan.failure == (
        "cannot continue the updateRun: failed to validate the updateRun: "
        "policy snapshot `web-0` not fully scheduled yet"
    )


@pytest.mark.parametrize(
    ("value", "fits"),
    [(2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False)],
)
def test_sorting_label_beyond_64_bits_is_out_of_range(value: int, fits: bool) -> None:
    labels = {"a": {"order": str(value)}}
    plan = SimulatedClusters({"a": 1}).plan(
        Wanted({"a": 0}, 2, labels=labels), run(stage("all", sortingLabelKey="order"))
    )
    assert plan.failure.endswith("value out of range") is not fits


def test_a_run_whose_cluster_another_one_takes_fails_as_recorded() -> None:
    recorded = vectors("kubefleet-live/staged0-never-available")
    failed = next(
        item for item in recorded["steps"][4]["after"]["hubObjects"] if item["name"] == "i0-2"
    )
    (succeeded,) = (item for item in failed["status"]["conditions"] if item["type"] == "Succeeded")
    stages = tuple(RolloutStage(item["stageName"]) for item in failed["status"]["stagesStatus"])
    clusters = tuple(
        tuple(c["clusterName"] for c in item["clusters"])
        for item in failed["status"]["stagesStatus"]
    )
    record = RunRecord(
        spec="/i0#", revision=1, stages=stages, clusters=clusters, updating=("cluster1",)
    )
    # Without the name of the binding, which is random, and which nothing here has.
    words = re.sub("check the status of binding `[^`]*` and ", "", succeeded["message"])
    assert preempted(record, "i0-3") == attrs.evolve(record.failed(words), taken=True)


def test_run_is_read_with_its_strategy() -> None:
    metadata = {"name": "rings", "namespace": "shop"}
    strategy = Manifest({"metadata": metadata, "spec": {"stages": [{"name": "one"}]}})
    named = {
        "metadata": {"name": "r1", "namespace": "shop"},
        "spec": {"stagedRolloutStrategyName": "rings"},
    }
    read = read_update_run(Manifest(named), strategy)
    assert (read.name, read.strategy, read.state) == ("r1", "shop/rings", "Initialize")
    assert read == UpdateRun("r1", "shop/rings", read.stages, namespace="shop")
    assert (read.stages[0].selector, read.stages[0].max_concurrency) == (None, 1)
