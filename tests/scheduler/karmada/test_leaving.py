"""When an object has to leave a member, and how long it stays there until it has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.model.cluster import Taint
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.model.policy import (
    ClusterFailover,
    Failover,
    Placement,
    Toleration,
)
from fleet_components.systems.karmada.scheduler.failover import (
    EvictionSettings,
    TaintEviction,
    evict,
)
from fleet_components.systems.karmada.scheduler.graceful import Surroundings, unfinished

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ON = EvictionSettings(enabled=True)


def _at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def _placement(*tolerations: Toleration) -> Placement:
    return Placement(cluster_tolerations=tolerations)


def _taint(key: str = "a", added: datetime | None = NOW, effect: str = "NoExecute") -> Taint:
    return Taint(key, "", effect, added)


def _for(seconds: int | None, key: str = "a") -> Toleration:
    return Toleration(key, "Exists", toleration_seconds=seconds)


@pytest.mark.parametrize(
    ("taints", "tolerations", "as_of", "expected"),
    [
        ([_taint()], [], NOW, TaintEviction(now=True)),
        ([_taint(effect="NoSchedule")], [], NOW, TaintEviction()),
        ([_taint()], [_for(None)], NOW, TaintEviction()),
        ([_taint()], [_for(60)], _at(59), TaintEviction(due=_at(60))),
        ([_taint()], [_for(60)], _at(60), TaintEviction(now=True, due=_at(60))),
        ([_taint()], [_for(60)], None, TaintEviction(due=_at(60))),
        ([_taint(added=None)], [_for(60)], _at(99), TaintEviction()),
        ([_taint()], [_for(90), _for(10)], _at(20), TaintEviction(due=_at(90))),
        ([_taint("a"), _taint("b", _at(-50))], [_for(60, key="")], NOW, TaintEviction(due=_at(10))),
        ([_taint("a"), _taint("b")], [_for(None)], NOW, TaintEviction(now=True)),
    ],
)
def test_evictions(
    taints: list[Taint],
    tolerations: list[Toleration],
    as_of: datetime | None,
    expected: TaintEviction,
) -> None:
    assert evict(taints, _placement(*tolerations), as_of, ON) == expected


def test_by_default_nothing_is_evicted() -> None:
    assert evict([_taint()], _placement(), NOW) == TaintEviction()


def test_without_an_applied_placement_nothing_can_be_said() -> None:
    with pytest.raises(
        ValueError, match="the applied placement for ResourceBining can not be empty"
    ):
        evict([_taint()], None, NOW, ON)


@pytest.mark.parametrize(
    ("flag", "failover", "expected"),
    [
        ("Directly", None, "Directly"),
        ("Gracefully", None, "Gracefully"),
        ("Nonsense", None, "Gracefully"),
        ("Directly", Failover(), "Directly"),
        ("Gracefully", Failover(cluster=ClusterFailover("Directly")), "Directly"),
        ("Directly", Failover(cluster=ClusterFailover("")), "Gracefully"),
    ],
)
def test_the_policy_decides_what_becomes_of_the_old_copy(
    flag: str, failover: Failover | None, expected: str
) -> None:
    assert EvictionSettings(purge_mode=flag).purge_mode_for(failover) == expected


def _around(
    as_of: datetime | None = NOW, healthy: str = "", targets: str = "n", observed: bool = True
) -> Surroundings:
    return Surroundings(targets, healthy, observed, as_of, timedelta(minutes=10))


@pytest.mark.parametrize(
    ("task", "around", "why"),
    [
        (EvictionTask(), _around(healthy="n"), ""),
        (EvictionTask(created=_at(-1).isoformat()), _around(), ""),
        (
            EvictionTask(created=_at(-1).isoformat()),
            _around(healthy="n"),
            "all members that have the object now are healthy",
        ),
        (EvictionTask(created=_at(-1).isoformat()), _around(healthy="n", observed=False), ""),
        (
            EvictionTask(created=_at(-1).isoformat()),
            _around(targets=""),
            "all members that have the object now are healthy",
        ),
        (EvictionTask(created=_at(-601).isoformat()), _around(), "it took longer than 600 seconds"),
        (EvictionTask(created=_at(-600).isoformat()), _around(), ""),
        (EvictionTask(created=_at(-601).isoformat()), _around(as_of=None), ""),
        (
            EvictionTask(created=_at(-31).isoformat(), grace_period_seconds=30),
            _around(),
            "it took longer than 30 seconds",
        ),
        (
            EvictionTask(created=_at(-9999).isoformat(), suppress_deletion=True),
            _around(healthy="n"),
            "",
        ),
        (
            EvictionTask(created=_at(-1).isoformat(), suppress_deletion=False),
            _around(),
            "suppressDeletion is false",
        ),
        (
            EvictionTask(),
            _around(as_of=None, healthy="n"),
            "all members that have the object now are healthy",
        ),
    ],
)
def test_eviction_tasks(task: EvictionTask, around: Surroundings, why: str) -> None:
    assert ("old" in unfinished({"old": task}, around)) == (not why), why


def test_a_new_task_is_stamped() -> None:
    assert unfinished({"old": EvictionTask()}, _around())["old"].created == NOW.isoformat()


@given(st.lists(st.integers(0, 2000), max_size=4), st.sampled_from(["", "n"]))
def test_what_goes_on_is_not_changed_and_still_goes_on(ages: list[int], healthy: str) -> None:
    tasks = {
        f"m{index}": EvictionTask(created=_at(-age).isoformat()) for index, age in enumerate(ages)
    }
    kept = unfinished(tasks, _around(healthy=healthy))
    assert kept.items() <= tasks.items()
    assert unfinished(kept, _around(healthy=healthy)) == kept
