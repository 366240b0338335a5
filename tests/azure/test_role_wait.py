"""Roles that take minutes to reach: who needs them waits, for so long and no longer, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pulumi
import pytest

pytest.importorskip("pulumi_azure_native")
pytest.importorskip("lightkube")

from fleet_components.azure import (
    AzureFleet,
    AzureFleetArgs,
    AzureHub,
    AzureHubArgs,
    Grant,
    HubNetwork,
)
from fleet_components.azure.dynamic import RolesReachProvider
from fleet_components.azure.role_wait import RolesDoNotReach, RolesWait
from fleet_components.live.connection import Connection
from fleet_components.model.text import count
from tests.azure import world
from tests.azure.build import GUID, RP, aks
from tests.live.api_server import Answer, Api, api_server, kubeconfig, refuses, send

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ADMIN = "Azure Kubernetes Fleet Manager RBAC Cluster Admin"
ROLE = f"{ADMIN} for ci on fleet shop"
QUICK: dict[str, Any] = {"minute": 0.1, "every": 0.01}
GRANT = Grant(to="ci", principal=GUID, role=ADMIN, kind="ServicePrincipal")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        yield found


def reviews(*answers: Answer) -> Answer:
    """Answer one after the other; the last one for ever."""
    left = list(answers)

    def answer(request: BaseHTTPRequestHandler) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(request)

    return answer


def says(*, allowed: bool) -> Answer:
    return lambda request: send(request, 201, {"status": {"allowed": allowed}})


def wait(kubeconfig: str | None, told: list[str] | None = None, **fields: Any) -> RolesWait:
    tell = ([] if told is None else told).append
    return RolesWait(
        **{"roles": [ROLE], "created": [None], "minutes": 15, **QUICK, **fields},
        kubeconfig=kubeconfig,
        tell=tell,
    )


def ago(minutes: float) -> str:
    """Azure writes seven digits after the point."""
    return (datetime.now(UTC) - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.1234567Z")


@pytest.mark.parametrize(
    "refusal", [refuses(403), refuses(401), says(allowed=False)], ids=["403", "401", "review"]
)
def test_a_hub_is_asked_until_it_allows(hub: Api, refusal: Answer) -> None:
    hub.answers[REVIEWS] = reviews(*[refusal] * 6, says(allowed=True))
    told: list[str] = []
    wait(hub.kubeconfig(), told, minute=60).run()
    assert len(hub.asked) == 7
    assert len(told) == 1
    assert "waiting for roles, up to 15 minutes left: the hub" in told[0]


def test_a_hub_that_allows_is_not_waited_for(hub: Api) -> None:
    hub.answers[REVIEWS] = says(allowed=True)
    told: list[str] = []
    wait(hub.kubeconfig(), told).run()
    assert (len(hub.asked), told) == (1, [])


def test_it_is_asked_about_what_taints_need(hub: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def ask(_self: Connection, *request: Any) -> Any:
        asked.append(request)
        return {"status": {"allowed": True}}

    monkeypatch.setattr(Connection, "ask", ask)
    wait(hub.kubeconfig()).run()
    ((method, path, body),) = asked
    assert (method, path) == ("POST", REVIEWS)
    assert body["spec"]["resourceAttributes"] == {
        "verb": "patch",
        "group": "cluster.kubernetes-fleet.io",
        "resource": "memberclusters",
    }


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refuses(403), "refuses with 403"),
        (says(allowed=False), "does not let you taint members yet"),
    ],
)
def test_a_hub_that_never_allows_is_given_up(hub: Api, answer: Answer, words: str) -> None:
    hub.answers[REVIEWS] = answer
    told: list[str] = []
    with pytest.raises(RolesDoNotReach) as error:
        wait(hub.kubeconfig(), told, minutes=5).run()
    text = str(error.value)
    assert 1 <= len(told) <= 6
    assert f"after 5 minutes the hub still {words}" in text
    assert ROLE in text
    assert "principal of the grant" in text
    assert "roleWait" in text
    assert "SWORDFISH" not in text


def test_a_hub_that_does_not_answer_is_given_up() -> None:
    with pytest.raises(RolesDoNotReach, match="the hub still does not answer"):
        wait(kubeconfig({"server": "http://127.0.0.1:1"}, {"token": "SWORDFISH"}), minutes=2).run()


def test_a_missing_plugin_ends_it_at_once() -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-kubelogin"}
    told: list[str] = []
    with pytest.raises(RolesDoNotReach, match="install kubelogin"):
        wait(kubeconfig({"server": "http://127.0.0.1:1"}, {"exec": plugin}), told).run()
    assert told == []


def test_old_roles_are_not_asked_for(hub: Api) -> None:
    hub.answers[REVIEWS] = refuses(403)
    old = wait(hub.kubeconfig(), created=[ago(90), ago(61)])
    old.run()
    assert (old.announcement, hub.asked) == ("", [])


@pytest.mark.parametrize(("age", "waits"), [(0, 15), (5, 10), (14, 1), (16, 0), (10_000, 0)])
def test_where_nobody_can_be_asked_the_time_counts_from_their_creation(
    age: float, waits: int
) -> None:
    told: list[str] = []
    wait(None, told, created=[ago(age), ago(age + 500)], minute=0.01).run()
    assert (waits == 0) == (told == [])
    assert len(told) <= waits + 1
    announced = f"waits {count(waits, 'minute')} for new roles to reach: {ROLE}" if waits else ""
    assert wait(None, created=[ago(age)]).announcement == announced


def test_times_that_nobody_tells_are_new() -> None:
    assert "waits 15 minutes" in wait(None, created=[ago(500), None]).announcement
    assert "waits 15 minutes" in wait(None, created=["some day"]).announcement


def test_the_preview_says_that_the_update_will_wait(capsys: pytest.CaptureFixture[str]) -> None:
    unknown: Any = pulumi.output.Unknown()  # as the dynamic host hands it over
    news = {
        "key": "k",
        "roles": [ROLE],
        "minutes": 15,
        "created": [unknown],
        "kubeconfig": unknown,
        "__provider": "p",
    }
    provider = RolesReachProvider()
    assert provider.check({}, news).inputs == news
    assert f"waits up to 15 minutes for new roles to reach: {ROLE}" in capsys.readouterr().out
    provider.check(news, news)
    assert capsys.readouterr().out == ""


def private(**fields: Any) -> world.Run:
    args = {
        "resource_group": "rg",
        "region": "westeurope",
        "kind": "private",
        "network": HubNetwork(**RP),
        **fields,
    }
    return world.run(lambda: AzureHub("shop", AzureHubArgs(**args)))


def test_a_private_hub_waits_for_the_roles_on_its_network() -> None:
    run = private()
    waits = run.named("shop-network-roles")
    assert {
        f"shop-{role}-network-contributor" for role in ("agents", "api-server", "fleet-rp")
    } <= waits.after
    assert "shop-network-roles" in run.named("shop-fleet").after
    assert waits.inputs["minutes"] == 15
    assert "kubeconfig" not in waits.inputs
    assert any(GUID in role for role in waits.inputs["roles"])


def test_taints_wait_until_the_hub_lets_its_user() -> None:
    hub = AzureHubArgs(resource_group="rg", region="westeurope", grants=(GRANT,), role_wait=20)
    run = world.run(lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(),), hub=hub)))
    waits = run.named("shop-hub-roles")
    assert "shop-ci-fleet-manager-rbac-cluster-admin" in waits.after
    assert "shop-hub-roles" in run.named("shop-hub").after
    assert waits.inputs["roles"] == [ROLE]
    assert waits.inputs["minutes"] == 20
    assert "kubelogin" in waits.inputs["kubeconfig"]


@pytest.mark.parametrize(
    "fields",
    [
        {"grants": (GRANT,), "role_wait": 0},
        {},
        {"grants": (Grant(to="a", principal=GUID, role=f"{ADMIN[:-13]}Reader"),)},
    ],
    ids=["switched off", "no grants", "a reader"],
)
def test_nothing_to_wait_for(fields: dict[str, Any]) -> None:
    hub = AzureHubArgs(resource_group="rg", region="westeurope", **fields)
    run = world.run(lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(),), hub=hub)))
    assert run.error is None
    assert not run.of_type("RolesReach")


@pytest.mark.parametrize("minutes", [-1, 61])
def test_the_wait_is_bounded(minutes: int) -> None:
    assert f"{minutes} minutes (0 to 60)" in str(private(role_wait=minutes).error)
