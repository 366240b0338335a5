"""Validating webhooks of evictions and disruption budgets, which check the placement that they refer to.

Source: KubeFleet v0.3.1, ``clusterresourceplacementeviction.go`` and ``clusterresourceplacementdisruptionbudget.go`` in
``pkg/utils/validator``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import Object, Request
from fleet_components.model.manifest import Manifest


def validate_eviction(request: Request) -> Denial | None:
    """Return the webhook's refusal of a new eviction; None if it passes. A changed eviction is not checked."""
    name = request.object["spec"]["placementName"]
    placement = _placement(request, name)
    return deny(_check_target(placement)) if placement and request.old is None else None


def validate_budget(request: Request) -> Denial | None:
    """Return the webhook's refusal of a disruption budget; None if it passes.

    A budget belongs to the placement of the same name.
    """
    placement = _placement(request, request.name)
    if placement and _type_of(placement) == "PickAll":
        return deny(_check_pick_all(request.object["spec"]))
    return None


def _placement(request: Request, name: str) -> Manifest | None:
    return next((it for it in request.existing("ClusterResourcePlacement") if it.name == name), None)


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
        yield Finding(what, path, f"remove the cluster from clusterNames of {placement.name} instead")


def _check_pick_all(spec: Object) -> Iterator[Finding]:
    no = "cluster resource placement policy type PickAll is not supported with"
    if "maxUnavailable" in spec:
        what = f"{no} any specified max unavailable {spec['maxUnavailable']}"
        yield Finding(what, ("spec", "maxUnavailable"), "write, for example, minAvailable: 1 instead")
    if isinstance(spec.get("minAvailable"), str):
        what = f"{no} min available as a percentage {spec['minAvailable']}"
        yield Finding(what, ("spec", "minAvailable"), "write a number, such as minAvailable: 1")
