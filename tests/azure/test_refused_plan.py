"""A plan that is refused has registered nothing of Azure: placements are decided before anything is provisioned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components import Fleet, FleetArgs
from fleet_components.azure import provision
from fleet_components.components.refusal import RefusedError, RefusedPlanError
from fleet_components.testing import StackState, run_program
from fleet_components.testing.program import ProgramRun

OBJECTS = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: rates, namespace: shop}
data: {eur: "1"}
"""
PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy: {placementType: PickAll}
"""
HUB = """\
apiVersion: fleet-components/v1
kind: Hub
metadata: {name: shop}
spec: {resourceGroup: rg-hub, region: westeurope}
"""
MEMBERS = """\
apiVersion: fleet-components/v1
kind: Members
metadata: {name: shop}
spec:
  defaults: {resourceGroup: rg, systemPool: {name: system, vmSize: Standard_D4s_v5, count: 3}}
  members:
  - {name: weu-1, region: westeurope}
  - {name: eus-1, region: eastus}
  - {name: sea-1, region: southeastasia}
"""
OTHER = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: own}
spec: {identity: {kind: User, name: own}}
"""
EVERYTHING = {"objects": OBJECTS, "placement": PLACEMENT, "hub": HUB, "members": MEMBERS}


def written(folder: Path, files: Mapping[str, str]) -> str:
    for old in folder.glob("*.yaml"):
        old.unlink()
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return str(folder)


def from_config(
    folder: Path,
    files: Mapping[str, str],
    state: StackState | None = None,
    name: str = "shop",
    **config: Any,
) -> ProgramRun:
    source = written(folder, files)
    given = {"fleet:source": source, **{f"fleet:{key}": value for key, value in config.items()}}
    return run_program(lambda: Fleet.from_config(name), config=given, state=state, preview=False)


def azure(run: ProgramRun) -> list[str]:
    return [
        registration.type
        for registration in run.registrations
        if "azure-native" in registration.type or "AzureFleet" in registration.type
    ]


def tokens(run: ProgramRun) -> list[str]:
    return re.findall("fleet:confirm=([0-9a-f]{8})", str(run.error))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ProgramRun:
    run = from_config(tmp_path_factory.mktemp("made"), EVERYTHING)
    assert run.error is None, run.error
    assert azure(run)
    return run


BROKEN: dict[str, dict[str, str]] = {
    "a policy that no hub would take": {"placement": PLACEMENT.replace("PickAll", "PickAny")},
    "an object that no API server would take": {
        "objects": OBJECTS.replace("name: rates", "name: rates, labels: {a: 1}")
    },
    "a member that is declared twice": {"own": OTHER.replace("own", "weu-1")},
    "a wrong member": {"members": MEMBERS.replace("southeastasia", "South East Asia")},
    "a wrong list": {"members": MEMBERS.replace("defaults", "default")},
}


