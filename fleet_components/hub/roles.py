"""The role with the least rights that observes a hub: it may list what an observation asks for, and
nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from fleet_components.content.secret_text import is_secret_kind
from fleet_components.hub.listing import Listing, Query, ServedResource, missed
from fleet_components.hub.reading import missing
from fleet_components.systems.framework import System

NAME = "fleet-observe"
NOTES: tuple[str, ...] = (
    "What fleet observe asks a hub for: lists, by GET alone. No watch, and no verb that writes.",
    (
        "Every user may ask which kinds are served: the role system:discovery, which API servers"
        " give to all."
    ),
)
SECRETS_NOTE = (
    "Secrets: list is the only right by which their names can be read, and who has it may read"
    " their data, too: the API has no right to metadata alone. fleet observe asks for metadata"
    " alone, but with --secrets. To do without this right give --no-secrets to both, fleet observe"
    " --rbac and fleet observe: Secrets are then named as not observed."
)
NO_SECRETS_NOTE = (
    "Secrets are left out: give --no-secrets to fleet observe, too, which does not ask for them"
    " then."
)

REFUSED_NOTE = (
    "Some of these lists were refused just now, and more may follow from what is in them: apply"
    " this role, and then print and apply it once more."
)


def first_queries(system: System) -> tuple[Listing, tuple[Query, ...]]:
    """Return what is asked for before anything is known of a hub of a system, with the listing that
    tells plurals.
    """
    # No hub has answered, so any time does.
    listing = Listing(system, datetime.fromtimestamp(0, UTC), _AnyKind())
    return listing, missing(listing)


def role(
    listing: Listing, queries: Iterable[Query], *, no_secrets: bool = False
) -> Mapping[str, Any]:
    """Return the ClusterRole that may ask for some lists.

    Args:
        listing: what is served.
        queries: the requests.
        no_secrets: True if Secrets are not asked for. Their metadata takes the same right as their
            data.
    """
    kinds: dict[str, set[str]] = defaultdict(set)
    # Kinds of further requests, which depend on the answers to the first.
    for group, kind in listing.system.later_kinds():
        if (group, kind) in listing.served:
            kinds[group].add(listing.served[group, kind].plural)
    for query in queries:
        if not (no_secrets and is_secret_kind(query.kind)):
            kinds[query.group].add(listing.served[query.group, query.kind].plural)
    rules = [
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": ["list"]}
        for group, plurals in sorted(kinds.items())
    ]
    header = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
    }
    return {**header, "rules": rules}


def notes(
    listing: Listing, queries: Iterable[Query], *, no_secrets: bool = False
) -> tuple[str, ...]:
    """Return what is to be said about a role, a few sentences each.

    Args:
        listing: as for :func:`role`.
        queries: as for :func:`role`.
        no_secrets: as for :func:`role`.
    """
    found = NOTES
    if any(is_secret_kind(query.kind) for query in queries):
        found += (NO_SECRETS_NOTE if no_secrets else SECRETS_NOTE,)
    if missed(listing.refused):
        found += (REFUSED_NOTE,)
    return found


_OF_KARMADA = {
    "apps": ("WorkloadRebalancer",),
    "autoscaling": ("CronFederatedHPA", "FederatedHPA"),
    "cluster": ("Cluster",),
    "config": ("ResourceInterpreterCustomization", "ResourceInterpreterWebhookConfiguration"),
    "networking": ("MultiClusterIngress", "MultiClusterService"),
    "policy": (
        *(
            "ClusterOverridePolicy",
            "ClusterPropagationPolicy",
            "ClusterTaintPolicy",
            "FederatedResourceQuota",
        ),
        *("OverridePolicy", "PropagationPolicy"),
    ),
    "remedy": ("Remedy",),
    "work": ("ClusterResourceBinding", "ResourceBinding", "Work"),
}
"""The kinds of Karmada 1.19 by the first word of their group."""


class _AnyKind(Mapping[tuple[str, str], ServedResource]):
    """All kinds that there could be, in version v1, with the plurals that Kubernetes gives kinds by
    rule.

    Those of Karmada are listed, since what steers a control plane are the kinds that it serves.
    """

    def __getitem__(self, key: tuple[str, str]) -> ServedResource:
        group, kind = key
        return ServedResource(
            f"{group}/v1" if group else "v1", kind, _plural(kind), namespaced=True
        )

    def __contains__(self, key: object) -> bool:
        return True

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return (
            (f"{word}.karmada.io", kind) for word, kinds in _OF_KARMADA.items() for kind in kinds
        )

    def __len__(self) -> int:
        return sum(map(len, _OF_KARMADA.values()))


def _plural(kind: str) -> str:
    """Return the plural of a kind: source ``UnsafeGuessKindToResource`` of k8s.io/apimachinery."""
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
