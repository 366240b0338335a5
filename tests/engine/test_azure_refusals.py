"""What Azure refuses: every fleet is made, changed and taken down on the real engine in an order that Azure takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulumi_azure_native")

from pulumi import automation

from tests.azure.build import GUID
from tests.azure.world import OTHER_SUBSCRIPTION, SUBSCRIPTION
from tests.engine.driver import engine_or_skip
from tests.engine.test_azure import AzureStack, Outcome
from tests.live.api_server import CANARY, Api, api_server, refuses, send

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ADMIN = "Azure Kubernetes Fleet Manager RBAC Cluster Admin"
PROGRAM = f"""\
import pulumi
from pulumi_azure_native import Provider

from fleet_components.azure import (
    AksMember, AutoUpgrade, AzureFleet, AzureFleetArgs, AzureHub, AzureHubArgs, AzureMember, AzureMemberArgs, Grant,
    HubNetwork, NodePool, Stage, Strategy,
)

config = pulumi.Config("shop")
case, more = config.require("case"), config.get_bool("more")
GUID, THERE = "{GUID}", "{OTHER_SUBSCRIPTION}"
SYSTEM, APPS = NodePool("system", "Standard_D4s_v5", count=3), NodePool("apps", "Standard_D8s_v5", count=2)
ADMIN = "Azure Kubernetes Fleet Manager RBAC Cluster Admin"


def aks(name, **fields):
    pools = (APPS,) if more else ()
    return AksMember(**{{"name": name, "region": "westeurope", "resource_group": "rg", "system_pool": SYSTEM,
                        "pools": pools, **fields}})


def hub(**fields):
    return AzureHubArgs(**{{"resource_group": "rg-hub", "region": "westeurope", **fields}})


def fleet(*members, opts=None, **fields):
    AzureFleet("shop", AzureFleetArgs(**{{"members": members[: 2 if more else 1], "hub": hub(), **fields}}), opts)


def both_places():
    there = pulumi.ResourceOptions(provider=Provider("there", subscription_id=THERE))
    made = AzureHub("shop", hub(resource_group="there"), there)
    AzureMember("weu-1", AzureMemberArgs(member=aks("weu-1", resource_group="here"), hub=made))


