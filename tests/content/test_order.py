"""The snapshot order and the phases of applying are KubeFleet's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from fleet_components.content.order import in_snapshot_order, phases
from fleet_components.model.manifest import Manifest
from tests.content.build import hubs, names, obj


def kinds(*written: str) -> list[Manifest]:
    """Objects named a of ``api Kind``."""
    return [obj(kind, "a", api=api) for api, kind in (item.split() for item in written)]


def test_snapshot_order_of_kinds() -> None:
    ordered = kinds(
        "scheduling.k8s.io/v1 PriorityClass",
        "v1 Namespace",
        "networking.k8s.io/v1 NetworkPolicy",
        "v1 ServiceAccount",
        "v1 Secret",
        "v1 ConfigMap",
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "rbac.authorization.k8s.io/v1 ClusterRole",
        "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
        "rbac.authorization.k8s.io/v1 Role",
        "serving.knative.dev/v1 Service",
        "v1 Service",
        "apps/v1 DaemonSet",
        "apps/v1 Deployment",
        "apps/v1 StatefulSet",
        "batch/v1 Job",
        "networking.k8s.io/v1 Ingress",
        "apiregistration.k8s.io/v1 APIService",
        "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration",
        "v1 Endpoints",
        "v1 Event",
        "argoproj.io/v1 Rollout",
        "example.test/v1 Gadget",
        "example.test/v1 Widget",
        "example.test/v1beta1 Gadget",
    )
    assert list(in_snapshot_order(reversed(ordered))) == ordered


def test_snapshot_order_of_places() -> None:
    ordered = [
        obj("ConfigMap", "z"),
        obj("ConfigMap", "b", "a"),
        obj("ConfigMap", "a", "a-b"),
        obj("ConfigMap", "a", "a0"),
        obj("ConfigMap", "a", "ab"),
    ]
    by_text = sorted(ordered, key=lambda item: f"{item.namespace}/{item.name}")
    assert names(in_snapshot_order(ordered)) == names(by_text)
    assert names(by_text)[1:3] == ["ConfigMap a-b/a", "ConfigMap a/b"], (
        "the slash counts as a character"
    )


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, ["v1 Namespace", "scheduling.k8s.io/v1 PriorityClass"]),
        (1, ["v1 ConfigMap", "v1 Secret", "policy/v1 PodDisruptionBudget", "networking.k8s.io/v1 NetworkPolicy"]),
        (1, ["apiextensions.k8s.io/v1 CustomResourceDefinition"]),
        (1, ["v1 PersistentVolumeClaim", "storage.k8s.io/v1 StorageClass", "networking.k8s.io/v1 IngressClass"]),
        (2, ["rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 ClusterRole"]),
        (3, ["rbac.authorization.k8s.io/v1 RoleBinding", "rbac.authorization.k8s.io/v1 ClusterRoleBinding"]),
        (4, ["v1 Service", "v1 Pod", "apps/v1 Deployment", "batch/v1 CronJob", "networking.k8s.io/v1 Ingress"]),
        (4, ["autoscaling/v2 HorizontalPodAutoscaler", "apps/v1 ReplicaSet", "v1 ReplicationController"]),
        (5, ["apiregistration.k8s.io/v1 APIService", "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration"]),
        (6, ["v1 Endpoints", "discovery.k8s.io/v1 EndpointSlice", "apps/v1 ControllerRevision", "x.test/v1 Widget"]),
        (6, ["serving.knative.dev/v1 Service", "placement.kubernetes-fleet.io/v1beta1 ResourceEnvelope"]),
    ],
)  # fmt: skip
def test_phases_of_kinds(number: int, written: list[str]) -> None:
    manifests = kinds(*written)
    assert phases(manifests) == [(number, tuple(manifests))]


@settings(max_examples=40)
@given(hubs())
def test_both_orders_keep_every_object(hub: list[Manifest]) -> None:
    ordered = in_snapshot_order(hub)
    assert sorted(names(ordered)) == sorted(names(hub))
    assert in_snapshot_order(ordered) == ordered
    by_phase = phases(ordered)
    assert [number for number, _ in by_phase] == sorted({number for number, _ in by_phase})
    applied = [manifest for _, manifests in by_phase for manifest in manifests]
    assert sorted(names(applied)) == sorted(names(hub))
    assert phases(applied) == by_phase
