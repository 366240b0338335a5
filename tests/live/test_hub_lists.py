"""Lists that are asked for in many namespaces, or by a label."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet_components.hub.listing import Query
from fleet_components.live.hub import ask_hub
from tests.live.api_server import Api, api_server, refuses
from tests.live.hubs import CONFIG_MAPS, kubefleet, reads, thing


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        yield kubefleet(found)


def in_spaces(number: int) -> tuple[Query, ...]:
    return tuple(Query("v1", "ConfigMap", f"s{item}") for item in range(number))


@pytest.mark.parametrize(("number", "together"), [(8, False), (9, True)])
def test_a_kind_in_many_namespaces_is_asked_for_at_once(
    api: Api, monkeypatch: pytest.MonkeyPatch, number: int, together: bool
) -> None:
    queries = in_spaces(number)
    reads(monkeypatch, lambda _: queries)
    api.lists[CONFIG_MAPS] = [thing("c", f"s{item}") for item in (1, 3, 77)]
    api.lists |= {f"/api/v1/namespaces/s{item}/configmaps": [] for item in range(number)}
    api.lists["/api/v1/namespaces/s1/configmaps"] = api.lists[
        "/api/v1/namespaces/s3/configmaps"
    ] = []
    listing = ask_hub(api.kubeconfig())
    assert set(listing.answers) == set(queries)
    assert [len(listing.answers[query]) for query in queries] == [
        int(together and item in (1, 3)) for item in range(number)
    ]
    assert len(api.asked) == 2 + (1 if together else number)


def test_where_all_namespaces_are_forbidden_each_is_asked(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = in_spaces(20)
    reads(monkeypatch, lambda _: queries)
    api.answers[CONFIG_MAPS] = refuses(403)
    api.lists["/api/v1/namespaces/s7/configmaps"] = [thing("c", "s7")]
    listing = ask_hub(api.kubeconfig())
    assert [item["metadata"]["name"] for item in listing.all("ConfigMap")] == ["c"]
    assert set(listing.refused) == set(queries) - {queries[7]}


def test_a_label_is_asked_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, lambda _: (Query("v1", "ConfigMap", label="a/b=c"),))
    ask_hub(api.kubeconfig())
    assert api.asked[-1][1] == f"{CONFIG_MAPS}?limit=250&labelSelector=a%2Fb%3Dc"
