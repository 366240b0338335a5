"""Requests that an observation needs."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.content.catalogue import HUB_NAMESPACES, labels_of
from fleet_components.content.eligible import is_disabled
from fleet_components.content.secret import is_secret
from fleet_components.hub.listing import Listing, Object, Query, ServedResource
from fleet_components.model.codec import decode
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.selector import LabelSelector
from fleet_components.systems.kubefleet.hub.kinds import (
    ENVELOPES,
    GROUP,
    KEPT,
    MEMBERS,
    PLACEMENTS,
    WORK,
    WRITTEN,
    Kept,
)
from fleet_components.systems.kubefleet.hub.snapshots import Contents
from fleet_components.systems.kubefleet.model.release import RELEASES, TABLE, release_of

DEFINITIONS = Query("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_NAMESPACES = Query("v1", "Namespace")
_ONLY = ("NamespaceOnly", "NamespaceWithResourceSelectors")


def kubefleet_queries(listing: Listing) -> tuple[Query, ...]:
    """Return all requests that an observation needs, as far as the answers so far show.

    First what steers the hub and what it remembers; then the objects that placements select, kind
    by kind, in the namespaces where they are.
    """
    # A dict keeps the order, and each request once: placements may share some.
    found = dict.fromkeys(_steering(listing))
    kept = Kept.of(listing)
    for kind in PLACEMENTS:
        for placement in listing.all(kind, GROUP):
            found.update(dict.fromkeys(_selected(listing, kept, Manifest(placement))))
    return tuple(found)


def _steering(listing: Listing) -> Iterator[Query]:
    """Yield the requests for members, policies, and what the hub remembers; of Works only their
    labels count.
    """
    wanted = [
        (MEMBERS, "MemberCluster"),
        *((GROUP, kind) for kind in (*WRITTEN, *KEPT, *ENVELOPES)),
    ]
    for resource in filter(None, map(listing.served.get, wanted)):
        yield Query(resource.api_version, resource.kind, metadata_only=resource.kind == WORK)
    yield AGENT


def _selected(listing: Listing, kept: Kept, placement: Manifest) -> Iterator[Query]:
    """Yield the requests for what a placement selects."""
    known = set[tuple[str, str, str]]()
    status = placement.data.get("status") or {}
    for item in status.get("selectedResources") or ():
        if not item.get("envelope"):
            known.add((_version(item), str(item["kind"]), str(item.get("namespace") or "")))
    for data in Contents.of(kept, placement).newest:
        manifest = Manifest(data)
        known.add((manifest.api_version, manifest.kind, manifest.namespace))
    inside = {namespace for _, _, namespace in known} - {""}
    for version, kind, namespace in sorted(known | set(_named(listing, placement))):
        yield from _of_kind(listing, version, kind, namespace)
    for namespace in sorted(set(_opened(listing, placement)) - inside):
        # Nothing shows what is in there, as before the first update run.
        for resource in listing.served.values():
            if _may_be_placed(resource):
                yield from _of_kind(listing, resource.api_version, resource.kind, namespace)


def _may_be_placed(resource: ServedResource) -> bool:
    """Return whether a namespace may hold objects of a kind that are placed.

    KubeFleet has no rule against core Events, yet snapshots of namespaces in which there are some
    do not have them.
    """
    group = resource.api_version.rpartition("/")[0]
    return (
        resource.namespaced
        and not is_disabled(group, resource.kind)
        and (group, resource.kind) != ("", "Event")
    )


def _of_kind(listing: Listing, version: str, kind: str, namespace: str) -> Iterator[Query]:
    group = version.rpartition("/")[0]
    if group == GROUP and kind in ENVELOPES:
        return  # all of them are requested
    yield Query(
        version, kind, namespace, metadata_only=is_secret({"kind": kind}) and not listing.secrets
    )
    if (group, kind) not in BUILT_IN and group not in BUILT_IN_GROUPS:
        yield DEFINITIONS


def _named(listing: Listing, placement: Manifest) -> Iterator[tuple[str, str, str]]:
    """Yield apiVersion, kind and namespace of what the selectors of a placement name."""
    selectors = _selectors(placement)
    inner = next(
        (
            selector.get("name", "")
            for selector in selectors
            if selector.get("selectionScope") == _ONLY[1]
        ),
        "",
    )
    for selector in selectors:
        resource = listing.served.get((selector.get("group") or "", selector["kind"]))
        if resource and not is_disabled(selector.get("group") or "", selector["kind"]):
            namespace = placement.namespace or inner if resource.namespaced else ""
            if namespace or not resource.namespaced:
                yield _version(selector), selector["kind"], namespace


def _opened(listing: Listing, placement: Manifest) -> Iterator[str]:
    """Yield the namespaces that a placement selects with what is in them."""
    for selector in _selectors(placement):
        if (selector.get("group") or "", selector["kind"]) != ("", "Namespace") or selector.get(
            "selectionScope"
        ) in _ONLY:
            continue
        if selector.get("name"):
            yield selector["name"]
        elif "labelSelector" in selector:
            yield from _labelled(listing, selector["labelSelector"])


def _labelled(listing: Listing, selector: Object) -> Iterator[str]:
    labels = decode(LabelSelector, selector)
    for data in listing.answers.get(_NAMESPACES, ()):
        namespace = Manifest(data)
        if namespace.name not in HUB_NAMESPACES and labels.matches(labels_of(namespace)):
            yield namespace.name


def _selectors(placement: Manifest) -> list[Object]:
    return list((placement.data.get("spec") or {}).get("resourceSelectors") or ())


def _version(data: Object) -> str:
    return "/".join(filter(None, (data.get("group") or "", data["version"])))


# The release of KubeFleet that a hub runs, read from the image of its agent.
#
# Source: ``charts/hub-agent`` of kubefleet-dev/kubefleet. The hub of a fleet of Azure runs no
# agent that can be seen.


AGENT = Query("apps/v1", "Deployment", "fleet-system", label="app.kubernetes.io/name=hub-agent")
"""The request for the agent of a hub."""


def is_agent(key: ObjectKey) -> bool:
    """Return whether an object may be the agent: no placement brings it anywhere."""
    return AGENT.asks_for(key)


def release_shown(listing: Listing) -> tuple[str, str]:
    """Return the release that a hub runs, or is said to run; or an empty text, and why it is not
    known.
    """
    if listing.release:
        return listing.release, ""
    images = sorted(set(_images(listing)))
    found = {release_of(image) for image in images}
    if len(found) == 1 and found <= RELEASES.keys():
        return found.pop(), ""
    if images:
        why = f"the image of its agent is {', '.join(images)}"
    elif AGENT in listing.refused:
        why = f"Deployment.apps in namespace fleet-system {listing.refused[AGENT]}"
    else:
        why = "no hub-agent is in fleet-system, as on hubs of Azure"
    return "", TABLE.assumed(why)


def _images(listing: Listing) -> Iterator[str]:
    for data in listing.answers.get(AGENT, ()):
        pod = ((Manifest(data).data.get("spec") or {}).get("template") or {}).get("spec") or {}
        yield from (str(item["image"]) for item in pod.get("containers") or () if item.get("image"))
