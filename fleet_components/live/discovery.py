"""The kinds that a cluster serves, as it tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import client as http
from typing import Any

from fleet_components.hub.listing import Resource
from fleet_components.live.getting import NOT_KUBERNETES, Getter, Unanswered

Served = dict[tuple[str, str], Resource]
_ALL_AT_ONCE = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join([*map(_ALL_AT_ONCE.format, ("v2", "v2beta1")), "application/json"])


def served_by(cluster: Getter) -> Served:
    """Return the kinds that can be listed, by group and kind, each in the version that the cluster prefers.

    Raises:
        Unanswered: the cluster does not tell.
    """
    found: Served = {}
    try:
        for root in ("/api", "/apis"):
            answer = cluster.get(root, _ACCEPT)
            told = _aggregated(answer) if answer["kind"] == "APIGroupDiscoveryList" else _by_group(cluster, answer)
            for key, resource in told:
                found.setdefault(key, resource)
    except (AttributeError, KeyError, TypeError):
        raise Unanswered(NOT_KUBERNETES) from None
    return found


def _aggregated(answer: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Resource]]:
    for group in answer["items"]:
        name = str(group.get("metadata", {}).get("name") or "")
        for version in group.get("versions") or ():
            api = f"{name}/{version['version']}" if name else str(version["version"])
            for one in version.get("resources") or ():
                kind, namespaced = (one.get("responseKind") or {}).get("kind"), one.get("scope") == "Namespaced"
                yield from _listable(name, api, kind, one["resource"], one, namespaced=namespaced)


def _by_group(cluster: Getter, answer: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Resource]]:
    for name, api in _versions(answer):
        root = f"/apis/{api}" if name else f"/api/{api}"
        try:
            resources = cluster.get(root)["resources"] or ()
        except Unanswered as error:
            # A group whose own API server is away is not served, as for kubectl; nothing else may be missing.
            if error.code in (http.NOT_FOUND, http.SERVICE_UNAVAILABLE):
                continue
            raise
        for one in resources:
            yield from _listable(name, api, one["kind"], one["name"], one, namespaced=bool(one["namespaced"]))


def _versions(answer: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if answer["kind"] == "APIVersions":
        return [("", str(version)) for version in answer["versions"]]
    found = []
    for group in answer["groups"]:
        preferred = (group.get("preferredVersion") or {}).get("version")
        versions = sorted((str(one["version"]) for one in group["versions"]), key=lambda one: one != preferred)
        found += [(str(group["name"]), f"{group['name']}/{version}") for version in versions]
    return found


def _listable(
    group: str, api: str, kind: Any, plural: str, one: Mapping[str, Any], *, namespaced: bool
) -> Iterator[tuple[tuple[str, str], Resource]]:
    # Subresources, as deployments/status, are listed with the same kind.
    if kind and "/" not in plural and "list" in (one.get("verbs") or ()):
        yield (group, str(kind)), Resource(api, str(kind), str(plural), namespaced)
