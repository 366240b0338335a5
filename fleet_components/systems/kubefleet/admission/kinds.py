"""Kinds of KubeFleet with their webhooks.

No webhook checks staged updates; the contents of envelopes are checked when they are unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from fleet_components.admission import decode as gotext
from fleet_components.admission.definitions import Declared, kinds_of
from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import AdmissionRequest, AdmittedKind, Object
from fleet_components.model.labels import KUBERNETES_1_34, key_errors, value_errors
from fleet_components.model.manifest import Manifest
from fleet_components.model.release import Release
from fleet_components.systems.kubefleet.admission.overlay import overlay_of
from fleet_components.systems.kubefleet.admission.webhook.overrides import (
    validate_cluster_override,
    validate_override,
)
from fleet_components.systems.kubefleet.admission.webhook.placement import (
    default_placement,
    validate_placement,
)

# Validating webhook of MemberClusters, which checks their taints.
#
# Source: KubeFleet v0.3.1, ``pkg/utils/validator/membercluster.go``.


_FIELDS = {"key": "Key", "value": "Value", "effect": "Effect"}


def validate_member_cluster(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a MemberCluster; None if it passes."""
    return deny(_check_taints(request.object["spec"].get("taints", ())))


def _check_taints(taints: list[dict[str, str]]) -> Iterator[Finding]:
    for index, taint in enumerate(taints):
        path, shown = ("spec", "taints", index), gotext.fields(taint, _FIELDS)
        for error in key_errors(taint["key"], KUBERNETES_1_34):
            what = f"invalid taint key {shown}: {error}"
            yield Finding(what, (*path, "key"), "write, for example, key: example.com/dedicated")
        for error in value_errors(taint.get("value", ""), KUBERNETES_1_34):
            what = f"invalid taint value {shown}: {error}"
            yield Finding(what, (*path, "value"), "write, for example, value: gpu")
        # The whole taint: unlike in Karmada, the same key and effect with another value is allowed.
        if taint in taints[:index]:
            yield Finding(f"taint {shown} already exists, taints must be unique", path, "remove it")


# Validating webhooks of evictions and disruption budgets, which check the placement that they
# refer to.
#
# Source: KubeFleet v0.3.1, ``clusterresourceplacementeviction.go`` and
# ``clusterresourceplacementdisruptionbudget.go`` in ``pkg/utils/validator``.


def validate_eviction(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a new eviction; None if it passes. A changed eviction is not
    checked.
    """
    name = request.object["spec"]["placementName"]
    placement = _placement(request, name)
    return deny(_check_target(placement)) if placement and request.old is None else None


def validate_budget(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a disruption budget; None if it passes.

    A budget belongs to the placement of the same name.
    """
    placement = _placement(request, request.name)
    if placement and _type_of(placement) == "PickAll":
        return deny(_check_pick_all(request.object["spec"]))
    return None


def _placement(request: AdmissionRequest, name: str) -> Manifest | None:
    return next(
        (it for it in request.existing("ClusterResourcePlacement") if it.name == name), None
    )


def _type_of(placement: Manifest) -> str:
    policy = (placement.data.get("spec") or {}).get("policy") or {}
    return policy.get("placementType") or "PickAll"


def _check_target(placement: Manifest) -> Iterator[Finding]:
    path = ("spec", "placementName")
    if placement.metadata.get("deletionTimestamp"):
        what = f"cluster resource placement {placement.name} is being deleted"
        yield Finding(what, path, "nothing needs to be evicted from it")
    elif _type_of(placement) == "PickFixed":
        what = "cluster resource placement policy type PickFixed is not supported"
        yield Finding(
            what, path, f"remove the cluster from clusterNames of {placement.name} instead"
        )


def _check_pick_all(spec: Object) -> Iterator[Finding]:
    no = "cluster resource placement policy type PickAll is not supported with"
    if "maxUnavailable" in spec:
        what = f"{no} any specified max unavailable {spec['maxUnavailable']}"
        yield Finding(
            what, ("spec", "maxUnavailable"), "write, for example, minAvailable: 1 instead"
        )
    if isinstance(spec.get("minAvailable"), str):
        what = f"{no} min available as a percentage {spec['minAvailable']}"
        yield Finding(what, ("spec", "minAvailable"), "write a number, such as minAvailable: 1")


_GROUP = "placement.kubernetes-fleet.io"
_TOLERATIONS = (("spec", "policy", "tolerations"),)
_READ = "v1beta1"

DECLARED = (
    Declared(
        _GROUP,
        "ClusterResourcePlacement",
        mutate=default_placement,
        validate=partial(validate_placement, cluster_scoped=True),
        held=_TOLERATIONS,
    ),
    Declared(
        _GROUP,
        "ResourcePlacement",
        validate=partial(validate_placement, cluster_scoped=False),
        held=_TOLERATIONS,
    ),
    Declared(_GROUP, "ClusterResourceOverride", validate=validate_cluster_override),
    Declared(_GROUP, "ResourceOverride", validate=validate_override),
    Declared(
        "cluster.kubernetes-fleet.io",
        "MemberCluster",
        validate=validate_member_cluster,
        status=_READ,
    ),
    Declared(_GROUP, "ClusterResourcePlacementEviction", validate=validate_eviction),
    Declared(_GROUP, "ClusterResourcePlacementDisruptionBudget", validate=validate_budget),
    Declared(_GROUP, "ClusterStagedUpdateStrategy"),
    Declared(_GROUP, "StagedUpdateStrategy"),
    Declared(_GROUP, "ClusterStagedUpdateRun"),
    Declared(_GROUP, "StagedUpdateRun"),
    Declared(_GROUP, "ClusterApprovalRequest", status=_READ),
    Declared(_GROUP, "ApprovalRequest", status=_READ),
    Declared(_GROUP, "ClusterResourceEnvelope"),
    Declared(_GROUP, "ResourceEnvelope"),
)
"""Checked kinds, in the order in which they are listed."""


@cache
def kinds_in(release: Release) -> tuple[AdmittedKind, ...]:
    """Return the checked kinds of a release, in all their versions."""
    return kinds_of(DECLARED, overlay_of(release))
