"""The fleet on Azure with the real engine; plugins that stand in for Azure and for Kubernetes keep the state."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

pytest.importorskip("pulumi_azure_native")

from pulumi import automation

from tests.engine.driver import REPOSITORY, engine_or_skip
from tests.engine.standin import FOLDER

PROGRAM = """\
import pulumi

from fleet_components.azure import AutoUpgrade, AzureFleet, AzureFleetArgs, AzureHubArgs, HubNetwork

config = pulumi.Config("shop")
kind = config.get("hub") or "public"
network = HubNetwork(fleet_rp="99999999-8888-7777-6666-555555555555") if kind == "private" else None
hub = AzureHubArgs(resource_group="rg", region="westeurope", kind=kind, network=network)
args = AzureFleetArgs(hub=hub, profiles=(AutoUpgrade("stable", "NodeImage"),))
for key, value in AzureFleet.from_file("shop", "members.yaml", args).exports.items():
    pulumi.export(key, value)
"""
WORKLOADS = """\
import pulumi

from fleet_components.components.stack_members import members_of_stack

for member in members_of_stack("organization/shop/dev"):
    nodes = member.cluster.properties["kubernetes-fleet.io/node-count"]
    pulumi.export(member.name, {"nodes": nodes, "labels": dict(member.cluster.labels), "id": member.identifier})
    pulumi.export(f"{member.name}-kubeconfig", member.kubeconfig)
