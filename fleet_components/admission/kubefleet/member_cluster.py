"""MemberCluster: structure and rules."""

from __future__ import annotations

from fleet_components.admission.kubefleet.webhook.taints import validate_member_cluster
from fleet_components.admission.registry import versions, whole
from fleet_components.admission.schema import (
    CONDITIONS,
    anything,
    integer,
    listing,
    mapping,
    rule,
    struct,
    text,
)

_IDENTITY = struct(
    {
        "apiGroup": text(),
        "kind": text(required=True, example="ServiceAccount"),
        "name": text(required=True, example="member-1"),
        "namespace": text(example="fleet-system"),
    },
    required=True,
    example={"kind": "ServiceAccount", "name": "member-1", "namespace": "fleet-system"},
)

_TAINTS = listing(
    struct(
        {
            "effect": text(required=True, enum=("NoSchedule",)),
            "key": text(required=True, example="dedicated"),
            "value": text(example="gpu"),
        },
        example={"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    ),
    max_items=100,
)

_SPEC = struct(
    {
        "identity": _IDENTITY,
        "heartbeatPeriodSeconds": integer(minimum=1, maximum=600, default=60, format="int32"),
        "taints": _TAINTS,
    },
    required=True,
)

_DELETE_OPTIONS = struct({"validationMode": text(enum=("Skip", "Strict"), default="Strict")})

_AMOUNTS = mapping(anything())
_STATUS = struct(
    {
        "agentStatus": listing(
            struct({"type": text(required=True), "conditions": CONDITIONS, "lastReceivedHeartbeat": text()}),
        ),
        "conditions": CONDITIONS,
        "namespaces": mapping(text()),
        "properties": mapping(struct({"value": anything(), "observationTime": text()})),
        "resourceUsage": struct(
            {"capacity": _AMOUNTS, "allocatable": _AMOUNTS, "available": _AMOUNTS, "observationTime": text()}
        ),
    }
)

SHORT_NAME = rule(
    "metadata.name max length is 63",
    lambda it: len(it["metadata"].get("name", "")) < 64,
    "write a shorter name",
)

KINDS = versions(
    "cluster.kubernetes-fleet.io",
    "MemberCluster",
    {
        "v1": whole({"spec": _SPEC, "status": anything()}, rules=(SHORT_NAME,)),
        "v1beta1": whole(
            {"spec": _SPEC.having({"deleteOptions": _DELETE_OPTIONS}), "status": anything()}, rules=(SHORT_NAME,)
        ),
    },
    validate=validate_member_cluster,
    status=_STATUS,
)
