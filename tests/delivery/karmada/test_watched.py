"""What a running Karmada control plane was watched to do over several changes, told again in small."""

from __future__ import annotations

from typing import Any

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import (
    WEB,
    WIDGETS,
    KarmadaWorld,
    carried_out,
    decided,
    delivered,
    deployment,
    member,
    on,
    policy,
    replicas,
    weights,
)

AGGREGATED = {
    "replicaScheduling": {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Aggregated",
    }
}
WORKLOADS = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}]
Fleet = InProcess[KarmadaWorld]


def asking(count: int) -> dict[str, Any]:
    """Replicas that ask for a core each."""
    containers = [{"name": "web", "image": "web:1", "resources": {"requests": {"cpu": "1"}}}]
    return deployment(count, containers=containers)


def free(fleet: Fleet, **nodes: dict[int, int]) -> None:
    """Observe the members with so many free nodes of each grade; a node of grade 3 counts as four cores."""
    for name, grades in nodes.items():
        summary = {
            "allocatable": {"pods": "100"},
            "allocatableModelings": [
                {"grade": grade, "count": count} for grade, count in grades.items()
            ],
        }
        status = {"apiEnablements": WORKLOADS, "resourceSummary": summary}
        fleet.world.members[name] = {**member(name), "status": status}


def written(fleet: Fleet, **objects: dict[str, Any]) -> dict[str, int]:
    """Change what the user wrote and carry it out; the replicas that stand."""
    fleet.world.objects |= objects
    carried_out(fleet)
    return replicas(fleet)


def test_a_group_that_is_too_small_is_left_until_a_rebalance(in_process: Fleet) -> None:
    groups = [
        {"affinityName": "first", "clusterNames": ["a"]},
        {"affinityName": "second", "clusterNames": ["c"]},
    ]
    free(in_process, a={3: 1}, b={3: 2}, c={3: 3})
    placed = policy(placement={"clusterAffinities": groups, **AGGREGATED})
    assert written(in_process, policy=placed, web=asking(4)) == {"a": 4}
    free(in_process, a={2: 1})
    assert written(in_process, web=asking(10)) == {"c": 10}
    free(in_process, a={3: 1}, c={2: 3})
    assert written(in_process, web=asking(4)) == {"c": 4}
    again = {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": "again"},
        "spec": {"workloads": [{**WEB, "namespace": "shop"}]},
    }
    assert written(in_process, again=again) == {"a": 4}
    free(in_process, a={2: 1}, c={3: 3})
    assert written(in_process, web=asking(30)) == {"a": 4}
    assert "Clusters available replicas 2 are not enough to schedule." in in_process.preview().text
    assert written(in_process, web=asking(5)) == {"a": 5}


def test_aggregated_replicas_take_a_further_member_only_when_they_must(in_process: Fleet) -> None:
    free(in_process, a={3: 1}, b={3: 2}, c={3: 3})
    assert written(in_process, policy=policy(placement=AGGREGATED), web=asking(10)) == {"c": 10}
    free(in_process, c={2: 3})
    assert written(in_process, web=asking(16)) == {"c": 16}
    free(in_process, c={1: 2})
    assert written(in_process, web=asking(26)) == {"b": 8, "c": 18}
    free(in_process, b={0: 2}, c={0: 3})
    assert written(in_process, web=asking(5)) == {"c": 5}


def test_what_cannot_be_selected_leaves_what_stands(in_process: Fleet) -> None:
    for name, region in (("a", "north"), ("b", "south"), ("c", "south")):
        in_process.world.members[name] = member(name, region=region)
    spread = {
        regions: [
            {"spreadByField": "region", "minGroups": regions, "maxGroups": regions},
            {"spreadByField": "cluster", "minGroups": regions, "maxGroups": regions},
        ]
        for regions in (2, 3)
    }
    delivered(in_process, {"spreadConstraints": spread[2]})
    before = replicas(in_process)
    assert set(before) == {"a", "b"}
    assert written(in_process, policy=policy(placement={"spreadConstraints": spread[3]})) == before
    said = "failed to select clusters: the number of feasible region is less than spreadConstraint.MinGroups"
    assert said in in_process.preview().text


def test_what_fits_nowhere_stands_nowhere(in_process: Fleet) -> None:
    delivered(in_process, on("a"))
    assert written(in_process, policy=policy(placement=on("elsewhere"))) == {}
    assert (
        "3 cluster(s) did not match the placement cluster affinity constraint."
        in in_process.preview().text
    )
    assert written(in_process, policy=policy(placement=on("b"))) == {"b": 4}


def test_an_object_that_its_policy_matches_no_more_is_frozen(in_process: Fleet) -> None:
    selector = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    delivered(in_process, on("a"), resourceSelectors=[selector])
    changed = deployment(9, image="web:2")
    changed["metadata"]["labels"] = {"app": "other"}
    other = policy("other", placement=on("b"), resourceSelectors=[WEB], priority=9)
    assert written(in_process, web=changed, other=other) == {"a": 4}
    assert decided(in_process)["policy"] == "PropagationPolicy shop/web"
    assert written(
        in_process, policy=policy(placement=on("a", "c"), resourceSelectors=[selector])
    ) == {"b": 9}
    assert decided(in_process)["policy"] == "PropagationPolicy shop/other"


def test_a_policy_that_selects_less_leaves_what_it_placed(in_process: Fleet) -> None:
    kind = "ClusterPropagationPolicy"
    in_process.world.objects["policy"] = policy(kind=kind, placement=on("a"))
    assert written(in_process, web=deployment(4)) == {"a": 4}
    narrowed = policy(kind=kind, placement=on("b"), resourceSelectors=[{**WEB, "name": "api"}])
    assert written(in_process, policy=narrowed) == {"a": 4}
    assert decided(in_process)["policy"] == "none"
    assert written(in_process, web=deployment(9)) == {"a": 4}


def test_by_default_a_no_execute_taint_drives_nothing_away(in_process: Fleet) -> None:
    delivered(in_process, weights(a=1, c=1))
    in_process.world.members["c"] = member("c", taints=[{"key": "bad", "effect": "NoExecute"}])
    assert in_process.preview().changes == {}
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop"},
    }
    everywhere = policy(
        "settings", resourceSelectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement={}
    )
    assert written(in_process, web=deployment(8), settings=settings, everywhere=everywhere) == {
        "a": 4,
        "c": 4,
    }
    assert set(in_process.stands("ConfigMap")) == {"a", "b"}
    in_process.world.members["c"] = member("c")
    carried_out(in_process)
    assert set(in_process.stands("ConfigMap")) == {"a", "b", "c"}


def test_an_object_of_a_custom_kind_goes_where_its_definition_went(in_process: Fleet) -> None:
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop"},
    }
    selector = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w"}
    for name in ("a", "b"):
        served = (
            [{"groupVersion": "example.com/v1", "resources": [{"kind": "Widget"}]}]
            if name == "a"
            else []
        )
        in_process.world.members[name] = {
            **member(name),
            "status": {"apiEnablements": [*WORKLOADS, *served]},
        }
    in_process.world.objects = {"definition": dict(WIDGETS), "widget": widget}
    in_process.world.objects["policy"] = policy(
        placement=on("a", "b"), resourceSelectors=[selector]
    )
    carried_out(in_process)
    assert set(in_process.stands("Widget")) == {"a"}
