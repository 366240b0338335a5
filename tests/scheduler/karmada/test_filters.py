"""Which members a template can go to, and the words for those that it cannot go to."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.scheduler.cycle import run_filters
from fleet_components.systems.karmada.model.memory import EvictionTask, TemplateMemory
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching
from tests.scheduler.karmada.builders import (
    AGGREGATED,
    clusters,
    decide,
    deployment,
    fleet,
    member,
    message,
    placement,
    spread,
)

HERE = TemplateMemory(uid="a", clusters={"a": 1})
EAST = Cluster("east", {"env": "prod"}, provider="aws", region="us-east", zones=("z1", "z2"))
WEST = Cluster("west", {"env": "test"}, provider="gcp", region="us-west", zones=("z2",))
BARE = Cluster("bare")


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("affinity", "selected"),
    [
        ({}, {"bare", "east", "west"}),
        ({"clusterNames": ["east", "nowhere"]}, {"east"}),
        ({"exclude": ["east"]}, {"bare", "west"}),
        ({"clusterNames": ["east"], "exclude": ["east"]}, set()),
        ({"labelSelector": {"matchLabels": {"env": "prod"}}}, {"east"}),
        ({"labelSelector": {"matchLabels": {"env": "prod"}}, "clusterNames": ["west"]}, set()),
        (
            {"labelSelector": {"matchExpressions": [expression("env", "NotIn", "prod")]}},
            {"bare", "west"},
        ),
        (
            {"labelSelector": {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}},
            {"bare"},
        ),
        (
            {"fieldSelector": {"matchExpressions": [expression("region", "In", "us-east", "eu")]}},
            {"east"},
        ),
        (
            {"fieldSelector": {"matchExpressions": [expression("provider", "NotIn", "aws")]}},
            {"bare", "west"},
        ),
        ({"fieldSelector": {"matchExpressions": [expression("zone", "In", "z1")]}}, {"east"}),
        (
            {"fieldSelector": {"matchExpressions": [expression("zone", "NotIn", "z1")]}},
            {"bare", "west"},
        ),
        # An invalid selector selects nothing, without an error.
        ({"fieldSelector": {"matchExpressions": [expression("region", "In")]}}, set()),
        ({"labelSelector": {"matchExpressions": [expression("env", "Near", "prod")]}}, set()),
        ({"labelSelector": {"matchLabels": {"no key!": "prod"}}}, set()),
    ],
)
def test_affinity_selects(affinity: dict[str, Any], selected: set[str]) -> None:
    where = placement(clusterAffinity=affinity).cluster_affinity
    assert where
    inventory = fleet(EAST, WEST, BARE)
    mask = matching(inventory, where)
    assert {
        name for position, name in enumerate(inventory.names) if mask >> position & 1
    } == selected
    assert {cluster.name for cluster in inventory.clusters if where.matches(cluster)} == selected


@pytest.mark.parametrize(
    ("taints", "tolerations", "reason"),
    [
        (
            [Taint("gpu", "x", "NoSchedule")],
            [],
            "cluster(s) had untolerated taint {gpu=x:NoSchedule}",
        ),
        ([Taint("gpu", "", "NoExecute")], [], "cluster(s) had untolerated taint {gpu:NoExecute}"),
        ([Taint("gpu", "", "PreferNoSchedule")], [], ""),
        (
            [Taint("a"), Taint("b")],
            [{"key": "a", "operator": "Exists"}],
            "cluster(s) had untolerated taint {b:NoSchedule}",
        ),
        ([Taint("gpu", "x")], [{"operator": "Exists"}], ""),
        ([Taint("gpu", "x")], [{"key": "gpu", "value": "x"}], ""),
        (
            [Taint("gpu", "x")],
            [{"key": "gpu", "operator": "Equal", "value": "y"}],
            "cluster(s) had untolerated taint {gpu=x:NoSchedule}",
        ),
        (
            [Taint("gpu", "x", "NoExecute")],
            [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "cluster(s) had untolerated taint {gpu=x:NoExecute}",
        ),
        # How long a taint is tolerated does not count here.
        ([Taint("gpu", "x", "NoExecute")], [{"operator": "Exists", "tolerationSeconds": 0}], ""),
    ],
)
def test_taints(taints: list[Taint], tolerations: list[dict[str, Any]], reason: str) -> None:
    where = placement(clusterTolerations=tolerations)
    decision = decide(fleet(Cluster("a", taints=tuple(taints))), deployment(1), where)
    assert (message(decision), clusters(decision)) == (
        (f"0/1 clusters are available: 1 {reason}.", {})
        if reason
        else ("Binding has been scheduled successfully.", {"a": 1})
    )


@pytest.mark.parametrize(
    ("cluster", "where", "memory", "reason"),
    [
        (
            Cluster("a", api_enablements=frozenset({("v1", "Service")})),
            placement(),
            TemplateMemory(),
            "cluster(s) did not have the API resource",
        ),
        (
            member("a", region="r"),
            placement(clusterAffinity={"exclude": ["a"]}),
            HERE,
            "cluster(s) did not match the placement cluster affinity constraint",
        ),
        (
            member("a"),
            placement(spreadConstraints=[spread("region", 1, 1), spread("cluster", 1, 1)]),
            HERE,
            "cluster(s) did not have region property",
        ),
        (
            member("a", region="r"),
            placement(spreadConstraints=[spread("zone", 1, 1), spread("cluster", 1, 1)]),
            HERE,
            "cluster(s) did not have zones property",
        ),
        (
            member("a", region="r"),
            placement(spreadConstraints=[spread("provider", 1, 1), spread("cluster", 1, 1)]),
            HERE,
            "cluster(s) did not have provider property",
        ),
        (
            member("a"),
            placement(),
            TemplateMemory(evictions={"a": EvictionTask("Directly")}),
            "cluster(s) is in the process of eviction",
        ),
    ],
)
def test_reasons(cluster: Cluster, where: Any, memory: TemplateMemory, reason: str) -> None:
    assert (
        message(decide(fleet(cluster), deployment(1), where, memory))
        == f"0/1 clusters are available: 1 {reason}."
    )


def test_targets_keep_what_has_lost_its_api_or_got_a_taint() -> None:
    worse = Cluster("a", taints=(Taint("gpu"),), api_enablements=frozenset())
    assert clusters(decide(fleet(worse), deployment(1), placement(), HERE)) == {"a": 1}


def test_reasons_are_counted_and_sorted_as_texts() -> None:
    members = [member(f"m{number:02}", taint="gpu:NoSchedule") for number in range(10)]
    lost = [
        attrs.evolve(member("x"), api_enablements=frozenset()),
        attrs.evolve(member("y"), leaving=True),
    ]
    assert message(decide(fleet(*members, *lost), deployment(1), placement(AGGREGATED))) == (
        "0/12 clusters are available: 1 cluster(s) did not have the API resource, "
        "10 cluster(s) had untolerated taint {gpu:NoSchedule}."
    )


def test_no_members_at_all() -> None:
    assert (
        message(decide([], deployment(1), placement()))
        == "0/0 clusters are available: no cluster exists."
    )


def test_each_member_is_stopped_by_the_first_filter_in_the_order_of_the_registry() -> None:
    where = placement(clusterAffinity={"clusterNames": ["b"]})
    state = KarmadaState(fleet(member("a", taint="gpu:NoSchedule"), "b"), deployment(1), where)
    stopped_by = run_filters(PROFILE, state, state.inventory.everything).stopped_by(0)
    assert stopped_by
    assert stopped_by.name == "TaintToleration"
