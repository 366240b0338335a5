"""Versions of built-in kinds that Kubernetes serves no more, and what has taken their place.

Source: the Deprecated API Migration Guide of the Kubernetes documentation, as of 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.manifest import Manifest

_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_TABLE = f"""
    1.16 extensions/v1beta1 apps/v1 DaemonSet Deployment ReplicaSet
    1.16 extensions/v1beta1 networking.k8s.io/v1 NetworkPolicy
    1.16 apps/v1beta1 apps/v1 Deployment StatefulSet ControllerRevision
    1.16 apps/v1beta2 apps/v1 DaemonSet Deployment ReplicaSet StatefulSet ControllerRevision
    1.22 extensions/v1beta1 networking.k8s.io/v1 Ingress
    1.22 networking.k8s.io/v1beta1 networking.k8s.io/v1 Ingress IngressClass
    1.22 {_ADMISSION}/v1beta1 {_ADMISSION}/v1 MutatingWebhookConfiguration
    1.22 {_ADMISSION}/v1beta1 {_ADMISSION}/v1 ValidatingWebhookConfiguration
    1.22 apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1 CustomResourceDefinition
    1.22 apiregistration.k8s.io/v1beta1 apiregistration.k8s.io/v1 APIService
    1.22 coordination.k8s.io/v1beta1 coordination.k8s.io/v1 Lease
    1.22 {_RBAC}/v1alpha1 {_RBAC}/v1 ClusterRole ClusterRoleBinding Role RoleBinding
    1.22 {_RBAC}/v1beta1 {_RBAC}/v1 ClusterRole ClusterRoleBinding Role RoleBinding
    1.22 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 PriorityClass
    1.22 storage.k8s.io/v1beta1 storage.k8s.io/v1 CSIDriver CSINode StorageClass VolumeAttachment
    1.25 batch/v1beta1 batch/v1 CronJob
    1.25 discovery.k8s.io/v1beta1 discovery.k8s.io/v1 EndpointSlice
    1.25 events.k8s.io/v1beta1 events.k8s.io/v1 Event
    1.25 autoscaling/v2beta1 autoscaling/v2 HorizontalPodAutoscaler
    1.25 policy/v1beta1 policy/v1 PodDisruptionBudget
    1.25 node.k8s.io/v1beta1 node.k8s.io/v1 RuntimeClass
    1.26 autoscaling/v2beta2 autoscaling/v2 HorizontalPodAutoscaler
    1.27 storage.k8s.io/v1beta1 storage.k8s.io/v1 CSIStorageCapacity
"""
"""The release without it, the version, its successor, and the kinds."""
_FLOW = "flowcontrol.apiserver.k8s.io"
_FLOW_RELEASES = (("v1beta1", "1.26"), ("v1beta2", "1.29"), ("v1beta3", "1.32"))
_POD_SECURITY = "label the Namespace for Pod Security Admission instead"


@attrs.frozen
class Retired:
    """A version of a kind that is served no more.

    Attributes:
        release: the first release of Kubernetes without it.
        hint: what to do.
    """

    release: str
    hint: str


def retired(manifest: Manifest) -> Retired | None:
    """Return what is known of the version of an object; None if it may be served."""
    return _RETIRED.get((manifest.api_version, manifest.kind))


def _retired() -> Mapping[tuple[str, str], Retired]:
    found = {}
    for line in _TABLE.strip().splitlines():
        release, version, successor, *kinds = line.split()
        known = Retired(release, f"write apiVersion: {successor}")
        found.update({(version, kind): known for kind in kinds})
    for version, release in _FLOW_RELEASES:
        known = Retired(release, f"write apiVersion: {_FLOW}/v1")
        for kind in ("FlowSchema", "PriorityLevelConfiguration"):
            found[f"{_FLOW}/{version}", kind] = known
    for version in ("policy/v1beta1", "extensions/v1beta1"):
        found[version, "PodSecurityPolicy"] = Retired("1.25", _POD_SECURITY)
    return found


_RETIRED = _retired()