@pytest.mark.parametrize("changed", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("door", ["from_config", "provision"])
def test_a_refused_source_registers_nothing(
    tmp_path: Path, door: str, changed: dict[str, str]
) -> None:
    files = {**EVERYTHING, **changed}
    if door == "from_config":
        run = from_config(tmp_path, files)
    else:
        source = written(tmp_path, files)
        run = run_program(lambda: Fleet("shop", provision("shop", FleetArgs(source=source))))
    assert isinstance(run.error, RefusedError)
    assert run.registrations == ()


def test_a_plan_that_would_take_too_much_registers_nothing(
    tmp_path: Path, made: ProgramRun
) -> None:
    fewer = {**EVERYTHING, "members": MEMBERS.replace("  - {name: eus-1, region: eastus}\n", "")}
    fewer["members"] = fewer["members"].replace("  - {name: sea-1, region: southeastasia}\n", "")
    run = from_config(tmp_path, fewer, made.state())
    assert isinstance(run.error, RefusedPlanError)
    assert run.registrations == ()


def test_a_loss_of_placements_is_refused_through_either_door(
    tmp_path: Path, made: ProgramRun
) -> None:
    """``provision`` comes before the plan, since it does not know the fleet; ``from_config`` plans first."""
    files = {name: text for name, text in EVERYTHING.items() if name != "placement"}
    first = from_config(tmp_path, files, made.state())
    assert isinstance(first.error, RefusedPlanError)
    assert first.registrations == ()
    source = written(tmp_path, files)
    program = run_program(
        lambda: Fleet("shop", provision("shop", FleetArgs(source=source))), state=made.state()
    )
    assert isinstance(program.error, RefusedPlanError)
    assert not [
        registration
        for registration in program.registrations
        if registration.name.startswith("shop/")
    ]
    assert tokens(program) == tokens(first)


def test_all_tokens_are_asked_for_at_once(tmp_path: Path, made: ProgramRun) -> None:
    """That of the placements, and that of what is deleted in Azure; one alone allows nothing yet, and is said to count."""
    item = {**EVERYTHING, "members": MEMBERS[: MEMBERS.index("  - {name: eus-1")]}
    refused = from_config(tmp_path, item, made.state())
    assert isinstance(refused.error, RefusedPlanError)
    assert refused.registrations == ()
    asked = tokens(refused)
    assert len(asked) == 3  # of the member list, of the placement, of Azure
    assert "would lose 2 of 3 members" in str(refused.error)
    assert "AzureFleet shop: would delete the AKS cluster eus-1, the AKS cluster sea-1" in str(
        refused.error
    )
    for given in asked:
        partly = from_config(tmp_path, item, made.state(), confirm=given)
        assert tokens(partly) == [token for token in asked if token != given]
        assert partly.registrations == ()
        said = [text for _, text in partly.messages if f"fleet:confirm={given} allows" in text]
        assert len(said) == (given == asked[-1])
    done = from_config(tmp_path, item, made.state(), confirm=",".join(asked))
    assert done.error is None, done.error
    assert azure(done)


def test_what_is_accepted_is_provisioned_and_reached_as_before(made: ProgramRun) -> None:
    assert {
        registration.name
        for registration in made.registrations
        if registration.type.endswith(":ManagedCluster")
    } == {*("weu-1-cluster", "eus-1-cluster", "sea-1-cluster")}
    providers = [
        registration
        for registration in made.registrations
        if registration.type == "pulumi:providers:kubernetes"
    ]
    reached = [provider for provider in providers if provider.name.startswith("shop/")]
    assert len(reached) == 3
    assert all(
        "127.0.0.1" in str(made.inputs(item.name, "kubernetes")["kubeconfig"]) for item in reached
    )


@pytest.mark.parametrize(
    ("gone", "lost"),
    [
        (["hub"], "the hub shop"),
        (["members"], "the AKS cluster eus-1"),
        (["hub", "members"], "the AKS cluster weu-1"),
    ],
)
def test_declarations_that_are_gone_delete_nothing_unless_that_is_meant(
    tmp_path: Path, made: ProgramRun, gone: list[str], lost: str
) -> None:
    files = {**EVERYTHING, "own": OTHER}
    if gone == ["members"]:  # a hub alone is refused by itself
        files["members"] = MEMBERS[: MEMBERS.index("  defaults")] + "  members: []\n"
    else:
        files = {name: text for name, text in files.items() if name not in gone}
    known: dict[str, Any] = {"kubeconfigs": {"own": "{clusters: [], contexts: [], users: []}"}}
    allowed: list[str] = []
    refusals = []
    while True:
        run = from_config(tmp_path, files, made.state(), confirm=",".join(allowed), **known)
        if run.error is None:
            break
        assert run.registrations == ()
        refusals.append(str(run.error))
        assert set(tokens(run)) - set(allowed), run.error
        allowed += tokens(run)
    assert lost in refusals[-1]
    assert "would delete" in refusals[-1]


def test_a_renamed_fleet_keeps_its_hub(tmp_path: Path, made: ProgramRun) -> None:
    run = from_config(tmp_path, EVERYTHING, made.state(), name="store", renamed={"fleet": "shop"})
    assert run.error is None, run.error
    (hub,) = [
        registration for registration in run.registrations if registration.name == "store-fleet"
    ]
    assert any(alias.endswith("::shop-fleet") for alias in hub.aliases)
    fewer = {**EVERYTHING, "members": MEMBERS.replace("  - {name: eus-1, region: eastus}\n", "")}
    refused = from_config(tmp_path, fewer, made.state(), name="store", renamed={"fleet": "shop"})
    assert "would delete the AKS cluster eus-1" in str(refused.error)


def test_a_fleet_without_azure_asks_no_guest(tmp_path: Path) -> None:
    files = {"objects": OBJECTS, "placement": PLACEMENT, "own": OTHER}
    run = from_config(
        tmp_path, files, kubeconfigs={"own": "{clusters: [], contexts: [], users: []}"}
    )
    assert run.error is None, run.error
    assert azure(run) == []
