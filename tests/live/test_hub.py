"""A hub that is asked: one that answers, one that refuses, one that is slow or silent, and one that means no good."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from fleet_components.hub.listing import Listing, Query
from fleet_components.live import getting, lists
from fleet_components.live.hub import ask_hub
from fleet_components.model.problem import FleetError
from fleet_components.systems.registry import SYSTEMS
from tests.live.api_server import (
    CANARY,
    Answer,
    Api,
    api_server,
    closes,
    drips,
    hangs,
    kubeconfig,
    refuses,
    send,
    serves,
)
from tests.live.hubs import (
    CONFIG_MAPS,
    CONTENT,
    KARMADA,
    KUBEFLEET,
    MEMBERS,
    PLACEMENTS,
    SECRETS,
    kubefleet,
    reads,
    thing,
)

MAPS, KEYS = CONTENT
HANGS = 60
"""Seconds for which the stand-in is silent."""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    reads(monkeypatch)
    with api_server() as found:
        yield kubefleet(found)


def names(listing: Listing, kind: str) -> list[str]:
    return [item["metadata"]["name"] for item in listing.all(kind)]


def wrong(api: Api, timeout: float = 30, text: str = "") -> str:
    with pytest.raises(FleetError) as error:
        ask_hub(text or api.kubeconfig(), timeout=timeout)
    assert CANARY not in str(error.value)
    assert str(error.value).startswith("the hub (context x, ")
    return str(error.value)


@pytest.mark.parametrize("together", [True, False])
def test_all_lists_are_asked_for_round_by_round(api: Api, together: bool) -> None:
    kubefleet(api, together=together)
    listing = ask_hub(api.kubeconfig())
    assert listing.system == SYSTEMS["kubefleet"]
    assert (
        listing.served["cluster.kubernetes-fleet.io", "MemberCluster"].api_version
        == "cluster.kubernetes-fleet.io/v1"
    )
    assert names(listing, "MemberCluster") == ["east", "west"]
    assert len(names(listing, "ConfigMap")) == 12
    assert not listing.refused
    assert abs(listing.as_of - datetime.now(UTC)).total_seconds() < 600
    asked = [path.partition("?")[0] for _, path in api.asked]
    assert set(asked[-2:]) == {CONFIG_MAPS, SECRETS}
    assert {method for method, _ in api.asked} == {"GET"}
    assert set(api.headers) == {f"Bearer {CANARY}"}


def test_objects_have_the_kind_that_was_asked_for_and_no_managed_fields(api: Api) -> None:
    item = ask_hub(api.kubeconfig()).all("ConfigMap")[0]
    assert item == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c00", "namespace": "shop"},
        "data": {"k": "v"},
    }


def test_of_metadata_alone_nothing_else_is_kept_even_if_it_is_told(api: Api) -> None:
    notes = {"kubectl.kubernetes.io/last-applied-configuration": CANARY, "a": "b"}
    secret = thing("key", "shop", data={"k": CANARY})
    secret["metadata"]["annotations"] = notes
    api.answers[SECRETS] = lambda request: send(request, 200, {"metadata": {}, "items": [secret]})
    (item,) = ask_hub(api.kubeconfig()).answers[KEYS]
    # The managed fields of a Secret name its data.
    kept = {"annotations": {"a": "b"}, "managedFields": secret["metadata"]["managedFields"]}
    assert item == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": "shop", **kept},
    }
    assert CANARY not in str(item)


def test_metadata_alone_is_asked_for_as_such(api: Api) -> None:
    seen: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        seen.append(str(request.headers.get("Accept")))
        send(request, 200, {"metadata": {}, "items": []})

    api.answers[SECRETS] = answer
    ask_hub(api.kubeconfig())
    assert seen == ["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"]


@pytest.mark.parametrize("page", [1, 5, 12, 13])
def test_lists_come_page_by_page(api: Api, page: int) -> None:
    api.page = page
    assert names(ask_hub(api.kubeconfig()), "ConfigMap") == [
        f"c{number:02}" for number in range(12)
    ]
    asked = [path for _, path in api.asked if path.startswith(CONFIG_MAPS)]
    assert len(asked) == -(-12 // page)
    assert "limit=250" in asked[0]


def test_a_list_whose_rest_expires_is_begun_anew_and_in_the_end_asked_for_in_one_piece(
    api: Api,
) -> None:
    api.page = 5
    asked: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path.partition("?")[2])
        if "continue" in request.path:
            send(request, 410, {"kind": "Status", "reason": "Expired"})
        else:
            api.serve(request)

    api.answers[CONFIG_MAPS] = answer
    listing = ask_hub(api.kubeconfig())
    assert len(names(listing, "ConfigMap")) == 12
    assert asked == ["limit=250", "limit=250&continue=5", "limit=250", "limit=250&continue=5", ""]


def test_what_is_content_and_refused_is_named_and_the_rest_is_told(api: Api) -> None:
    api.answers[CONFIG_MAPS], api.answers[SECRETS] = refuses(403), refuses(404)
    listing = ask_hub(api.kubeconfig())
    assert listing.refused == {
        MAPS: "is forbidden to the user of the kubeconfig",
        KEYS: "is not served",
    }
    assert names(listing, "MemberCluster") == ["east", "west"]


def test_what_steers_the_hub_and_is_refused_ends_it_with_all_that_is(api: Api) -> None:
    api.answers[MEMBERS] = api.answers[PLACEMENTS] = refuses(403)
    said = wrong(api)
    kinds = "MemberCluster.cluster.kubernetes-fleet.io, ClusterResourcePlacement.placement.kubernetes-fleet.io"
    assert (
        f"what steers it is forbidden to the user of the kubeconfig: {kinds} (fleet observe --rbac"
        in said
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refuses(401), "the user of the kubeconfig is not known there"),
        (refuses(403), "is forbidden to the user of the kubeconfig"),
        (refuses(500), "is answered with 500 Internal Server Error"),
        (refuses(299 + 221), "is answered with 520"),
        (closes, "the connection is broken off"),
        (lambda request: send(request, 200, []), "is not answered as Kubernetes does"),
        (
            lambda request: send(request, 200, {"kind": "APIGroupDiscoveryList", "items": [7]}),
            "as Kubernetes does",
        ),
        (
            lambda request: send(
                request, 200, {"kind": "APIGroupDiscoveryList", "items": {"a": {}}}
            ),
            "as Kubernetes does",
        ),
    ],
)
def test_a_hub_that_does_not_tell_what_it_serves(api: Api, answer: Answer, said: str) -> None:
    api.answers["/apis"] = answer
    assert said in wrong(api)


def test_a_group_whose_own_api_server_is_away_is_not_served(api: Api) -> None:
    serves(api, *KUBEFLEET, "metrics.k8s.io/v1/NodeMetrics*", together=False)
    api.answers["/apis/metrics.k8s.io/v1"] = refuses(503)
    assert not any(group == "metrics.k8s.io" for group, _ in ask_hub(api.kubeconfig()).served)


@pytest.mark.parametrize(
    "text", ["<html>", '{"items": [', '{"items": 7}', '{"items": "ab"}', "[" * 100_000, "\xff", "7"]
)
def test_what_is_no_list_is_named(api: Api, text: str) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        body = text.encode("latin-1")
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    api.answers[CONFIG_MAPS] = answer
    assert ask_hub(api.kubeconfig()).refused == {MAPS: "is not answered as Kubernetes does"}


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a/b", "..", ".", "", "a\x1b[31mb", "a\nb", "é", "a" * 254, 7, None],
)
def test_names_that_no_api_server_has_are_refused(api: Api, name: Any) -> None:
    api.lists[CONFIG_MAPS].append(thing(name, "shop"))
    assert ask_hub(api.kubeconfig()).refused == {MAPS: "is not answered as Kubernetes does"}
    api.lists[CONFIG_MAPS].pop()
    api.lists[MEMBERS].append(thing(name))
    assert "is not answered as Kubernetes does" in wrong(api)


@pytest.mark.parametrize("item", [None, [], 7, {}, {"metadata": []}, thing("a"), thing("a", "b/c")])
def test_objects_that_are_none_are_refused(api: Api, item: Any) -> None:
    api.lists[CONFIG_MAPS].append(item)
    assert ask_hub(api.kubeconfig()).refused == {MAPS: "is not answered as Kubernetes does"}


def test_names_of_rbac_are_names(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, lambda _: (Query("v1", "ConfigMap"),))
    api.lists[CONFIG_MAPS] = [thing("system:controller:a.b", "shop")]
    assert names(ask_hub(api.kubeconfig()), "ConfigMap") == ["system:controller:a.b"]


def test_a_redirect_is_not_followed(api: Api) -> None:
    with api_server() as other:

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(302)
            request.send_header(
                "Location", f"http://127.0.0.1:{other.server.server_port}{CONFIG_MAPS}"
            )
            request.send_header("Content-Length", "0")
            request.end_headers()

        api.answers[CONFIG_MAPS] = answer
        assert ask_hub(api.kubeconfig()).refused == {MAPS: "is answered with 302 Found"}
        assert not other.asked


def test_answers_are_bounded_in_size_all_together(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(getting, "hub_room", lambda: 20_000)
    api.lists[CONFIG_MAPS].append(thing("big", "shop", data={"k": "x" * 20_000}))
    reasons = ask_hub(api.kubeconfig()).refused
    assert reasons[MAPS].startswith("has answers that take more than")


@pytest.mark.long
@pytest.mark.parametrize("slow", [hangs, drips])
def test_one_deadline_is_for_all(api: Api, slow: Any) -> None:
    api.answers[CONFIG_MAPS] = api.answers[SECRETS] = slow(api)
    began = time.monotonic()
    listing = ask_hub(api.kubeconfig(), timeout=3)
    assert time.monotonic() - began < HANGS / 2
    assert listing.refused == dict.fromkeys((MAPS, KEYS), "is not answered in 3 s")


@pytest.mark.parametrize("slow", [hangs, drips])
@pytest.mark.parametrize("path", ["/apis", MEMBERS])
def test_a_hub_that_is_silent(api: Api, slow: Any, path: str) -> None:
    api.answers[path] = slow(api)
    began = time.monotonic()
    assert "is not answered in 0.5 s" in wrong(api, timeout=0.5)
    assert time.monotonic() - began < HANGS / 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_hub_is_asked_again(api: Api, status: int) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        del api.answers[CONFIG_MAPS]
        body = json.dumps({"kind": "Status"}).encode()
        request.send_response(status)
        request.send_header("Retry-After", "0")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    api.answers[CONFIG_MAPS] = answer
    assert len(names(ask_hub(api.kubeconfig()), "ConfigMap")) == 12


def test_a_connection_that_is_broken_off_is_tried_again(api: Api) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        del api.answers[CONFIG_MAPS]
        closes(request)

    api.answers[CONFIG_MAPS] = answer
    assert not ask_hub(api.kubeconfig()).refused


@pytest.mark.long
def test_a_list_without_end_ends(api: Api) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        send(request, 200, {"metadata": {"continue": "again"}, "items": []})

    api.answers[CONFIG_MAPS] = answer
    assert ask_hub(api.kubeconfig(), timeout=3).refused == {MAPS: "is not answered in 3 s"}


def test_karmada_is_told_by_what_it_serves(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, lambda _: (Query("cluster.karmada.io/v1alpha1", "Cluster"),))
    serves(api, *KARMADA)
    api.lists["/apis/cluster.karmada.io/v1alpha1/clusters"] = [thing("m1")]
    listing = ask_hub(api.kubeconfig())
    assert (listing.system, names(listing, "Cluster")) == (SYSTEMS["karmada"], ["m1"])


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (
            ("v1/Pod", "apps/v1/Deployment"),
            "it serves v1, apps (--members KUBECONFIG observes plain clusters)",
        ),
        ((*KUBEFLEET, *KARMADA), "serves the kinds of KubeFleet and of Karmada"),
        (("placement.kubernetes-fleet.io/v1/AppliedWork*",), "give the kubeconfig of the hub"),
        (KARMADA[2:], "is not a whole karmada hub: Cluster.cluster.karmada.io is not served"),
        (KUBEFLEET[2:3], "ClusterResourcePlacement.placement.kubernetes-fleet.io is not served"),
        ((), "it serves"),
    ],
)
def test_what_is_no_hub_is_told_what_it_is(api: Api, kinds: tuple[str, ...], said: str) -> None:
    serves(api, *kinds)
    assert said in wrong(api)


def test_a_hub_that_does_not_tell_the_time(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BaseHTTPRequestHandler, "date_time_string", lambda *_: "yesterday")
    assert "does not tell the time" in wrong(api)


@pytest.mark.parametrize(
    ("user", "cluster", "said"),
    [
        ({"token": CANARY}, {"server": "ftp://one"}, "is not one of http or https"),
        (
            {"client-certificate": f"/nowhere/{CANARY}", "client-key": "/nowhere"},
            {},
            "a file that its kubeconfig names as client-certificate, client-key cannot be read",
        ),
        (
            {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/no/plugin"}},
            {},
            "cannot be run: No such file",
        ),
        (
            {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "false"}},
            {},
            "fails with exit status 1",
        ),
        (
            {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "sleep",
                    "args": ["60"],
                }
            },
            {},
            "has not answered in time",
        ),
        (
            {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "echo"}},
            {},
            "gives no credential",
        ),
        ({"token": 7}, {}, "does not work"),
    ],
)
def test_kubeconfigs_that_do_not_work(
    api: Api, user: Any, cluster: dict[str, Any], said: str
) -> None:
    server = f"http://127.0.0.1:{api.server.server_port}"
    assert said in wrong(api, 3, kubeconfig({"server": server, **cluster}, user))


def test_nobody_at_the_address() -> None:
    with api_server() as api:
        text = api.kubeconfig()
    assert "nobody takes the connection" in wrong(api, 30, text)


def test_lists_are_asked_for_at_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second list is answered first, while the first one waits for it."""
    done: list[str] = []

    def slow(request: BaseHTTPRequestHandler) -> None:
        for _ in range(200):
            if done:
                break
            time.sleep(0.05)
        done.append(CONFIG_MAPS)
        send(request, 200, {"metadata": {}, "items": []})

    def quick(request: BaseHTTPRequestHandler) -> None:
        done.append(SECRETS)
        send(request, 200, {"metadata": {}, "items": []})

    api.answers |= {CONFIG_MAPS: slow, SECRETS: quick}
    monkeypatch.setattr(lists, "_PAGE", 1)
    ask_hub(api.kubeconfig())
    assert done == [SECRETS, CONFIG_MAPS]
