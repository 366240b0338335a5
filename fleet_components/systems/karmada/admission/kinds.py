"""Kinds of Karmada with their webhooks. A WorkloadRebalancer has none."""

from __future__ import annotations

from functools import cache
from typing import Any

from fleet_components.admission.definitions import Declared, kinds_of
from fleet_components.admission.registry import AdmittedKind
from fleet_components.model.release import Release
from fleet_components.systems.karmada.admission import cluster
from fleet_components.systems.karmada.admission.overlay import overlay_of
from fleet_components.systems.karmada.admission.webhook.override import (
    validate_override,
    validate_taint_policy,
)
from fleet_components.systems.karmada.admission.webhook.propagation import validate_propagation
from fleet_components.systems.karmada.model.policy import GRACEFULLY, purge_mode_of

# Mutating webhooks of Karmada's policies.


_DEFAULT_GRACE_SECONDS = 600
_SERVICE_IMPORT = ("multicluster.x-k8s.io/v1alpha1", "ServiceImport")


def default_propagation(policy: dict[str, Any]) -> None:
    """Set what the webhook sets in a PropagationPolicy beyond the defaults of the definition."""
    _set_selectors_namespace(policy)
    default_cluster_propagation(policy)


def default_cluster_propagation(policy: dict[str, Any]) -> None:
    """Set what the webhook sets in a ClusterPropagationPolicy beyond the defaults of the
    definition.
    """
    spec = policy["spec"]
    placement = spec.setdefault("placement", {})
    for constraint in placement.get("spreadConstraints", ()):
        _default_constraint(constraint)
    if any(
        (it["apiVersion"], it["kind"]) == _SERVICE_IMPORT
        for it in spec.get("resourceSelectors", ())
    ):
        # Karmada sets it even if the policy says false.
        spec["propagateDeps"] = True
    scheduling = placement.get("replicaScheduling", {})
    if scheduling.get("replicaSchedulingType") == "Divided":
        scheduling.setdefault("replicaDivisionPreference", "Weighted")
    application = spec.get("failover", {}).get("application", {})
    if purge_mode_of(application.get("purgeMode")) == GRACEFULLY:
        application.setdefault("gracePeriodSeconds", _DEFAULT_GRACE_SECONDS)


def default_override(policy: dict[str, Any]) -> None:
    """Set what the webhook sets in an OverridePolicy; ClusterOverridePolicies have no such
    webhook.
    """
    _set_selectors_namespace(policy)
    policy["spec"].setdefault("overriders", {})


def _default_constraint(constraint: dict[str, Any]) -> None:
    if "spreadByField" not in constraint and "spreadByLabel" not in constraint:
        constraint["spreadByField"] = "cluster"
    constraint.setdefault("minGroups", 1)


def _set_selectors_namespace(policy: dict[str, Any]) -> None:
    for selector in policy["spec"].get("resourceSelectors", ()):
        selector.setdefault("namespace", policy.get("metadata", {}).get("namespace") or "default")


_GROUP = "policy.karmada.io"
_SCHEDULER = (("spec", "schedulerName"),)

_POLICIES = (
    Declared(
        _GROUP,
        "PropagationPolicy",
        mutate=default_propagation,
        validate=validate_propagation,
        held=_SCHEDULER,
    ),
    Declared(
        _GROUP,
        "ClusterPropagationPolicy",
        mutate=default_cluster_propagation,
        validate=validate_propagation,
        held=_SCHEDULER,
    ),
    Declared(_GROUP, "OverridePolicy", mutate=default_override, validate=validate_override),
    Declared(_GROUP, "ClusterOverridePolicy", validate=validate_override),
)
_OTHERS = (
    Declared("apps.karmada.io", "WorkloadRebalancer"),
    Declared(_GROUP, "ClusterTaintPolicy", validate=validate_taint_policy),
)

DECLARED = (*_POLICIES, *_OTHERS)
"""Checked kinds that have a definition; the API of Clusters is served by a server of its own and
has none.
"""


@cache
def kinds_in(release: Release) -> tuple[AdmittedKind, ...]:
    """Return the checked kinds of a release."""
    overlay = overlay_of(release)
    return (*kinds_of(_POLICIES, overlay), *cluster.KINDS, *kinds_of(_OTHERS, overlay))
