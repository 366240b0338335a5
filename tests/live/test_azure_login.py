"""One login for the resource API and the hub."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from fleet_components.live.azure_login import MODES, access_token, mode_of, resource_api
from fleet_components.model.problem import FleetError
from tests.hub.azure.resources import SUBSCRIPTION
from tests.live.plugins import gives_to_azure, program

CANARY = "SWORDFISH"
HERE = "https://management.azure.com"
IDENTITY = {"AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t"}


@pytest.mark.parametrize(
    ("environment", "mode"),
    [
        ({}, "azurecli"),
        (IDENTITY, "azurecli"),
        ({**IDENTITY, "AZURE_FEDERATED_TOKEN_FILE": "f"}, "workloadidentity"),
        ({**IDENTITY, "AZURE_CLIENT_SECRET": "s"}, "spn"),
        ({**IDENTITY, "AZURE_CLIENT_CERTIFICATE_PATH": "s"}, "spn"),
        ({**IDENTITY, "AZURE_CLIENT_SECRET": ""}, "azurecli"),
        ({"AZURE_CLIENT_SECRET": "s"}, "azurecli"),
    ],
)
def test_the_environment_chooses_the_mode(environment: dict[str, str], mode: str) -> None:
    assert mode_of(environment) == mode
    assert mode in MODES


def test_the_cloud_of_the_login_is_that_of_the_resources() -> None:
    assert resource_api({}) == HERE
    assert resource_api({"AZURE_AUTHORITY_HOST": "https://login.microsoftonline.us/"}) == (
        "https://management.usgovcloudapi.net"
    )
    with pytest.raises(FleetError, match="AZURE_AUTHORITY_HOST names no cloud"):
        resource_api({"AZURE_AUTHORITY_HOST": "https://login.elsewhere.example"})


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    with pytest.raises(FleetError) as caught:
        access_token("azurecli", SUBSCRIPTION, HERE, time.monotonic() + 5)
    assert "azure-identity is not installed" in str(caught.value)
    assert "pip install 'fleet-components[observe-azure]'" in str(caught.value)


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def _library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("azure.identity")
        for name in (
            "AZURE_CLIENT_ID",
            "AZURE_TENANT_ID",
            "AZURE_CLIENT_SECRET",
            "AZURE_FEDERATED_TOKEN_FILE",
        ):
            monkeypatch.delenv(name, raising=False)

    def test_az_is_asked_for_a_token_of_the_subscription(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        az = program(monkeypatch, tmp_path, "az", gives_to_azure(CANARY))
        assert access_token("azurecli", SUBSCRIPTION, HERE, time.monotonic() + 30) == CANARY
        args = az.calls[-1]["args"]
        assert args[:2] == ["account", "get-access-token"]
        assert args[args.index("--subscription") + 1] == SUBSCRIPTION
        assert args[args.index("--resource") + 1] == HERE

    @pytest.mark.parametrize(
        ("code", "told"),
        [
            ("sys.exit('ERROR: Please run az login to setup account.')", "Please run 'az login'"),
            (
                f"sys.exit('ERROR: AADSTS70043: the refresh token eyJ{CANARY}.eyJ.x has expired')",
                "AADSTS70043",
            ),
            pytest.param("time.sleep(60)", "", marks=pytest.mark.long),
            (f"print('eyJ{CANARY}.eyJ.x')", ""),
        ],
    )
    def test_a_login_that_fails(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        capfd: pytest.CaptureFixture[str],
        code: str,
        told: str,
    ) -> None:
        program(monkeypatch, tmp_path, "az", code)
        begun = time.monotonic()
        with pytest.raises(FleetError) as caught:
            access_token("azurecli", SUBSCRIPTION, HERE, time.monotonic() + 3)
        assert time.monotonic() - begun < 30
        assert "no login to Azure (azurecli): " in str(caught.value)
        assert told in str(caught.value)
        assert "run `az login`, in the tenant of the fleet" in str(caught.value)
        assert CANARY not in str(caught.value)
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("mode", ["spn", "workloadidentity"])
    def test_what_the_environment_lacks(self, mode: str) -> None:
        with pytest.raises(FleetError) as caught:
            access_token(mode, SUBSCRIPTION, HERE, time.monotonic() + 20)
        assert f"no login to Azure ({mode})" in str(caught.value)
        assert "AZURE_TENANT_ID" in str(caught.value)

    def test_every_mode_has_a_credential(self) -> None:
        from fleet_components.live.azure_login import _credential

        assert all(
            callable(_credential(mode, SUBSCRIPTION, time.monotonic() + 5)) for mode in MODES
        )
