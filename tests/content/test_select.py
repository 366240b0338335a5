"""What placements select, skip and refuse; the texts are KubeFleet's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.content.load import load_text
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.systems.kubefleet.content.select import Selection, select
from fleet_components.systems.kubefleet.model.placement import Placement
from tests.content.build import GROUP, catalogue, hubs, names, obj, placement

RBAC = "rbac.authorization.k8s.io"
Selector = dict[str, Any]
NAMESPACE: Selector = {"kind": "Namespace"}
HUB = [
    obj("Namespace", "shop", metadata={"labels": {"team": "a"}}),
    obj("Namespace", "bank", metadata={"labels": {"team": "b"}}),
    obj("ConfigMap", "cfg", "shop", metadata={"labels": {"tier": "web"}}),
    obj("ConfigMap", "other", "shop"),
    obj("Deployment", "web", "shop", "apps/v1"),
    obj("ConfigMap", "cfg", "bank"),
    obj("ConfigMap", "loose", "nowhere"),
    obj("ConfigMap", "own", "default"),
    obj("ClusterRole", "reader", "", f"{RBAC}/v1", metadata={"labels": {"team": "a"}}),
    obj("ClusterRole", "writer", "", f"{RBAC}/v1"),
    obj("Widget", "w", "shop", "example.test/v1"),
]
SHOP = [
    "Namespace shop",
    "ConfigMap shop/cfg",
    "ConfigMap shop/other",
    "Deployment shop/web",
    "Widget shop/w",
]
ROLE: Selector = {"group": RBAC, "kind": "ClusterRole"}


def labels(**match: str) -> Selector:
    return {"labelSelector": {"matchLabels": match}}


def selected(*selectors: Selector, namespace: str = "", hub: list[Manifest] = HUB) -> Selection:
    return select(catalogue(*hub), placement(*selectors, namespace=namespace))


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([NAMESPACE | {"name": "shop"}], SHOP),
        ([NAMESPACE | {"name": "shop", "selectionScope": "NamespaceWithResources"}], SHOP),
        ([NAMESPACE | {"name": "shop", "selectionScope": "NamespaceOnly"}], SHOP[:1]),
        ([NAMESPACE | {"name": "shop", "selectionScope": "NamespaceWithResourceSelectors"}], SHOP[:1]),
        ([NAMESPACE | labels(team="a")], SHOP),
        ([NAMESPACE | labels(team="a") | {"selectionScope": "NamespaceOnly"}], SHOP[:1]),
        ([NAMESPACE | labels(team="c")], []),
        ([NAMESPACE | {"labelSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}],
         ["Namespace bank", "Namespace shop", "ConfigMap bank/cfg", *SHOP[1:]]),
        ([NAMESPACE | labels(**{"kubernetes.io/metadata.name": "bank"})], ["Namespace bank", "ConfigMap bank/cfg"]),
        ([NAMESPACE | {"selectionScope": "NamespaceOnly"}], ["Namespace bank", "Namespace shop"]),
        ([NAMESPACE | {"name": "missing"}], []),
        ([NAMESPACE | {"name": "nowhere"}], []),
        ([NAMESPACE | {"name": "default"}], ["ConfigMap default/own"]),
        ([ROLE], ["ClusterRole reader", "ClusterRole writer"]),
        ([ROLE | {"name": "writer"}], ["ClusterRole writer"]),
        ([ROLE | {"name": "nobody"}], []),
        ([ROLE | labels(team="a")], ["ClusterRole reader"]),
        ([ROLE | {"name": "writer"}, ROLE | labels(team="a")], ["ClusterRole reader", "ClusterRole writer"]),
        ([ROLE | {"name": "reader"}, NAMESPACE | {"name": "bank"}],
         ["Namespace bank", "ConfigMap bank/cfg", "ClusterRole reader"]),
        ([NAMESPACE | {"name": "shop", "selectionScope": "NamespaceWithResourceSelectors"},
          {"kind": "ConfigMap", "name": "cfg"}, ROLE | {"name": "reader"}],
         ["Namespace shop", "ConfigMap shop/cfg", "ClusterRole reader"]),
        ([{"kind": "ConfigMap"},
          NAMESPACE | {"name": "shop", "selectionScope": "NamespaceWithResourceSelectors"}], SHOP[:3]),
        ([{"kind": "ConfigMap"},
          NAMESPACE | {"name": "default", "selectionScope": "NamespaceWithResourceSelectors"}],
         ["ConfigMap default/own"]),
        ([], []),
    ],
)  # fmt: skip
def test_a_cluster_resource_placement_selects(
    selectors: list[Selector], expected: list[str]
) -> None:
    assert names(selected(*selectors).manifests) == expected


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([{"kind": "ConfigMap"}], ["ConfigMap shop/cfg", "ConfigMap shop/other"]),
        ([{"kind": "ConfigMap", "name": "cfg"}], ["ConfigMap shop/cfg"]),
        ([{"kind": "ConfigMap", "name": "own"}], []),
        ([{"kind": "ConfigMap"} | labels(tier="web")], ["ConfigMap shop/cfg"]),
        ([{"group": "example.test", "kind": "Widget"}], ["Widget shop/w"]),
        ([{"group": "apps", "kind": "StatefulSet"}], []),
    ],
)
def test_a_resource_placement_selects_in_its_namespace(
    selectors: list[Selector], expected: list[str]
) -> None:
    assert names(selected(*selectors, namespace="shop").manifests) == expected


def test_a_resource_placement_needs_no_namespace_object() -> None:
    found = selected({"kind": "ConfigMap"}, namespace="nowhere")
    assert names(found.manifests) == ["ConfigMap nowhere/loose"]


TWICE = "found duplicate resource {Group: Version:v1 Kind:Namespace Name:shop Namespace: Envelope:<nil>}"
NO_MATCH = "failed to get GVR of the selector: no matches for kind"
NOT_ALLOWED = "invalid clusterRresourcePlacement place: namespace {} is not allowed to propagate"
SELECTORS_MODE = "NamespaceWithResourceSelectors mode requires exactly one namespace, but no namespaces were selected"


@pytest.mark.parametrize(
    ("selectors", "text"),
    [
        ([NAMESPACE | {"name": "kube-system"}], NOT_ALLOWED.format("kube-system")),
        ([NAMESPACE | {"name": "fleet-member-x"}], NOT_ALLOWED.format("fleet-member-x")),
        ([NAMESPACE], NOT_ALLOWED.format("kube-node-lease")),
        ([NAMESPACE | {"labelSelector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}}],
         NOT_ALLOWED.format("kube-node-lease")),
        ([{"kind": "ConfigMap"}], "invalid placement /place: cannot select namespace-scoped resource"
         " /v1, Resource=configmaps in a clusterResourcePlacement"),
        ([{"group": "example.test", "kind": "Widget"}], "invalid placement /place: cannot select namespace-scoped"
         " resource example.test/v1, Resource=widgets in a clusterResourcePlacement"),
        ([{"group": "foo.test", "kind": "Foo"}],
         f'invalid placement /place, {NO_MATCH} "Foo" in version "foo.test/v1"'),
        ([{"kind": "Deployment"}], f'invalid placement /place, {NO_MATCH} "Deployment" in version "v1"'),
        ([ROLE | {"version": "v1beta1"}],
         f'invalid placement /place, {NO_MATCH} "ClusterRole" in version "{RBAC}/v1beta1"'),
        ([NAMESPACE | {"version": "v2"}], f'invalid placement /place, {NO_MATCH} "Namespace" in version "v2"'),
        ([NAMESPACE | {"name": "shop"}, NAMESPACE | labels(team="a")], TWICE),
        ([NAMESPACE | {"name": "missing", "selectionScope": "NamespaceWithResourceSelectors"},
          {"kind": "ConfigMap"}], f"invalid clusterResourcePlacement place: {SELECTORS_MODE}"),
        ([NAMESPACE | {"name": "kube-public", "selectionScope": "NamespaceWithResourceSelectors"}],
         f"invalid clusterResourcePlacement place: {SELECTORS_MODE}"),
    ],
)  # fmt: skip
def test_a_cluster_resource_placement_is_refused(selectors: list[Selector], text: str) -> None:
    with pytest.raises(FleetError) as caught:
        selected(*selectors)
    (problem,) = caught.value.problems
    assert problem.what == text
    assert problem.hint
    assert problem.subject == "ClusterResourcePlacement place"


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (NAMESPACE, "invalid placement shop/place: cannot select cluster-scoped resource Namespace"
         " in a resourcePlacement"),
        (ROLE, f"invalid placement shop/place: cannot select cluster-scoped resource {RBAC}/v1, Resource=clusterroles"
         " in a resourcePlacement"),
        ({"kind": "Foo"}, f'invalid placement shop/place, {NO_MATCH} "Foo" in version "v1"'),
    ],
)  # fmt: skip
def test_a_resource_placement_is_refused(selector: Selector, text: str) -> None:
    with pytest.raises(FleetError) as caught:
        selected(selector, namespace="shop")
    assert [problem.what for problem in caught.value.problems] == [text]


def test_the_namespace_of_namespaced_selectors_may_not_be_reserved_though_it_may_be_alone() -> None:
    hub = [obj("Namespace", "kube-public"), obj("ConfigMap", "c", "kube-public")]
    alone = NAMESPACE | {"name": "kube-public", "selectionScope": "NamespaceOnly"}
    assert names(selected(alone, hub=hub).manifests) == ["Namespace kube-public"]
    with pytest.raises(FleetError, match=SELECTORS_MODE):
        selected(
            alone | {"selectionScope": "NamespaceWithResourceSelectors"},
            {"kind": "ConfigMap"},
            hub=hub,
        )


def test_each_wrong_selector_is_named_with_its_line() -> None:
    (manifest,) = load_text(f"""
