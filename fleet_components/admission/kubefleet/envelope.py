"""ClusterResourceEnvelope and ResourceEnvelope: structure. Their contents are checked when they are unpacked."""

from __future__ import annotations

from fleet_components.admission.registry import Kind, whole
from fleet_components.admission.schema import anything, mapping

_GROUP = "placement.kubernetes-fleet.io"

_MANIFESTS = mapping(
    mapping(anything()),
    required=True,
    min_items=1,
    max_items=50,
    example={"quota.yaml": {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota"}}},
)

KINDS = (
    Kind(_GROUP, "v1beta1", "ClusterResourceEnvelope", whole({"data": _MANIFESTS})),
    Kind(_GROUP, "v1beta1", "ResourceEnvelope", whole({"data": _MANIFESTS}), namespaced=True),
)
