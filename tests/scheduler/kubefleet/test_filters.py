"""Which members can be picked, filter by filter, with the reason of each that cannot."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from fleet_components.model.cluster import Agent, Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.systems.kubefleet.scheduler import schedule
from tests.scheduler.kubefleet.builders import (
    NOW,
    label,
    labelled,
    member,
    pick_n,
    policy,
    reasons,
    requiring,
    run,
    spread,
    tainted,
    usage,
    valued,
    where,
)

NO_MATCH = "cluster does not match with any of the required cluster affinity terms"
APART = "cluster is not connected to the fleet: "


@pytest.mark.parametrize(
    ("terms", "matching"),
    [
        ([], ["bare", "prod", "test"]),
        ([{}], ["bare", "prod", "test"]),
        ([{"labelSelector": {}}], ["bare", "prod", "test"]),
        ([label(env="prod")], ["prod"]),
        ([label(env="prod"), label(env="test")], ["prod", "test"]),
        ([label(env="prod", region="x")], []),
        ([{"propertySelector": {"matchExpressions": []}}], ["bare", "prod", "test"]),
        ([{**label(env="prod"), **where("p", "Ge", "1")}], []),
    ],
)
def test_required_terms_are_alternatives(terms: list[Any], matching: list[str]) -> None:
    decision = run(
        labelled(bare={}, prod={"env": "prod"}, test={"env": "test"}),
        requiring("PickAll", None, *terms),
    )
    assert sorted(decision.memory.selected) == matching
    assert set(reasons(decision).values()) <= {f"ClusterUnschedulable, {NO_MATCH}"}


@pytest.mark.parametrize(
    ("operator", "wanted", "matching"),
    [
        ("Gt", "2", ["d"]),
        ("Ge", "2", ["b", "c", "d"]),
        ("Lt", "2", ["a"]),
        ("Le", "2", ["a", "b", "c"]),
        ("Eq", "2", ["b", "c"]),
        ("Ne", "2", ["a", "d"]),  # and not the member that has no such property
        ("Eq", "2000m", ["b", "c"]),
        ("Gt", "1999999999n", ["b", "c", "d"]),
    ],
)
def test_properties_compare_exactly(operator: str, wanted: str, matching: list[str]) -> None:
    members = valued(a="1", b="2", c="2000m", d="2.000000001", none=None)
    decision = run(members, requiring("PickAll", None, where("p", operator, wanted)))
    assert sorted(decision.memory.selected) == matching


def test_all_expressions_of_a_term_must_hold() -> None:
    both = {
        "propertySelector": {
            "matchExpressions": [
                {"name": "p", "operator": "Gt", "values": ["1"]},
                {"name": "p", "operator": "Lt", "values": ["3"]},
            ]
        }
    }
    assert run(valued(a="1", b="2", c="3"), requiring("PickAll", None, both)).memory.selected == (
        "b",
    )


@pytest.mark.parametrize(
    ("name", "least", "matching"),
    [
        ("total-cpu", "100", ["m"]),
        ("allocatable-cpu", "51", []),
        ("allocatable-cpu", "50", ["m"]),
        ("available-cpu", "7", ["m"]),
        ("available-memory", "0", []),
    ],
)
def test_resource_usage_is_read_by_its_name(name: str, least: str, matching: list[str]) -> None:
    members = [member("m", usage=usage(cpu="7"))]
    term = where(f"resources.kubernetes-fleet.io/{name}", "Ge", least)
    assert list(run(members, requiring("PickAll", None, term)).memory.selected) == matching


def agent(**attributes: Any) -> Cluster:
    """An observed member that is well but for these attributes; ages in seconds."""
    ages = {
        key: NOW - timedelta(seconds=value)
        for key, value in attributes.items()
        if type(value) is int
    }
    well = {"heartbeat": NOW, "health_since": NOW}
    return Cluster("m", observed=True, agent=Agent(**{**well, **attributes, **ages}))


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        (Cluster("m", leaving=True), "cluster has left the fleet"),
        (Cluster("m", observed=True, agent=None), f"{APART}member agent not online yet"),
        (agent(heartbeat=300), ""),
        (
            agent(heartbeat=301),
            f"{APART}no recent heartbeat signals (last received 5.02 minutes ago)",
        ),
        (
            agent(heartbeat=None),
            f"{APART}no recent heartbeat signals (last received 153722867.28 minutes ago)",
        ),
        (agent(joined=False), f"{APART}member agent not joined yet"),
        (
            agent(joined=False, heartbeat=360),
            f"{APART}no recent heartbeat signals (last received 6.00 minutes ago)",
        ),
        (agent(healthy=None), f"{APART}health condition from member agent is not available"),
        (agent(healthy=False, joined=False), f"{APART}member agent not joined yet"),
        (agent(healthy=False, health_since=300), ""),
        (
            agent(healthy=False, health_since=301),
            f"{APART}unhealthy for a prolonged period of time (last transitioned 5.02 minutes ago)",
        ),
        (agent(healthy=True, health_since=9999), ""),
        (Cluster("m"), ""),
    ],
)
@pytest.mark.parametrize("kind", ["PickAll", "PickFixed"])
def test_members_must_be_eligible(kind: str, cluster: Cluster, why: str) -> None:
    decision = run([cluster], policy(kind, clusterNames=["m"] if kind == "PickFixed" else []))
    assert decision.memory.selected == (() if why else ("m",))
    prefix = "ClusterUnschedulable, " if kind == "PickAll" else ""
    assert reasons(decision) == ({"m": expected(kind, prefix + why)} if why else {})


def expected(kind: str, why: str) -> str:
    return (
        why
        if kind == "PickAll"
        else f'Cluster "m" is not eligible for resource placement yet: {why}'
    )


def test_without_a_time_nothing_expires() -> None:
    silent = [agent(heartbeat=9999), agent(heartbeat=None), agent(healthy=False, health_since=9999)]
    for cluster in silent:
        assert schedule(Inventory([cluster]), None).memory.selected == ("m",)
    assert schedule(Inventory([agent(joined=False)]), None).memory.selected == ()


@pytest.mark.parametrize(
    ("collected", "namespaces", "why"),
    [
        (False, None, ""),
        (False, {}, ""),
        (True, {"app": "", "b": ""}, ""),
        (True, {}, "target namespace does not exist on cluster"),
        (True, {"other": ""}, "target namespace does not exist on cluster"),
        (True, None, "cluster has no namespace information available"),
    ],
)
def test_resource_placements_go_where_their_namespace_is(
    collected: bool, namespaces: dict[str, str] | None, why: str
) -> None:
    cluster = Cluster("m", namespaces_collected=collected, namespaces=namespaces)
    decision = run([cluster], policy("PickAll"), namespace="app")
    assert list(reasons(decision).values()) == ([f"ClusterUnschedulable, {why}"] if why else [])
    assert run([cluster], policy("PickAll")).memory.selected == ("m",)


def test_placements_of_two_namespaces_share_an_inventory() -> None:
    names = {"a": "one", "b": "two"}
    inventory = Inventory(
        Cluster(m, namespaces_collected=True, namespaces={n: ""}) for m, n in names.items()
    )
    for name, namespace in names.items():
        assert schedule(inventory, policy("PickAll"), namespace=namespace).memory.selected == (
            name,
        )


@pytest.mark.parametrize(
    ("taints", "tolerations", "untolerated"),
    [
        ([], [], ""),
        (["k=v"], [], "k=v"),
        (["k=v", "l="], [{"key": "k", "operator": "Exists"}], "l="),
        (["k=v", "l="], [{"operator": "Exists"}], ""),
        (["k=v"], [{"key": "k", "operator": "Equal", "value": "v"}], ""),
        (["k=v"], [{"key": "k", "value": "v"}], ""),
        (["k=v"], [{"key": "k", "operator": "Equal", "value": "w"}], "k=v"),
        (["k=v"], [{"key": "k", "operator": "Equal"}], "k=v"),
        (["k="], [{"key": "k", "operator": "Equal"}], ""),
        (["k=v"], [{"key": "j", "operator": "Exists"}], "k=v"),
        (["k=v"], [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], ""),
        (["k=v"], [{"key": "k", "operator": "Exists", "effect": "NoExecute"}], "k=v"),
        (["k=v"], [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute"}], "k=v"),
        (["l=", "k=v"], [], "l="),
    ],
)
def test_every_taint_must_be_tolerated(
    taints: list[str], tolerations: list[Any], untolerated: str
) -> None:
    decision = run([tainted(*taints)], policy("PickAll", tolerations=tolerations))
    key, _, value = untolerated.partition("=")
    reason = f"ClusterUnschedulable, taint &{{Key:{key} Value:{value} Effect:NoSchedule}} cannot be tolerated"
    assert reasons(decision) == ({"m": reason} if untolerated else {})


def test_the_first_filter_gives_the_reason() -> None:
    """Affinity, eligibility, namespace, taints, spread, in this order."""
    wrong: dict[str, Any] = {
        "labels": {"env": "prod"},
        "leaving": True,
        "namespaces_collected": True,
        "taints": (Taint("k"),),
    }
    steps: list[tuple[str, dict[str, Any]]] = [
        (NO_MATCH, {"labels": {}}),
        ("cluster has left the fleet", {}),
        ("cluster has no namespace information available", {"leaving": False}),
        ("target namespace does not exist on cluster", {"leaving": False, "namespaces": {}}),
        (
            "taint &{Key:k Value: Effect:NoSchedule} cannot be tolerated",
            {"leaving": False, "namespaces": {"app": ""}},
        ),
    ]
    for reason, change in steps:
        decision = run(
            [Cluster("m", **{**wrong, **change})],
            requiring("PickAll", None, label(env="prod")),
            namespace="app",
        )
        assert reasons(decision) == {"m": f"ClusterUnschedulable, {reason}"}


def test_spread_is_looked_at_last() -> None:
    members = labelled(a={"zone": "1"}, b={"zone": "1"}, c={"zone": "2"})
    members[1] = Cluster("b", labels={"zone": "1"}, taints=(Taint("k"),))
    members[2] = Cluster("c", labels={"zone": "2"}, taints=(Taint("k"),))
    decision = run(
        [*members, *labelled(d={"zone": "1"})],
        pick_n(3, topologySpreadConstraints=[spread("zone")]),
    )
    assert reasons(decision) == {
        "a": 'ClusterUnschedulable, violated doNotSchedule topology spread constraint "zone" (max skew 1)',
        "b": "ClusterUnschedulable, taint &{Key:k Value: Effect:NoSchedule} cannot be tolerated",
        "c": "ClusterUnschedulable, taint &{Key:k Value: Effect:NoSchedule} cannot be tolerated",
    }
