"""What a fleet has provisioned goes only if that is said to be meant: refused in previews and updates alike."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure import AzureFleet, AzureFleetArgs, AzureHubArgs, JoinedMember
from fleet_components.azure.components.removal import RemovalGuard, Thing
from fleet_components.components.refusal import RefusedError
from fleet_components.testing import run_program
from fleet_components.testing.program import ProgramRun
from tests.azure import world
from tests.azure.build import GUID, aks

pytestmark = pytest.mark.long

HUB = AzureHubArgs(resource_group="rg-hub", region="northeurope")
WEU = aks("weu-1", resource_group="rg-eu")
EUS = aks("eus-1", region="eastus", resource_group="rg-us")
CLUSTERS = f"/subscriptions/{GUID}/resourceGroups/theirs/providers/Microsoft.ContainerService/managedClusters"
EDGE = JoinedMember(name="edge", region="westeurope", cluster_id=f"{CLUSTERS}/edge")
BEFORE = AzureFleetArgs(hub=HUB, members=(WEU, EUS, EDGE))


def fleet(args: AzureFleetArgs, before: world.Run | None = None, **opts: Any) -> world.Run:
    return world.run(lambda: AzureFleet("shop", args, pulumi.ResourceOptions(**opts)), before)


def refusal(run: world.Run | ProgramRun) -> str:
    assert isinstance(run.error, RefusedError)
    return str(run.error)


def token_in(text: str) -> str:
    (token,) = re.findall("fleet:confirm=([0-9a-f]{8})", text)
    return str(token)


@pytest.fixture(scope="module")
def before() -> world.Run:
    run = fleet(BEFORE)
    assert run.error is None
    return run


REMOVALS: list[tuple[str, dict[str, Any], str]] = [
    (
        "a cluster",
        {"members": (WEU, EDGE)},
        "the AKS cluster eus-1, the resource group rg-us with everything in it",
    ),
    (
        "a cluster of a group that stays",
        {"members": (WEU, aks("x", resource_group="rg-us"), EDGE)},
        "cluster eus-1",
    ),
    ("a joined cluster", {"members": (WEU, EUS)}, "the entry of edge in the hub"),
    (
        "the hub",
        {"hub": None},
        "the resource group rg-hub with everything in it, the hub shop, the entry of edge",
    ),
    (
        "a group that exists from now on",
        {"existing_resource_groups": frozenset({"rg-eu"})},
        "the resource group rg-eu",
    ),
    (
        "a group in other case",
        {"members": (attrs.evolve(WEU, resource_group="RG-EU"), EUS, EDGE)},
        "group rg-eu",
    ),
    ("everything", {"hub": None, "members": ()}, "the AKS cluster weu-1"),
]


@pytest.mark.parametrize(
    ("changed", "lost"), [row[1:] for row in REMOVALS], ids=[row[0] for row in REMOVALS]
)
def test_a_removal_is_refused_before_anything_is_registered(
    before: world.Run, changed: dict[str, Any], lost: str
) -> None:
    args = attrs.evolve(BEFORE, **changed)
    refused = fleet(args, before)
    assert re.search(f"would delete .*{lost}", refusal(refused))
    assert "AzureFleet shop" in refusal(refused)
    assert refused.resources == {}
    token = token_in(refusal(refused))
    again = fleet(attrs.evolve(args, confirm=(token,)), before)
    assert "would delete" not in str(again.error)
    if (
        again.error is None
    ):  # else a field that only a creation can set, which no token allows to change
        assert any(f"fleet:confirm={token} allows" in message for message in again.messages)


@given(
    st.sets(st.sampled_from("abcde")),
    st.sets(st.sampled_from("abcde")),
    st.sets(st.sampled_from("abcde")),
)
def test_a_token_allows_exactly_the_loss_that_was_refused(
    standing: set[str], declared: set[str], others: set[str]
) -> None:
    def things(found: set[str]) -> frozenset[Thing]:
        return frozenset(Thing("cluster", name) for name in found)

    guard = RemovalGuard("shop", things(standing), frozenset())
    problems = list(guard.problems(things(declared)))
    lost = standing - declared
    assert bool(problems) == bool(lost) == bool(guard.allowed(things(declared)))
    if lost:
        (problem,) = problems
        assert all(f"the AKS cluster {name}" in problem.what for name in lost)
        allowed = attrs.evolve(guard, confirm=frozenset({token_in(problem.hint)}))
        assert not list(allowed.problems(things(declared)))
        assert bool(list(allowed.problems(things(others)))) == bool(
            standing - others and standing - others != lost
        )


def test_nothing_is_asked_of_what_comes_or_stays(before: world.Run) -> None:
    more = attrs.evolve(BEFORE, members=(aks("sea-1", resource_group="rg-asia"), *BEFORE.members))
    run = fleet(more, before)
    assert run.error is None
    assert not any("allows" in message for message in run.messages)


def test_what_another_fleet_has_provisioned_is_its_own(before: world.Run) -> None:
    run = world.run(lambda: AzureFleet("other", AzureFleetArgs(members=(aks("x"),))), before)
    assert run.error is None


@pytest.mark.parametrize(
    "alias", [pulumi.Alias(name="shop"), "urn:pulumi:stack::project::fleet:index:AzureFleet::shop"]
)
def test_a_renamed_fleet_is_known_by_its_former_name(before: world.Run, alias: Any) -> None:
    args = attrs.evolve(BEFORE, hub=attrs.evolve(HUB, fleet_name="shop"), members=(WEU, EDGE))
    opts = pulumi.ResourceOptions(aliases=[alias])
    run = world.run(lambda: AzureFleet("store", args, opts), before)
    assert "AzureFleet store: would delete the AKS cluster eus-1" in refusal(run)


THERE = world.OTHER_SUBSCRIPTION
ELSEWHERE = attrs.evolve(EUS, resource_group="rg-eu", subscription=THERE)


def test_groups_of_one_name_in_two_subscriptions_are_two() -> None:
    both = AzureFleetArgs(members=(WEU, ELSEWHERE))
    made = fleet(both)
    assert made.error is None
    kept = fleet(both, made)
    assert kept.error is None
    assert world.changes(made, kept) == {}
    for name, record in (
        ("rg-eu", "shop-group-rg-eu"),
        (f"rg-eu-{THERE}", f"shop-group-rg-eu-{THERE}"),
    ):
        after = made.named(name, "ResourceGroup").after
        assert {each for each in after if each.startswith("shop-group-")} == {record}
    theirs, ours = (
        f"the resource group rg-eu of subscription {THERE} with everything",
        "the resource group rg-eu with",
    )
    told = {}
    for member, lost, stays in ((WEU, theirs, ours), (ELSEWHERE, ours, theirs)):
        told[lost] = refusal(fleet(AzureFleetArgs(members=(member,)), made))
        assert lost in told[lost]
        assert stays not in told[lost]
    again = fleet(AzureFleetArgs(members=(WEU,), confirm=(token_in(told[ours]),)), made)
    assert theirs in refusal(again)


def test_a_group_that_moves_to_another_subscription_is_guarded() -> None:
    made = fleet(AzureFleetArgs(members=(WEU, ELSEWHERE)))
    moved = attrs.evolve(ELSEWHERE, subscription="aaaaaaaa-2222-3333-4444-555555555555")
    assert f"the resource group rg-eu of subscription {THERE} with" in refusal(
        fleet(AzureFleetArgs(members=(WEU, moved)), made)
    )


def test_a_record_without_a_subscription_is_of_the_fleets_own() -> None:
    """So the subscription that the default provider works in anyway changes nothing."""
    made = fleet(AzureFleetArgs(members=(WEU,)))
    (record,) = (each for each in made.of_type("Provisioned") if each.inputs["kind"] == "group")
    assert "subscription" not in record.inputs
    same = AzureFleetArgs(members=(attrs.evolve(WEU, subscription=world.SUBSCRIPTION.upper()),))
    config = {"azure-native:subscriptionId": world.SUBSCRIPTION}
    run = world.run(lambda: AzureFleet("shop", same), made, config=config)
    assert "would delete" not in str(run.error)


def test_each_resource_waits_for_its_record(before: world.Run) -> None:
    """So that a record stands as long as its resource, also if a deletion fails; and for no other one's record."""
    for name, kind, record in (
        ("shop-fleet", "Resource", "shop-hub-shop"),
        ("weu-1-cluster", "ManagedCluster", "shop-cluster-weu-1"),
        ("edge-member", "Resource", "shop-member-edge"),
        ("rg-us", "ResourceGroup", "shop-group-rg-us"),
    ):
        after = before.named(name, kind).after
        assert {
            item
            for item in after
            if item.startswith(("shop-cluster-", "shop-member-", "shop-hub-s"))
        } <= {record}
        assert record in after


def program(members: tuple[Any, ...]) -> ProgramRun:
    return run_program(lambda: AzureFleet("shop", AzureFleetArgs(members=members)), preview=False)


@pytest.mark.parametrize("preview", [True, False])
def test_the_token_may_stand_in_the_configuration(preview: bool) -> None:
    made = program((WEU, EUS))
    assert made.error is None

    def again(**config: str) -> ProgramRun:
        return run_program(
            lambda: AzureFleet("shop", AzureFleetArgs(members=(WEU,))),
            state=made.state(),
            config=config,
            preview=preview,
        )

    refused = again()
    text = refusal(refused)
    assert refused.registrations == ()
    assert again(**{"fleet:confirm": f"abcdef01,{token_in(text)}"}).error is None
    assert "would delete" in refusal(again(**{"fleet:confirm": "abcdef01"}))
    assert '"yes" is not a token' in refusal(again(**{"fleet:confirm": "yes"}))
