"""Hints name what would do, where the first thought leads astray."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fleet_components.content.load import load_text
from fleet_components.model.problem import FleetError, show_path
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.flips import Trials
from fleet_components.plan.source import source_of
from tests.delivery.karmada.world import WIDGETS
from tests.plan.flipped import after, karmada_member, member, placement, planned, propagation
from tests.plan.unmatched import CommandLine, problems

TAINT = {"key": "gpu", "effect": "NoSchedule"}
GROUPS = [
    {"affinityName": "first", "clusterNames": ["a"]},
    {"affinityName": "second", "clusterNames": ["b"]},
]
SERVED = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"}]}]


def why(plan: FleetPlan, cluster: str) -> tuple[str, list[str]]:
    """Why a member has not got the only template, and what would give it to it."""
    (decided,) = plan.subjects
    (explained,) = decided.subject.explain(decided.outcome, [cluster]).members
    return explained.summary, [flip.words for flip in Trials(decided).flips(cluster).flips]


def told(plan: FleetPlan) -> list[CommandLine]:
    """All that is warned of: the object with the field, what is wrong, and the hint."""
    return [
        (f"{problem.subject}: {show_path(problem.path)}", problem.what, problem.hint)
        for problem in problems(plan)
    ]


def room(cpu: str) -> dict[str, Any]:
    return {
        "apiEnablements": SERVED,
        "resourceSummary": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "9"}},
    }


def test_of_affinity_groups_the_first_one_is_explained() -> None:
    divided = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
    fleet = [karmada_member("a", status=room("1")), karmada_member("b", status=room("9"))]
    policy = propagation(1, {"cpu": "2"}, clusterAffinities=GROUPS, replicaScheduling=divided)
    words, changes = why(planned([*fleet, *policy]), "a")
    assert "its affinity group first cannot take it" in words
    assert "not enough to schedule" in words
    assert changes == ["would be chosen with 1 more CPU free"]


def test_of_affinity_groups_only_the_taint_of_the_first_one_is_in_the_way() -> None:
    fleet = [karmada_member("a", taints=[TAINT]), karmada_member("b")]
    words, changes = why(planned([*fleet, *propagation(1, clusterAffinities=GROUPS)]), "a")
    assert words == "cluster(s) had untolerated taint {gpu:NoSchedule}"
    assert changes == [
        "would be chosen without the taint gpu:NoSchedule",
        "would be chosen with a toleration of gpu:NoSchedule",
    ]


def test_a_later_affinity_group_comes_after_the_one_in_use() -> None:
    words, _ = why(
        planned(
            [karmada_member("a"), karmada_member("b"), *propagation(1, clusterAffinities=GROUPS)]
        ),
        "b",
    )
    assert words == "its affinity group second comes after first, which is in use"


@pytest.mark.parametrize(
    ("constraints", "warned"),
    [
        ([{"spreadByField": "cluster"}], "spec.placement.spreadConstraints[0]"),
        ([{"spreadByField": "cluster", "maxGroups": 1}], ""),
        (
            [{"spreadByField": "cluster", "maxGroups": 1}, {"spreadByField": "region"}],
            "spec.placement.spreadConstraints[1]",
        ),
        ([{"spreadByField": "cluster"}, {"spreadByField": "region", "maxGroups": 1}], ""),
    ],
)
def test_a_constraint_without_a_maximum_selects_nothing(
    constraints: list[dict[str, Any]], warned: str
) -> None:
    fleet = [karmada_member("a", region="r", status={"apiEnablements": SERVED})]
    plan = planned([*fleet, *propagation(1, spreadConstraints=constraints)])
    found = [
        field.rpartition(" ")[2] for field, what, _ in told(plan) if "maxGroups is missing" in what
    ]
    assert found == ([warned] if warned else [])
    assert (plan.subjects[0].record.decisions == {}) is bool(warned)


def test_a_cluster_whose_status_lists_no_api_takes_nothing() -> None:
    cases: list[tuple[dict[str, Any] | None, bool]] = [
        ({}, True),
        ({"apiEnablements": SERVED}, False),
        (None, False),
    ]
    for status, warned in cases:
        plan = planned([karmada_member("a", status=status), *propagation(1)])
        assert any("has no apiEnablements" in what for _, what, _ in told(plan)) is warned
        assert (plan.subjects[0].record.decisions == {}) is warned


WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "default"},
}
DEFINITION = dict(WIDGETS)


def enabled(**kinds: str) -> dict[str, Any]:
    return {
        "apiEnablements": [
            {"groupVersion": version, "resources": [{"kind": kind, "name": "some"}]}
            for kind, version in kinds.items()
        ]
    }


def policy_of(manifest: dict[str, Any], name: str, *members: str) -> dict[str, Any]:
    namespaced = "namespace" in manifest["metadata"]
    selector = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}
    placement = (
        {"placement": {"clusterAffinity": {"clusterNames": list(members)}}} if members else {}
    )
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy" if namespaced else "ClusterPropagationPolicy",
        "metadata": {"name": name, **({"namespace": "default"} if namespaced else {})},
        "spec": {"resourceSelectors": [selector], **placement},
    }


@pytest.mark.parametrize(
    ("status", "definition", "hint"),
    [
        (enabled(Widget="example.com/v1"), [], ""),
        (None, [], ""),
        (enabled(Deployment="apps/v1"), [], "install its definition there"),
        (enabled(Deployment="apps/v1"), [DEFINITION], "with a ClusterPropagationPolicy"),
        (
            enabled(CustomResourceDefinition="apiextensions.k8s.io/v1"),
            [DEFINITION, policy_of(DEFINITION, "definitions")],
            "its CustomResourceDefinition widgets.example.com goes there",
        ),
    ],
)
def test_where_a_custom_kind_is_not_served_the_hint_says_what_would_serve_it(
    status: dict[str, Any] | None, definition: list[dict[str, Any]], hint: str
) -> None:
    fleet = [
        karmada_member("a", status=status),
        karmada_member("b", status=enabled(Widget="example.com/v1")),
    ]
    plan = planned([*fleet, WIDGET, policy_of(WIDGET, "widgets"), *definition])
    found = [
        h
        for _, what, h in told(plan)
        if what == "is not placed on a, where Widget of example.com/v1 is not served"
    ]
    assert len(found) == bool(hint)
    assert hint in "".join(found)


def test_a_member_that_a_policy_does_not_choose_need_not_serve_a_kind() -> None:
    fleet = [karmada_member("a", status=enabled(Deployment="apps/v1")), karmada_member("b")]
    plan = planned([*fleet, WIDGET, policy_of(WIDGET, "widgets", "b")])
    assert not [what for _, what, _ in told(plan) if "is not served" in what]


def test_a_policy_of_a_namespace_never_selects_a_cluster_scoped_kind() -> None:
    deployment, policy = propagation(1)
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
        "rules": [],
    }
    policy["spec"]["resourceSelectors"].append(
        {"apiVersion": role["apiVersion"], "kind": "ClusterRole", "name": "r"}
    )
    plan = planned([karmada_member("a"), deployment, role, policy])
    what = "a PropagationPolicy never selects a cluster-scoped kind such as ClusterRole"
    field = "PropagationPolicy default/web: spec.resourceSelectors[1]"
    assert (field, what, "use a ClusterPropagationPolicy") in told(plan)
    assert sum("resourceSelectors" in at for at, _, _ in told(plan)) == 1


def test_an_override_of_the_other_scope_never_applies() -> None:
    version = "placement.kubernetes-fleet.io/v1"
    rules = [
        {
            "clusterSelector": {"clusterSelectorTerms": []},
            "jsonPatchOverrides": [{"op": "remove", "path": "/x"}],
        }
    ]
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "app"},
    }
    asked = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "c"}
    spec = {"clusterResourceSelectors": [asked], "policy": {"overrideRules": rules}}
    wide = {
        "apiVersion": version,
        "kind": "ClusterResourceOverride",
        "metadata": {"name": "o"},
        "spec": spec,
    }
    asked = {"group": "", "version": "v1", "kind": "Namespace", "name": "app"}
    spec = {"resourceSelectors": [asked], "policy": {"overrideRules": rules}}
    inside = {
        "apiVersion": version,
        "kind": "ResourceOverride",
        "metadata": {"name": "o", "namespace": "app"},
    }
    plan = planned([member("a"), *placement(), config, wide, {**inside, "spec": spec}])
    assert [(what, hint) for _, what, hint in told(plan)] == [
        (
            "a ClusterResourceOverride selects cluster-scoped objects only, and no ConfigMap",
            "use a ResourceOverride in the namespace of the ConfigMap",
        ),
        (
            "a ResourceOverride selects namespaced objects only, and no Namespace",
            "use a ClusterResourceOverride",
        ),
    ]
    assert not plan.subjects[0].outcome.failing


def test_an_exact_name_one_level_deeper_beats_a_similar_one() -> None:
    rule = {
        "targetCluster": {"clusterNames": ["a"]},
        "labelsOverrider": [{"operator": "add", "value": {"b": "c"}}],
    }
    kind = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy"}
    override = {
        **kind,
        "metadata": {"name": "o", "namespace": "default"},
        "spec": {"overrideRules": [rule]},
    }
    with pytest.raises(FleetError) as caught:
        source_of(load_text(json.dumps(override), "o.yaml"))
    (problem,) = caught.value.problems
    assert problem.hint == "it belongs at spec.overrideRules[0].overriders.labelsOverrider"


def test_a_rule_for_one_of_two_kinds_asks_for_a_policy_each() -> None:
    deployment, policy = propagation(1)
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web", "namespace": "default"},
    }
    both = [
        {"apiVersion": "apps/v1", "kind": "Deployment"},
        {"apiVersion": "v1", "kind": "ConfigMap"},
    ]
    policy["spec"]["resourceSelectors"] = both
    rule = {
        "overriders": {"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 4}]}
    }
    kind = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy"}
    spec = {"resourceSelectors": both, "overrideRules": [rule]}
    override = {**kind, "metadata": {"name": "o", "namespace": "default"}, "spec": spec}
    plan = planned([karmada_member("a"), deployment, config, policy, override])
    (problem,) = [item for decided in plan.subjects for item in decided.outcome.failing.values()]
    assert problem.hint.endswith("write one override policy for each kind")


def test_members_that_an_older_placement_keeps_are_emptied_by_evictions() -> None:
    def fleet(tier: str, *evicted: str) -> list[dict[str, Any]]:
        found = [member(name, {"tier": tier}) for name in ("a", "b")]
        for name, wanted in ("old", "v1"), ("new", "v2"):
            terms = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"tier": wanted}}}]}
            affinity = {
                "clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}
            }
            namespace, item = placement(placementType="PickAll", affinity=affinity)
            found += [{**item, "metadata": {"name": name}}, *([namespace] if name == "old" else [])]
        kind = {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourcePlacementEviction",
        }
        for name in evicted:
            spec = {"placementName": "old", "clusterName": name}
            found.append({**kind, "metadata": {"name": f"from-{name}"}, "spec": spec})
        return found

    before = after(planned(fleet("v1")))
    (refused,) = planned(fleet("v2"), before).refused
    assert "old keeps a, b" in refused.hint
    assert "ClusterResourcePlacementEviction" in refused.hint
    moved = planned(fleet("v2", "a", "b"), before)
    assert not moved.refused
    assert {departure.fate for departure in moved.departures} == {"moved"}


def test_a_member_that_joins_is_named_also_when_nothing_is_placed_on_it() -> None:
    picked = placement(placementType="PickFixed", clusterNames=["a"])
    before = after(planned([member("a"), *picked]))
    assert planned([member("a"), *picked]).members_new == ()
    assert planned([member("a"), member("b"), *picked], before).members_new == ("b",)


@pytest.mark.parametrize(
    ("before", "then", "looks"),
    [
        (["a"], ["b"], [("member a", "leaves, and the new member b gets all that a had")]),
        (
            ["a", "c"],
            ["b", "c"],
            [("member a", "leaves, and the new member b gets all that a had")],
        ),
        (["a"], ["a", "b"], []),
        (["a"], ["b", "c"], []),
        (["a", "c"], ["b"], []),
        (["a"], ["a"], []),
    ],
)
def test_a_member_that_looks_renamed_is_named(
    before: list[str], then: list[str], looks: list[tuple[str, str]]
) -> None:
    past = after(planned([*map(member, before), *placement(placementType="PickAll")]))
    plan = planned([*map(member, then), *placement(placementType="PickAll")], past)
    assert [
        (warning.subject, warning.what)
        for warning in plan.warnings
        if "gets all that" in warning.what
    ] == looks
