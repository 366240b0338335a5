"""What ``fleet explain`` says would change an outcome is done to the YAML, planned again, and comes true."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.flipped import (
    after,
    chosen,
    flips,
    karmada_member,
    member,
    placement,
    planned,
    propagation,
    words,
    written_with,
)

COST = "example.com/cost"
Data = dict[str, Any]


def hold(documents: list[Data], cluster: str) -> list[str]:
    """All that is said of a member, after every flip was tried by hand."""
    plan = planned(documents)
    for flip in flips(plan, cluster).flips:
        assert (cluster in chosen(planned(written_with(documents, flip.change)))) == flip.chosen, (
            flip.words
        )
        assert flip.chosen != (cluster in chosen(plan))
    return words(plan, cluster)


def test_a_label() -> None:
    fleet = [member("a", {"tier": "gold"}), member("b", {"tier": "silver"}), member("c")]
    required = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"tier": "gold"}}}]}
    affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    documents = [*fleet, *placement(placementType="PickAll", affinity=affinity)]
    assert hold(documents, "a") == [
        "would be left out without the label tier",
        "would be left out with a taint drained=true:NoSchedule",
    ]
    assert hold(documents, "b") == ['would be chosen with tier=gold (is "silver")']
    assert hold(documents, "c") == ["would be chosen with tier=gold"]


def test_a_taint() -> None:
    spot = {"key": "spot", "value": "true", "effect": "NoSchedule"}
    documents = [member("a"), member("b", taints=[spot]), *placement(placementType="PickAll")]
    assert hold(documents, "b") == [
        "would be chosen without the taint spot=true:NoSchedule",
        "would be chosen with a toleration of spot=true:NoSchedule",
    ]


CPU = "resources.kubernetes-fleet.io/available-cpu"


def test_cpus_that_are_missing() -> None:
    fleet = [
        member(name, resourceUsage={"available": {"cpu": cpu}})
        for name, cpu in {"a": "6", "b": "2"}.items()
    ]
    term = {
        "propertySelector": {"matchExpressions": [{"name": CPU, "operator": "Ge", "values": ["4"]}]}
    }
    required = {"clusterSelectorTerms": [term]}
    affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    documents = [*fleet, *placement(placementType="PickAll", affinity=affinity)]
    assert hold(documents, "b") == ["would be chosen with 2 more CPUs available (4, not 2)"]
    assert hold(documents, "a") == [
        "would be left out with 3 CPUs available (is 6)",
        "would be left out with a taint drained=true:NoSchedule",
    ]


def by_cost(**costs: str) -> list[Data]:
    sorter = {"propertySorter": {"name": COST, "sortOrder": "Ascending"}}
    affinity = {
        "clusterAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "preference": sorter}
            ]
        }
    }
    fleet = [member(name, properties={COST: cost}) for name, cost in costs.items()]
    return [*fleet, *placement(placementType="PickN", numberOfClusters=1, affinity=affinity)]


def test_points_of_cost() -> None:
    documents = by_cost(a="0.10", b="0.13", c="0.20")
    assert hold(documents, "b") == [
        f"lost to a by 30 points of less {COST}",
        f"would be chosen with {COST} 0.10 (is 0.13)",
        "would be chosen with numberOfClusters 2",
    ]
    assert hold(documents, "a") == [
        f"b comes next, behind by 30 points of less {COST}",
        f"would be left out with {COST} 0.13 (is 0.10)",
        "would be left out with a taint drained=true:NoSchedule",
    ]


@pytest.mark.parametrize(("missing", "wins"), [(0, False), (1, True)])
def test_the_points_are_those_that_are_missing(missing: int, wins: bool) -> None:
    """A preference for the member that is worth as many points lets it catch up; the one with the last name wins."""
    documents = by_cost(a="0.13", b="0.10", c="0.20")
    assert words(planned(documents), "a")[0] == f"lost to b by 30 points of less {COST}"
    documents[0]["metadata"]["labels"] = {"here": "yes"}
    policy = documents[-1]["spec"]["policy"]
    term = {
        "weight": 30 + missing,
        "preference": {"labelSelector": {"matchLabels": {"here": "yes"}}},
    }
    policy["affinity"]["clusterAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"].append(
        term
    )
    assert ("a" in chosen(planned(documents))) == wins


def test_a_pick_stays_and_that_is_said() -> None:
    past = after(planned(by_cost(a="0.10", b="0.13", c="0.20")))
    plan = planned(by_cost(a="0.10", b="0.05", c="0.20"), past)
    assert words(plan, "a") == [
        "stays because it was chosen before: newly decided, it would be left out, and b chosen",
        "no change that was tried lets it go",
    ]
    assert words(plan, "b") == [
        "is left out because of what was decided before: newly decided, it would be chosen in place of a",
        "would be chosen with numberOfClusters 2",
    ]


def test_a_name() -> None:
    names = ["a", "c"]
    documents = [*map(member, "abc"), *placement(placementType="PickFixed", clusterNames=names)]
    assert hold(documents, "b") == ["would be chosen with b in clusterNames"]
    assert hold(documents, "a") == ["would be left out without a in clusterNames"]


def test_the_last_name_is_not_taken_out_where_that_is_refused() -> None:
    documents = [member("a"), *placement(placementType="PickFixed", clusterNames=["a"])]
    assert hold(documents, "a") == ["no change that was tried lets it go"]


def test_labels_that_must_not_be_there_or_have_any_value() -> None:
    expressions = [
        {"key": "old", "operator": "NotIn", "values": ["yes"]},
        {"key": "gpu", "operator": "Exists"},
        {"key": "spot", "operator": "DoesNotExist"},
    ]
    required = {"clusterSelectorTerms": [{"labelSelector": {"matchExpressions": expressions}}]}
    affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    documents = [
        member("a", {"old": "yes", "spot": "x"}),
        member("b", {"gpu": "x"}),
        *placement(placementType="PickAll", affinity=affinity),
    ]
    assert hold(documents, "a") == [
        "would be chosen without the label old and with gpu=true and without the label spot"
    ]
    assert hold(documents, "b") == [
        "would be left out with old=yes",
        "would be left out without the label gpu",
        "would be left out with spot=true",
    ]


def test_what_one_change_does_is_not_told_with_another() -> None:
    documents = by_cost(a="0.20", b="0.13")
    documents[0]["spec"]["taints"] = [{"key": "k", "effect": "NoSchedule"}]
    documents[-1]["spec"]["policy"]["numberOfClusters"] = 2
    assert hold(documents, "a") == [
        "would be chosen without the taint k:NoSchedule",
        "would be chosen with a toleration of k:NoSchedule",
    ]


def test_a_spread() -> None:
    fleet = [
        member(name, {"region": region}) for name, region in {"a": "x", "b": "x", "c": "y"}.items()
    ]
    spread = [{"topologyKey": "region", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    documents = [
        *fleet,
        *placement(placementType="PickN", numberOfClusters=2, topologySpreadConstraints=spread),
    ]
    assert chosen(planned(documents)) == {"b", "c"}
    assert hold(documents, "a") == [
        "lost to b: as many points, and the last name goes first",
        "would be chosen with numberOfClusters 3",
    ]


STATIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {
        "staticWeightList": [
            {"targetCluster": {"clusterNames": [name]}, "weight": weight}
            for name, weight in (("a", 1), ("b", 2))
        ]
    },
}


def test_static_weights() -> None:
    fleet = [karmada_member(name) for name in "abc"]
    documents = [*fleet, *propagation(3, replicaScheduling=STATIC)]
    assert hold(documents, "c") == ["would be chosen with a static weight of 1"]


DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
SERVES = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}]


def room(cpu: str, used: str = "0", pods: str = "100") -> Data:
    amounts = {"allocatable": {"cpu": cpu, "pods": pods}, "allocated": {"cpu": used}}
    return {"apiEnablements": SERVES, "resourceSummary": amounts}


def test_room_for_a_replica() -> None:
    fleet = [karmada_member("a", status=room("4")), karmada_member("b", status=room("4", "3800m"))]
    documents = [*fleet, *propagation(4, {"cpu": "500m"}, replicaScheduling=DYNAMIC)]
    assert chosen(planned(documents)) == {"a"}
    assert hold(documents, "b") == [
        "would be chosen with 0.8 more CPU free",  # with room for one, a gets all four
    ]


def test_room_on_a_member_that_has_too_little_for_what_it_runs() -> None:
    fleet = [karmada_member("a", status=room("4")), karmada_member("b", status=room("1", "1200m"))]
    documents = [
        *fleet,
        *propagation(
            1,
            {"cpu": "500m"},
            replicaScheduling={**DYNAMIC, "replicaDivisionPreference": "Aggregated"},
        ),
    ]
    assert hold(documents, "b") == ["no change that was tried chooses it"]
    documents = [*fleet, *propagation(9, {"cpu": "500m"}, replicaScheduling=DYNAMIC)]
    assert hold(documents, "b")[0] == "would be chosen with 0.7 more CPU free"


def test_a_share_of_nothing() -> None:
    fleet = [karmada_member("a", status=room("4")), karmada_member("b", status=room("500m"))]
    documents = [*fleet, *propagation(4, {"cpu": "500m"}, replicaScheduling=DYNAMIC)]
    assert hold(documents, "b") == [
        "gets none of 4 replicas: its share is 1 of 9 available replicas",
        "would be chosen with 0.5 more CPU free",
        "would be chosen with 5 replicas",
    ]


def test_a_spread_over_clusters() -> None:
    fleet = [karmada_member(name) for name in "abc"]
    by_cluster = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]
    documents = [*fleet, *propagation(2, spreadConstraints=by_cluster)]
    assert hold(documents, "c") == [
        "lost to b: equally good, and the first name goes first",
        "would be chosen with maxGroups 3 of spreadByField cluster",
    ]


def test_a_region_and_an_api() -> None:
    where = {
        "fieldSelector": {
            "matchExpressions": [{"key": "region", "operator": "In", "values": ["x"]}]
        }
    }
    fleet = [
        karmada_member("a", region="x"),
        karmada_member("b", region="y"),
        karmada_member("c", region="x", status={"apiEnablements": []}),
        member("d", {"topology.kubernetes.io/region": "y"}),
    ]
    documents = [*fleet, *propagation(2, clusterAffinity=where)]
    assert hold(documents, "b") == ['would be chosen with region x (is "y")']
    assert hold(documents, "c") == ["would be chosen with the API apps/v1 Deployment served there"]
    assert hold(documents, "d") == ['would be chosen with topology.kubernetes.io/region=x (is "y")']


def test_groups() -> None:
    groups = [
        {"affinityName": "near", "clusterNames": ["a"]},
        {"affinityName": "far", "clusterNames": ["b"]},
    ]
    documents = [
        karmada_member("a"),
        karmada_member("b"),
        *propagation(2, clusterAffinities=groups),
    ]
    assert hold(documents, "b") == [
        "would be chosen with b in the policy's clusterNames",
        "would be chosen with the affinity group far first",
    ]


def test_nothing_helps_a_member_that_leaves() -> None:
    leaving = member("b")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    documents = [member("a"), leaving, *placement(placementType="PickAll")]
    assert hold(documents, "b") == [
        "no change of its own or of the policy chooses it: cluster has left the fleet"
    ]


def test_what_cannot_be_compared_does_not_end_an_explanation() -> None:
    past = after(planned(by_cost(a="0.10", b="0.13")))
    plan = planned(by_cost(a="0.10", b="unknown"), past)
    reason = "value unknown of property example.com/cost from cluster b is not a valid quantity"
    for name, does in {"a": "lets it go", "b": "chooses it"}.items():
        (said,) = words(plan, name)
        assert said.startswith(f"no change of its own or of the policy {does}:")
        assert reason in said


def test_no_room_is_proposed_where_amounts_cannot_be_read() -> None:
    documents = [
        karmada_member("a", status=room("4", "much")),
        *propagation(0, {"cpu": "1"}, replicaScheduling=DYNAMIC),
    ]
    assert words(planned(documents), "a") == ["no change that was tried chooses it"]


def test_amounts_of_both_systems() -> None:
    """What Karmada counts with is computed from what a MemberCluster says, and that is what changes."""
    fleet = [
        member("a", resourceUsage={"allocatable": {"cpu": "4"}}),
        member("b", resourceUsage={"allocatable": {"cpu": "4"}, "available": {"cpu": "500m"}}),
    ]
    documents = [*fleet, *propagation(4, {"cpu": "500m"}, replicaScheduling=DYNAMIC)]
    (flip, _) = flips(planned(documents), "b").flips
    assert hold(documents, "b")[1] == flip.words == "would be chosen with 0.5 more CPU free"
    (edit,) = flip.change
    assert (edit.field, edit.value) == (("status", "resourceUsage", "available", "cpu"), "1")