strategies = (Strategy("rings", (Stage("canary", ("canary",)),)),)
{{
    "public": lambda: fleet(aks("weu-1"), aks("weu-2")),
    "hubless": lambda: fleet(aks("weu-1"), aks("weu-2"), hub=hub(kind="hubless")),
    "private": lambda: fleet(aks("weu-1"), aks("weu-2"), hub=hub(kind="private", network=HubNetwork(fleet_rp=GUID))),
    "impatient": lambda: fleet(aks("weu-1"), hub=hub(kind="private", network=HubNetwork(fleet_rp=GUID), role_wait=0)),
    "upgrades": lambda: fleet(
        aks("weu-1", group="canary"), aks("weu-2", group="canary"), strategies=strategies,
        profiles=(AutoUpgrade("stable", strategy="rings"),),
    ),
    "elsewhere": lambda: fleet(aks("weu-1", subscription=THERE), aks("weu-2", subscription=THERE)),
    "both places": both_places,
    "granted": lambda: fleet(
        aks("weu-1"), aks("weu-2"),
        hub=hub(grants=(Grant(to="ci", principal=GUID, role=ADMIN, kind="ServicePrincipal"),), role_wait=1),
    ),
}}[case]()
"""
FIFTEEN_MINUTES = 900


class RealStack(AzureStack):
    """A stack of one of the programs, in a subscription that says no."""

    def __init__(self, folder: Path, case: str, **told: Any) -> None:
        super().__init__(folder, program=PROGRAM)
        (self.standin / "azure.json").write_text(json.dumps({"fleet_rp": GUID, **told}))
        self.configure(case=case)
        self.stack.set_config("azure-native:subscriptionId", automation.ConfigValue(SUBSCRIPTION))

    def configure(self, **values: str) -> None:
        for key, value in values.items():
            self.stack.set_config(f"shop:{key}", automation.ConfigValue(value))

    def destroy(self) -> Outcome:
        return self._run(self.stack.destroy)

    @property
    def there(self) -> Mapping[str, Any]:
        """All that is there, by ID in lower case."""
        found: Mapping[str, Any] = json.loads((self.standin / "cloud.json").read_text())["things"]
        return found

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """What was called: the call, the last part of the ID, and the subscription of the provider."""
        lines = map(json.loads, (self.standin / "calls.jsonl").read_text().splitlines())
        return [
            (each["call"], each["id"].rpartition("/")[2], each["subscription"]) for each in lines
        ]


@pytest.mark.engine
@pytest.mark.parametrize("case", ["hubless", "private", "upgrades", "elsewhere", "both places"])
def test_a_fleet_comes_and_goes_in_an_order_that_azure_takes(tmp_path: Path, case: str) -> None:
    engine_or_skip()
    existing = [
        f"/subscriptions/{OTHER_SUBSCRIPTION}/resourceGroups/there",
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/here",
    ]
    stack = RealStack(
        tmp_path,
        case,
        aged=FIFTEEN_MINUTES,
        slow=0.01,
        existing=existing if case == "both places" else [],
    )
    for more in ("false", "true"):
        stack.configure(more=more)
        done = stack.up()
        assert done.ok, done.text
    elsewhere = {
        name for _, name, subscription in stack.calls if subscription == OTHER_SUBSCRIPTION
    }
    expected = {
        "elsewhere": {"rg", "weu-1", "weu-2", "apps"},
        "both places": {"shop", "weu-1"},  # the fleet, and the member's entry in it
    }
    clusters = {
        (name, where) for call, name, where in stack.calls if call == "invoke" and name != "shop"
    }
    assert elsewhere == expected.get(case, set())
    assert {where for _, where in clusters} == {
        OTHER_SUBSCRIPTION if case == "elsewhere" else SUBSCRIPTION
    }
    done = stack.destroy()
    assert done.ok, done.text
    assert not stack.there


@pytest.mark.engine
def test_a_private_hub_is_refused_until_its_roles_reach(tmp_path: Path) -> None:
    engine_or_skip()
    stack = RealStack(tmp_path, "impatient", reach=3600)
    outcome = stack.up()
    assert not outcome.ok
    assert "LinkedAuthorizationFailed" in outcome.text


@pytest.mark.engine
def test_a_private_hub_that_waits_is_taken(tmp_path: Path) -> None:
    engine_or_skip()
    stack = RealStack(tmp_path, "private", reach=3, aged=FIFTEEN_MINUTES - 6)
    announced = stack.preview()
    assert (
        "waits 15 minutes for new roles to reach: Network Contributor for the identity shop"
        in announced.text
    )
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert "Azure cannot be asked for them" in outcome.text


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        yield found


@pytest.mark.engine
def test_taints_wait_until_the_hub_allows(tmp_path: Path, hub: Api) -> None:
    engine_or_skip()
    asked: list[int] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked.append(len(stack.there))
        if len(asked) < 3:
            refuses(403)(request)
        else:
            send(request, 201, {"status": {"allowed": True}})

    hub.answers[REVIEWS] = answer
    stack = RealStack(tmp_path, "granted", strict_hub=True, reach=3, kubeconfig=hub.kubeconfig())
    announced = stack.preview()
    assert (
        f"waits up to 1 minute for new roles to reach: {ADMIN} for ci on fleet shop"
        in announced.text
    )
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert len(asked) == 3
    assert "waiting for roles" in outcome.text
    assert "refuses with 403" in outcome.text


@pytest.mark.engine
def test_a_hub_that_never_allows_ends_the_update(tmp_path: Path, hub: Api) -> None:
    engine_or_skip()
    hub.answers[REVIEWS] = refuses(403)
    outcome = RealStack(tmp_path, "granted", strict_hub=True, kubeconfig=hub.kubeconfig()).up()
    assert not outcome.ok
    assert (
        f"after 1 minute the hub still refuses with 403 Forbidden. Needed: {ADMIN} for ci on fleet shop"
        in outcome.text
    )
    assert CANARY not in outcome.text
