"""A fleet asked by its resource ID, of a stand-in for the resource API: no real Azure is reached."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.hub.azure.fleet_resource import azure_file, read_fleet_id
from fleet_components.live import azure_fleet, azure_login
from fleet_components.live.azure_fleet import FleetHubAnswer, azure_hub
from fleet_components.live.connection import ask_cluster
from fleet_components.model.problem import FleetError
from tests.hub.azure.resources import (
    FLEET,
    SUBSCRIPTION,
    fleet,
    member,
    profile,
    run,
    stage,
    strategy,
)
from tests.live.api_server import Answer, Api, api_server, closes, drips, hangs, send
from tests.live.azure_standin import CANARY, KUBECONFIG, answers, credentials, refuses, resource_api
from tests.live.plugins import gives, gives_to_azure, program


def in_turn(*turns: Answer) -> Answer:
    left = list(turns)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


def throttled(seconds: str, status: int = 429) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Retry-After", seconds)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with resource_api(monkeypatch) as found:
        yield found


def asked(seconds: float = 20.0, mode: str = "") -> FleetHubAnswer:
    return azure_hub(read_fleet_id(FLEET), mode=mode, timeout=seconds)


def refusal(seconds: float = 20.0) -> str:
    with pytest.raises(FleetError) as caught:
        asked(seconds)
    assert CANARY not in str(caught.value)
    return str(caught.value)


def test_a_fleet_and_the_kubeconfig_of_its_hub(azure: Api) -> None:
    azure.objects[f"{FLEET}/members"] = {"value": [member("m2", "rest"), member("m1", "canary")]}
    azure.objects[f"{FLEET}/updateRuns"] = {
        "value": [run("r1", "Running", stage("s", "Running", {"m1": "Running"}))]
    }
    azure.objects[f"{FLEET}/updateStrategies"] = {"value": [strategy("slow")]}
    azure.objects[f"{FLEET}/autoUpgradeProfiles"] = {"value": [profile("stable")]}
    found = asked()
    assert [item.name for item in found.fleet.members] == ["m1", "m2"]
    assert [item.state for item in found.fleet.runs] == ["Running"]
    assert (found.fleet.strategies[0].name, found.fleet.profiles[0].name) == ("slow", "stable")
    assert found.fleet.unread == {}
    (user,) = yaml.safe_load(found.kubeconfig)["users"]
    told = user["user"]["exec"]
    assert told["args"] == ["get-token", "--server-id", "6dae42f8", "--login", "azurecli"]
    assert told["env"] == [{"name": "AAD_LOGIN_METHOD", "value": "azurecli"}]
    assert set(azure.headers) == {f"Bearer {CANARY}"}
    assert {method for method, path in azure.asked if "listCredentials" not in path} == {"GET"}
    assert all(path.endswith("?api-version=2026-06-01") for _, path in azure.asked)
    assert CANARY not in azure_file(found.fleet)
    assert "kubelogin" not in repr(found)


@pytest.mark.parametrize(
    ("environment", "mode", "args"),
    [
        ({"AZURE_FEDERATED_TOKEN_FILE": "f"}, "", ["--login", "workloadidentity"]),
        ({"AZURE_CLIENT_SECRET": CANARY}, "", ["--login", "spn", "--tenant-id", "72f988bf"]),
        ({"AZURE_CLIENT_SECRET": CANARY}, "msi", ["--login", "msi"]),
    ],
)
def test_the_hub_is_logged_in_to_as_azure_is(
    azure: Api,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    mode: str,
    args: list[str],
) -> None:
    for name, value in {**environment, "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t"}.items():
        monkeypatch.setenv(name, value)
    found = asked(mode=mode)
    (user,) = yaml.safe_load(found.kubeconfig)["users"]
    assert user["user"]["exec"]["args"][3:] == args
    assert CANARY not in found.kubeconfig


def test_lists_are_read_to_their_last_page(azure: Api) -> None:
    def paged(request: BaseHTTPRequestHandler) -> None:
        number = int(request.path.rpartition("skip=")[2]) if "skip=" in request.path else 0
        here = f"http://{request.headers['Host']}{FLEET}/members?api-version=2026-06-01&skip={number + 1}"
        more = {"nextLink": here} if number < 4 else {}
        send(request, 200, {"value": [member(f"m{number}a"), member(f"m{number}b")], **more})

    azure.answers[f"{FLEET}/members"] = paged
    assert len(asked().fleet.members) == 10


def test_a_next_page_elsewhere_is_not_asked_for(azure: Api) -> None:
    with api_server() as other:
        link = f"http://127.0.0.1:{other.server.server_port}{FLEET}/members"
        azure.objects[f"{FLEET}/members"] = {"value": [member("m1")], "nextLink": link}
        found = asked().fleet
        assert "another host" in found.unread["members"]
        assert found.members == ()
        assert other.asked == []


def test_a_list_without_an_end(azure: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fleet_components.live.azure_fleet._MOST_PAGES", 3)
    link = f"http://127.0.0.1:{azure.server.server_port}{FLEET}/members"
    azure.objects[f"{FLEET}/members"] = {"value": [member("m1")], "nextLink": link}
    assert asked().fleet.unread == {"members": "Azure has more than 3 pages of one list"}


def test_a_redirection_is_not_followed(azure: Api) -> None:
    def elsewhere(request: BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", f"http://{request.headers['Host']}/taken")
        request.send_header("Content-Length", "0")
        request.end_headers()

    azure.answers[FLEET] = elsewhere
    assert "Azure refuses with 302 Found" in refusal()
    assert [path for _, path in azure.asked if path.startswith("/taken")] == []


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(throttled("1"), marks=pytest.mark.long),
        throttled("0", 503),
        throttled("soon", 500),
        closes,
    ],
)
def test_azure_is_asked_again_where_it_is_busy(azure: Api, first: Answer) -> None:
    azure.answers[f"{FLEET}/members"] = in_turn(first, first, answers({"value": [member("m1")]}))
    assert [item.name for item in asked().fleet.members] == ["m1"]


def test_a_pause_beyond_the_deadline_is_not_made(azure: Api) -> None:
    azure.answers[FLEET] = throttled("3600")
    begun = time.monotonic()
    assert "Azure refuses with 429 Too Many Requests, and asks to wait 3600 s" in refusal()
    assert time.monotonic() - begun < 10


def test_azure_is_not_asked_for_ever(azure: Api) -> None:
    azure.answers[FLEET] = throttled("0", 503)
    assert "Azure refuses with 503 Service Unavailable" in refusal()
    assert len(azure.asked) == 6


@pytest.mark.long
@pytest.mark.parametrize("slow", [hangs, drips])
def test_azure_that_does_not_end_its_answer(azure: Api, slow: Any) -> None:
    azure.answers[FLEET] = slow(azure)
    begun = time.monotonic()
    assert "Azure does not answer" in refusal(1.0)
    assert time.monotonic() - begun < 15


def test_who_may_not_read_the_fleet(azure: Api) -> None:
    said = f"The client 'ann' does not have authorization over '{FLEET}'. You sent Bearer {CANARY}, {CANARY}."
    azure.answers[FLEET] = refuses(403, "AuthorizationFailed", said)
    told = refusal()
    assert (
        "fleet shop: Azure refuses with 403 Forbidden: AuthorizationFailed: The client 'ann' does not have"
        in told
    )
    assert 'ask for the role "Reader" on the fleet' in told


@pytest.mark.parametrize(
    ("answer", "what", "hint"),
    [
        (
            refuses(401, "InvalidAuthenticationTokenTenant", "wrong issuer"),
            "401 Unauthorized",
            "az login --tenant",
        ),
        (
            refuses(404, "ResourceNotFound", "not found"),
            "404 Not Found: ResourceNotFound",
            "check the resource ID",
        ),
        (answers([]), "does not answer with a fleet", ""),
        (answers("text", 400), "400 Bad Request", ""),
    ],
)
def test_a_fleet_that_is_not_answered(azure: Api, answer: Answer, what: str, hint: str) -> None:
    azure.answers[FLEET] = answer
    told = refusal()
    assert what in told
    assert hint in told


def test_lists_that_may_not_be_read_are_told_and_the_rest_is_read(azure: Api) -> None:
    azure.answers[f"{FLEET}/updateRuns"] = refuses(403, "AuthorizationFailed", "no")
    azure.objects[f"{FLEET}/members"] = {"value": [member("m1")]}
    found = asked().fleet
    assert found.unread == {
        "updateRuns": "Azure refuses with 403 Forbidden: AuthorizationFailed: no"
    }
    assert [item.name for item in found.members] == ["m1"]


def test_a_fleet_without_a_hub(azure: Api) -> None:
    azure.objects |= {FLEET: fleet(hub=False), f"{FLEET}/members": {"value": [member("m1")]}}
    found = asked()
    assert (found.kubeconfig, found.fleet.has_hub) == ("", False)
    assert [item.name for item in found.fleet.members] == ["m1"]
    assert "POST" not in {method for method, _ in azure.asked}


@pytest.mark.parametrize(
    ("state", "answer", "told"),
    [
        (
            "Creating",
            refuses(409, "Conflict", "not ready"),
            "observe it again once its state is Succeeded",
        ),
        (
            "Succeeded",
            refuses(403, "AuthorizationFailed", "no"),
            "Fleet Manager Hub Cluster User Role",
        ),
        ("Succeeded", answers({"kubeconfigs": []}), "Azure gives no kubeconfig for its hub"),
        (
            "Succeeded",
            answers({"kubeconfigs": [{"value": f"{CANARY}!"}]}),
            "Azure gives no kubeconfig for its hub",
        ),
        ("Succeeded", answers(credentials(f"{CANARY[::-1]}: 1\nb: 2")), "is not a kubeconfig"),
    ],
)
def test_a_hub_whose_kubeconfig_is_not_given(
    azure: Api, state: str, answer: Answer, told: str
) -> None:
    azure.objects[FLEET] = fleet(state)
    azure.answers[f"POST {FLEET}/listCredentials"] = answer
    assert told in refusal()


def test_a_cloud_that_is_behind_is_asked_in_an_older_version(azure: Api) -> None:
    def behind(request: BaseHTTPRequestHandler) -> None:
        old = request.path.endswith("2025-03-01")
        send(request, 200, fleet()) if old else refuses(
            400, "NoRegisteredProviderFound", "no such"
        )(request)

    azure.answers[FLEET] = behind
    azure.objects[f"{FLEET}/members"] = {"value": [member("m1")]}
    found = asked().fleet
    assert found.unread == {"labels of members": "this cloud does not serve API version 2026-06-01"}
    assert len({path.rpartition("=")[2] for _, path in azure.asked[2:]}) == 1


def test_one_login_reaches_azure_and_the_hub(
    azure: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the real libraries: az gives the token for Azure, kubelogin the one for the hub."""
    pytest.importorskip("azure.identity")
    monkeypatch.setattr(azure_fleet, "access_token", azure_login.access_token)
    az = program(monkeypatch, tmp_path, "az", gives_to_azure(CANARY))
    kubelogin = program(monkeypatch, tmp_path, "kubelogin", gives("OF-THE-HUB"))
    with api_server() as hub:
        hub.objects["/api/v1/namespaces/kube-system"] = {
            "metadata": {"name": "kube-system", "uid": "5f3c"}
        }
        user = yaml.safe_load(KUBECONFIG)["users"][0]["user"]
        azure.answers[f"POST {FLEET}/listCredentials"] = answers(credentials(hub.kubeconfig(user)))
        assert ask_cluster(asked(60.0).kubeconfig, timeout=30.0).uid == "5f3c"
        assert set(hub.headers) == {"Bearer OF-THE-HUB"}
    assert set(azure.headers) == {f"Bearer {CANARY}"}
    assert SUBSCRIPTION in az.calls[-1]["args"]
    assert kubelogin.calls[0]["args"] == [
        "get-token",
        "--server-id",
        "6dae42f8",
        "--login",
        "azurecli",
    ]
