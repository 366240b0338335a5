"""A stand-in for the resource API of Azure, and for the login to it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fleet_components.live import azure_fleet
from tests.hub.azure.resources import FLEET, fleet
from tests.live.api_server import Answer, Api, api_server, kubeconfig, send

CANARY = "SWORDFISH"
PARTS = ("members", "updateRuns", "updateStrategies", "autoUpgradeProfiles")
KUBECONFIG = kubeconfig(
    {"server": "https://shop.hcp.eastus.azmk8s.io:443"},
    {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "kubelogin",
            "args": [
                "get-token",
                "--server-id",
                "6dae42f8",
                "--client-id",
                "80faf920",
                "--tenant-id",
                "72f988bf",
            ],
        }
    },
)


def credentials(text: str = KUBECONFIG) -> dict[str, Any]:
    return {"kubeconfigs": [{"name": "clusterUser", "value": b64encode(text.encode()).decode()}]}


def answers(body: Any, status: int = 200) -> Answer:
    return lambda request: send(request, status, body)


def refuses(status: int, code: str, message: str) -> Answer:
    return answers({"error": {"code": code, "message": message}}, status)


@contextmanager
def resource_api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Serve an empty fleet with a hub until the block ends."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in (
        "AZURE_CLIENT_ID",
        "AZURE_TENANT_ID",
        "AZURE_CLIENT_SECRET",
        "AZURE_FEDERATED_TOKEN_FILE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("fleet_components.live.azure_fleet._FIRST_PAUSE", 0.01)
    with api_server() as found:
        monkeypatch.setattr(
            azure_fleet, "resource_api", lambda _: f"http://127.0.0.1:{found.server.server_port}"
        )
        monkeypatch.setattr(azure_fleet, "access_token", lambda *_: CANARY)
        found.objects = {FLEET: fleet(), **{f"{FLEET}/{part}": {"value": []} for part in PARTS}}
        found.answers[f"POST {FLEET}/listCredentials"] = answers(credentials())
        yield found
