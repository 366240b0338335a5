"""ClusterResourceOverride and ResourceOverride: structure and rules."""

from __future__ import annotations

from fleet_components.admission.kubefleet.selectors import (
    CLUSTER_SELECTOR,
    NAMED_RESOURCE,
    PLACEMENT_REFERENCE,
    RESOURCE_TERM,
)
from fleet_components.admission.kubefleet.webhook.overrides import validate_cluster_override, validate_override
from fleet_components.admission.registry import versions, whole
from fleet_components.admission.schema import Schema, anything, listing, rule, struct, text, transition

_GROUP = "placement.kubernetes-fleet.io"
_MAX = 20

_PATCH = struct(
    {
        "op": text(required=True, enum=("add", "remove", "replace")),
        "path": text(required=True, example="/metadata/labels/tier"),
        "value": anything(),
    },
    example={"op": "add", "path": "/metadata/labels/tier", "value": "gold"},
)

_POLICY = struct(
    {
        "overrideRules": listing(
            struct(
                {
                    "clusterSelector": CLUSTER_SELECTOR,
                    "overrideType": text(enum=("JSONPatch", "Delete"), default="JSONPatch"),
                    "jsonPatchOverrides": listing(_PATCH, min_items=1, max_items=_MAX),
                },
                example={"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [_PATCH.example]},
            ),
            required=True,
            min_items=1,
            max_items=_MAX,
        )
    },
    required=True,
)

_IMMUTABLE_PLACEMENT = transition(
    "The placement field is immutable",
    lambda it, old: it.get("placement") == old.get("placement"),
    "delete the override and create it anew",
)

_HELD = (("spec", "placement"),)

_RULES = {"v1": (_IMMUTABLE_PLACEMENT,), "v1alpha1": (), "v1beta1": (_IMMUTABLE_PLACEMENT,)}

_CLUSTER_SCOPE = rule(
    "clusterResourceOverride placement reference cannot be Namespaced scope",
    lambda it: it["spec"].get("placement", {}).get("scope") != "Namespaced",
    "write scope: Cluster, or use a ResourceOverride",
)


def _spec(field: str, term: Schema) -> Schema:
    terms = listing(term, required=True, min_items=1, max_items=_MAX)
    return struct({"placement": PLACEMENT_REFERENCE, field: terms, "policy": _POLICY}, required=True)


_CLUSTER_SPEC = _spec("clusterResourceSelectors", RESOURCE_TERM)
_SPEC = _spec("resourceSelectors", NAMED_RESOURCE)

KINDS = (
    *versions(
        _GROUP,
        "ClusterResourceOverride",
        {
            version: whole({"spec": _CLUSTER_SPEC.but(rules=rules)}, rules=(_CLUSTER_SCOPE,))
            for version, rules in _RULES.items()
        },
        validate=validate_cluster_override,
        held=_HELD,
    ),
    *versions(
        _GROUP,
        "ResourceOverride",
        {version: whole({"spec": _SPEC.but(rules=rules)}) for version, rules in _RULES.items()},
        namespaced=True,
        validate=validate_override,
        held=_HELD,
    ),
)
