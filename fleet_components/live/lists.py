"""Lists of objects, as a cluster answers them: page by page, checked, and without what no reader
needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import client as http
from typing import Any
from urllib.parse import quote, urlencode

import attrs

from fleet_components.content.secret_text import is_secret_kind
from fleet_components.content.strip import LAST_APPLIED
from fleet_components.hub.cluster_facts import ServedKind
from fleet_components.hub.listing import Object, Query, ServedResource
from fleet_components.live.failures import NOT_KUBERNETES
from fleet_components.live.getting import Getter, UnansweredError

_PAGE = 250
_STARTS = 3
"""Times that a list is begun whose rest has expired; the last time it is asked for in one piece."""
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_LONGEST_NAME = 253
_NEVER_IN_NAMES = ("/", "%")


def objects_of(cluster: Getter, query: Query, resource: ServedResource) -> tuple[Object, ...]:
    """Return all objects that a request is for.

    Each has the apiVersion and kind of the request, which items of lists often lack, and no
    ``managedFields``, except
    for Secrets of which only the metadata is asked for: there they name the data. Asked for
    metadata alone, it has nothing else, nor the annotation in which kubectl keeps a copy of the
    whole.

    Raises:
        UnansweredError: there is no usable answer for all of them.
    """
    for start in range(1, _STARTS + 1):
        try:
            return tuple(_pages(cluster, query, resource, 0 if start == _STARTS else _PAGE))
        except UnansweredError as error:
            # 410 Gone: the token for the rest of the list has expired.
            if error.code != http.GONE or start == _STARTS:
                raise
    raise AssertionError  # the last start returns or raises


def path_of(query: Query, resource: ServedResource) -> str:
    """Return the path of a list."""
    root = f"/apis/{query.api_version}" if query.group else f"/api/{query.api_version}"
    space = (
        f"/namespaces/{quote(query.namespace, safe='')}"
        if query.namespace and resource.namespaced
        else ""
    )
    return f"{root}{space}/{quote(resource.plural, safe='')}"


def _pages(cluster: Getter, query: Query, resource: ServedResource, size: int) -> Iterator[Object]:
    path, accept = (
        path_of(query, resource),
        _METADATA if query.metadata_only else "application/json",
    )
    label, following = {"labelSelector": query.label} if query.label else {}, ""
    while True:
        options = {
            **({"limit": str(size)} if size else {}),
            **({"continue": following} if following else {}),
            **label,
        }
        answer = cluster.get(f"{path}?{urlencode(options)}" if options else path, accept)
        try:
            # Go writes an empty list as null.
            items, following = (
                answer["items"] or (),
                (answer.get("metadata") or {}).get("continue") or "",
            )
            if not isinstance(items, (list, tuple)) or not isinstance(following, str):
                raise UnansweredError(NOT_KUBERNETES)
        except (AttributeError, KeyError, TypeError):
            raise UnansweredError(NOT_KUBERNETES) from None
        for item in items:
            yield _checked(item, query, resource)
        if not following:
            return


def _checked(item: Any, query: Query, resource: ServedResource) -> Object:
    metadata = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(metadata, dict) or not _is_name(metadata.get("name")):
        raise UnansweredError(NOT_KUBERNETES)
    space = metadata.get("namespace")
    # An object has a namespace if and only if its kind is namespaced.
    if resource.namespaced != _is_name(space) or (
        query.namespace and resource.namespaced and space != query.namespace
    ):
        raise UnansweredError(NOT_KUBERNETES)
    if not (query.metadata_only and is_secret_kind(query.kind)):
        metadata.pop("managedFields", None)
    header = {"apiVersion": query.api_version, "kind": query.kind}
    if not query.metadata_only:
        return {**header, **{field: value for field, value in item.items() if field not in header}}
    return {**header, "metadata": _without_copy(metadata)}


def _without_copy(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    notes = metadata.get("annotations")
    if not isinstance(notes, Mapping) or LAST_APPLIED not in notes:
        return metadata
    return {
        **metadata,
        "annotations": {key: text for key, text in notes.items() if key != LAST_APPLIED},
    }


def _is_name(name: Any) -> bool:
    """Return whether an API server takes a name: any other would lead elsewhere in paths, of files
    too.
    """
    return (
        isinstance(name, str)
        and 0 < len(name) <= _LONGEST_NAME
        and name.isascii()
        and name.isprintable()
        and name not in (".", "..")
        and not any(sign in name for sign in _NEVER_IN_NAMES)
    )


# The kinds that a cluster serves, as it tells them.


Served = dict[tuple[str, str], ServedResource]
# Newer servers answer with all groups at once; others ignore these types and send plain lists.
_ALL_AT_ONCE = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join([*map(_ALL_AT_ONCE.format, ("v2", "v2beta1")), "application/json"])


@attrs.frozen
class _Listed:
    """A kind as a cluster tells it, and whether its objects can be listed."""

    resource: ServedResource
    listable: bool


def served_by(cluster: Getter) -> Served:
    """Return the kinds that can be listed, by group and kind, each in the version that the cluster
    prefers.

    Raises:
        UnansweredError: the cluster does not tell.
    """
    found: Served = {}
    for item in _all(cluster):
        if item.listable:
            group = item.resource.api_version.rpartition("/")[0]
            # A group's versions come in the order of preference, so the first one counts.
            found.setdefault((group, item.resource.kind), item.resource)
    return found


def kinds_of(cluster: Getter) -> tuple[ServedKind, ...]:
    """Return all kinds in all versions.

    Raises:
        UnansweredError: the cluster does not tell.
    """
    listed = (item.resource for item in _all(cluster))
    return tuple(
        ServedKind(resource.api_version, resource.kind, resource.plural) for resource in listed
    )


def _all(cluster: Getter) -> list[_Listed]:
    found: list[_Listed] = []
    try:
        for root in ("/api", "/apis"):
            answer = cluster.get(root, _ACCEPT)
            found += (
                _aggregated(answer)
                if answer["kind"] == "APIGroupDiscoveryList"
                else _by_group(cluster, answer)
            )
    except (AttributeError, KeyError, TypeError):
        raise UnansweredError(NOT_KUBERNETES) from None
    return found


def _aggregated(answer: Mapping[str, Any]) -> Iterator[_Listed]:
    for group in answer["items"]:
        name = str(group.get("metadata", {}).get("name") or "")
        for version in group.get("versions") or ():
            api = f"{name}/{version['version']}" if name else str(version["version"])
            for resource in version.get("resources") or ():
                kind, namespaced = (
                    (resource.get("responseKind") or {}).get("kind"),
                    resource.get("scope") == "Namespaced",
                )
                yield from _groups_of(
                    api, kind, resource["resource"], resource, namespaced=namespaced
                )


def _by_group(cluster: Getter, answer: Mapping[str, Any]) -> Iterator[_Listed]:
    for name, api in _versions(answer):
        try:
            resources = cluster.get(f"/apis/{api}" if name else f"/api/{api}")["resources"] or ()
        except UnansweredError as error:
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
        versions = sorted(
            (str(item["version"]) for item in group["versions"]), key=lambda text: text != preferred
        )
        found += [(str(group["name"]), f"{group['name']}/{version}") for version in versions]
    return found


def _groups_of(
    api: str, kind: Any, plural: Any, data: Mapping[str, Any], *, namespaced: bool
) -> Iterator[_Listed]:
    # Subresources, as deployments/status, are listed with the same kind.
    if kind and "/" not in plural:
        yield _Listed(
            ServedResource(api, str(kind), str(plural), namespaced),
            "list" in (data.get("verbs") or ()),
        )
