"""WorkloadRebalancer: structure. No webhook checks it."""

from __future__ import annotations

from fleet_components.admission.registry import Kind, whole
from fleet_components.admission.schema import anything, integer, listing, struct, text

_WORKLOADS = listing(
    struct(
        {
            "apiVersion": text(required=True, example="apps/v1"),
            "kind": text(required=True, example="Deployment"),
            "name": text(required=True, example="nginx"),
            "namespace": text(example="default"),
        },
        go="v1alpha1.ObjectReference",
    ),
    required=True,
    min_items=1,
    example=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx", "namespace": "default"}],
)
_SPEC = struct(
    {"workloads": _WORKLOADS, "ttlSecondsAfterFinished": integer(format="int32", example=3600)},
    required=True,
    go="v1alpha1.WorkloadRebalancerSpec",
)

KINDS = (
    Kind(
        "apps.karmada.io",
        "v1alpha1",
        "WorkloadRebalancer",
        whole({"spec": _SPEC, "status": anything()}, go="v1alpha1.WorkloadRebalancer"),
    ),
)
