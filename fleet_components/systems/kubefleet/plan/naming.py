"""Which placement a policy of KubeFleet is about."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.model.eviction import BUDGET, EVICTION
from fleet_components.systems.kubefleet.plan.update_runs import PLACEMENT_OF, STRATEGY_OF


def placement_of(policy: Manifest) -> tuple[str, str, str] | None:
    """Return kind, namespace and name of the placement that a policy of KubeFleet is about; None
    for all, or none.
    """
    spec = policy.data.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    if policy.kind in STRATEGY_OF:
        return PLACEMENT_OF[policy.kind], policy.namespace, str(spec.get("placementName", ""))
    if policy.kind == EVICTION:
        return "ClusterResourcePlacement", "", str(spec.get("placementName", ""))
    if policy.kind == BUDGET:
        return "ClusterResourcePlacement", "", policy.name
    named = spec.get("placement")
    if policy.kind in ("ClusterResourceOverride", "ResourceOverride") and isinstance(
        named, Mapping
    ):
        inside = named.get("scope") == "Namespaced"
        kind = "ResourcePlacement" if inside else "ClusterResourcePlacement"
        return kind, policy.namespace if inside else "", str(named.get("name", ""))
    return None
