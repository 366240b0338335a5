"""Validating webhooks of PropagationPolicies and ClusterPropagationPolicies.

Source: Karmada 1.19, ``ValidatePropagationSpec`` in ``pkg/util/validation/validation.go``, and ``validating.go`` in
``pkg/webhook/propagationpolicy`` and ``pkg/webhook/clusterpropagationpolicy``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import Object, Request
from fleet_components.systems.karmada.admission.field_error import deny_fields, invalid, quoted
from fleet_components.systems.karmada.admission.parts import shown_of_propagation
from fleet_components.systems.karmada.admission.webhook.failover import check_failover
from fleet_components.systems.karmada.admission.webhook.placement import check_placement

PERMANENT_ID = {
    "PropagationPolicy": "propagationpolicy.karmada.io/permanent-id",
    "ClusterPropagationPolicy": "clusterpropagationpolicy.karmada.io/permanent-id",
}
"""Label that Karmada sets on a new policy of each kind; users do not write it."""


def validate_propagation(request: Request) -> Denial | None:
    """Return the webhook's refusal of a propagation policy; None if it passes."""
    return deny(_check_change(request)) or deny_fields(_check_spec(request))


def check_selectors_namespace(selectors: list[Object], namespace: str) -> Iterator[Finding]:
    """Yield findings on selectors outside the policy's namespace, which is empty for a cluster-wide policy."""
    for index, selector in enumerate(selectors if namespace else ()):
        if selector.get("namespace", "") != namespace:
            path = ("spec", "resourceSelectors", index, "namespace")
            detail = "namespace of resource selector must be the same as the namespace of the policy"
            hint = f"remove it, or create the policy in the namespace {selector['namespace']}"
            yield invalid(path, quoted(selector["namespace"]), detail, hint)


def namespace_of(request: Request) -> str:
    """Return the namespace of a namespaced policy; empty for a cluster-wide one."""
    cluster_wide = str(request.object["kind"]).startswith("Cluster")
    return "" if cluster_wide else str(request.metadata.get("namespace") or "default")


def _check_change(request: Request) -> list[Finding]:
    """Return the first forbidden change, which is all that the webhook reports."""
    if request.old is None:
        return []
    spec, before = request.object["spec"], request.old["spec"]
    if spec.get("schedulerName") != before.get("schedulerName"):
        hint = f"keep schedulerName: {before.get('schedulerName')}, or create a policy of another name"
        return [Finding("the schedulerName should not be updated", ("spec", "schedulerName"), hint)]
    label = PERMANENT_ID[request.object["kind"]]
    labels, labels_before = (it.get("metadata", {}).get("labels", {}) for it in (request.object, request.old))
    if labels.get(label) != labels_before.get(label):
        what = f"label {label} is immutable, it can only be set by the system during creation"
        return [Finding(what, ("metadata", "labels", label), "leave the label as it is")]
    return []


def _check_spec(request: Request) -> Iterator[Finding]:
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
                "name cannot be empty if preemption is Always, the empty name may cause unexpected resources preemption"
            )
            yield invalid(path, '""', detail, "add the name, or write preemption: Never")


def _check_suspension(suspension: Object) -> Iterator[Finding]:
    if suspension.get("dispatching") and suspension.get("dispatchingOnClusters", {}).get("clusterNames"):
        # Karmada's text names the field twice; deny_fields maps the path to the real field.
        path = ("spec", "suspension", "suspension")
        detail = "suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames"
        value = shown_of_propagation("suspension", suspension)
        yield invalid(path, value, detail, "remove dispatching to suspend these members only")
