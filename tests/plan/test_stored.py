"""What members get where a decision depends on the stored form of an object: what was written,
and what rules changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components import FleetPlan, Options, Past, plan_fleet, read_source, source_of
from fleet_components.content.load import load_text
from fleet_components.model.manifest import Manifest

DATA = Path(__file__).parent / "data" / "stored"

Object = Mapping[str, Any]


def planned(name: str) -> FleetPlan:
    plan = plan_fleet(read_source(DATA / f"{name}.yaml"), Past(), Options())
    assert not plan.refused
    return plan


def on(plan: FleetPlan, member: str) -> dict[str, Object]:
    """What a member gets, by ``Kind/name``."""
    return {
        f"{data['kind']}/{data['metadata']['name']}": data
        for decided in plan.subjects
        if member in decided.deliveries
        for data in decided.deliveries[member].objects
    }


def written(name: str) -> dict[str, Object]:
    """The objects of the file, by ``Kind/name``."""
    manifests = load_text((DATA / f"{name}.yaml").read_text())
    return {f"{item.kind}/{item.name}": item.data for item in manifests}


def test_a_patch_replaces_a_default() -> None:
    got = on(planned("kubefleet-override-of-default"), "a")["Deployment/x"]
    before = written("kubefleet-override-of-default")["Deployment/x"]
    assert got == {**before, "spec": {**before["spec"], "replicas": 3}}


@pytest.mark.parametrize(
    ("name", "member"),
    [("kubefleet-label-of-namespace", "b"), ("karmada-label-of-namespace", "m1")],
)
def test_a_namespace_has_labels(name: str, member: str) -> None:
    got = on(planned(name), member)["Namespace/shop"]
    assert got["metadata"] == {"name": "shop", "labels": {"istio-injection": "enabled"}}


def test_a_claimed_template_has_annotations() -> None:
    got = on(planned("karmada-annotation-of-claimed"), "m1")["Deployment/web"]
    assert got["metadata"] == {"name": "web", "namespace": "default", "annotations": {"foo": "bar"}}


DEPENDENCY = """
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {syncMode: Push}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: default}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {containers: [{name: web, image: "web:1", envFrom: [{configMapRef: {name: conf}}]}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: default}
spec: {propagateDeps: true, resourceSelectors: [{apiVersion: v1, kind: Pod, name: web}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: conf}]
  overrideRules: [{overriders: {plaintext: [{path: /metadata/annotations/foo, operator: add, value: bar}]}}]
"""


def test_what_only_goes_along_is_claimed_by_nothing_and_has_no_annotations() -> None:
    plan = plan_fleet(source_of(load_text(DEPENDENCY)), Past(), Options())
    failing = {decided.subject.key: dict(decided.outcome.failing) for decided in plan.subjects}
    assert list(failing["default/ConfigMap/conf"]) == ["m1"]
    assert failing["default/Pod/web"] == {}


@pytest.mark.parametrize(
    ("name", "picked"),
    [
        ("karmada-docs-namespaces", {"Namespace/shop": ["cluster-a", "cluster-b"]}),
        ("karmada-metadata-name-in", {"Namespace/shop": ["m1"]}),
        ("karmada-metadata-name-notin", {}),
        ("recording-w4-skip-namespace", {"shop/Deployment/web": ["member1"]}),
        ("preferred-version", {"default/HorizontalPodAutoscaler/api": ["m1"]}),
    ],
)
def test_policies_select_what_the_control_plane_has(
    name: str, picked: Mapping[str, list[str]]
) -> None:
    plan = planned(name)
    assert {decided.subject.key: sorted(decided.entries) for decided in plan.subjects} == picked


def test_an_object_stays_in_its_version_unless_a_rule_changes_it() -> None:
    assert (
        on(planned("preferred-version"), "m1")["HorizontalPodAutoscaler/api"]["apiVersion"]
        == "autoscaling/v1"
    )
    text = (
        (DATA / "preferred-version.yaml").read_text()
        + """
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: default}
spec:
  resourceSelectors: [{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: api}]
  overrideRules:
  - overriders:
      plaintext: [{path: /spec/metrics/0/resource/target/averageUtilization, operator: replace, value: 55}]
