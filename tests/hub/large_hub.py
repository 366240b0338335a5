"""A large hub of KubeFleet, as its controllers would leave it: its objects, and what it answers without an API server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from fleet_components.hub.listing import Listing, Query, ServedResource
from fleet_components.hub.reading import missing
from fleet_components.systems.registry import SYSTEMS

PLACEMENT, CLUSTER = "placement.kubernetes-fleet.io/v1", "cluster.kubernetes-fleet.io/v1"
TIME = "2026-01-01T00:00:00Z"
_PARENT, _SINCE = (
    "kubernetes-fleet.io/parent-CRP",
    {"lastTransitionTime": TIME, "message": "", "status": "True"},
)
_CLUSTER_SCOPED = ("Namespace", "MemberCluster")


def large_hub(
    members: int = 1000, placements: int = 200, each: int = 20, objects: int = 10
) -> Iterator[list[Any]]:
    """Yield the objects of a hub in the order in which they can be made.

    Args:
        members: number of members.
        placements: number of placements; each selects a namespace of its own.
        each: number of members that a placement has.
        objects: number of objects that a placement brings, its namespace included.
    """
    names = [f"member-{number:04}" for number in range(members)]
    yield [_member(number, name) for number, name in enumerate(names)]
    shops = [f"shop-{number:03}" for number in range(placements)]
    yield [
        _thing("v1", "Namespace", item)
        for item in (*shops, *(f"fleet-member-{name}" for name in names))
    ]
    yield [item for shop in shops for item in _content(shop, objects)[1:]]
    yield [item for shop in shops for item in _kept(shop, each, objects)]
    chosen = {
        shop: [names[(place * 7 + step * 31) % members] for step in range(each)]
        for place, shop in enumerate(shops)
    }
    yield [_binding(shop, name) for shop, picked in chosen.items() for name in picked]
    yield [_work(shop, name, objects) for shop, picked in chosen.items() for name in picked]


def listed(*sizes: int) -> Listing:
    """All that such a hub answers, round by round."""
    by_kind: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for item in (item for some in large_hub(*sizes) for item in some):
        by_kind[item["apiVersion"], item["kind"]].append(item)
    served = {
        (api.rpartition("/")[0], kind): ServedResource(
            api, kind, f"{kind.lower()}s", kind not in _CLUSTER_SCOPED
        )
        for api, kind in by_kind
    }
    listing = Listing(SYSTEMS["kubefleet"], datetime(2026, 1, 1, 0, 1, tzinfo=UTC), served)
    while queries := missing(listing):
        listing = listing.with_answers(
            {query: tuple(_answer(query, by_kind)) for query in queries}, {}
        )
    return listing


def _answer(query: Query, by_kind: dict[tuple[str, str], list[Any]]) -> Iterator[Any]:
    for item in by_kind[query.api_version, query.kind]:
        if query.namespace in ("", item["metadata"].get("namespace")):
            yield (
                {key: item[key] for key in ("apiVersion", "kind", "metadata")}
                if query.metadata_only
                else item
            )


def _thing(api: str, kind: str, name: str, **fields: Any) -> Any:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, **fields.pop("metadata", {})},
        **fields,
    }


def _member(number: int, name: str) -> Any:
    labels = {
        "region": f"region-{number % 8}",
        "environment": ("prod", "canary", "test")[number % 3],
    }
    agent = {"type": "MemberAgent", "lastReceivedHeartbeat": TIME}
    agent["conditions"] = [
        {**_SINCE, "type": item, "reason": item} for item in ("Joined", "Healthy")
    ]  # type: ignore[assignment]
    amounts = {"cpu": str(number % 64 + 4), "memory": f"{number % 256 + 16}Gi"}
    status = {
        "agentStatus": [agent],
        "conditions": [
            {**_SINCE, "type": item, "reason": item} for item in ("ReadyToJoin", "Joined")
        ],
        "properties": {
            "kubernetes-fleet.io/node-count": {"value": str(number % 9), "observationTime": TIME}
        },
        "resourceUsage": {"capacity": amounts, "allocatable": amounts, "available": amounts},
    }
    identity = {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}
    return _thing(
        CLUSTER,
        "MemberCluster",
        name,
        metadata={"labels": labels},
        spec={"identity": identity},
        status=status,
    )


def _content(shop: str, objects: int) -> list[Any]:
    found = [_thing("v1", "Namespace", shop)]
    for number in range(objects - 1):
        name, labels = f"web-{number}", {"app": f"web-{number}"}
        container = {
            "name": "web",
            "image": "nginx:1.27.5",
            "resources": {"requests": {"cpu": "100m"}},
        }
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        data = {"settings.yaml": "a: b\n" * 20}
        more = {"metadata": {"namespace": shop}}
        found.append(
            _thing("v1", "ConfigMap", name, **more, data=data)
            if number % 2
            else _thing("apps/v1", "Deployment", name, **more, spec=spec)
        )
    return found


def _kept(shop: str, each: int, objects: int) -> Iterator[Any]:
    policy = {"placementType": "PickN", "numberOfClusters": each}
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": shop}
    chosen = [
        {"group": "", "version": "v1", "kind": item["kind"], "name": item["metadata"]["name"]}
        for item in _content(shop, objects)
    ]
    for item, of in zip(chosen, _content(shop, objects), strict=True):
        item["group"] = of["apiVersion"].rpartition("/")[0]
        item |= {"namespace": shop} if "namespace" in of["metadata"] else {}
    yield _thing(
        PLACEMENT,
        "ClusterResourcePlacement",
        shop,
        spec={
            "resourceSelectors": [selector],
            "policy": policy,
            "strategy": {"type": "RollingUpdate"},
        },
        status={"selectedResources": chosen, "observedResourceIndex": "0"},
    )
    latest = {_PARENT: shop, "kubernetes-fleet.io/is-latest-snapshot": "true"}
    yield _thing(
        PLACEMENT,
        "ClusterSchedulingPolicySnapshot",
        f"{shop}-0",
        metadata={"labels": {**latest, "kubernetes-fleet.io/policy-index": "0"}},
        spec={"policy": policy, "policyHash": "YQ=="},
    )
    notes = {
        "kubernetes-fleet.io/number-of-resource-snapshots": "1",
        "kubernetes-fleet.io/resource-hash": "a",
    }
    labels = {**latest, "kubernetes-fleet.io/resource-index": "0"}
    yield _thing(
        PLACEMENT,
        "ClusterResourceSnapshot",
        f"{shop}-0-snapshot",
        metadata={"labels": labels, "annotations": notes},
        spec={"selectedResources": _content(shop, objects)},
    )


def _binding(shop: str, member: str) -> Any:
    decision = {
        "clusterName": member,
        "selected": True,
        "reason": "picked",
        "clusterScore": {"affinityScore": 0},
    }
    spec = {
        "state": "Bound",
        "targetCluster": member,
        "clusterDecision": decision,
        "resourceSnapshotName": f"{shop}-0-snapshot",
        "schedulingPolicySnapshotName": f"{shop}-0",
        "applyStrategy": {"type": "ClientSideApply"},
    }
    types = ("RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")
    status = {
        "conditions": [
            {**_SINCE, "type": item, "reason": item, "observedGeneration": 1} for item in types
        ]
    }
    labels = {"labels": {_PARENT: shop}}
    return _thing(
        PLACEMENT,
        "ClusterResourceBinding",
        f"{shop}-{member}",
        metadata=labels,
        spec=spec,
        status=status,
    )


def _work(shop: str, member: str, objects: int) -> Any:
    labels = {
        _PARENT: shop,
        "kubernetes-fleet.io/parent-resource-binding": f"{shop}-{member}",
        "kubernetes-fleet.io/parent-resource-snapshot-index": "0",
    }
    metadata = {"labels": labels, "namespace": f"fleet-member-{member}"}
    return _thing(
        PLACEMENT,
        "Work",
        f"{shop}-work",
        metadata=metadata,
        spec={"workload": {"manifests": _content(shop, objects)}},
    )
