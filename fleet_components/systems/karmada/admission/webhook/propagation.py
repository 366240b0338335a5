"""Validating webhooks of PropagationPolicies and ClusterPropagationPolicies.

Source: Karmada 1.19, ``ValidatePropagationSpec`` in ``pkg/util/validation/validation.go``, and
``validating.go`` in ``pkg/webhook/propagationpolicy`` and ``pkg/webhook/clusterpropagationpolicy``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import AdmissionRequest, Object
from fleet_components.model.labels import key_errors
from fleet_components.model.problem import FieldPath
from fleet_components.model.release import Release
from fleet_components.systems.karmada.admission.field_error import (
    deny_fields,
    invalid,
    quoted,
    shown_of_propagation,
    unsupported,
)
from fleet_components.systems.karmada.admission.webhook.affinity import (
    check_affinities,
    check_affinity,
)
from fleet_components.systems.karmada.model.policy import GRACEFULLY, purge_mode_of
from fleet_components.systems.karmada.model.release import Rule

PERMANENT_ID = {
    "PropagationPolicy": "propagationpolicy.karmada.io/permanent-id",
    "ClusterPropagationPolicy": "clusterpropagationpolicy.karmada.io/permanent-id",
}
"""Label that Karmada sets on a new policy of each kind; users do not write it."""


def validate_propagation(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a propagation policy; None if it passes."""
    return deny(_check_change(request)) or deny_fields(_check_spec(request))


def check_selectors_namespace(selectors: list[Object], namespace: str) -> Iterator[Finding]:
    """Yield findings on selectors outside the policy's namespace, which is empty for a cluster-wide
    policy.
    """
    for index, selector in enumerate(selectors if namespace else ()):
        if selector.get("namespace", "") != namespace:
            path = ("spec", "resourceSelectors", index, "namespace")
            detail = (
                "namespace of resource selector must be the same as the namespace of the policy"
            )
            hint = f"remove it, or create the policy in the namespace {selector['namespace']}"
            yield invalid(path, quoted(selector["namespace"]), detail, hint)


def namespace_of(request: AdmissionRequest) -> str:
    """Return the namespace of a namespaced policy; empty for a cluster-wide one."""
    cluster_wide = str(request.object["kind"]).startswith("Cluster")
    return "" if cluster_wide else str(request.metadata.get("namespace") or "default")


def _check_change(request: AdmissionRequest) -> list[Finding]:
    """Return the first forbidden change, which is all that the webhook reports."""
    if request.old is None:
        return []
    spec, before = request.object["spec"], request.old["spec"]
    if spec.get("schedulerName") != before.get("schedulerName"):
        hint = (
            f"keep schedulerName: {before.get('schedulerName')}, or create a policy of another name"
        )
        return [Finding("the schedulerName should not be updated", ("spec", "schedulerName"), hint)]
    label = PERMANENT_ID[request.object["kind"]]
    labels, labels_before = (
        it.get("metadata", {}).get("labels", {}) for it in (request.object, request.old)
    )
    if labels.get(label) != labels_before.get(label):
        what = f"label {label} is immutable, it can only be set by the system during creation"
        return [Finding(what, ("metadata", "labels", label), "leave the label as it is")]
    return []


def _check_spec(request: AdmissionRequest) -> Iterator[Finding]:
    spec = request.object["spec"]
    failover = spec.get("failover", {})
    yield from check_placement(spec.get("placement", {}), request.context.releases.karmada)
    if "application" in failover and not spec.get("propagateDeps"):
        detail = "application failover is set, propagateDeps must be true"
        yield invalid(("spec", "propagateDeps"), "false", detail, "write propagateDeps: true")
    yield from check_failover(failover)
    yield from check_selectors_namespace(spec["resourceSelectors"], namespace_of(request))
    if spec.get("preemption") == "Always":
        yield from _check_names(spec["resourceSelectors"])
    yield from _check_suspension(spec.get("suspension", {}))


