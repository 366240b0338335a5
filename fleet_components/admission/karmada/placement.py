"""Structure of the placement of a propagation policy."""

from __future__ import annotations

from fleet_components.admission.karmada.selection import CLUSTER_AFFINITIES, CLUSTER_AFFINITY
from fleet_components.admission.schema import integer, listing, struct, text

SPREAD_CONSTRAINTS = listing(
    struct(
        {
            "spreadByField": text(enum=("cluster", "region", "zone", "provider"), go="v1alpha1.SpreadFieldValue"),
            "spreadByLabel": text(),
            "maxGroups": integer(pointer=False, example=2),
            "minGroups": integer(pointer=False, example=1),
        },
        go="v1alpha1.SpreadConstraint",
    ),
    example=[{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}],
)
"""Bounds for the number of groups of members."""

TOLERATIONS = listing(
    struct(
        {
            "key": text(example="dedicated"),
            "operator": text(example="Exists", go="v1.TolerationOperator"),
            "value": text(),
            "effect": text(example="NoSchedule", go="v1.TaintEffect"),
            "tolerationSeconds": integer(format="int64", example=300),
        },
        go="v1.Toleration",
    )
)
"""Tolerated taints."""

_STATIC_WEIGHTS = listing(
    struct(
        {
            "targetCluster": CLUSTER_AFFINITY.but(required=True),
            "weight": integer(required=True, format="int64", minimum=1, example=1),
        },
        go="v1alpha1.StaticClusterWeight",
    )
)
_REPLICA_SCHEDULING = struct(
    {
        "replicaSchedulingType": text(
            enum=("Duplicated", "Divided"), default="Divided", go="v1alpha1.ReplicaSchedulingType"
        ),
        "replicaDivisionPreference": text(enum=("Aggregated", "Weighted"), go="v1alpha1.ReplicaDivisionPreference"),
        "weightPreference": struct(
            {
                "staticWeightList": _STATIC_WEIGHTS,
                "dynamicWeight": text(enum=("AvailableReplicas",), go="v1alpha1.DynamicWeightFactor"),
            },
            go="v1alpha1.ClusterPreferences",
        ),
    },
    go="v1alpha1.ReplicaSchedulingStrategy",
)
_GROUP_BY = {"groupByLabelKey": text(required=True, example="app.group")}

WORKLOAD_AFFINITY = struct(
    {
        "affinity": struct(_GROUP_BY, go="v1alpha1.WorkloadAffinityTerm"),
        "antiAffinity": struct(_GROUP_BY, go="v1alpha1.WorkloadAntiAffinityTerm"),
    },
    go="v1alpha1.WorkloadAffinity",
)
"""Other workloads that must be on the same members, or must not be (an alpha feature of Karmada)."""

PLACEMENT = struct(
    {
        "clusterAffinity": CLUSTER_AFFINITY,
        "clusterAffinities": CLUSTER_AFFINITIES,
        "clusterTolerations": TOLERATIONS,
        "spreadConstraints": SPREAD_CONSTRAINTS,
        "replicaScheduling": _REPLICA_SCHEDULING,
        "workloadAffinity": WORKLOAD_AFFINITY,
    },
    go="v1alpha1.Placement",
    example={"clusterAffinity": {"clusterNames": ["member1"]}},
)
"""Members to place on, and the number of replicas on each."""
