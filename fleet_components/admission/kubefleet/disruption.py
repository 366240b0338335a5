"""ClusterResourcePlacementEviction and ClusterResourcePlacementDisruptionBudget: structure and rules."""

from __future__ import annotations

import re
from typing import Any

from fleet_components.admission.kubefleet.webhook.disruption import validate_budget, validate_eviction
from fleet_components.admission.registry import versions, whole
from fleet_components.admission.schema import Schema, anything, int_or_text, rule, struct, text, transition

_GROUP = "placement.kubernetes-fleet.io"
_PERCENT = "^(100|[0-9]{1,2})%$"
_VERSIONS = ("v1alpha1", "v1beta1")


def _immutable(field: str, example: str) -> Schema:
    same = transition(
        f"The {field} field is immutable", lambda it, old: it == old, "create an eviction of another name"
    )
    return text(required=True, max_length=255, rules=(same,), example=example)


_EVICTION = struct(
    {
        "placementName": _immutable("PlacementName", "my-placement"),
        "clusterName": _immutable("ClusterName", "member-1"),
    },
    required=True,
)


def _is_amount(value: Any) -> bool:
    return bool(re.fullmatch(_PERCENT, value)) if isinstance(value, str) else bool(value >= 0)


_AMOUNT = int_or_text(
    example=1,
    rules=(
        rule(
            f"If supplied value is String should match regex '{_PERCENT}' or If supplied value is Integer must be "
            "greater than or equal to 0",
            _is_amount,
            'write a number such as 1, or a percentage such as "25%"',
        ),
    ),
)

_BUDGET = struct(
    {"maxUnavailable": _AMOUNT, "minAvailable": _AMOUNT},
    required=True,
    go="v1beta1.PlacementDisruptionBudgetSpec",
    rules=(
        rule(
            "Both MaxUnavailable and MinAvailable cannot be specified",
            lambda it: not ("maxUnavailable" in it and "minAvailable" in it),
            "keep one of the two",
        ),
    ),
)

KINDS = (
    *versions(
        _GROUP,
        "ClusterResourcePlacementEviction",
        dict.fromkeys(_VERSIONS, whole({"spec": _EVICTION, "status": anything()})),
        validate=validate_eviction,
        held=(("spec",),),
    ),
    *versions(
        _GROUP,
        "ClusterResourcePlacementDisruptionBudget",
        dict.fromkeys(_VERSIONS, whole({"spec": _BUDGET})),
        validate=validate_budget,
    ),
)
