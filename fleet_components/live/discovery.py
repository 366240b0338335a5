"""The kinds that a cluster serves, as it tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import client as http
from typing import Any

import attrs

from fleet_components.hub.cluster_facts import ServedKind
from fleet_components.hub.listing import Resource
from fleet_components.live.failures import NOT_KUBERNETES
from fleet_components.live.getting import Getter, Unanswered

Served = dict[tuple[str, str], Resource]
_ALL_AT_ONCE = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join([*map(_ALL_AT_ONCE.format, ("v2", "v2beta1")), "application/json"])


@attrs.frozen
class _Group:
    """A kind as a cluster tells it, and whether its objects can be listed."""

    resource: Resource
    listable: bool


def served_by(cluster: Getter) -> Served:
    """Return the kinds that can be listed, by group and kind, each in the version that the cluster
    prefers.

    Raises:
        Unanswered: the cluster does not tell.
    """
    found: Served = {}
    for item in _all(cluster):
        if item.listable:
            group = item.resource.api_version.rpartition("/")[0]
            found.setdefault((group, item.resource.kind), item.resource)
    return found


def kinds_of(cluster: Getter) -> tuple[ServedKind, ...]:
    """Return all kinds in all versions.

    Raises:
        Unanswered: the cluster does not tell.
    """
    listed = (item.resource for item in _all(cluster))
    return tuple(ServedKind(resource.api_version, resource.kind, resource.plural) for resource in listed)


def _all(cluster: Getter) -> list[_Group]:
    found: list[_Group] = []
    try:
        for root in ("/api", "/apis"):
            answer = cluster.get(root, _ACCEPT)
            found += _aggregated(answer) if answer["kind"] == "APIGroupDiscoveryList" else _by_group(cluster, answer)
    except (AttributeError, KeyError, TypeError):
        raise Unanswered(NOT_KUBERNETES) from None
    return found


def _aggregated(answer: Mapping[str, Any]) -> Iterator[_Group]:
    for group in answer["items"]:
        name = str(group.get("metadata", {}).get("name") or "")
        for version in group.get("versions") or ():
            api = f"{name}/{version['version']}" if name else str(version["version"])
            for resource in version.get("resources") or ():
                kind, namespaced = (
                    (resource.get("responseKind") or {}).get("kind"),
                    resource.get("scope") == "Namespaced",
                )
                yield from _groups_of(api, kind, resource["resource"], resource, namespaced=namespaced)


def _by_group(cluster: Getter, answer: Mapping[str, Any]) -> Iterator[_Group]:
    for name, api in _versions(answer):
        try:
            resources = cluster.get(f"/apis/{api}" if name else f"/api/{api}")["resources"] or ()
        except Unanswered as error:
            # A group whose own API server is away is not served, as for kubectl; nothing else may
            # be missing.
            if error.code in (http.NOT_FOUND, http.SERVICE_UNAVAILABLE):
                continue
            raise
        for resource in resources:
            yield from _groups_of(
                api,
                resource["kind"],
                resource["name"],
                resource,
                namespaced=bool(resource["namespaced"]),
            )


def _versions(answer: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if answer["kind"] == "APIVersions":
        return [("", str(version)) for version in answer["versions"]]
    found = []
    for group in answer["groups"]:
        preferred = (group.get("preferredVersion") or {}).get("version")
        versions = sorted((str(item["version"]) for item in group["versions"]), key=lambda text: text != preferred)
        found += [(str(group["name"]), f"{group['name']}/{version}") for version in versions]
    return found


def _groups_of(api: str, kind: Any, plural: Any, data: Mapping[str, Any], *, namespaced: bool) -> Iterator[_Group]:
    # Subresources, as deployments/status, are listed with the same kind.
    if kind and "/" not in plural:
        yield _Group(Resource(api, str(kind), str(plural), namespaced), "list" in (data.get("verbs") or ()))
