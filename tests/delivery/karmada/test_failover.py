"""What drives an object from a member: NoExecute taints and applications that fail, by purge mode, run after run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import (
    Driver,
    KarmadaWorld,
    carried_out,
    delivered,
    deployment,
    member,
    of_kind,
    on,
    policy,
    replicas,
    weights,
)

DOWN = {"key": "down", "effect": "NoExecute", "timeAdded": "2026-11-21T10:00:00Z"}
FOR_A_MINUTE = {
    "clusterTolerations": [{"key": "down", "operator": "Exists", "tolerationSeconds": 60}]
}
EVENLY = weights(a=1, b=1, c=1)


def settings(**spec: Any) -> dict[str, Any]:
    """Taints evict, and whatever else is asked for."""
    spec = {"noExecuteEviction": True, **spec}
    return {
        "apiVersion": "fleet-components/v1",
        "kind": "KarmadaSettings",
        "metadata": {"name": "k"},
        "spec": spec,
    }


def unhealthy(cluster: str, **when: str) -> dict[str, Any]:
    """The application is seen to fail on a member."""
    seen = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "shop",
        "name": "web",
        "cluster": cluster,
    }
    spec = {"unhealthy": [{**seen, **when}]}
    return {
        "apiVersion": "fleet-components/v1",
        "kind": "ApplicationHealth",
        "metadata": {"name": "h"},
        "spec": spec,
    }


def failing_over(purge_mode: str) -> dict[str, Any]:
    """A policy that moves an application half a minute after it fails."""
    failover = {
        "application": {"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": purge_mode}
    }
    return {"propagateDeps": True, "failover": failover}


def taint(driver: Driver, name: str, *taints: dict[str, Any]) -> None:
    """Taint a member; without taints, take them away."""
    driver.world.members[name] = member(name, **({"taints": list(taints)} if taints else {}))


def tasks(driver: Driver) -> list[str]:
    """The members with an eviction that goes on."""
    return sorted(driver.record("shop/Deployment/web")["memory"]["schedule"].get("evictions", {}))


def test_by_default_a_taint_evicts_nothing(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, EVENLY, 6)
    taint(in_process, "a", DOWN)
    assert in_process.preview().changes == {}


def test_the_replicas_move_and_the_old_copy_goes_last(driver: Driver) -> None:
    driver.world.objects["settings"] = settings()
    delivered(driver, EVENLY, 6)
    taint(driver, "a", DOWN)
    seen = carried_out(driver)
    assert of_kind(seen) == {"a": "delete", "b": "update", "c": "update"}
    assert "at the end: remove a: the taint down:NoExecute is not tolerated" in seen.text
    assert "replicas: b 3 (has 2), c 3 (has 2)" in seen.text
    assert replicas(driver) == {"b": 3, "c": 3}
    taint(driver, "a")
    assert driver.preview().changes == {}, "what is divided does not return by itself"


@pytest.mark.long
def test_what_is_duplicated_leaves_and_returns(in_process: InProcess[KarmadaWorld]) -> None:
    in_process.world.objects["settings"] = settings()
    delivered(in_process, on("a", "b", "c"), 2)
    taint(in_process, "a", DOWN)
    assert of_kind(carried_out(in_process)) == {"a": "delete"}
    taint(in_process, "a")
    assert of_kind(carried_out(in_process)) == {"a": "create"}


@pytest.mark.long
@pytest.mark.parametrize("exact", [False, True])
def test_a_toleration_runs_out_at_its_time(
    in_process: InProcess[KarmadaWorld], exact: bool
) -> None:
    world = in_process.world
    world.objects["settings"] = settings(exact=exact)
    taint(in_process, "a", DOWN)
    delivered(in_process, {**on("a", "b"), **FOR_A_MINUTE}, 2)
    due = "a: to be left at 2026-11-21T10:01:00Z: the taint down:NoExecute is tolerated until 2026-11-21T10:01:00Z"
    assert due in in_process.preview().text, (
        "without a time nothing expires, and the output says when it would"
    )
    for time, there in (("10:00:59", ["a", "b"]), ("10:01:00", ["b"]), ("10:09:00", ["b"])):
        world.config["asOf"] = f"2026-11-21T{time}Z"
        carried_out(in_process)
        assert sorted(replicas(in_process)) == there


@pytest.mark.long
def test_of_the_members_it_would_have_to_leave_at_once_none_is_chosen(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects["settings"] = settings()
    in_process.world.config["asOf"] = "2026-11-21T10:05:00Z"
    taint(in_process, "a", DOWN)
    delivered(in_process, {**EVENLY, **FOR_A_MINUTE}, 6)
    assert replicas(in_process) == {"b": 3, "c": 3}


@pytest.mark.long
def test_where_only_such_members_are_left_nothing_is_decided_or_remembered(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects["settings"] = settings()
    in_process.world.config["asOf"] = "2026-11-21T10:05:00Z"
    taint(in_process, "a", DOWN)
    delivered(in_process, {**on("a"), **FOR_A_MINUTE}, 6)
    assert (replicas(in_process), tasks(in_process)) == ({}, [])
    assert "1 cluster(s) is in the process of eviction" in in_process.preview().text


@pytest.mark.long
def test_with_nowhere_to_go_the_copy_stays_until_there_is_a_place(driver: Driver) -> None:
    driver.world.objects["settings"] = settings()
    driver.world.config = {"limit": 1}
    delivered(driver, on("a"), 2)
    taint(driver, "a", DOWN)
    seen = carried_out(driver)
    kept = "a not updated (keep revision 0): the taint down:NoExecute is not tolerated; its copy stays until the object"
    assert kept in seen.text
    assert "0/3 clusters are available" in seen.text
    assert replicas(driver) == {"a": 2}
    driver.world.config["asOf"] = "2026-11-22T10:00:00Z"
    assert driver.preview().changes == {}, "no time takes the only copy away"
    driver.world.objects["policy"] = policy(placement=on("a", "b"))
    assert of_kind(carried_out(driver)) == {"a": "delete", "b": "create"}
    assert tasks(driver) == []


@pytest.mark.long
def test_an_eviction_whose_taint_is_gone_is_taken_back(in_process: InProcess[KarmadaWorld]) -> None:
    in_process.world.objects["settings"] = settings()
    delivered(in_process, on("a"), 2)
    taint(in_process, "a", DOWN)
    carried_out(in_process)
    assert tasks(in_process) == ["a"]
    taint(in_process, "a")
    carried_out(in_process)
    assert tasks(in_process) == []
    assert replicas(in_process) == {"a": 2}


@pytest.mark.long
def test_exactly_as_karmada_nothing_is_chosen_after_an_eviction_without_a_policy(
    in_process: InProcess[KarmadaWorld],
) -> None:
    world = in_process.world
    world.objects["settings"] = settings(exact=True, gracefulEvictionTimeout=60)
    world.config["asOf"] = "2026-11-21T10:00:00Z"
    delivered(in_process, weights(a=1), 2)
    del world.objects["policy"]
    carried_out(in_process)
    taint(in_process, "a", DOWN)
    carried_out(in_process)
    assert (replicas(in_process), tasks(in_process)) == ({"a": 2}, ["a"])
    world.config["asOf"] = "2026-11-21T10:01:01Z"
    assert of_kind(carried_out(in_process)) == {"a": "delete"}
    taint(in_process, "a")
    assert of_kind(carried_out(in_process)) == {"a": "create"}


@pytest.mark.long
def test_exactly_as_karmada_the_only_copy_goes_when_the_eviction_takes_too_long(
    in_process: InProcess[KarmadaWorld],
) -> None:
    world = in_process.world
    world.objects["settings"] = settings(exact=True, gracefulEvictionTimeout=60)
    world.config = {"limit": 1, "asOf": "2026-11-21T10:00:00Z"}
    delivered(in_process, on("a"), 2)
    taint(in_process, "a", DOWN)
    carried_out(in_process)
    taint(in_process, "a")
    world.config["asOf"] = "2026-11-21T10:00:59Z"
    carried_out(in_process)
    assert (tasks(in_process), replicas(in_process)) == (["a"], {"a": 2}), (
        "that the taint is gone does not end it"
    )
    taint(in_process, "a", DOWN)
    world.config["asOf"] = "2026-11-21T10:01:00Z"
    carried_out(in_process)
    assert (tasks(in_process), replicas(in_process)) == (["a"], {"a": 2}), (
        "Karmada asks whether it is later than that"
    )
    world.config["asOf"] = "2026-11-21T10:01:01Z"
    carried_out(in_process)
    assert (tasks(in_process), replicas(in_process)) == ([], {})


def test_purged_directly_the_old_copy_goes_first(driver: Driver) -> None:
    driver.world.objects["settings"] = settings()
    delivered(driver, EVENLY, 6, failover={"cluster": {"purgeMode": "Directly"}})
    taint(driver, "a", DOWN)
    seen, done = driver.preview(), driver.up()
    assert done.ok
    assert of_kind(seen) == {"a": "delete"}
    assert (
        "held: b, c not updated (keep revision 0): purge mode Directly: the copy on a goes first"
        in seen.text
    )
    assert replicas(driver) == {"b": 2, "c": 2}
    assert of_kind(carried_out(driver)) == {"b": "update", "c": "update"}
    assert replicas(driver) == {"b": 3, "c": 3}


@pytest.mark.long
def test_the_flag_purges_directly_where_the_policy_says_nothing(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects["settings"] = settings(purgeMode="Directly")
    delivered(in_process, EVENLY, 6)
    taint(in_process, "a", DOWN)
    assert of_kind(in_process.preview()) == {"a": "delete"}


def test_an_update_that_fails_on_the_new_member_keeps_the_old_copy(driver: Driver) -> None:
    driver.world.objects["settings"] = settings()
    driver.world.config = {"limit": 1}
    delivered(driver, {**on("a", "b"), "spreadConstraints": [{"maxGroups": 1, "minGroups": 1}]}, 2)
    (first,) = replicas(driver)
    (other,) = {"a", "b"} - {first}
    taint(driver, first, DOWN)
    assert not driver.up(fails=[other]).ok
    assert sorted(replicas(driver)) == [first]
    assert of_kind(carried_out(driver)) == {first: "delete", other: "create"}


@pytest.mark.long
def test_as_long_as_dispatching_is_suspended_on_the_new_member_the_old_copy_stays(
    in_process: InProcess[KarmadaWorld],
) -> None:
    world = in_process.world
    world.objects["settings"], world.config = settings(), {"limit": 1}
    delivered(in_process, on("a"), 2)
    taint(in_process, "a", DOWN, {"key": "full", "effect": "NoSchedule"})
    suspended = {"dispatchingOnClusters": {"clusterNames": ["b"]}}
    world.objects["policy"] = policy(placement=on("a", "b"), suspension=suspended)
    seen = carried_out(in_process)
    assert (
        "held: a not updated (keep revision 0): the taint down:NoExecute is not tolerated; its copy stays"
        in seen.text
    )
    assert replicas(in_process) == {"a": 2}
    world.objects["policy"] = policy(placement=on("a", "b"))
    assert of_kind(carried_out(in_process)) == {"a": "delete", "b": "create"}


@pytest.mark.long
@pytest.mark.parametrize("time", [None, "2026-11-21T10:00:29Z"])
def test_an_application_that_fails_has_time_to_recover(
    in_process: InProcess[KarmadaWorld], time: str | None
) -> None:
    delivered(in_process, EVENLY, 6, **failing_over("Gracefully"))
    in_process.world.objects["health"] = unhealthy("a", since="2026-11-21T10:00:00Z")
    in_process.world.config = {"asOf": time} if time else {}
    seen = in_process.preview()
    assert seen.changes == {}
    assert (
        "a: to be left at 2026-11-21T10:00:30Z: the application is Unhealthy since 2026-11-21T10:00:00Z"
        in seen.text
    )


def test_an_application_that_fails_moves(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, EVENLY, 6, **failing_over("Gracefully"))
    in_process.world.objects["health"] = unhealthy("a")
    assert of_kind(carried_out(in_process)) == {"a": "delete", "b": "update", "c": "update"}
    in_process.world.objects["again"] = deployment(6, name="other")
    assert replicas(in_process) == {"b": 3, "c": 3}


@pytest.mark.long
def test_an_application_that_fails_stays_where_the_policy_does_not_ask_for_more(
    in_process: InProcess[KarmadaWorld],
) -> None:
    delivered(in_process, EVENLY, 6)
    in_process.world.objects["health"] = unhealthy("a")
    assert in_process.preview().changes == {}


@pytest.mark.long
def test_never_purged_the_old_copy_stays_until_somebody_has_looked_at_it(
    in_process: InProcess[KarmadaWorld],
) -> None:
    delivered(in_process, EVENLY, 6, **failing_over("Never"))
    in_process.world.objects["health"] = unhealthy("a")
    seen = carried_out(in_process)
    assert (
        "a not updated (keep revision 0): the application is Unhealthy; purge mode Never: its copy stays"
        in seen.text
    )
    assert replicas(in_process) == {"a": 2, "b": 3, "c": 3}
    in_process.world.objects["web"] = deployment(6, image="web:2")
    carried_out(in_process)
    assert in_process.images() == {"a": "web:1", "b": "web:2", "c": "web:2"}
    del in_process.world.objects["health"]
    assert of_kind(carried_out(in_process)) == {"a": "delete"}


@pytest.mark.long
def test_what_goes_along_stays_as_long_as_the_copy(in_process: InProcess[KarmadaWorld]) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "conf", "namespace": "shop"},
        "data": {},
    }
    volumes: Any = [{"name": "conf", "configMap": {"name": "conf"}}]
    in_process.world.objects["conf"] = config
    delivered(in_process, EVENLY, 6, **failing_over("Never"))
    in_process.world.objects["web"] = deployment(6, volumes=volumes)
    carried_out(in_process)
    in_process.world.objects["health"] = unhealthy("a")
    carried_out(in_process)
    assert sorted(in_process.stands("ConfigMap")) == ["a", "b", "c"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("document", "words"),
    [
        (
            settings(purgeMode="Never"),
            'spec.purgeMode: "Never" is not a purge mode (Gracefully or Directly)',
        ),
        (settings(gracefulEvictionTimeout=-1), "spec.gracefulEvictionTimeout: is below 0"),
        (
            settings(noExecuteEvictions=True),
            'there is no field "noExecuteEvictions" (noExecuteEviction)',
        ),
        (settings(exact="yes"), "spec.exact: is text, not true or false"),
        (unhealthy("a", since="yesterday"), 'spec.unhealthy[0].since: "yesterday" is not a time'),
        (unhealthy("a", why="oom"), 'spec.unhealthy[0].why: there is no field "why"'),
        (
            {**unhealthy("a"), "spec": {"unhealthy": [{"cluster": "a"}]}},
            "spec.unhealthy[0].kind: kind is missing",
        ),
        ({**unhealthy("a"), "sepc": {}}, 'sepc: there is no field "sepc" (spec)'),
        ({**unhealthy("a"), "spec": None}, "spec: is null, not a map"),
    ],
)
def test_declarations_that_cannot_be_read_are_refused(
    in_process: InProcess[KarmadaWorld], document: dict[str, Any], words: str
) -> None:
    in_process.world.objects = {
        "web": deployment(4),
        "policy": policy(placement=on("a")),
        "document": document,
    }
    assert words in in_process.preview().text


@pytest.mark.long
def test_an_observation_of_what_is_not_there_is_refused(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects = {
        "other": deployment(4, name="other"),
        "policy": policy(),
        "health": unhealthy("a"),
    }
    assert (
        "spec.unhealthy[0].name: there is no Deployment shop/web (take it out)"
        in in_process.preview().text
    )
