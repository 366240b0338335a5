"""Scheduling policy of a placement: structure and rules of the CustomResourceDefinition."""

from __future__ import annotations

from typing import Any

from fleet_components.admission.kubefleet.selectors import CLUSTER_SELECTOR, PREFERRED_TERMS
from fleet_components.admission.schema import integer, listing, rule, struct, text, transition


def _has_none(value: Any, *names: str) -> bool:
    return not any(name in value for name in names)


_TOLERATIONS = listing(
    struct(
        {
            "key": text(example="dedicated"),
            "operator": text(enum=("Equal", "Exists"), default="Equal", go="v1.TolerationOperator"),
            "value": text(example="gpu"),
            "effect": text(enum=("NoSchedule",), go="v1.TaintEffect"),
        },
        go="v1beta1.Toleration",
        example={"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    ),
    max_items=100,
    rules=(
        rule(
            "value must be empty when operator is Exists",
            lambda it: not any(each["operator"] == "Exists" and each.get("value") for each in it),
            "remove the value, or write operator: Equal",
        ),
        rule(
            "operator must be Exists when key is empty",
            lambda it: all(each.get("key") or each["operator"] == "Exists" for each in it),
            "name the key of the taint, or write operator: Exists to tolerate all taints",
        ),
    ),
)

_SPREAD = listing(
    struct(
        {
            "maxSkew": integer(minimum=1, default=1, format="int32"),
            "topologyKey": text(required=True, example="region"),
            "whenUnsatisfiable": text(
                enum=("DoNotSchedule", "ScheduleAnyway"),
                default="DoNotSchedule",
                go="v1beta1.UnsatisfiableConstraintAction",
            ),
        },
        go="v1beta1.TopologySpreadConstraint",
        example={"topologyKey": "region", "maxSkew": 1},
    )
)

_AFFINITY = struct(
    {
        "clusterAffinity": struct(
            {
                "requiredDuringSchedulingIgnoredDuringExecution": CLUSTER_SELECTOR,
                "preferredDuringSchedulingIgnoredDuringExecution": PREFERRED_TERMS,
            },
            go="v1beta1.ClusterAffinity",
        )
    },
    go="v1beta1.Affinity",
)

POLICY = struct(
    {
        "placementType": text(enum=("PickAll", "PickN", "PickFixed"), default="PickAll", go="v1beta1.PlacementType"),
        "clusterNames": listing(text(), max_items=100, example=["member-1"]),
        "numberOfClusters": integer(minimum=0, format="int32", example=3),
        "affinity": _AFFINITY,
        "topologySpreadConstraints": _SPREAD,
        "tolerations": _TOLERATIONS,
    },
    go="v1beta1.PlacementPolicy",
    example={"placementType": "PickAll"},
    rules=(
        transition(
            "placement type is immutable",
            lambda it, old: it["placementType"] == old["placementType"],
            "delete the placement and create it with the new type",
        ),
        rule(
            "affinity, numberOfClusters, topologySpreadConstraints, and tolerations cannot be set when "
            "placementType is PickFixed",
            lambda it: (
                it["placementType"] != "PickFixed"
                or _has_none(it, "affinity", "numberOfClusters", "topologySpreadConstraints", "tolerations")
            ),
            "keep clusterNames alone, or write placementType: PickN",
        ),
        rule(
            "clusterNames, numberOfClusters, and topologySpreadConstraints cannot be set when placementType is PickAll",
            lambda it: (
                it["placementType"] != "PickAll"
                or _has_none(it, "clusterNames", "numberOfClusters", "topologySpreadConstraints")
            ),
            "write placementType: PickFixed for clusterNames, PickN for the other two",
        ),
        rule(
            "clusterNames cannot be set and numberOfClusters must be set when placementType is PickN",
            lambda it: it["placementType"] != "PickN" or ("clusterNames" not in it and "numberOfClusters" in it),
            "write, for example, numberOfClusters: 3 beside placementType: PickN, and no clusterNames",
        ),
    ),
)
