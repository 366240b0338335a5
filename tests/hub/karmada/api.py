"""A control plane that answers from a list of objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from fleet_components.hub.listing import Listing, Object, Query, ServedResource
from fleet_components.hub.reading import missing
from fleet_components.model.kinds import BUILT_IN, guess_plural
from fleet_components.systems.registry import SYSTEMS

AS_OF = datetime(2026, 11, 23, 12, tzinfo=UTC)
_KARMADA = {
    "cluster.karmada.io/v1alpha1": ("", "Cluster"),
    "policy.karmada.io/v1alpha1": (
        "PropagationPolicy OverridePolicy FederatedResourceQuota",
        "ClusterPropagationPolicy ClusterOverridePolicy ClusterTaintPolicy",
    ),
    "apps.karmada.io/v1alpha1": ("", "WorkloadRebalancer"),
    "autoscaling.karmada.io/v1alpha1": ("FederatedHPA CronFederatedHPA", ""),
    "networking.karmada.io/v1alpha1": ("MultiClusterService MultiClusterIngress", ""),
    "config.karmada.io/v1alpha1": (
        "",
        "ResourceInterpreterCustomization ResourceInterpreterWebhookConfiguration",
    ),
    "remedy.karmada.io/v1alpha1": ("", "Remedy"),
    "work.karmada.io/v1alpha2": ("ResourceBinding", "ClusterResourceBinding"),
    "work.karmada.io/v1alpha1": ("Work", ""),
}
"""Namespaced and cluster-scoped kinds by ``apiVersion``."""


def _served() -> dict[tuple[str, str], ServedResource]:
    found = {
        (group, kind): ServedResource(
            "/".join(filter(None, (group, "v1"))), kind, item.plural, item.namespaced
        )
        for (group, kind), item in BUILT_IN.items()
        if "fleet" not in group and "karmada" not in group
    }
    for version, kinds in _KARMADA.items():
        for kind, namespaced in (
            (kind, not place) for place in (0, 1) for kind in kinds[place].split()
        ):
            found[version.partition("/")[0], kind] = ServedResource(
                version, kind, guess_plural(kind), namespaced
            )
    return found


@attrs.frozen
class Api:
    """A control plane.

    Attributes:
        objects: its objects.
        asked: the requests that were made.
    """

    objects: tuple[Object, ...]
    asked: list[Query] = attrs.field(factory=list)

    def listing(self, *, secrets: bool = False) -> Listing:
        """All answers that an observation needs."""
        listing = Listing(
            SYSTEMS["karmada"], AS_OF, {**self._custom(), **_served()}, secrets=secrets
        )
        while queries := missing(listing):
            self.asked.extend(queries)
            listing = listing.with_answers(
                {query: tuple(self._answer(query)) for query in queries}, {}
            )
        return listing

    def _custom(self) -> dict[tuple[str, str], ServedResource]:
        """The kinds that the definitions among the objects define."""
        specs = [
            data["spec"] for data in self.objects if data["kind"] == "CustomResourceDefinition"
        ]
        return {
            (spec["group"], spec["names"]["kind"]): ServedResource(
                f"{spec['group']}/{spec['versions'][0]['name']}",
                spec["names"]["kind"],
                spec["names"]["plural"],
                spec["scope"] == "Namespaced",
            )
            for spec in specs
        }

    def _answer(self, query: Query) -> Iterable[Object]:
        for data in self.objects:
            metadata = data["metadata"]
            if (data["apiVersion"], data["kind"]) != (query.api_version, query.kind):
                continue
            if query.namespace and metadata.get("namespace") != query.namespace:
                continue
            labels = [f"{key}={value}" for key, value in (metadata.get("labels") or {}).items()]
            if query.label and query.label not in labels:
                continue
            yield _header(data) if query.metadata_only else data


def _header(data: Mapping[str, Any]) -> Object:
    return {key: data[key] for key in ("apiVersion", "kind", "metadata")}
