"""Which kinds KubeFleet can watch until they are available."""

from __future__ import annotations

import pytest

from fleet_components.content.availability import trackable
from tests.content.build import obj

TABLE = {
    "trackable": "apps/v1 Deployment, apps/v1 StatefulSet, apps/v1 DaemonSet, v1 Service,"
    " apiextensions.k8s.io/v1 CustomResourceDefinition, policy/v1 PodDisruptionBudget",
    "immediate": "v1 Namespace, v1 Secret, v1 ConfigMap, v1 ServiceAccount, v1 LimitRange, v1 ResourceQuota,"
    " rbac.authorization.k8s.io/v1 Role, rbac.authorization.k8s.io/v1 ClusterRoleBinding,"
    " networking.k8s.io/v1 NetworkPolicy, networking.k8s.io/v1 IngressClass, storage.k8s.io/v1 StorageClass,"
    " storage.k8s.io/v1 CSIStorageCapacity, apps/v1 ControllerRevision, scheduling.k8s.io/v1 PriorityClass",
    "untrackable": "batch/v1 Job, batch/v1 CronJob, v1 Pod, v1 PersistentVolume, v1 PersistentVolumeClaim,"
    " apps/v1 ReplicaSet, v1 ReplicationController, networking.k8s.io/v1 Ingress, coordination.k8s.io/v1 Lease,"
    " autoscaling/v2 HorizontalPodAutoscaler, example.test/v1 Widget, serving.knative.dev/v1 Service,"
    " apps/v1beta1 Deployment, admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration",
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(kind, expected) for expected, kinds in TABLE.items() for kind in kinds.split(", ")],
)
def test_kinds(kind: str, expected: str) -> None:
    api, name = kind.split()
    assert trackable(obj(name, "x", api=api)) == expected


@pytest.mark.parametrize("type_", ["ClusterIP", "NodePort", "LoadBalancer"])
def test_services_inside_and_outside_of_the_cluster(type_: str) -> None:
    assert trackable(obj("Service", "s", spec={"type": type_})) == "trackable"
    assert trackable(obj("Service", "s", spec={"type": "ExternalName"})) == "untrackable"
