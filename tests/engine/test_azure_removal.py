"""On the engine: what is misspelt or gone from the declarations of a fleet on Azure deletes nothing by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("pulumi_azure_native")

from pulumi import automation

from tests.engine.driver import engine_or_skip
from tests.engine.test_azure import EUS, WEU, AzureStack, Outcome

FROM_FILE = """\
import pulumi

from fleet_components.azure import AzureFleet, AzureFleetArgs

AzureFleet.from_file("shop", "fleet", AzureFleetArgs())
"""
FROM_CONFIG = """\
from fleet_components import Fleet

Fleet.from_config("shop")
"""
NEEDED = {
    "resourceGroup": "rg",
    "systemPool": {"name": "system", "vmSize": "Standard_D4s_v5", "count": 3},
}
HUB = {"resourceGroup": "rg-hub", "region": "westeurope"}
US = {**EUS, "resourceGroup": "rg-us"}


class Declared(AzureStack):
    """A stack whose hub and members stand in YAML."""

    def write(self, kind: str, spec: Mapping[str, Any] | None, /, **header: str) -> None:
        """Declare something of a kind, or nothing any more; ``header`` takes the place of what is right."""
        folder = self.project / "fleet"
        folder.mkdir(exist_ok=True)
        file = folder / f"{kind}.yaml"
        right = {"apiVersion": "fleet-components/v1", "kind": kind, "metadata": {"name": "shop"}}
        if spec is None:
            file.unlink(missing_ok=True)
        else:
            file.write_text(
                yaml.safe_dump({**right, **header, "spec": dict(spec)}, sort_keys=False)
            )

    def members(self, *members: Mapping[str, Any], **header: str) -> None:
        self.write("Members", {"defaults": NEEDED, "members": list(members)}, **header)

    def confirm(self, *tokens: str) -> None:
        self.stack.set_config("fleet:confirm", automation.ConfigValue(",".join(tokens)))

    def urns(self) -> set[str]:
        """What stands, beside what the engine makes by itself."""
        deployment = self.stack.export_stack().deployment or {}
        found = {str(item["urn"]) for item in deployment.get("resources") or ()}
        return {
            urn for urn in found if "::pulumi:pulumi:Stack::" not in urn and "::default" not in urn
        }

    def named(self, name: str) -> str:
        (urn,) = [urn for urn in self.urns() if urn.endswith(f"::{name}")]
        return urn


def tokens(outcome: Outcome) -> list[str]:
    return sorted(set(re.findall("fleet:confirm=([0-9a-f]{8})", outcome.text)))


def refused(stack: Declared, *words: str) -> list[str]:
    """Hold that preview and update are refused with these words and change nothing; return the tokens."""
    before = stack.urns()
    # An update of the Automation API has no preview.
    outcomes = [stack.preview(), stack.up()]
    for outcome in outcomes:
        assert not outcome.ok
        assert "Traceback" not in outcome.text
        assert not {"delete", "update", "replace"} & set(outcome.changes.values())
        for word in words:
            assert word in outcome.text
    assert stack.urns() == before
    assert tokens(outcomes[0]) == tokens(outcomes[1])
    return tokens(outcomes[0])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Declared:
    engine_or_skip()
    stack = Declared(tmp_path_factory.mktemp("removal"), program=FROM_FILE)
    stack.write("Hub", HUB)
    stack.members(WEU, US)
    done = stack.up()
    assert done.ok, done.text
    return stack


@pytest.fixture
def stack(made: Declared) -> Declared:
    """The stack as declared, whatever the last test left."""
    made.write("Hub", HUB)
    made.members(WEU, US)
    made.confirm()
    return made


def test_a_typo_deletes_nothing(stack: Declared) -> None:
    stack.members(WEU, US, kind="Member")
    assert refused(stack, "Members.yaml", "write kind: Members") == []


def test_a_hub_whose_members_are_gone_is_refused(stack: Declared) -> None:
    stack.write("Members", None)
    assert refused(stack, "no members are declared beside this hub", "members: []") == []
    stack.members()
    assert refused(
        stack, "would delete the AKS cluster eus-1, the AKS cluster weu-1, the resource group rg"
    )


def test_a_hub_that_is_gone_is_refused(stack: Declared) -> None:
    stack.write("Hub", None)
    assert refused(
        stack, "would delete the resource group rg-hub with everything in it, the hub shop"
    )


def test_a_member_goes_if_that_is_meant_and_is_guarded_again_once_it_is_back(
    stack: Declared,
) -> None:
    lost = "would delete the AKS cluster eus-1, the resource group rg-us with everything in it"
    stack.members(WEU)
    (token,) = refused(stack, lost)
    stack.confirm(token)
    shown = stack.preview()
    assert shown.ok, shown.text
    assert f"as fleet:confirm={token} allows" in shown.text
    assert set(shown.changes.values()) == {"delete"}
    assert all("eus-1" in title or title.endswith("rg-us") for title in shown.changes)
    assert stack.up().changes == shown.changes
    stack.confirm()
    assert stack.preview().changes == {}
    stack.members(WEU, US)
    assert stack.up().ok
    stack.members(WEU)
    assert lost in stack.preview().text


def test_a_fleet_that_is_refused_has_nothing_of_azure(tmp_path: Path) -> None:
    engine_or_skip()
    stack = Declared(tmp_path, program=FROM_CONFIG)
    stack.write("Hub", HUB)
    stack.members(WEU, US)
    stack.stack.set_config("fleet:source", automation.ConfigValue("fleet"))
    selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}]
    stack.write(
        "ClusterResourcePlacement",
        {"resourceSelectors": selectors, "policy": {"placementType": "All"}},
        apiVersion="placement.kubernetes-fleet.io/v1",
    )
    assert refused(stack, 'Unsupported value: "All"') == []
    assert stack.urns() == set()


def test_destroying_is_not_hindered(made: Declared) -> None:
    """The last test of this stack."""
    made.write("Hub", None)  # what is declared does not count
    cluster = made.named("eus-1-cluster")
    made.stack.destroy(target=[cluster], target_dependents=True, on_output=lambda _: None)
    assert cluster not in made.urns()
    assert made.named("weu-1-cluster")
    made.stack.destroy(on_output=lambda _: None)
    assert made.urns() == set()
