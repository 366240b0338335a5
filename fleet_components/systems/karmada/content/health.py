"""Karmada's rules for the health of an object on a member.

Source: ``pkg/resourceinterpreter/default/native/healthy.go`` of Karmada 1.19, and ``interpretHealth`` in
``pkg/controllers/status/work_status_controller.go``: an object of a kind that has no rule is healthy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from fleet_components.model.manifest import value_at
from fleet_components.systems.karmada.content.third_party_health import RULES, true_conditions

Health = Literal["Healthy", "Unhealthy", "Unknown"]
UNKNOWN: Health = "Unknown"
_Live = Mapping[str, Any]


def health(live: _Live) -> Health:
    """Return the health of an object as a member has it; unknown if its status is missing or of another form."""
    kind, status = (str(live.get("apiVersion", "")), str(live.get("kind", ""))), live.get("status")
    rule, of_status = None if _is_inner(live) else _RULES.get(kind), RULES.get(kind)
    if rule is None and of_status is None:
        return "Healthy"
    if status is None:
        return UNKNOWN
    try:
        return "Healthy" if (rule(live) if rule else of_status and of_status(status)) else "Unhealthy"
    except (AttributeError, TypeError):
        return UNKNOWN  # as where a script of Karmada fails


def _is_inner(live: _Live) -> bool:
    """Return whether it is a Service without a load balancer."""
    kind = (live.get("apiVersion"), live.get("kind"))
    return kind == ("v1", "Service") and value_at(live, ("spec", "type")) != "LoadBalancer"


def _count(live: _Live, name: str) -> int:
    return value_at(live, ("status", name)) or 0


def _observed(live: _Live) -> bool:
    """Return whether its controller has seen the object as it is; True if its generation is unknown."""
    generation = value_at(live, ("metadata", "generation"))
    return generation is None or _count(live, "observedGeneration") == generation


def _replicas(live: _Live) -> int:
    return value_at(live, ("spec", "replicas")) or 0


def _updated(live: _Live) -> bool:
    updated = _count(live, "updatedReplicas")
    return _observed(live) and _replicas(live) <= updated <= _count(live, "availableReplicas")


def _replica_set(live: _Live) -> bool:
    return _observed(live) and _replicas(live) <= _count(live, "availableReplicas")


def _daemon_set(live: _Live) -> bool:
    updated = _count(live, "updatedNumberScheduled")
    return _observed(live) and _count(live, "desiredNumberScheduled") <= updated <= _count(live, "numberAvailable")


def _balanced(live: _Live) -> bool:
    points = value_at(live, ("status", "loadBalancer", "ingress")) or ()
    return any(point.get("hostname") or point.get("ip") for point in points)


def _claim(live: _Live) -> bool:
    return bool(value_at(live, ("status", "phase")) == "Bound")


def _pod(live: _Live) -> bool:
    phase = value_at(live, ("status", "phase"))
    ready = any(kind == "Ready" for kind, _ in true_conditions(live["status"]))
    return phase == "Succeeded" or (phase == "Running" and ready)


def _budget(live: _Live) -> bool:
    return _count(live, "currentHealthy") >= _count(live, "desiredHealthy")


_RULES: Mapping[tuple[str, str], Callable[[_Live], bool]] = {
    ("apps/v1", "Deployment"): _updated,
    ("apps/v1", "StatefulSet"): _updated,
    ("apps/v1", "ReplicaSet"): _replica_set,
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("v1", "Service"): _balanced,
    ("networking.k8s.io/v1", "Ingress"): _balanced,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Pod"): _pod,
    ("policy/v1", "PodDisruptionBudget"): _budget,
    ("apps.kruise.io/v1alpha1", "CloneSet"): _updated,
    ("apps.kruise.io/v1alpha1", "UnitedDeployment"): _updated,
    ("apps.kruise.io/v1beta1", "StatefulSet"): _updated,
    ("apps.kruise.io/v1alpha1", "DaemonSet"): _daemon_set,
}
