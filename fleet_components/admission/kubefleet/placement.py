"""ClusterResourcePlacement and ResourcePlacement: structure, rules, and the defaults of the mutating webhook."""

from __future__ import annotations

from typing import Any

from fleet_components.admission.kubefleet.policy import POLICY
from fleet_components.admission.kubefleet.selectors import RESOURCE_TERMS
from fleet_components.admission.kubefleet.strategy import STRATEGY
from fleet_components.admission.kubefleet.webhook.placement import validate_placement
from fleet_components.admission.registry import versions, whole
from fleet_components.admission.schema import Rule, Schema, anything, integer, rule, struct, text, transition

_GROUP = "placement.kubernetes-fleet.io"
_ALL_IN_ONE = "NamespaceWithResourceSelectors"


def _namespaces(spec: Any) -> list[Any]:
    terms = spec["resourceSelectors"]
    return [it for it in terms if (it["group"], it["version"], it["kind"]) == ("", "v1", "Namespace")]


def _all_in_one(spec: Any) -> list[Any]:
    return [term for term in _namespaces(spec) if term.get("selectionScope") == _ALL_IN_ONE]


def _by_name(spec: Any) -> bool:
    terms = _all_in_one(spec)
    named = [term for term in terms if term.get("name") and "labelSelector" not in term]
    return not terms or len(named) == 1


def _one_namespace_when_accessible(spec: Any) -> bool:
    namespaces = [term for term in spec["resourceSelectors"] if term["kind"] == "Namespace"]
    return spec["statusReportingScope"] != "NamespaceAccessible" or len(namespaces) == 1


_HELD = (("spec", "policy", "placementType"), ("spec", "policy", "tolerations"), ("spec", "strategy", "type"))

_SHARED_RULES: tuple[Rule, ...] = (
    transition(
        "policy cannot be removed once set",
        lambda it, old: "policy" in it or "policy" not in old,
        "keep the policy; write policy: {placementType: PickAll} where it was PickAll",
    ),
    rule(
        "only one namespace selector with NamespaceWithResourceSelectors mode is allowed",
        lambda it: len(_all_in_one(it)) <= 1,
        "one placement a namespace",
    ),
    rule(
        "namespace selector with NamespaceWithResourceSelectors mode must select by name (not by label)",
        _by_name,
        "write name: my-namespace instead of the labelSelector",
    ),
    rule(
        "when using NamespaceWithResourceSelectors mode, only one namespace selector is allowed "
        "(cannot mix with other namespace selectors)",
        lambda it: not _all_in_one(it) or len(_namespaces(it)) == 1,
        "move the other namespaces to a placement of their own",
    ),
)

_CLUSTER_RULES: tuple[Rule, ...] = (
    rule(
        "when statusReportingScope is NamespaceAccessible, exactly one resourceSelector with kind 'Namespace' is "
        "required",
        _one_namespace_when_accessible,
        "select one namespace, or write statusReportingScope: ClusterScopeOnly",
    ),
    transition(
        "statusReportingScope is immutable",
        lambda it, old: it["statusReportingScope"] == old.get("statusReportingScope", it["statusReportingScope"]),
        "keep the old value, or create a placement of another name",
    ),
)

_SPEC = struct(
    {
        "resourceSelectors": RESOURCE_TERMS,
        "policy": POLICY,
        "strategy": STRATEGY,
        "revisionHistoryLimit": integer(minimum=1, maximum=1000, default=10, format="int32"),
        "statusReportingScope": text(
            enum=("ClusterScopeOnly", "NamespaceAccessible"),
            default="ClusterScopeOnly",
            go="v1beta1.StatusReportingScope",
        ),
    },
    required=True,
    go="v1beta1.PlacementSpec",
    rules=_SHARED_RULES,
)


def _set_defaults(placement: dict[str, Any]) -> None:
    """Set what the mutating webhook sets in a ClusterResourcePlacement beyond the defaults of the definition."""
    spec = placement["spec"]
    placement.setdefault("status", {})
    spec.setdefault("policy", {"placementType": "PickAll"})
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {})
    apply = strategy.setdefault("applyStrategy", {})
    if apply.get("type") == "ServerSideApply":
        apply.setdefault("serverSideApplyConfig", {})
    if "serverSideApplyConfig" in apply:
        apply["serverSideApplyConfig"].setdefault("force", False)


def _schemas(spec: Schema, go: str = "") -> dict[str, Schema]:
    v1 = STRATEGY.without("deleteStrategy", "reportBackStrategy")
    in_v1 = spec.having({"strategy": v1})
    return {
        "v1": whole({"spec": in_v1, "status": anything()}, go=go),
        "v1beta1": whole({"spec": spec, "status": anything()}, go=go),
    }


KINDS = (
    *versions(
        _GROUP,
        "ClusterResourcePlacement",
        _schemas(_SPEC.but(rules=_SHARED_RULES + _CLUSTER_RULES), "v1beta1.ClusterResourcePlacement"),
        mutate=_set_defaults,
        validate=lambda request: validate_placement(request, cluster_scoped=True),
        held=(*_HELD, ("spec", "statusReportingScope")),
    ),
    *versions(
        _GROUP,
        "ResourcePlacement",
        _schemas(_SPEC),
        namespaced=True,
        validate=lambda request: validate_placement(request, cluster_scoped=False),
        held=_HELD,
    ),
)
