"""Structure shared by placements and overrides: resource selectors, cluster selectors, references to a placement."""

from __future__ import annotations

from fleet_components.admission.schema import LABEL_SELECTOR, Schema, integer, listing, rule, struct, text

MAX_TERMS = 10

PROPERTY_SELECTOR = struct(
    {
        "matchExpressions": listing(
            struct(
                {
                    "name": text(required=True, example="kubernetes-fleet.io/node-count"),
                    "operator": text(required=True, example="Ge", go="v1beta1.PropertySelectorOperator"),
                    "values": listing(text(), required=True, max_items=1, example=["5"]),
                },
                go="v1beta1.PropertySelectorRequirement",
            ),
            required=True,
        )
    },
    go="v1beta1.PropertySelector",
)

PROPERTY_SORTER = struct(
    {
        "name": text(required=True, example="kubernetes-fleet.io/node-count"),
        "sortOrder": text(required=True, enum=("Ascending", "Descending"), go="v1beta1.PropertySortOrder"),
    },
    go="v1beta1.PropertySorter",
)

CLUSTER_TERM = struct(
    {
        "labelSelector": LABEL_SELECTOR,
        "propertySelector": PROPERTY_SELECTOR,
        "propertySorter": PROPERTY_SORTER,
    },
    go="v1beta1.ClusterSelectorTerm",
    example={"labelSelector": {"matchLabels": {"env": "prod"}}},
)

CLUSTER_SELECTOR = struct(
    {"clusterSelectorTerms": listing(CLUSTER_TERM, required=True, max_items=MAX_TERMS)},
    go="v1beta1.ClusterSelector",
)

PREFERRED_TERMS = listing(
    struct(
        {
            "preference": CLUSTER_TERM.but(required=True),
            "weight": integer(required=True, minimum=-100, maximum=100, format="int32", example=20),
        },
        go="v1beta1.PreferredClusterSelector",
    )
)

_GVK: dict[str, Schema] = {
    "group": text(required=True, example=""),
    "version": text(required=True, example="v1"),
    "kind": text(required=True, example="Namespace"),
}

RESOURCE_TERM = struct(
    {
        **_GVK,
        "name": text(example="my-app"),
        "labelSelector": LABEL_SELECTOR,
        "selectionScope": text(
            enum=("NamespaceOnly", "NamespaceWithResources", "NamespaceWithResourceSelectors"),
            default="NamespaceWithResources",
            go="v1beta1.SelectionScope",
        ),
    },
    go="v1beta1.ResourceSelectorTerm",
    example={"group": "", "version": "v1", "kind": "Namespace", "name": "my-app"},
)

RESOURCE_TERMS = listing(
    RESOURCE_TERM,
    required=True,
    min_items=1,
    max_items=100,
    rules=(
        rule(
            "name and labelSelector are mutually exclusive in a resource selector",
            lambda terms: not any(term.get("name") and "labelSelector" in term for term in terms),
            "keep one of the two; two selectors select by both ways",
        ),
    ),
)

NAMED_RESOURCE = struct({**_GVK, "name": text(required=True, example="my-app")})

PLACEMENT_REFERENCE = struct(
    {
        "name": text(required=True, example="my-placement"),
        "scope": text(enum=("Cluster", "Namespaced"), default="Cluster"),
    }
)
