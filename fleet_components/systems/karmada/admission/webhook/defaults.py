"""Mutating webhooks of Karmada's policies."""

from __future__ import annotations

from typing import Any

from fleet_components.systems.karmada.model.policy import GRACEFULLY, purge_mode_of

_DEFAULT_GRACE_SECONDS = 600
_SERVICE_IMPORT = ("multicluster.x-k8s.io/v1alpha1", "ServiceImport")


def default_propagation(policy: dict[str, Any]) -> None:
    """Set what the webhook sets in a PropagationPolicy beyond the defaults of the definition."""
    _set_selectors_namespace(policy)
    default_cluster_propagation(policy)


def default_cluster_propagation(policy: dict[str, Any]) -> None:
    """Set what the webhook sets in a ClusterPropagationPolicy beyond the defaults of the definition."""
    spec = policy["spec"]
    placement = spec.setdefault("placement", {})
    for constraint in placement.get("spreadConstraints", ()):
        _default_constraint(constraint)
    if any((it["apiVersion"], it["kind"]) == _SERVICE_IMPORT for it in spec.get("resourceSelectors", ())):
        spec["propagateDeps"] = True
    scheduling = placement.get("replicaScheduling", {})
    if scheduling.get("replicaSchedulingType") == "Divided":
        scheduling.setdefault("replicaDivisionPreference", "Weighted")
    application = spec.get("failover", {}).get("application", {})
    if purge_mode_of(application.get("purgeMode")) == GRACEFULLY:
        application.setdefault("gracePeriodSeconds", _DEFAULT_GRACE_SECONDS)


def default_override(policy: dict[str, Any]) -> None:
    """Set what the webhook sets in an OverridePolicy; ClusterOverridePolicies have no such webhook."""
    _set_selectors_namespace(policy)
    policy["spec"].setdefault("overriders", {})


def _default_constraint(constraint: dict[str, Any]) -> None:
    if "spreadByField" not in constraint and "spreadByLabel" not in constraint:
        constraint["spreadByField"] = "cluster"
    constraint.setdefault("minGroups", 1)


def _set_selectors_namespace(policy: dict[str, Any]) -> None:
    for selector in policy["spec"].get("resourceSelectors", ()):
        selector.setdefault("namespace", policy.get("metadata", {}).get("namespace") or "default")