apiVersion: {GROUP}/v1
kind: ClusterResourcePlacement
metadata: {{name: p}}
spec:
  resourceSelectors:
  - {{group: "", version: v1, kind: Namespace, name: shop}}
  - {{group: "", version: v1, kind: Namespace, name: kube-system}}
  - {{group: "", version: v1, kind: Secrets}}
""")
    with pytest.raises(FleetError) as caught:
        select(catalogue(*HUB), Placement.from_manifest(manifest))
    found = [
        (problem.line, problem.path[-1], problem.hint.split(":")[0])
        for problem in caught.value.problems
    ]
    assert found[0] == (8, 1, "namespaces beginning with kube- or fleet- stay on their cluster")
    assert found[1] == (
        9,
        2,
        "for a custom resource add its CustomResourceDefinition to the manifests",
    )


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (obj("Pod", "x", "shop"), "Pod objects are never placed"),
        (obj("Lease", "x", "shop", "coordination.k8s.io/v1"), "Lease objects are never placed"),
        (obj("Event", "x", "shop", "events.k8s.io/v1"), "Event objects are never placed"),
        (obj("ResourceOverride", "x", "shop", f"{GROUP}/v1"), "ResourceOverride objects are never placed"),
        (obj("ServiceImport", "x", "shop", "networking.fleet.azure.com/v1beta1"), "ServiceImport objects are never"),
        (obj("ConfigMap", "x", "shop", metadata={"deletionTimestamp": "2000-01-01T00:00:00Z"}), "being deleted"),
        (obj("ReplicaSet", "x", "shop", "apps/v1", metadata={"ownerReferences": [{"name": "o"}]}), "its owner makes"),
        (obj("ControllerRevision", "x", "shop", "apps/v1", metadata={"ownerReferences": [{}]}), "its owner makes"),
        (obj("ConfigMap", "kube-root-ca.crt", "shop"), "one of its own"),
        (obj("ServiceAccount", "default", "shop"), "one of its own"),
        (obj("Secret", "x", "shop", type="kubernetes.io/service-account-token"), "service account tokens"),
        (obj("Endpoints", "svc", "shop"), "its Service makes it"),
        (obj("EndpointSlice", "x", "shop", "discovery.k8s.io/v1",
             metadata={"labels": {"endpointslice.kubernetes.io/managed-by": "c"}}), "its controller makes it"),
    ],
)  # fmt: skip
def test_what_is_skipped_silently_is_told(manifest: Manifest, reason: str) -> None:
    found = selected(
        NAMESPACE | {"name": "shop"}, hub=[*HUB, obj("Service", "svc", "shop"), manifest]
    )
    assert "Service shop/svc" in names(found.manifests)
    assert manifest.key not in [item.key for item in found.manifests]
    ((key, why),) = [(skipped.key, skipped.reason) for skipped in found.skipped]
    assert key == manifest.key
    assert reason in why


@pytest.mark.parametrize(
    "manifest",
    [
        obj("Event", "x", "shop"),
        obj("ReplicaSet", "x", "shop", "apps/v1"),
        obj("Endpoints", "x", "shop"),
        obj("EndpointSlice", "x", "shop", "discovery.k8s.io/v1"),
        obj("PersistentVolumeClaim", "x", "shop"),
        obj("Secret", "x", "shop", type="Opaque"),
        obj("Deployment", "x", "shop", "apps/v1", metadata={"ownerReferences": [{"name": "o"}]}),
        obj("ResourceEnvelope", "x", "shop", f"{GROUP}/v1beta1"),
        obj("ServiceExport", "x", "shop", "networking.fleet.azure.com/v1beta1"),
    ],
)
def test_what_is_like_it_is_placed(manifest: Manifest) -> None:
    found = selected(NAMESPACE | {"name": "shop"}, hub=[*HUB, manifest])
    assert manifest.key in [item.key for item in found.manifests]
    assert not found.skipped


def test_a_namespace_that_is_being_deleted_takes_its_contents_with_it() -> None:
    going = obj("Namespace", "shop", metadata={"deletionTimestamp": "2000-01-01T00:00:00Z"})
    found = selected(NAMESPACE | {"name": "shop"}, hub=[going, *HUB[1:]])
    assert not found.manifests
    assert [str(skipped.key) for skipped in found.skipped] == ["Namespace shop"]


def test_each_selector_says_what_it_brought() -> None:
    found = selected(
        ROLE | {"name": "nobody"}, NAMESPACE | {"name": "shop"}, ROLE | labels(team="a")
    )
    assert [list(map(str, keys)) for keys in found.brought] == [[], SHOP, ["ClusterRole reader"]]


@pytest.mark.parametrize(
    ("hub", "selector", "warning"),
    [
        (HUB, NAMESPACE | {"name": "nowhere"}, "namespace nowhere is not in the catalogue, so nothing in it is"),
        (HUB, {"kind": "Node"}, "Node objects are never placed: this selects nothing"),
        ([obj("ClusterRole", "r", "", f"{RBAC}/v1", metadata={"finalizers": ["x/y"]})], ROLE, "finalizers go along"),
        ([obj("FlowSchema", "f", "", "flowcontrol.apiserver.k8s.io/v1beta3")],
         {"group": "flowcontrol.apiserver.k8s.io", "kind": "FlowSchema"}, "here they stay v1beta3"),
        ([obj("Namespace", "n"), obj("ConfigMap", "c", "n",
              metadata={"annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}})],
         NAMESPACE | {"name": "n"}, "ConfigMaps are no longer envelopes"),
    ],
)  # fmt: skip
def test_surprises_are_told(hub: list[Manifest], selector: Selector, warning: str) -> None:
    (told,) = selected(selector, hub=hub).warnings
    assert warning in told.what


def test_what_is_selected_is_stripped() -> None:
    role = obj(
        "ClusterRole",
        "r",
        "",
        f"{RBAC}/v1",
        metadata={"uid": "1", "finalizers": ["x/y"]},
        status={"a": 1},
    )
    (found,) = selected(ROLE, hub=[role]).manifests
    assert found.data == {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r", "finalizers": ["x/y"]},
    }


@settings(max_examples=40)
@given(hubs(), st.randoms(use_true_random=False))
def test_selection_does_not_depend_on_the_order_of_files(hub: list[Manifest], random: Any) -> None:
    shuffled = random.sample(hub, len(hub))
    for selectors in (
        [NAMESPACE | {"name": "one"}, ROLE],
        [NAMESPACE | labels(tier="web"), NAMESPACE | {"name": "two"}],
    ):
        assert _outcome(hub, selectors) == _outcome(shuffled, selectors)


def _outcome(hub: list[Manifest], selectors: list[Selector]) -> Any:
    try:
        return selected(*selectors, hub=hub)
    except FleetError as error:
        return error.problems


def test_an_old_envelope_says_what_to_write_in_its_place() -> None:
    texts = {
        "quota.yaml": "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}}",
        "far.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: far}}",
        "guard.json": '{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}',
        "notes.txt": "no: [manifest",
    }
    marked = {"annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}}
    hub = [obj("Namespace", "n"), obj("ConfigMap", "old", "n", data=texts, metadata=marked)]
    (told,) = selected(NAMESPACE | {"name": "n"}, hub=hub).warnings
    assert told.hint == (
        "write a ClusterResourceEnvelope old with guard.json and a ResourceEnvelope far/old with far.yaml"
        " and a ResourceEnvelope n/old with quota.yaml"
    )
