"""Mutating webhook of ClusterResourcePlacements."""

from __future__ import annotations

from typing import Any


def default_placement(placement: dict[str, Any]) -> None:
    """Set what the webhook sets in a ClusterResourcePlacement beyond the defaults of the definition."""
    spec = placement["spec"]
    placement.setdefault("status", {})
    policy = spec.setdefault("policy", {"placementType": "PickAll"})
    for constraint in policy.get("topologySpreadConstraints") or ():
        constraint["whenUnsatisfiable"] = constraint.get("whenUnsatisfiable") or "DoNotSchedule"
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {})
    apply = strategy.setdefault("applyStrategy", {})
    if apply.get("type") == "ServerSideApply":
        apply.setdefault("serverSideApplyConfig", {})
    if "serverSideApplyConfig" in apply:
        apply["serverSideApplyConfig"].setdefault("force", False)
