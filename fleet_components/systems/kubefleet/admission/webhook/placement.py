"""Validating webhook of placements.

Source: KubeFleet, ``pkg/utils/validator/placement.go``. On a running hub only
ClusterResourcePlacements pass through it: the checks of ResourcePlacements exist but are not
registered, so a hub accepts an invalid one and reports it in its status, or never starts its
rollout. This package refuses it at once, which helps users more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs

from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import AdmissionRequest, Object
from fleet_components.systems.kubefleet.admission.webhook.policy import check_policy
from fleet_components.systems.kubefleet.admission.webhook.resources import (
    brings_contents,
    check_labels,
    check_scope,
    scope_of,
    unknown_kind,
)
from fleet_components.systems.kubefleet.model.release import Rule

_MAX_NAME = 63
_POLICY = ("spec", "policy")


def validate_placement(request: AdmissionRequest, *, cluster_scoped: bool) -> Denial | None:
    """Return the refusal of a placement; None if it passes.

    The placement is a ClusterResourcePlacement, or a ResourcePlacement if ``cluster_scoped`` is
    False.
    """
    short = "CRP" if cluster_scoped else "RP"
    if request.old is not None:
        before = attrs.evolve(request, object=request.old)
        form = f"deny update on old invalid v1beta1 {short} with DeletionTimestamp not set %s"
        denial = deny(_check(before, cluster_scoped), form)
        if denial:
            # A placement that was stored invalid may only be deleted: even its correction is
            # denied.
            return None if request.metadata.get("deletionTimestamp") else denial
        denial = deny(_check_change(request.object["spec"], request.old["spec"]))
        if denial:
            return denial
    return deny(
        _check(request, cluster_scoped), f"deny create/update v1beta1 {short} has invalid fields %s"
    )


def _check(request: AdmissionRequest, cluster_scoped: bool) -> Iterator[Finding]:
    spec = request.object["spec"]
    # In bytes, as Go's len() counts.
    if len(request.name.encode()) > _MAX_NAME:
        what = f"the name field cannot have length exceeding {_MAX_NAME}"
        yield Finding(
            what, ("metadata", "name"), f"write name: {request.name[:_MAX_NAME].rstrip('-.')}"
        )
    terms = spec["resourceSelectors"]
    for index, term in enumerate(terms):
        at = ("spec", "resourceSelectors", index)
        yield from (finding.under(*at) for finding in check_labels(term))
        scope = scope_of(term["group"], term["version"], term["kind"], request.context)
        if not scope:
            # The webhook stops here: it checks neither the other selectors nor the policy.
            yield unknown_kind(term).under(*at)
            return
        if not (cluster_scoped and any(map(brings_contents, terms))):
            yield from (finding.under(*at) for finding in check_scope(term, scope, cluster_scoped))
    needs_names = cluster_scoped and not request.context.releases.kubefleet.has(
        Rule.NO_NAMES_PICKED
    )
    strict = request.context.releases.kubefleet.has(Rule.PROPERTY_SELECTORS_STRICT)
    for finding in check_policy(spec.get("policy", {}), needs_names=needs_names, strict=strict):
        yield finding.under(*_POLICY, clause="the placement policy field is invalid: ")
    for finding in check_strategy(spec.get("strategy", {})):
        yield finding.under("spec", "strategy", clause="the rollout Strategy field  is invalid: ")


def _check_change(spec: Object, old: Object) -> Iterator[Finding]:
    policy, before = spec.get("policy", {}), old.get("policy", {})
    if policy.get("placementType", "PickAll") != before.get("placementType", "PickAll"):
        do = "delete the placement and create it with the new type"
        yield Finding("placement type is immutable", (*_POLICY, "placementType"), do)
    elif any(each not in policy.get("tolerations", ()) for each in before.get("tolerations", ())):
        what = "tolerations have been updated/deleted, only additions to tolerations are allowed"
        yield Finding(
            what, (*_POLICY, "tolerations"), "keep the old tolerations as they were and add others"
        )


# Mutating webhook of ClusterResourcePlacements.


def default_placement(placement: dict[str, Any]) -> None:
    """Set what the webhook sets in a ClusterResourcePlacement beyond the defaults of the
    definition.
    """
    spec = placement["spec"]
    # The webhook answers with the whole Go struct, which has a status even if it is empty.
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


# Webhook checks of a placement's rollout strategy.


_NO_PERCENTAGE = "invalid value for IntOrString: invalid type: string is not a percentage"


def check_strategy(strategy: Object) -> Iterator[Finding]:
    """Yield findings on a defaulted rollout strategy."""
    rolling, rollout = strategy.get("rollingUpdate"), strategy.get("type", "RollingUpdate")
    if rollout not in ("RollingUpdate", "External"):
        yield Finding(
            f"unsupported rollout strategy type `{rollout}`", ("type",), "write type: RollingUpdate"
        )
    if rolling is not None:
        if rollout == "External":
            # The spelling mistake is in KubeFleet's own text.
            what = "rollingUpdateConifg is not valid for ExternalRollout strategy type"
            yield Finding(
                what, ("rollingUpdate",), "remove rollingUpdate, or write type: RollingUpdate"
            )
        yield from _check_period(rolling.get("unavailablePeriodSeconds", 0))
        for key in ("maxUnavailable", "maxSurge"):
            if key in rolling:
                yield from _check_amount(key, rolling[key])
    apply = strategy.get("applyStrategy", {})
    if (
        apply.get("type", "ClientSideApply") != "ServerSideApply"
        and "serverSideApplyConfig" in apply
    ):
        what = "serverSideApplyConfig is only valid for ServerSideApply strategy type"
        yield Finding(
            what,
            ("applyStrategy", "serverSideApplyConfig"),
            "write type: ServerSideApply beside it",
        )


def _check_period(seconds: int) -> Iterator[Finding]:
    if seconds < 0:
        what = f"unavailablePeriodSeconds must be greater than or equal to 0, got {seconds}"
        path = ("rollingUpdate", "unavailablePeriodSeconds")
        yield Finding(what, path, "write unavailablePeriodSeconds: 60")


def _check_amount(key: str, value: int | str) -> Iterator[Finding]:
    path = ("rollingUpdate", key)
    if isinstance(value, str) and not value.endswith("%"):
        number = int(value) if re.fullmatch("[0-9]{1,9}", value) else "25%"
        yield Finding(
            f"{key} `{value}` is invalid: {_NO_PERCENTAGE}", path, f"write {key}: {number}"
        )
    elif isinstance(value, int) and value < 0:
        yield Finding(
            f"{key} must be greater than or equal to 0, got `{value}`", path, f"write {key}: 1"
        )
