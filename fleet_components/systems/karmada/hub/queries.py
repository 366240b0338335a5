"""Requests that an observation of a Karmada control plane needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet_components.content.secret_kind import is_secret_kind
from fleet_components.hub.listing import Listing, Query
from fleet_components.systems.karmada.hub.binding import Binding
from fleet_components.systems.karmada.hub.kinds import (
    BINDINGS,
    MEMBER,
    MEMBER_GROUP,
    NAMESPACE,
    STEERING,
    WORK,
    WORK_GROUP,
)
from fleet_components.systems.karmada.hub.reading import reading_of
from fleet_components.systems.karmada.model.policy import CLUSTER_PROPAGATION, PROPAGATION
from fleet_components.systems.karmada.scheduler.matching import skips


def karmada_queries(listing: Listing) -> tuple[Query, ...]:
    """Return all requests that an observation needs, as far as the answers so far tell.

    First members, policies, bindings and namespaces; then the templates that these name; then the Works of bindings
    whose members may run something else than the template as it is now.
    """
    first = tuple(_first(listing))
    if listing.lacking(first):
        return first
    second = (*first, *_templates(listing))
    if listing.lacking(second):
        return second
    return (*second, *_works(listing))


def _first(listing: Listing) -> Iterator[Query]:
    if space := listing.served.get(("", NAMESPACE)):
        yield Query(space.api_version, NAMESPACE)
    for (group, kind), resource in sorted(listing.served.items()):
        binds = group == WORK_GROUP and kind in BINDINGS
        if binds or group in STEERING or (group, kind) == (MEMBER_GROUP, MEMBER):
            yield Query(resource.api_version, kind)


def _templates(listing: Listing) -> Iterator[Query]:
    asked: dict[tuple[str, str], set[str]] = defaultdict(set)
    for version, kind, namespace in (*_selected(listing), *_bound(listing)):
        asked[version, kind].add(namespace)
    for (version, kind), namespaces in sorted(asked.items()):
        resource = listing.served.get((version.rpartition("/")[0], kind))
        everywhere = "" in namespaces or not (resource and resource.namespaced)
        hidden = is_secret_kind(kind) and not listing.secrets
        for namespace in sorted({""} if everywhere else namespaces):
            yield Query(version, kind, namespace, metadata_only=hidden)


def _selected(listing: Listing) -> Iterator[tuple[str, str, str]]:
    """Yield apiVersion, kind and namespace of what propagation policies select; no namespace means all of them."""
    for kind in (PROPAGATION, CLUSTER_PROPAGATION):
        for policy in listing.all(kind, "policy.karmada.io"):
            own = policy["metadata"].get("namespace") or ""
            for selector in policy.get("spec", {}).get("resourceSelectors") or ():
                namespace = own or selector.get("namespace") or ""
                if selector.get("kind") and not skips(namespace):
                    yield selector["apiVersion"], selector["kind"], namespace


def _bound(listing: Listing) -> Iterator[tuple[str, str, str]]:
    for binding in (Binding(data) for kind in BINDINGS for data in listing.all(kind, WORK_GROUP)):
        yield binding.api_version, binding.template.kind, binding.template.namespace


def _works(listing: Listing) -> Iterator[Query]:
    """Yield requests for the Works of the bindings whose members may run something else than the template now."""
    served = listing.served.get((WORK_GROUP, WORK))
    marks = {copies.bound.binding.mark for copies in reading_of(listing).unclear} if served else set()
    for mark in sorted(filter(None, marks)):
        yield Query(served.api_version if served else "", WORK, label=mark)
