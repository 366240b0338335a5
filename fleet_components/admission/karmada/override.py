"""OverridePolicy and ClusterOverridePolicy: structure, and the defaults of the mutating webhook."""

from __future__ import annotations

from typing import Any

from fleet_components.admission.karmada.overriders import OVERRIDERS
from fleet_components.admission.karmada.policy import policy_kinds, set_selectors_namespace
from fleet_components.admission.karmada.selection import CLUSTER_AFFINITY, RESOURCE_SELECTORS
from fleet_components.admission.karmada.webhook.override import validate_override
from fleet_components.admission.schema import listing, struct

_RULES = listing(
    struct(
        {"targetCluster": CLUSTER_AFFINITY, "overriders": OVERRIDERS.but(required=True)},
        go="v1alpha1.RuleWithCluster",
    ),
    example=[{"overriders": {"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 1}]}}],
)
_SPEC = struct(
    {
        "resourceSelectors": RESOURCE_SELECTORS,
        "overrideRules": _RULES,
        "targetCluster": CLUSTER_AFFINITY,
        "overriders": OVERRIDERS,
    },
    required=True,
    go="v1alpha1.OverrideSpec",
)


def _set_defaults(policy: dict[str, Any]) -> None:
    """Set what the mutating webhook of OverridePolicies sets; ClusterOverridePolicies have no such webhook."""
    set_selectors_namespace(policy)
    policy["spec"].setdefault("overriders", {})


KINDS = policy_kinds("OverridePolicy", _SPEC, validate_override, mutate=_set_defaults, mutate_cluster_wide=None)
