"""PropagationPolicy and ClusterPropagationPolicy: structure, and the defaults of the mutating webhooks."""

from __future__ import annotations

from typing import Any

from fleet_components.admission.karmada.placement import PLACEMENT
from fleet_components.admission.karmada.policy import policy_kinds, set_selectors_namespace
from fleet_components.admission.karmada.selection import RESOURCE_SELECTORS
from fleet_components.admission.karmada.suspension import SUSPENSION
from fleet_components.admission.karmada.webhook.propagation import validate_propagation
from fleet_components.admission.schema import flag, integer, listing, struct, text

_DEFAULT_GRACE_SECONDS = 600
_SERVICE_IMPORT = ("multicluster.x-k8s.io/v1alpha1", "ServiceImport")

_STATE_PRESERVATION = struct(
    {
        "rules": listing(
            struct(
                {
                    "aliasLabelName": text(required=True, example="job-id"),
                    "jsonPath": text(required=True, example="{.jobId}"),
                },
                go="v1alpha1.StatePreservationRule",
            ),
            required=True,
        )
    },
    go="v1alpha1.StatePreservation",
)
_TOLERATION_SECONDS = {"tolerationSeconds": integer(format="int32", default=300)}
_FAILOVER = struct(
    {
        "application": struct(
            {
                "decisionConditions": struct(_TOLERATION_SECONDS, required=True, go="v1alpha1.DecisionConditions"),
                "purgeMode": text(
                    enum=("Directly", "Gracefully", "Never"), default="Gracefully", go="v1alpha1.PurgeMode"
                ),
                "gracePeriodSeconds": integer(format="int32", example=_DEFAULT_GRACE_SECONDS),
                "statePreservation": _STATE_PRESERVATION,
            },
            go="v1alpha1.ApplicationFailoverBehavior",
            example={"decisionConditions": {"tolerationSeconds": 300}},
        ),
        "cluster": struct(
            {
                "purgeMode": text(enum=("Directly", "Gracefully"), default="Gracefully", go="v1alpha1.PurgeMode"),
                "statePreservation": _STATE_PRESERVATION,
            },
            go="v1alpha1.ClusterFailoverBehavior",
            example={"purgeMode": "Gracefully"},
        ),
    },
    go="v1alpha1.FailoverBehavior",
)
_SPEC = struct(
    {
        "resourceSelectors": RESOURCE_SELECTORS.but(required=True, min_items=1),
        "association": flag(),
        "propagateDeps": flag(),
        "placement": PLACEMENT,
        "priority": integer(format="int32", default=0),
        "preemption": text(enum=("Always", "Never"), default="Never", go="v1alpha1.PreemptionBehavior"),
        "dependentOverrides": listing(text(), example=["my-override"]),
        "schedulerName": text(default="default-scheduler"),
        "failover": _FAILOVER,
        "conflictResolution": text(enum=("Abort", "Overwrite"), default="Abort", go="v1alpha1.ConflictResolution"),
        "activationPreference": text(enum=("Lazy",), go="v1alpha1.ActivationPreference"),
        "suspension": SUSPENSION,
        "preserveResourcesOnDeletion": flag(pointer=True),
        "schedulePriority": struct(
            {
                "priorityClassSource": text(
                    required=True, enum=("KubePriorityClass",), go="v1alpha1.PriorityClassSource"
                ),
                "priorityClassName": text(required=True, example="high-priority"),
            },
            go="v1alpha1.SchedulePriority",
        ),
    },
    required=True,
    go="v1alpha1.PropagationSpec",
)


def _set_defaults(policy: dict[str, Any]) -> None:
    """Set what the mutating webhooks set beyond the defaults of the CustomResourceDefinition."""
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
    if application.get("purgeMode") == "Gracefully":
        application.setdefault("gracePeriodSeconds", _DEFAULT_GRACE_SECONDS)


def _default_constraint(constraint: dict[str, Any]) -> None:
    if "spreadByField" not in constraint and "spreadByLabel" not in constraint:
        constraint["spreadByField"] = "cluster"
    constraint.setdefault("minGroups", 1)


def _set_namespaced_defaults(policy: dict[str, Any]) -> None:
    set_selectors_namespace(policy)
    _set_defaults(policy)


KINDS = policy_kinds(
    "PropagationPolicy",
    _SPEC,
    validate_propagation,
    mutate=_set_namespaced_defaults,
    mutate_cluster_wide=_set_defaults,
    held=(("spec", "schedulerName"),),
)
