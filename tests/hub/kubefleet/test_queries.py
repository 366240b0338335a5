"""Which requests an observation needs."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.hub.listing import Query, ServedResource
from fleet_components.systems.kubefleet.hub.queries import AGENT, kubefleet_queries
from tests.hub.kubefleet.hubs import API, hub_of, member


def placement(*selectors: Any, status: Any = None, **spec: Any) -> dict[str, Any]:
    spec = {"resourceSelectors": list(selectors), **spec}
    metadata = {"name": "web", "generation": 1}
    return {
        "apiVersion": API,
        "kind": "ClusterResourcePlacement",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


SHOP = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}


def test_of_works_only_their_metadata_is_asked_for() -> None:
    queries = kubefleet_queries(hub_of(member()))
    assert Query(API, "Work", metadata_only=True) in queries
    assert [query for query in queries if query.namespace] == [AGENT]


def test_what_the_status_names_is_asked_for_in_its_namespace() -> None:
    seen = [{"version": "v1", "kind": "Namespace", "name": "shop"}]
    seen += [
        {"group": "apps", "version": "v1", "kind": "Deployment", "name": "web", "namespace": "shop"}
    ]
    queries = set(kubefleet_queries(hub_of(placement(SHOP, status={"selectedResources": seen}))))
    assert {Query("v1", "Namespace"), Query("apps/v1", "Deployment", "shop")} <= queries
    assert not [query for query in queries if query.kind == "ConfigMap"]


@pytest.mark.parametrize("secrets", [True, False])
def test_data_of_secrets_is_not_asked_for_unless_it_is_wanted(secrets: bool) -> None:
    seen = [{"version": "v1", "kind": "Secret", "name": "key", "namespace": "shop"}]
    listing = hub_of(placement(SHOP, status={"selectedResources": seen}), secrets=secrets)
    assert Query("v1", "Secret", "shop", metadata_only=not secrets) in kubefleet_queries(listing)


def test_where_nothing_tells_what_is_in_a_namespace_all_kinds_are_asked_for() -> None:
    named = {
        query.kind
        for query in kubefleet_queries(hub_of(placement(SHOP)))
        if query.namespace == "shop"
    }
    assert {"ConfigMap", "Secret", "Deployment", "StatefulSet"} <= named
    assert named.isdisjoint({"Pod", "Lease", "ResourcePlacement", "Work"})


def test_events_are_not_asked_for() -> None:
    """A hub places none, though no list of KubeFleet's names those of the core group."""
    listing = hub_of(placement(SHOP))
    listing = attrs.evolve(
        listing,
        served={**listing.served, ("", "Event"): ServedResource("v1", "Event", "events", True)},
    )
    assert "Event" not in {query.kind for query in kubefleet_queries(listing)}


def test_namespaces_that_labels_select_are_opened_once_they_are_known() -> None:
    labelled = {
        "group": "",
        "version": "v1",
        "kind": "Namespace",
        "labelSelector": {"matchLabels": {"app": "shop"}},
    }
    listing = hub_of(placement(labelled), namespace("one", app="shop"), namespace("two"))
    assert {query.namespace for query in kubefleet_queries(listing) if query != AGENT} == {
        "",
        "one",
    }


def test_a_namespace_alone_opens_nothing() -> None:
    listing = hub_of(placement({**SHOP, "selectionScope": "NamespaceOnly"}))
    assert {query.namespace for query in kubefleet_queries(listing) if query != AGENT} == {""}


def test_definitions_of_custom_kinds_are_asked_for() -> None:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    listing = hub_of(placement({"group": "example.com", "version": "v1", "kind": "Widget"}), widget)
    queries = kubefleet_queries(listing)
    assert Query("apiextensions.k8s.io/v1", "CustomResourceDefinition") in queries
    assert Query("example.com/v1", "Widget") in queries


def test_what_is_not_served_is_not_asked_for() -> None:
    served = {key: item for key, item in hub_of().served.items() if key[1] != "ResourcePlacement"}
    listing = attrs.evolve(hub_of(), served=served)
    assert "ResourcePlacement" not in {query.kind for query in kubefleet_queries(listing)}
