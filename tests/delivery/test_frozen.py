"""What is in a state outlives every release: the path of the providers, and the form of what they keep."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import pytest
from pulumi.dynamic.dynamic import serialize_provider

from fleet_components.content.revision import decompress
from fleet_components.testing import StackState
from fleet_components.testing.mocks import PROVIDERS
from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import on, policy

STATE = Path(__file__).parent / "data" / "state.json"
"""The state after an update to ``web:2`` that broke on ``c`` and ``d``. Written by the first release; never write it again."""

OWN, AZURE = "fleet_components.dynamic", "fleet_components.azure.dynamic"
PICKLES = {
    (
        OWN,
        "PlacementProvider",
    ): "gASVNQAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMEVBsYWNlbWVudFByb3ZpZGVylJOUKYGULg==",
    (
        OWN,
        "TemplateProvider",
    ): "gASVNAAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMEFRlbXBsYXRlUHJvdmlkZXKUk5QpgZQu",
    (
        OWN,
        "BindingProvider",
    ): "gASVMwAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMD0JpbmRpbmdQcm92aWRlcpSTlCmBlC4=",
    (
        OWN,
        "RosterProvider",
    ): "gASVMgAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMDlJvc3RlclByb3ZpZGVylJOUKYGULg==",
    (
        OWN,
        "MemberProvider",
    ): "gASVMgAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMDk1lbWJlclByb3ZpZGVylJOUKYGULg==",
    (
        OWN,
        "ReportProvider",
    ): "gASVMgAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMDlJlcG9ydFByb3ZpZGVylJOUKYGULg==",
    (
        OWN,
        "BarrierProvider",
    ): "gASVMwAAAAAAAACMGGZsZWV0X2NvbXBvbmVudHMuZHluYW1pY5SMD0JhcnJpZXJQcm92aWRlcpSTlCmBlC4=",
    (
        AZURE,
        "CreateOnlyProvider",
    ): "gASVPAAAAAAAAACMHmZsZWV0X2NvbXBvbmVudHMuYXp1cmUuZHluYW1pY5SMEkNyZWF0ZU9ubHlQcm92aWRlcpSTlCmBlC4=",
    (
        AZURE,
        "ProvisionedProvider",
    ): "gASVPQAAAAAAAACMHmZsZWV0X2NvbXBvbmVudHMuYXp1cmUuZHluYW1pY5SME1Byb3Zpc2lvbmVkUHJvdmlkZXKUk5QpgZQu",
}
TYPES = ["Barrier", "Binding", "Member", "Placement", "Roster", "Template"]
LATER = ["Report"]


@pytest.mark.parametrize(("module", "name"), PICKLES)
def test_the_providers_of_every_state_are_found(module: str, name: str) -> None:
    provider = pickle.loads(base64.b64decode(PICKLES[module, name]))
    assert type(provider) is getattr(import_module(module), name)
    assert vars(provider) == {}


@pytest.mark.parametrize(("module", "name"), PICKLES)
def test_they_go_into_the_state_as_ever(module: str, name: str) -> None:
    """Else every resource would show an update after an upgrade."""
    provider = getattr(import_module(module), name)()
    assert serialize_provider(provider) == PICKLES[module, name]
    assert not provider.serialize_as_secret_always


def test_the_types_are_those_of_every_state() -> None:
    known = {
        resource.type
        for resource in golden().resources.values()
        if "dynamic/fleet:" in resource.type
    }
    assert known == {f"pulumi-python:dynamic/fleet:{name}" for name in TYPES}
    assert known | {f"pulumi-python:dynamic/fleet:{name}" for name in LATER} <= PROVIDERS.keys()


def rolled_out_half() -> InProcess:
    """The story that the golden state was written by."""
    driver = InProcess()
    steered = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rates", "namespace": "pay"},
        "data": {},
    }
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "rates"}]
    rates = policy("rates", resourceSelectors=selectors, placement=on("a", "b"))
    driver.world.extra = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay"}},
        steered,
        {**rates, "metadata": {"name": "rates", "namespace": "pay"}},
    ]
    driver.world.rolling = {"maxUnavailable": 2, "maxSurge": 1}
    assert driver.up().ok
    driver.world.image = "web:2"
    assert not driver.up(fails="cd").ok
    return driver


def kept(state: StackState) -> dict[str, Mapping[str, Any]]:
    """The inputs of the resources that this package itself keeps; contents unpacked."""
    own = [r for r in state.resources.values() if "dynamic/fleet:" in r.type]
    return {
        r.urn: {k: unpacked(v) if k == "contents" else v for k, v in r.inputs.items()} for r in own
    }


def unpacked(contents: Mapping[str, str]) -> Any:
    return {revision: decompress(text) for revision, text in contents.items()}


def golden() -> StackState:
    return StackState.read(STATE)


def test_what_is_kept_has_the_form_that_it_ever_had() -> None:
    assert json.loads(json.dumps(kept(rolled_out_half().state))) == kept(golden())


def test_a_state_of_the_first_release_is_gone_on_from() -> None:
    driver = rolled_out_half()
    driver.state = golden()
    shown = driver.preview()
    own = ("Placement", "Template", "Roster", "Member", "Barrier")
    assert not [name for name in shown.changes if name.startswith(own)]
    assert {n for n in shown.changes if n.startswith("Deployment")} == {
        f"Deployment shop@{c}/shop/web" for c in "cd"
    }
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:2")
    assert driver.preview().changes == {}


if __name__ == "__main__":
    STATE.parent.mkdir(exist_ok=True)
    resources = [attrs.asdict(r) for _, r in sorted(rolled_out_half().state.resources.items())]
    STATE.write_text(
        json.dumps({"deployment": {"resources": resources}}, indent=1, sort_keys=True) + "\n"
    )