"""
APPS = {"name": "apps", "vmSize": "Standard_D8s_v5", "minCount": 2, "maxCount": 10}
WEU = {
    "name": "weu-1",
    "region": "westeurope",
    "labels": {"tier": "gold"},
    "kubernetesVersion": "1.33.2",
    "pools": [APPS],
}
EUS = {
    "name": "eus-1",
    "region": "eastus",
    "upgrades": "fleet",
    "kubernetesVersion": "1.33.2",
    "pools": [APPS],
}
SEA = {"name": "sea-1", "region": "southeastasia"}
DEFAULTS = {
    "resourceGroup": "rg",
    "systemPool": {"name": "system", "vmSize": "Standard_D4s_v5", "minCount": 3, "maxCount": 5},
}


@attrs.frozen
class Outcome:
    """What came of a run: whether it worked, what it said, and what it did by ``Type name``."""

    ok: bool
    text: str
    changes: Mapping[str, str]


class AzureStack:
    """Successive runs of one stack."""

    def __init__(self, folder: Path, project: str = "shop", program: str = PROGRAM) -> None:
        self.project, self.standin = folder / project, folder / "standin"
        for made in (
            self.project,
            self.standin,
            folder / "backend",
            folder / "home",
            folder / "plugins",
        ):
            made.mkdir(parents=True, exist_ok=True)
        for name in ("azure-native", "kubernetes"):
            plugin = folder / "plugins" / f"pulumi-resource-{name}"
            serves = f"{name} {version('pulumi_' + name.replace('-', '_'))}"
            plugin.write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -u -m tests.engine.azure_standin {serves} "$@"\n'
            )
            plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
        (self.project / "__main__.py").write_text(program)
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (self.project / "Pulumi.yaml").write_text(
            yaml.safe_dump({"name": project, "runtime": runtime})
        )
        environment = {
            "PULUMI_BACKEND_URL": f"file://{folder / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "only for tests",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PYTHONPATH": str(REPOSITORY),
            "PATH": f"{folder / 'plugins'}:{os.environ['PATH']}",
            FOLDER: str(self.standin),
        }
        options = automation.LocalWorkspaceOptions(work_dir=str(self.project), env_vars=environment)
        self.stack = automation.create_stack("dev", work_dir=str(self.project), opts=options)

    def declare(self, *members: Mapping[str, Any], hub: str = "public") -> None:
        """What the next runs find."""
        spec = {"defaults": DEFAULTS, "members": list(members)}
        data = {
            "apiVersion": "fleet-components/v1",
            "kind": "Members",
            "metadata": {"name": "m"},
            "spec": spec,
        }
        (self.project / "members.yaml").write_text(yaml.safe_dump(data))
        self.stack.set_config("shop:hub", automation.ConfigValue(hub))

    def preview(self) -> Outcome:
        return self._run(self.stack.preview)

    def up(self) -> Outcome:
        return self._run(self.stack.up)

    def refresh(self, drift: Mapping[str, Any]) -> None:
        """Refresh, after Azure changed these fields of these resources."""
        (self.standin / "drift.json").write_text(json.dumps(drift))
        self.stack.refresh(on_output=lambda _: None)

    def _run(self, operation: Any) -> Outcome:
        text: list[str] = []
        changes: dict[str, str] = {}

        def seen(event: automation.EngineEvent) -> None:
            if event.diagnostic_event:
                text.append(event.diagnostic_event.message)
            if (
                event.resource_pre_event
                and event.resource_pre_event.metadata.op != automation.OpType.SAME
            ):
                _, _, kind, name = event.resource_pre_event.metadata.urn.split("::")
                if not name.startswith("default"):  # providers that the engine makes by itself
                    changes[f"{kind.rpartition(':')[2]} {name}"] = str(
                        event.resource_pre_event.metadata.op.value
                    )

        try:
            operation(on_event=seen, on_output=lambda _: None)
        except automation.CommandError as error:
            return Outcome(False, "\n".join([*text, str(error)]), changes)
        return Outcome(True, "\n".join(text), changes)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> AzureStack:
    engine_or_skip()
    made = AzureStack(tmp_path_factory.mktemp("azure"))
    made.declare(WEU, EUS)
    first = made.preview()
    assert first.ok, first.text
    # The first preview shows everything, also what needs kubeconfigs that are not there yet.
    assert first.changes["MemberClusterPatch weu-1-taints"] == "create"
    assert "about" in first.text
    assert "USD a month" in first.text
    done = made.up()
    assert done.ok, done.text
    assert done.changes == first.changes
    return made


@pytest.fixture
def settled(stack: AzureStack) -> AzureStack:
    """The stack as declared, whatever the last test left."""
    stack.declare(WEU, EUS)
    return stack


def test_an_unchanged_program_changes_nothing(settled: AzureStack) -> None:
    outcome = settled.preview()
    assert outcome.ok, outcome.text
    assert outcome.changes == {}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"labels": {"tier": "silver"}}, {"Resource weu-1-member": "update"}),
        (
            {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
            {"MemberClusterPatch weu-1-taints": "update"},
        ),
        ({"pools": [{**APPS, "maxCount": 20}]}, {"AgentPool weu-1-apps": "update"}),
        (
            {"pools": [APPS, {**APPS, "name": "more"}]},
            {"AgentPool weu-1-more": "create", "CreateOnly weu-1-create-only": "update"},
        ),
        (
            {"kubernetesVersion": "1.34.0"},
            {
                "ManagedCluster weu-1-cluster": "update",
                "AgentPool weu-1-apps": "update",
                "CreateOnly weu-1-create-only": "update",
            },
        ),
    ],
    ids=["label", "taint", "pool resized", "pool added", "version"],
)
def test_exactly_what_should_change_does(
    settled: AzureStack, changed: Mapping[str, Any], expected: Mapping[str, str]
) -> None:
    settled.declare({**WEU, **changed}, EUS)
    outcome = settled.preview()
    assert outcome.ok, outcome.text
    assert outcome.changes == expected


def test_members_come_and_go_alone(settled: AzureStack) -> None:
    settled.declare(WEU, EUS, SEA)
    added = settled.preview()
    assert set(added.changes.values()) == {"create"}
    assert all("sea-1" in title for title in added.changes)
    settled.declare(EUS)
    (token,) = set(re.findall("fleet:confirm=([0-9a-f]{8})", settled.preview().text))
    settled.stack.set_config("fleet:confirm", automation.ConfigValue(token))
    removed = settled.preview()
    settled.stack.remove_config("fleet:confirm")
    assert set(removed.changes.values()) == {"delete"}
    assert all("weu-1" in title for title in removed.changes)


def test_a_hub_made_private_is_refused_in_the_preview(settled: AzureStack) -> None:
    settled.declare(WEU, EUS, hub="private")
    outcome = settled.preview()
    assert not outcome.ok
    assert "shop: hub.private cannot change from false to true" in outcome.text
    assert "declare a second hub under another name" in outcome.text


def test_a_wrong_declaration_is_refused_without_a_traceback(settled: AzureStack) -> None:
    settled.declare({**WEU, "group": "Canary"}, EUS)
    outcome = settled.preview()
    assert not outcome.ok
    assert "members.yaml:" in outcome.text
    assert '"Canary" is not a valid update group' in outcome.text
    assert "Traceback" not in outcome.text


def test_what_azure_changes_by_itself_shows_nothing_after_a_refresh(settled: AzureStack) -> None:
    settled.refresh(
        {
            "eus-1-cluster": {
                "kubernetesVersion": "1.34.1",
                "agentPoolProfiles": [{"count": 4, "orchestratorVersion": "1.34.1"}],
            },
            "shop-fleet": {
                "properties": {
                    "hubProfile": {"kubernetesVersion": "1.34.1", "fqdn": "x"},
                    "status": {},
                }
            },
            "eus-1-apps": {"count": 7, "orchestratorVersion": "1.34.1"},
            "weu-1-cluster": {"agentPoolProfiles": [{"count": 5}]},
            "weu-1-member": {
                "properties": {"provisioningState": "Succeeded", "status": {"lastOperationId": "x"}}
            },
            "weu-1-not-ready": {"spec": {"taints": []}},
            "shop-profile-stable": {
                "properties": {"autoUpgradeProfileStatus": {"lastTriggerStatus": "Succeeded"}}
            },
        }
    )
    outcome = settled.preview()
    assert outcome.ok, outcome.text
    assert outcome.changes == {}


def test_a_stack_of_workloads_knows_the_members_of_the_other(settled: AzureStack) -> None:
    folder = settled.project.parent
    workloads = AzureStack(folder, "workloads", WORKLOADS)
    done = workloads.up()
    assert done.ok, done.text
    outputs = workloads.stack.outputs()
    assert outputs["weu-1"].value["nodes"] == "5"
    assert outputs["weu-1"].value["labels"]["tier"] == "gold"
    assert not outputs["weu-1"].secret
    assert "kubelogin" in outputs["eus-1-kubeconfig"].value
    assert outputs["eus-1-kubeconfig"].secret
    astray = AzureStack(folder, "astray", WORKLOADS.replace("/shop/", "/workloads/")).preview()
    assert 'the stack "organization/workloads/dev" exports no members' in astray.text


def test_a_hubless_fleet_gets_a_hub(tmp_path: Path) -> None:
    engine_or_skip()
    stack = AzureStack(tmp_path)
    stack.declare(WEU, hub="hubless")
    assert stack.up().ok
    stack.declare(WEU)
    outcome = stack.up()
    assert outcome.ok, outcome.text
    assert outcome.changes == {
        "CreateOnly shop-create-only": "update",
        "Resource shop-fleet": "update",
        "kubernetes shop-hub": "create",
        "MemberClusterPatch weu-1-not-ready": "create",
        "MemberClusterPatch weu-1-taints": "create",
    }
    assert not stack.preview().changes
