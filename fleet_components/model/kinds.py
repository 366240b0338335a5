"""API kinds of Kubernetes, KubeFleet and Karmada: their scope, plural and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs


@attrs.frozen
class Kind:
    """A kind as an API server describes it.

    Attributes:
        group: API group; empty for the core group.
        kind: name of the kind.
        plural: its name in URLs and in ``group/version, Resource=plural``.
        namespaced: True if its objects belong to namespaces.
        versions: the served versions.
    """

    group: str
    kind: str
    plural: str
    namespaced: bool
    versions: frozenset[str] = frozenset()


def guess_plural(kind: str) -> str:
    """Return the plural that the Kubernetes API machinery assumes: ``policies``, ``classes``,
    ``deployments``.

    Source: ``UnsafeGuessKindToResource`` in ``pkg/api/meta`` of k8s.io/apimachinery.
    """
    lower = kind.lower()
    if lower == "endpoints":
        return lower
    if lower.endswith("s"):
        return lower + "es"
    return lower[:-1] + "ies" if lower.endswith("y") else lower + "s"


# group: (versions, namespaced kinds, cluster-scoped kinds)
_GROUPS = {
    "": (
        "v1",
        (
            "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate"
            " ReplicationController ResourceQuota Secret Service ServiceAccount"
        ),
        "ComponentStatus Namespace Node PersistentVolume",
    ),
    "admissionregistration.k8s.io": (
        "v1 v1beta1 v1alpha1",
        "",
        (
            "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration"
            " ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"
            " ValidatingWebhookConfiguration"
        ),
    ),
    "apiextensions.k8s.io": ("v1", "", "CustomResourceDefinition"),
    "apiregistration.k8s.io": ("v1", "", "APIService"),
    "apps": ("v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", ""),
    "authentication.k8s.io": ("v1", "", "SelfSubjectReview TokenReview"),
    "authorization.k8s.io": (
        "v1",
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    ),
    "autoscaling": ("v1 v2", "HorizontalPodAutoscaler", ""),
    "batch": ("v1", "CronJob Job", ""),
    "certificates.k8s.io": (
        "v1 v1beta1 v1alpha1",
        "PodCertificateRequest",
        "CertificateSigningRequest ClusterTrustBundle",
    ),
    "coordination.k8s.io": ("v1 v1beta1 v1alpha2", "Lease LeaseCandidate", ""),
    "discovery.k8s.io": ("v1", "EndpointSlice", ""),
    "events.k8s.io": ("v1", "Event", ""),
    "flowcontrol.apiserver.k8s.io": ("v1 v1beta3", "", "FlowSchema PriorityLevelConfiguration"),
    "metrics.k8s.io": ("v1beta1", "PodMetrics", "NodeMetrics"),
    "networking.k8s.io": (
        "v1 v1beta1",
        "Ingress NetworkPolicy",
        "IngressClass IPAddress ServiceCIDR",
    ),
    "node.k8s.io": ("v1", "", "RuntimeClass"),
    "policy": ("v1", "PodDisruptionBudget", ""),
    "rbac.authorization.k8s.io": ("v1", "Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    "resource.k8s.io": (
        "v1 v1beta2 v1beta1 v1alpha3",
        "ResourceClaim ResourceClaimTemplate",
        "DeviceClass DeviceTaintRule ResourceSlice",
    ),
    "scheduling.k8s.io": ("v1", "", "PriorityClass"),
    "storage.k8s.io": (
        "v1 v1beta1",
        "CSIStorageCapacity",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
    "storagemigration.k8s.io": ("v1beta1 v1alpha1", "", "StorageVersionMigration"),
    # KubeFleet and Azure Kubernetes Fleet Manager.
    "cluster.kubernetes-fleet.io": ("v1 v1beta1", "InternalMemberCluster", "MemberCluster"),
    "placement.kubernetes-fleet.io": (
        "v1 v1beta1 v1alpha1",
        (
            "ApprovalRequest ClusterResourcePlacementStatus ResourceBinding ResourceEnvelope"
            " ResourceOverride ResourceOverrideSnapshot ResourcePlacement ResourceSnapshot"
            " SchedulingPolicySnapshot StagedUpdateRun StagedUpdateStrategy Work"
        ),
        (
            "AppliedWork ClusterApprovalRequest ClusterResourceBinding ClusterResourceEnvelope"
            " ClusterResourceOverride ClusterResourceOverrideSnapshot ClusterResourcePlacement"
            " ClusterResourcePlacementDisruptionBudget ClusterResourcePlacementEviction"
            " ClusterResourceSnapshot ClusterSchedulingPolicySnapshot ClusterStagedUpdateRun"
            " ClusterStagedUpdateStrategy"
        ),
    ),
    "networking.fleet.azure.com": (
        "v1beta1 v1alpha1",
        (
            "EndpointSliceExport EndpointSliceImport InternalServiceExport InternalServiceImport"
            " MultiClusterService ServiceExport ServiceImport TrafficManagerBackend"
            " TrafficManagerProfile"
        ),
        "",
    ),
    # Karmada.
    "apps.karmada.io": ("v1alpha1", "", "WorkloadRebalancer"),
    "autoscaling.karmada.io": ("v1alpha1", "CronFederatedHPA FederatedHPA", ""),
    "cluster.karmada.io": ("v1alpha1", "", "Cluster"),
    "config.karmada.io": (
        "v1alpha1",
        "",
        "ResourceInterpreterCustomization ResourceInterpreterWebhookConfiguration",
    ),
    "networking.karmada.io": ("v1alpha1", "MultiClusterIngress MultiClusterService", ""),
    "policy.karmada.io": (
        "v1alpha1",
        "FederatedResourceQuota OverridePolicy PropagationPolicy",
        "ClusterOverridePolicy ClusterPropagationPolicy ClusterTaintPolicy",
    ),
    "remedy.karmada.io": ("v1alpha1", "", "Remedy"),
    "work.karmada.io": ("v1alpha2 v1alpha1", "ResourceBinding Work", "ClusterResourceBinding"),
}


def _kinds() -> Iterator[Kind]:
    for group, (versions, *by_scope) in _GROUPS.items():
        for namespaced, names in zip((True, False), by_scope, strict=True):
            for kind in names.split():
                yield Kind(group, kind, guess_plural(kind), namespaced, frozenset(versions.split()))


BUILT_IN: Mapping[tuple[str, str], Kind] = {(kind.group, kind.kind): kind for kind in _kinds()}
"""Kinds of Kubernetes 1.36, KubeFleet 0.3 and Karmada 1.19, by group and kind."""
# With the empty name of the core group.
BUILT_IN_GROUPS = frozenset(group for group, _ in BUILT_IN)
"""Groups of the built-in kinds. Custom resource definitions do not define kinds in these groups."""