def _check_names(selectors: list[Object]) -> Iterator[Finding]:
    for index, selector in enumerate(selectors):
        if not selector.get("name"):
            path = ("spec", "resourceSelectors", index, "name")
            detail = (
                "name cannot be empty if preemption is Always, the empty name may cause unexpected"
                " resources preemption"
            )
            yield invalid(path, '""', detail, "add the name, or write preemption: Never")


def _check_suspension(suspension: Object) -> Iterator[Finding]:
    if suspension.get("dispatching") and suspension.get("dispatchingOnClusters", {}).get(
        "clusterNames"
    ):
        # Karmada's text names the field twice; deny_fields maps the path to the real field.
        path = ("spec", "suspension", "suspension")
        detail = "suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames"
        value = shown_of_propagation("suspension", suspension)
        yield invalid(path, value, detail, "remove dispatching to suspend these members only")


# Webhook checks of the failover in a propagation policy.
#
# Source: Karmada 1.19, ``ValidateFailover`` in ``pkg/util/validation/validation.go``.


_FAILOVER = ("spec", "failover")


def check_failover(failover: Object) -> Iterator[Finding]:
    """Yield findings on the defaulted failover of applications and of members."""
    if "application" in failover:
        yield from _check_application(failover["application"], (*_FAILOVER, "application"))
    yield from _check_state(failover.get("cluster", {}), (*_FAILOVER, "cluster"))


def _check_application(application: Object, path: FieldPath) -> Iterator[Finding]:
    seconds = application["decisionConditions"]["tolerationSeconds"]
    if seconds < 0:
        at = (*path, "decisionConditions", "tolerationSeconds")
        yield invalid(
            at, str(seconds), "must be greater than or equal to 0", "write tolerationSeconds: 300"
        )
    grace, at = application.get("gracePeriodSeconds"), (*path, "gracePeriodSeconds")
    if grace is not None and purge_mode_of(application["purgeMode"]) != GRACEFULLY:
        yield invalid(at, str(grace), "only takes effect when purgeMode is gracefully", "remove it")
    if grace is not None and grace <= 0:
        yield invalid(at, str(grace), "must be greater than 0", "write gracePeriodSeconds: 600")
    yield from _check_state(application, path)


def _check_state(behavior: Object, path: FieldPath) -> Iterator[Finding]:
    for index, rule in enumerate(behavior.get("statePreservation", {}).get("rules", ())):
        name, at = (
            rule["aliasLabelName"],
            (*path, "statePreservation", "rules", index, "aliasLabelName"),
        )
        for error in key_errors(name):
            yield invalid(at, quoted(name), error, "write, for example, aliasLabelName: job-id")


# Webhook checks of the placement in a propagation policy.
#
# Source: Karmada 1.19, ``ValidatePlacement`` in ``pkg/util/validation/validation.go``.


_PATH = ("spec", "placement")
_EXISTS_OR_EQUAL = ("", "Exists", "Equal")


def check_placement(placement: Object, release: Release) -> Iterator[Finding]:
    """Yield findings on a placement under a release, in the order of Karmada's checks."""
    groups = placement.get("clusterAffinities", [])
    if "clusterAffinity" in placement and "clusterAffinities" in placement:
        detail = "clusterAffinities cannot co-exist with clusterAffinity"
        yield invalid(
            _PATH,
            shown_of_propagation("placement", placement),
            detail,
            "make the clusterAffinity the first of the groups",
        )
    if not _may_overflow(placement.get("replicaScheduling", {})):
        yield from _check_no_overflow(groups)
    yield from check_affinity(placement.get("clusterAffinity", {}), (*_PATH, "clusterAffinity"))
    yield from check_affinities(groups, (*_PATH, "clusterAffinities"))
    yield from _check_spread(placement.get("spreadConstraints", []))
    yield from _check_workload_affinity(placement.get("workloadAffinity", {}))
    if release.has(Rule.TOLERATIONS_STRICT):
        yield from _check_tolerations(placement.get("clusterTolerations", []))


