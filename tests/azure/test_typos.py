"""Nothing is lost by a typo: whatever letter of a declaration's type is wrong, it is refused and the right one named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pulumi_azure_native")

from fleet_components import Fleet
from fleet_components.azure import AzureFleet, AzureFleetArgs, provision
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.content.files import Text
from fleet_components.content.load import load_text
from fleet_components.model.problem import FleetError
from fleet_components.model.reader import API_VERSION, declared_kinds
from fleet_components.plan.source import gather
from fleet_components.testing import run_program
from tests.azure import world
from tests.azure.build import aks

OBJECT = "apiVersion: '{}'\nkind: '{}'\nmetadata: {{name: shop}}\nspec: {}\n"
HUB = OBJECT.format(API_VERSION, "Hub", "{resourceGroup: rg, region: westeurope}")
MEMBERS = OBJECT.format(
    API_VERSION,
    "Members",
    "{members: [{name: weu-1, region: westeurope, resourceGroup: rg, "
    "systemPool: {name: system, vmSize: Standard_D4s_v5, count: 3}}]}",
)
NONE = OBJECT.format(API_VERSION, "Members", "{members: []}")
LETTERS = st.sampled_from("abmsuvHM/-.12")


@st.composite
def misspelt(draw: st.DrawFn, word: str) -> str:
    """The word with one letter more, less, another, or two in the wrong order; or in other case."""
    at = draw(st.integers(0, len(word) - 1))
    before, letter, after = word[:at], word[at], word[at + 1 :]
    wrong = draw(
        st.sampled_from(
            (before + after, f"{before}{after[:1]}{letter}{after[1:]}", word.lower(), word.upper())
        )
        | LETTERS.map(lambda new: f"{before}{new}{after}")
        | LETTERS.map(lambda new: f"{before}{new}{letter}{after}")
    )
    return draw(st.just(wrong).filter(lambda it: it != word))


@given(st.data())
def test_every_typo_is_refused_with_object_file_and_line_and_what_was_meant(
    data: st.DataObject,
) -> None:
    kind = data.draw(st.sampled_from(declared_kinds()))
    if data.draw(st.booleans()):
        text, meant, line = (
            OBJECT.format(data.draw(misspelt(API_VERSION)), kind, "{}"),
            API_VERSION,
            1,
        )
    else:
        text, meant, line = OBJECT.format(API_VERSION, data.draw(misspelt(kind)), "{}"), kind, 2
    others = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
    (problem,) = gather(Text("fleet.yaml", text + others)).problems
    assert (problem.file, problem.line) == ("fleet.yaml", line)
    assert "shop" in problem.subject
    assert problem.hint == f"write {'apiVersion' if line == 1 else 'kind'}: {meant}"


TYPOS = [
    (HUB.replace("Hub", "Hubb"), "fleet.yaml:2: Hubb shop", "write kind: Hub"),
    (MEMBERS.replace("Members", "Member"), "fleet.yaml:2: Member shop", "write kind: Members"),
    (
        HUB.replace("/v1", "/v1beta1"),
        "fleet.yaml:1: Hub shop",
        "write apiVersion: fleet-components/v1",
    ),
    (
        MEMBERS.replace("components", "component"),
        "fleet.yaml:1: Members shop",
        "write apiVersion: fleet-components/v1",
    ),
    (
        MEMBERS.replace("fleet-components/", ""),
        "fleet.yaml:1: Members shop",
        "write apiVersion: fleet-components/v1",
    ),
    (MEMBERS.replace("spec", "specs"), "fleet.yaml:4: Members shop", "(spec)"),
    (HUB, "fleet.yaml:2: Hub shop", "members: []"),
]


def _read(folder: Path, kind: str) -> Callable[[], object]:
    def given_to(make: Callable[[Path], object]) -> Callable[[], object]:
        return lambda: make(folder)

    return given_to(
        {
            "from_file": lambda path: AzureFleet.from_file(
                "shop", path / "fleet.yaml", AzureFleetArgs()
            ),
            "from_manifests": lambda path: AzureFleet.from_manifests(
                "shop", load_text((path / "fleet.yaml").read_text(), "fleet.yaml"), AzureFleetArgs()
            ),
            "provision": lambda path: provision("shop", FleetArgs(source=str(path))),
        }[kind]
    )


@pytest.mark.parametrize(
    "beside", ["", NONE.replace("shop", "more")], ids=["alone", "beside others"]
)
@pytest.mark.parametrize("door", ["from_file", "from_manifests", "provision", "from_config"])
@pytest.mark.parametrize(("text", "where", "meant"), TYPOS)
def test_every_door_refuses_it(
    tmp_path: Path, door: str, text: str, where: str, meant: str, beside: str
) -> None:
    if beside and text == HUB:
        pytest.skip("a hub with an empty list of members is no typo")
    (tmp_path / "fleet.yaml").write_text(f"{text}---\n{beside}" if beside else text)
    if door == "from_config":
        run = run_program(lambda: Fleet.from_config("shop"), config={"fleet:source": str(tmp_path)})
        error, registered = run.error, [registration.type for registration in run.registrations]
    else:
        made = world.run(_read(tmp_path, door))
        error, registered = made.error, [resource.type for resource in made.resources.values()]
    assert isinstance(error, FleetError)
    assert where in str(error)
    assert meant in str(error)
    assert registered == []


def test_what_other_systems_call_alike_is_left_alone() -> None:
    theirs = OBJECT.format("fleet.cattle.io/v1alpha1", "Hub", "{}") + "---\n"
    theirs += OBJECT.format("example.org/v1", "Members", "{}")
    assert gather(Text("fleet.yaml", theirs)).problems == ()


def test_a_hub_alone_is_provisioned_if_that_is_said() -> None:
    run = world.run(
        lambda: AzureFleet.from_manifests(
            "shop", load_text(f"{HUB}---\n{NONE}", "fleet.yaml"), AzureFleetArgs()
        )
    )
    assert run.error is None
    assert run.named("shop-fleet").inputs["resourceName"] == "shop"
    assert run.of_type("ManagedCluster") == []


def test_a_hub_alone_is_provisioned_for_the_members_of_a_program() -> None:
    args = AzureFleetArgs(members=(aks(),))
    run = world.run(lambda: AzureFleet.from_manifests("shop", load_text(HUB, "fleet.yaml"), args))
    assert run.error is None
    assert len(run.of_type("ManagedCluster")) == 1
