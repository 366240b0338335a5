"""Structure of those parts of Karmada policies that select objects and members."""

from __future__ import annotations

from fleet_components.admission.schema import LABEL_SELECTOR, Schema, listing, struct, text

RESOURCE_SELECTORS = listing(
    struct(
        {
            "apiVersion": text(required=True, example="apps/v1"),
            "kind": text(required=True, example="Deployment"),
            "namespace": text(),
            "name": text(example="nginx"),
            "labelSelector": LABEL_SELECTOR,
        },
        go="v1alpha1.ResourceSelector",
    ),
    example=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}],
)
"""Selectors of the objects that a policy applies to."""

FIELD_SELECTOR = struct(
    {
        "matchExpressions": listing(
            struct(
                {
                    "key": text(required=True, example="region"),
                    "operator": text(required=True, example="In"),
                    "values": listing(text(), example=["eu-west-1"]),
                },
                go="v1.NodeSelectorRequirement",
            )
        )
    },
    go="v1alpha1.FieldSelector",
)
"""Selector of members by provider, region and zone."""

_AFFINITY_FIELDS = {
    "labelSelector": LABEL_SELECTOR,
    "fieldSelector": FIELD_SELECTOR,
    "clusterNames": listing(text(), example=["member1"]),
    "exclude": listing(text(), example=["member1"]),
}
_NAME = text(required=True, min_length=1, max_length=32, example="primary")

CLUSTER_AFFINITY = struct(_AFFINITY_FIELDS, go="v1alpha1.ClusterAffinity", example={"clusterNames": ["member1"]})
"""Selector of members."""

OVERFLOW_AFFINITIES = listing(
    struct({"affinityName": _NAME, **_AFFINITY_FIELDS}, go="v1alpha1.OverflowClusterAffinity"),
)
"""Additional members of an affinity group, used when the primary ones cannot take all replicas."""

CLUSTER_AFFINITIES: Schema = listing(
    struct(
        {"affinityName": _NAME, **_AFFINITY_FIELDS, "overflowAffinities": OVERFLOW_AFFINITIES},
        go="v1alpha1.ClusterAffinityTerm",
    ),
    example=[{"affinityName": "primary", "clusterNames": ["member1"]}],
)
"""Affinity groups, in order."""
