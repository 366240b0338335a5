"""Hubs of the stand-in, with lists that tests fill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from fleet_components.hub.listing import Listing, Query, ServedResource
from fleet_components.hub.observation import HubObservation
from fleet_components.live.lists import path_of
from fleet_components.model.manifest import Manifest
from fleet_components.systems.registry import SYSTEMS
from tests.live.api_server import Api, refuses, serves

MEMBERS = "/apis/cluster.kubernetes-fleet.io/v1/memberclusters"
PLACEMENTS = "/apis/placement.kubernetes-fleet.io/v1/clusterresourceplacements"
CONFIG_MAPS, SECRETS = "/api/v1/configmaps", "/api/v1/secrets"
KUBEFLEET = (
    "v1/ConfigMap",
    "v1/Secret",
    "cluster.kubernetes-fleet.io/v1/MemberCluster*",
    "cluster.kubernetes-fleet.io/v1beta1/MemberCluster*",
    "placement.kubernetes-fleet.io/v1/ClusterResourcePlacement*",
)
KARMADA = (
    "v1/ConfigMap",
    "cluster.karmada.io/v1alpha1/Cluster*",
    "policy.karmada.io/v1alpha1/PropagationPolicy",
    "work.karmada.io/v1alpha2/ResourceBinding",
)
STEERING = (
    Query("cluster.kubernetes-fleet.io/v1", "MemberCluster"),
    Query("placement.kubernetes-fleet.io/v1", "ClusterResourcePlacement"),
)
CONTENT = (Query("v1", "ConfigMap"), Query("v1", "Secret", metadata_only=True))


def thing(name: Any, namespace: str = "", **fields: Any) -> dict[str, Any]:
    space = {"namespace": namespace} if namespace else {}
    return {
        "metadata": {"name": name, **space, "managedFields": [{"manager": "kubectl"}]},
        **fields,
    }


def kubefleet(api: Api, **options: bool) -> Api:
    """Make the stand-in a hub of KubeFleet."""
    serves(api, *KUBEFLEET, **options)
    api.lists |= {
        MEMBERS: [thing("east"), thing("west")],
        PLACEMENTS: [thing("shop", spec={"policy": {}})],
        CONFIG_MAPS: [thing(f"c{number:02}", "shop", data={"k": "v"}) for number in range(12)],
        SECRETS: [thing("key", "shop", data={"k": "djE="})],
    }
    return api


def two_rounds(listing: Listing) -> tuple[Query, ...]:
    """What steers the hub, and then, once that is known, the content."""
    return STEERING if listing.lacking(STEERING) else (*STEERING, *CONTENT)


def reads(
    monkeypatch: pytest.MonkeyPatch,
    queries: Callable[[Listing], tuple[Query, ...]] = two_rounds,
    read: Callable[[Listing], HubObservation] | None = None,
) -> None:
    """Ask hubs of both systems for these lists."""

    def nothing(listing: Listing) -> HubObservation:
        return HubObservation(system=listing.system, as_of=listing.as_of)

    for system in map(type, SYSTEMS.values()):
        monkeypatch.setattr(system, "queries", lambda _, listing: queries(listing))
        monkeypatch.setattr(system, "observation", lambda _, listing: (read or nothing)(listing))


def holds(api: Api, listing: Listing, objects: Iterable[Mapping[str, Any]]) -> None:
    """Let the stand-in serve the kinds of a listing, and have objects."""
    groups: dict[str, dict[str, list[Any]]] = {}
    for item in listing.served.values():
        group, _, version = item.api_version.rpartition("/")
        resource = {"resource": item.plural, "responseKind": {"kind": item.kind}, "verbs": ["list"]}
        resource["scope"] = "Namespaced" if item.namespaced else "Cluster"
        groups.setdefault(group, {}).setdefault(version, []).append(resource)
        api.lists[_path(item)] = []
    for root, named in (("/api", False), ("/apis", True)):
        items = [
            {
                "metadata": {"name": name},
                "versions": [
                    {"version": version, "resources": found} for version, found in versions.items()
                ],
            }
            for name, versions in groups.items()
            if bool(name) == named
        ]
        api.objects[root] = {"kind": "APIGroupDiscoveryList", "items": items}
    for data in objects:
        manifest = Manifest(data)
        resource_of = listing.served[manifest.group, manifest.kind]
        for space in {"", manifest.namespace if resource_of.namespaced else ""}:
            api.lists.setdefault(_path(resource_of, space), []).append(dict(data))


def allows(api: Api, listing: Listing, role: Any) -> None:
    """Refuse all lists that a ClusterRole does not have."""
    allowed = {
        (group, name)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for name in rule["resources"]
    }
    spaces = {
        item["metadata"].get("namespace", "") for found in api.lists.values() for item in found
    }
    for item in listing.served.values():
        for path in {_path(item, space) for space in spaces}:
            # A namespace in which there is nothing has an empty list.
            api.lists.setdefault(path, [])
            if (item.api_version.rpartition("/")[0], item.plural) not in allowed:
                api.answers[path] = refuses(403)


def _path(resource: ServedResource, namespace: str = "") -> str:
    return path_of(Query(resource.api_version, resource.kind, namespace), resource)