def _may_overflow(scheduling: Object) -> bool:
    if scheduling.get("replicaSchedulingType") != "Divided":
        return False
    preference = scheduling.get("replicaDivisionPreference")
    dynamic = bool(scheduling.get("weightPreference", {}).get("dynamicWeight"))
    return preference == "Aggregated" or (preference == "Weighted" and dynamic)


def _check_no_overflow(groups: list[Object]) -> Iterator[Finding]:
    for index, group in enumerate(groups):
        if "overflowAffinities" in group:
            path = (*_PATH, "clusterAffinities", index, "overflowAffinities")
            detail = (
                "overflowAffinities can only be used together with dynamic weight or aggregated"
                " scheduling"
            )
            hint = (
                "add replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference:"
                " Aggregated}"
            )
            yield invalid(
                path,
                shown_of_propagation(
                    "placement.clusterAffinities[].overflowAffinities", group["overflowAffinities"]
                ),
                detail,
                hint,
            )


def _check_spread(constraints: list[Object]) -> Iterator[Finding]:
    path = (*_PATH, "spreadConstraints")
    fields = [constraint.get("spreadByField") for constraint in constraints]
    for index, constraint in enumerate(constraints):
        yield from _check_constraint(constraint, (*path, index))
        # Reported once per field, at its second occurrence, as in Karmada.
        if fields[index] and fields[:index].count(fields[index]) == 1:
            detail = f"multiple {fields[index]} spread constraints are not allowed"
            yield invalid(
                path,
                shown_of_propagation("placement.spreadConstraints", constraints),
                detail,
                "keep one of them",
            )
    if any(fields) and "cluster" not in fields:
        detail = (
            "the cluster spread constraint must be enabled in one of the constraints "
            "in case of SpreadByField is enabled"
        )
        hint = "add {spreadByField: cluster, minGroups: 1, maxGroups: 10}"
        yield invalid(
            path, shown_of_propagation("placement.spreadConstraints", constraints), detail, hint
        )


def _check_constraint(constraint: Object, path: FieldPath) -> Iterator[Finding]:
    value = shown_of_propagation("placement.spreadConstraints[]", constraint)
    least, most = constraint.get("minGroups", 0), constraint.get("maxGroups", 0)
    if constraint.get("spreadByField") and constraint.get("spreadByLabel"):
        yield invalid(
            path,
            value,
            "spreadByLabel should not co-exist with spreadByField",
            "remove spreadByLabel",
        )
    if least < 0:
        yield invalid(path, value, "minGroups lower than 0 is not allowed", "write minGroups: 1")
    if most < 0:
        yield invalid(
            path,
            value,
            "maxGroups lower than 0 is not allowed",
            f"write maxGroups: {max(least, 1)}",
        )
    if 0 < most < least:
        yield invalid(
            path,
            value,
            "maxGroups lower than minGroups is not allowed",
            f"write maxGroups: {least}",
        )


def _check_workload_affinity(affinity: Object) -> Iterator[Finding]:
    path = (*_PATH, "workloadAffinity")
    terms = ("affinity", "antiAffinity")
    for term in terms:
        key = affinity.get(term, {}).get("groupByLabelKey")
        for error in key_errors(key) if key is not None else ():
            yield invalid(
                (*path, term, "groupByLabelKey"),
                quoted(key),
                error,
                "write groupByLabelKey: app.group",
            )
    if all(term in affinity for term in terms) and affinity["affinity"] == affinity["antiAffinity"]:
        detail = "affinity and antiAffinity must not use the same groupByLabelKey"
        yield invalid(
            path,
            shown_of_propagation("placement.workloadAffinity", affinity),
            detail,
            "remove one of the two",
        )


def _check_tolerations(tolerations: list[Object]) -> Iterator[Finding]:
    for index, toleration in enumerate(tolerations):
        operator = toleration.get("operator", "")
        if operator in ("Lt", "Gt"):
            path = (*_PATH, "clusterTolerations", index, "operator")
            yield unsupported(path, operator, _EXISTS_OR_EQUAL, "write operator: Exists")