"""
    )
    got = on(plan_fleet(source_of(load_text(text)), Past(), Options()), "m1")[
        "HorizontalPodAutoscaler/api"
    ]
    target = {"type": "Utilization", "averageUtilization": 55}
    assert got["apiVersion"] == "autoscaling/v2"
    assert got["spec"]["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    ]
    assert "targetCPUUtilizationPercentage" not in got["spec"]


def test_karmada_prunes_by_its_own_rules() -> None:
    got, before = on(planned("karmada-prune"), "m1"), written("karmada-prune")
    service = {
        key: value
        for key, value in before["Service/web"]["spec"].items()
        if not key.startswith("clusterIP")
    }
    assert got["Service/web"]["spec"] == service
    assert got["Service/web"]["metadata"] == {"name": "web", "namespace": "default"}
    assert got["Job/j"]["spec"]["template"]["metadata"] == {"labels": {}}
    assert "ttlSecondsAfterFinished" not in got["Job/j"]["spec"]
    assert got["PersistentVolumeClaim/data"]["metadata"]["annotations"] == {}
    token = got["Secret/sa-test-token"]
    assert "data" not in token
    assert token["metadata"]["annotations"] == {"kubernetes.io/service-account.name": "sa-test"}
    assert got["ServiceAccount/sa-test"]["secrets"] == [{"name": "mine"}]
    assert got["Deployment/d"]["metadata"]["annotations"] == {}


def test_a_changed_node_port_is_a_change() -> None:
    old, new = (
        on(planned(f"nodeport-{side}"), "m1")["Service/web"]["spec"]["ports"]
        for side in ("old", "new")
    )
    assert (old, new) == ([{"port": 80, "nodePort": 30080}], [{"port": 80, "nodePort": 30090}])


def test_a_port_that_kubefleet_drops_is_named() -> None:
    service = """
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}
"""
    text = (DATA / "kubefleet-override-of-default.yaml").read_text() + service
    plan = plan_fleet(source_of(load_text(text)), Past(), Options())
    (warning,) = plan.subjects[0].subject.warnings
    assert (warning.path, warning.subject) == (("spec", "ports", 0, "nodePort"), "Service shop/web")
    assert on(plan, "a")["Service/web"]["spec"]["ports"] == [{"port": 80}]


def test_pruning_comes_after_overrides() -> None:
    assert (
        on(planned("override-nodeport"), "m1")["Service/web"]["spec"]["ports"][0]["nodePort"]
        == 30099
    )
    got, before = on(planned("pruned-after-override"), "m1"), written("pruned-after-override")
    assert got["Service/web"] == before["Service/web"]


def test_what_live_hubs_did_with_defaulted_fields() -> None:
    got = on(planned("recording-w1-live"), "east")
    assert got["Deployment/web"]["spec"]["replicas"] == 3
    assert got["Service/web"]["spec"] == {
        "selector": {"app": "web"},
        "ports": [{"port": 80}],
        "type": "NodePort",
    }
    assert got["Service/web2"]["spec"]["ports"] == [{"port": 80, "targetPort": 8080}]
    assert got["CronJob/tick"]["spec"]["suspend"] is True
    assert got["Namespace/other"]["metadata"]["labels"] == {"loc": "west"}
    got = on(planned("recording-w1-namespace-label"), "west")
    assert got["Namespace/shop"]["metadata"]["labels"] == {"loc": "west"}
    got = on(planned("recording-w1b-defaulted"), "west")
    assert (got["Deployment/web"]["spec"]["replicas"], got["Service/web"]["spec"]["type"]) == (
        3,
        "LoadBalancer",
    )
    got = on(planned("recording-w3-karmada-defaulted"), "member1")
    assert got["Service/web"]["spec"]["type"] == "LoadBalancer"


WIDGETS = """
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: a}
spec: {identity: {kind: ServiceAccount, name: a, namespace: fleet-system}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: shop}
spec: {parts: [{name: p}]}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec: {resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ResourceOverride
metadata: {name: o, namespace: shop}
spec:
  resourceSelectors: [{group: example.com, version: v1, kind: Widget, name: w}]
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: []}
      jsonPatchOverrides: [{op: replace, path: /spec/parts/0/size, value: 3}]
"""
DEFINITION = """
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              parts:
                type: array
                items: {type: object, properties: {size: {type: integer, default: 1}, name: {type: string}}}
"""


def test_a_custom_kind_has_the_defaults_of_its_definition() -> None:
    plan = plan_fleet(source_of(load_text(WIDGETS + DEFINITION)), Past(), Options())
    assert on(plan, "a")["Widget/w"]["spec"] == {"parts": [{"name": "p", "size": 3}]}
    (decided,) = plan.subjects
    # The rules that are kept say what they depend on: the next plan may not have the definition.
    record = type(decided.record).from_wire(decided.record.to_wire())
    (member,) = decided.subject.inventory.clusters
    assert Manifest(record.objects(record.decisions["a"], member)[-1]).data["spec"] == {
        "parts": [{"name": "p", "size": 3}]
    }


def test_where_a_definition_is_missing_the_problem_says_that_the_field_may_be_there() -> None:
    (decided,) = plan_fleet(source_of(load_text(WIDGETS)), Past(), Options()).subjects
    problem = decided.outcome.failing["a"]
    assert "the CustomResourceDefinition of Widget.example.com" in problem.hint
    assert "the stored object may have the field" in problem.hint
