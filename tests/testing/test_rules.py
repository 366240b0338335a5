"""Rules over plans of either system: what they see is what the plan's document says, and what breaks one is told."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet_components import FleetError
from fleet_components.review.documents.form import EVERYTHING
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.wire import as_data
from fleet_components.review.planning.past import parse_state
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.testing import (
    BrokenRuleError,
    PlannedFleet,
    PlannedPlacement,
    at_least,
    deletes_nothing,
    fulfilled,
    loses_at_most,
    never_together,
    not_only_together,
    plan_fleet_of,
    rule,
    stays_in,
)
from tests.plan.test_histories import Written, worlds
from tests.testing.fleets import (
    REGIONS,
    by_karmada,
    by_kubefleet,
    deployment,
    member,
    members,
    namespace,
    service,
    write,
)

SYSTEMS = ("kubefleet", "karmada")
both = pytest.mark.parametrize("system", SYSTEMS)
Documents = Iterable[dict[str, Any]]


def planned(folder: Path, documents: Documents, **more: Any) -> PlannedFleet:
    return plan_fleet_of(write(folder, documents), **more)


def state_after(folder: Path, documents: Documents) -> Path:
    """The state that a render of the fleet leaves."""
    surveyed = survey([write(folder / "before", documents)], CommandLine())
    file = folder / "state.json"
    file.write_text(json.dumps(surveyed.after()))
    return file


def broken_by(check: Callable[[], None]) -> list[str]:
    """What breaks a rule, a placement a line; none if it holds."""
    try:
        check()
    except BrokenRuleError as error:
        return [
            f"{violation.name.rpartition('/')[2] or '-'} {violation.what}"
            for violation in error.violations
        ]
    return []


# What rules see


def _placing(world: Written) -> Written:
    """The same fleet, with a placement if it has no policy at all: such a directory is not a fleet."""
    world.placements |= (
        {}
        if world.placements or world.policies
        else {"all": ("three", {"placementType": "PickAll"})}
    )
    return world


placing = worlds.map(_placing)


@pytest.mark.long
@settings(max_examples=25)
@given(placing, placing)
def test_what_rules_see_is_what_the_document_says(before: Written, now: Written) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = [_both(Path(folder), world) for world in (before, now)]
    for fleet, surveyed in found:
        document = as_data(plan_document(surveyed, EVERYTHING))
        assert {placement.name for placement in fleet.placements(optional=True)} == {
            item["name"] for item in document["subjects"]
        }
        assert len(fleet.members) == document["members"]
        for told in document["subjects"]:
            _seen(fleet.placed(told["name"]), told)


def _both(folder: Path, world: Written) -> tuple[PlannedFleet, Survey]:
    """The plan as rules see it and as the command does, from the state that an earlier call has left."""
    # JSON, in which the name "y" stays a text.
    (folder / "fleet").mkdir(exist_ok=True)
    (folder / "fleet" / "fleet.yaml").write_text("\n---\n".join(map(json.dumps, world.documents())))
    state, lost = folder / "state.json", sorted(world.lost & world.members.keys())
    past = parse_state(state.read_bytes(), "state.json") if state.exists() else None
    command = CommandLine(lost=frozenset(lost))
    surveyed = survey([folder / "fleet"], attrs.evolve(command, state=past) if past else command)
    fleet = plan_fleet_of(folder / "fleet", state=state if past else None, lost=lost)
    if not surveyed.refused:
        state.write_text(json.dumps(surveyed.after()))
    return fleet, surveyed


def _seen(placement: PlannedPlacement, told: dict[str, Any]) -> None:
    by_word: dict[str, set[str]] = {
        word: set() for word in ("joins", "leaves", "updated", "held", "stays")
    }
    for item in told["clusters"]:
        by_word[item["change"]].add(item["name"])
    has_it = {item["name"] for item in told["clusters"] if item["revision"]["new"] is not None}
    assert set(placement.members) == has_it
    assert set(placement.joins) == by_word["joins"]
    assert set(placement.leaves) == by_word["leaves"]
    assert set(placement.updated) == by_word["updated"]
    assert set(placement.held) == by_word["held"]
    assert placement.fulfilled is not bool(told["unfulfilled"])
    assert set(placement.members) ^ set(placement.picked) <= by_word["held"]
    assert set(placement.dropped) == by_word["leaves"] | (by_word["held"] & has_it) - set(
        placement.picked
    )
    for item in told["clusters"]:
        assert item["why"].startswith(placement.why(item["name"]))
    # A member that is held keeps the objects that it has.
    now = set(placement.members) - by_word["held"]
    assert all(len(placement.objects_on(name)) == len(placement.objects) for name in now)


@both
def test_a_placement_is_the_same_under_either_system(system: str, tmp_path: Path) -> None:
    fleet = planned(tmp_path, [*members(REGIONS), *service("shop", system, "ac", replicas=3)])
    shop = fleet.placed("shop")
    assert shop.members == ("a", "c")
    assert "a" in shop.members
    assert [item.region for item in shop.members] == ["north", "south"]
    assert shop.regions == ("north", "south")
    assert shop.spread("region") == {"north": ("a",), "south": ("c",)}
    assert shop.spread(lambda item: item.region[0]) == {"n": ("a",), "s": ("c",)}
    assert shop.replicas == {"a": 3, "c": 3}
    assert shop.labels == {"policy": "shop"}
    assert shop.has_label("tier=0, policy in (shop,other)")
    assert not shop.has_label("tier!=0")
    assert [item["kind"] for item in shop.objects_on("a", "Deployment")] == ["Deployment"]
    assert shop.objects_on("b") == ()
    line = (
        (tmp_path / "fleet.yaml")
        .read_text()
        .splitlines()
        .index(f"  name: {shop.policy.rpartition('/')[2]}")
    )
    assert shop.origin.startswith(f"{tmp_path / 'fleet.yaml'}:")
    assert int(shop.origin.rpartition(":")[2]) < line < int(shop.origin.rpartition(":")[2]) + 5
    assert repr(shop) == f"<{shop.name} ({shop.origin}) on a, c>"


def test_replicas_are_those_after_division_and_overrides(tmp_path: Path) -> None:
    weights = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in (("a", 2), ("c", 1))
    ]
    scheduling = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights},
    }
    placement = {"clusterAffinity": {"clusterNames": ["a", "c"]}, "replicaScheduling": scheduling}
    policy = by_karmada("shop", placement)
    override = {
        "apiVersion": "placement.kubernetes-fleet.io/v1",
        "kind": "ResourceOverride",
        "metadata": {"name": "more", "namespace": "cart"},
        "spec": {
            "resourceSelectors": [
                {"group": "apps", "version": "v1", "kind": "Deployment", "name": "cart"}
            ],
            "policy": {
                "overrideRules": [
                    {
                        "clusterSelector": {
                            "clusterSelectorTerms": [
                                {
                                    "labelSelector": {
                                        "matchLabels": {"topology.kubernetes.io/region": "south"}
                                    }
                                }
                            ]
                        },
                        "jsonPatchOverrides": [
                            {"op": "replace", "path": "/spec/replicas", "value": 7}
                        ],
                    }
                ]
            },
        },
    }
    divided = [policy, namespace("shop"), deployment("shop", 6)]
    fleet = planned(
        tmp_path, [*members(REGIONS), *divided, *service("cart", "kubefleet", "ac"), override]
    )
    assert fleet.placed("shop").replicas == {"a": 4, "c": 2}
    assert fleet.placed("cart").replicas == {"a": 2, "c": 7}


def test_a_test_that_changes_an_object_changes_no_plan(tmp_path: Path) -> None:
    shop = planned(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "a")]).placed("shop")
    shop.objects_on("a", "Deployment")[0]["spec"]["replicas"] = 99
    shop.objects[1]["spec"]["replicas"] = 99
    assert shop.replicas == {"a": 2}


def test_a_member_that_waits_for_its_stage_is_picked_and_not_yet_a_member(tmp_path: Path) -> None:
    placement = by_kubefleet("shop", {"placementType": "PickAll"}, strategy={"type": "External"})
    shop = planned(
        tmp_path, [*members(REGIONS), placement, namespace("shop"), deployment("shop")]
    ).placed("shop")
    assert shop.members == ()
    assert shop.picked == ("a", "b", "c", "d")
    assert set(shop.held) == {"a", "b", "c", "d"}
    at_least(shop, 2, by="region")


def karmada_cluster(name: str, **spec: Any) -> dict[str, Any]:
    kind = {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}
    return {
        **kind,
        "metadata": {"name": name},
        "spec": {"syncMode": "Push", "region": REGIONS[name], **spec},
    }


def test_a_member_whose_taint_is_tolerated_for_a_while_is_not_picked_any_more(
    tmp_path: Path,
) -> None:
    tolerated = [
        {"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    ]
    policy = by_karmada(
        "shop", {"clusterAffinity": {"clusterNames": ["a", "c"]}, "clusterTolerations": tolerated}
    )
    policy["spec"]["failover"] = {"cluster": {"purgeMode": "Gracefully"}}
    kind = {
        "apiVersion": "fleet-components/v1",
        "kind": "KarmadaSettings",
        "metadata": {"name": "it"},
    }
    documents = [
        policy,
        namespace("shop"),
        deployment("shop"),
        {**kind, "spec": {"noExecuteEviction": True}},
    ]
    clusters = [karmada_cluster("a"), karmada_cluster("c")]
    state = state_after(tmp_path, [*clusters, *documents])
    taint = {"key": "down", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
    tainted = [karmada_cluster("a", taints=[taint]), karmada_cluster("c")]
    shop = planned(tmp_path / "now", [*tainted, *documents], state=state).placed("shop")
    assert shop.members == ("a", "c")
    assert shop.picked == ("c",)
    assert shop.dropped == ("a",)
    assert [item.taints[0].key for item in shop.members[:1]] == ["down"]


def test_residency_counts_where_it_still_is_and_where_it_will_be(tmp_path: Path) -> None:
    """A rollout of one member at a time: c is left later, and b joins later."""
    state = state_after(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "ac")])
    item = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    policy = by_kubefleet(
        "shop", {"placementType": "PickFixed", "clusterNames": ["b", "d"]}, strategy=item
    )
    documents = [*members(REGIONS), policy, namespace("shop"), deployment("shop", tier="0")]
    shop = planned(tmp_path / "now", documents, state=state).placed("shop")
    still, later = set(shop.members) - set(shop.picked), set(shop.picked) - set(shop.members)
    assert still
    assert later
    allowed = {*shop.picked, *shop.members}
    stays_in(shop, allowed, by="member")
    for name in (*still, *later):
        told = broken_by(lambda name=name: stays_in(shop, allowed - {name}, by="member"))  # type: ignore[misc]
        assert told == [f"shop is on {name}"]


def test_the_data_of_secrets_is_in_nothing_that_a_test_prints(tmp_path: Path) -> None:
    kind = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token", "namespace": "shop"},
    }
    fleet = planned(
        tmp_path,
        [
            *members(REGIONS),
            *service("shop", "kubefleet", "a"),
            {**kind, "stringData": {"key": "hunter2"}},
        ],
    )
    shop = fleet.placed("shop")
    (secret,) = shop.objects_on("a", "Secret")
    assert secret["stringData"] == {"key": "[secret]"}
    assert "hunter2" not in repr(
        [fleet, shop, shop.objects, shop.objects_on("a"), fleet.losing("b").placed("shop")]
    )


# Ready-made rules


@both
@settings(max_examples=15)
@given(st.data())
def test_spread_and_residency_hold_where_the_members_say_so(
    system: str, data: st.DataObject
) -> None:
    where = data.draw(
        st.dictionaries(
            st.sampled_from("pqr"), st.sets(st.sampled_from(sorted(REGIONS)), min_size=1)
        )
    )
    assume(where)
    number = data.draw(st.integers(1, 3))
    with tempfile.TemporaryDirectory() as folder:
        services = [item for name in where for item in service(name, system, where[name])]
        found = planned(Path(folder), [*members(REGIONS), *services]).placements("tier=0")
    by = data.draw(st.sampled_from(["member", "region"]))
    groups = {
        name: {name if by == "member" else REGIONS[name] for name in on}
        for name, on in where.items()
    }
    few = {name for name, got in groups.items() if len(got) < number}
    assert {text[0] for text in broken_by(lambda: at_least(found, number, by))} == few
    abroad = {name for name, on in where.items() if any(REGIONS[it] != "north" for it in on)}
    assert {text[0] for text in broken_by(lambda: stays_in(found, {"north"}))} == abroad
    alone = [next(iter(got)) for got in groups.values() if len(got) == 1]
    same = {
        name for name, got in groups.items() if len(got) == 1 and alone.count(next(iter(got))) > 1
    }
    assert {text[0] for text in broken_by(lambda: not_only_together(found, by))} == same
    pairs = sum(
        bool(groups[group] & groups[other]) for group in groups for other in groups if group < other
    )
    assert len(broken_by(lambda: never_together(found, by))) == pairs


@both
def test_a_rule_says_who_breaks_it_where_why_and_what_would_do(system: str, tmp_path: Path) -> None:
    fleet = planned(
        tmp_path,
        [*members(REGIONS), *service("shop", system, "ab"), *service("cart", system, "cd")],
    )
    with pytest.raises(BrokenRuleError) as error:
        at_least(fleet.placements(label="tier=0"), 2, by="region")
    shop, cart = fleet.placed("shop"), fleet.placed("cart")
    what = {"kubefleet": "clusterNames with", "karmada": "a clusterAffinity that allows"}[system]
    assert shop.why("a")
    assert str(error.value).splitlines() == [
        "broken in 2 places: each is in 2 regions at least",
        f"  {cart.name} ({cart.origin}) is in south",
        f"    c: {cart.why('c')}",
        f"    d: {cart.why('d')}",
        f"    what would do: {what} members in north (a, b)",
        f"  {shop.name} ({shop.origin}) is in north",
        f"    a: {shop.why('a')}",
        f"    b: {shop.why('b')}",
        f"    what would do: {what} members in south (c, d)",
    ]


REGION = "topology.kubernetes.io/region"
SPREAD = {"maxSkew": 1, "topologyKey": REGION, "whenUnsatisfiable": "DoNotSchedule"}
NORTH = {"requiredDuringSchedulingIgnoredDuringExecution": {
    "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {REGION: "north"}}}]
}}  # fmt: skip
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 9, "preference": {"labelSelector": {"matchLabels": {REGION: "north"}}}}
]}  # fmt: skip


PICK_TWO = {"placementType": "PickN", "numberOfClusters": 2}
BY_CLUSTER = {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}
BY_REGION = {"spreadByField": "region", "minGroups": 2, "maxGroups": 2}


@pytest.mark.parametrize(
    ("policy", "changed", "hint"),
    [
        (
            {**PICK_TWO, "affinity": {"clusterAffinity": PREFERRED}},
            {"topologySpreadConstraints": [SPREAD]},
            f"topologySpreadConstraints over {REGION}, to reach members in south (c, d)",
        ),
        (
            {
                "placementType": "PickN",
                "numberOfClusters": 1,
                "topologySpreadConstraints": [SPREAD],
            },
            {"numberOfClusters": 2},
            "numberOfClusters: 2, to reach members in north (a, b)",
        ),
        (
            {**PICK_TWO, "affinity": {"clusterAffinity": NORTH}},
            {"affinity": {}, "topologySpreadConstraints": [SPREAD]},
            f"filters that let members in south (c, d) pass and topologySpreadConstraints over {REGION}",
        ),
        (
            {"placementType": "PickFixed", "clusterNames": ["a"]},
            {"clusterNames": ["a", "c"]},
            "clusterNames with members in south (c, d)",
        ),
        (
            {"placementType": "PickAll", "affinity": {"clusterAffinity": NORTH}},
            {"affinity": {}},
            "filters that let members in south (c, d) pass",
        ),
        (
            {"clusterAffinity": {"clusterNames": ["a", "b"]}},
            {"clusterAffinity": {"clusterNames": ["a", "c"]}},
            "a clusterAffinity that allows members in south (c, d)",
        ),
        (
            {"spreadConstraints": [BY_CLUSTER]},
            {"spreadConstraints": [BY_CLUSTER, BY_REGION]},
            "spreadConstraints with spreadByField: region and minGroups: 2, to reach members in south (c, d)",
        ),
    ],
    ids=[
        "spread",
        "number",
        "filters and spread",
        "names",
        "filters",
        "karmada affinity",
        "karmada spread",
    ],
)
def test_what_would_do_does(
    policy: dict[str, Any], changed: dict[str, Any], hint: str, tmp_path: Path
) -> None:
    """What the hint names is what has to change, and the rule then holds."""

    def shop(policy: dict[str, Any]) -> PlannedPlacement:
        placed = (
            by_kubefleet("shop", policy)
            if "placementType" in policy
            else by_karmada("shop", policy)
        )
        return planned(
            tmp_path, [*members(REGIONS), placed, namespace("shop"), deployment("shop")]
        ).placed("shop")

    with pytest.raises(BrokenRuleError) as error:
        at_least(shop(policy), 2, by="region")
    assert [violation.hint for violation in error.value.violations] == [hint]
    at_least(shop({**policy, **changed}), 2, by="region")


@pytest.mark.parametrize(
    ("policy", "changed", "hint"),
    [
        (
            {"placementType": "PickFixed", "clusterNames": ["a", "c"]},
            {"clusterNames": ["a"]},
            "clusterNames without c",
        ),
        (
            {"placementType": "PickAll"},
            {"affinity": {"clusterAffinity": NORTH}},
            f"require {REGION} in (north) of its members",
        ),
        (
            {"clusterAffinity": {"clusterNames": ["a", "c"]}},
            {"clusterAffinity": {"labelSelector": {"matchLabels": {REGION: "north"}}}},
            f"require {REGION} in (north) of its members",
        ),
    ],
    ids=["names", "filters", "karmada"],
)
def test_what_would_keep_it_there_does(
    policy: dict[str, Any], changed: dict[str, Any], hint: str, tmp_path: Path
) -> None:
    def shop(policy: dict[str, Any]) -> PlannedPlacement:
        placed = (
            by_kubefleet("shop", policy)
            if "placementType" in policy
            else by_karmada("shop", policy)
        )
        return planned(
            tmp_path, [*members(REGIONS), placed, namespace("shop"), deployment("shop")]
        ).placed("shop")

    with pytest.raises(BrokenRuleError) as error:
        stays_in(shop(policy), {"north"})
    assert [violation.hint for violation in error.value.violations] == [hint]
    stays_in(shop({**policy, **changed}), {"north"})


def test_a_fleet_that_is_too_small_is_said_to_be(tmp_path: Path) -> None:
    shop = planned(tmp_path, [*members({"a": "north"}), *service("shop", "kubefleet", "a")]).placed(
        "shop"
    )
    with pytest.raises(
        BrokenRuleError, match=r"what would do: more regions: the fleet has north only"
    ):
        at_least(shop, 2, by="region")


def test_a_member_of_which_the_region_is_unknown_is_in_none(tmp_path: Path) -> None:
    fleet = planned(
        tmp_path, [*members(REGIONS), member("x", {}), *service("shop", "kubefleet", "ax")]
    )
    shop = fleet.placed("shop")
    assert broken_by(lambda: at_least(shop, 2, by="region")) == [
        "shop is in north; the region of x is unknown"
    ]
    assert broken_by(lambda: stays_in(shop, {"north"})) == ["shop is where the region is unknown"]


def test_what_an_update_takes_away(tmp_path: Path) -> None:
    state = state_after(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "abc")])
    fleet = planned(
        tmp_path / "now", [*members(REGIONS), *service("shop", "kubefleet", "ad")], state=state
    )
    shop = fleet.placements()
    assert broken_by(lambda: loses_at_most(shop)) == ["shop loses 2 of 3 members"]
    assert broken_by(lambda: loses_at_most(shop, 2)) == []
    assert broken_by(lambda: deletes_nothing(fleet, "PersistentVolumeClaim")) == []
    deleted = [
        f"- Deployment shop/shop of ClusterResourcePlacement/shop on {name} is deleted"
        for name in "b"
    ]
    assert broken_by(lambda: deletes_nothing(fleet)) == deleted
    assert fleet.placed("shop").leaves == ("b",)
    assert fleet.placed("shop").dropped == ("b", "c")
    assert fleet.placed("shop").held.keys() == {"c", "d"}


def test_a_policy_that_is_not_fulfilled(tmp_path: Path) -> None:
    policy = by_kubefleet("shop", {"placementType": "PickN", "numberOfClusters": 9})
    fleet = planned(tmp_path, [*members(REGIONS), policy, namespace("shop"), deployment("shop")])
    (told,) = broken_by(lambda: fulfilled(fleet.placements()))
    assert told == f"shop is not fulfilled: {fleet.placed('shop').unfulfilled}"
    fulfilled(
        planned(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "a")]).placements()
    )


def test_one_text_is_no_set_of_regions(tmp_path: Path) -> None:
    fleet = planned(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "a")])
    with pytest.raises(FleetError, match="is one text"):
        stays_in(fleet.placements(), "north")


# Rules of one's own, and losses


def test_a_rule_of_ones_own_tells_all_at_once_and_under_which_assumption(tmp_path: Path) -> None:
    fleet = planned(
        tmp_path,
        [
            *members(REGIONS),
            *service("shop", "kubefleet", "ab"),
            *service("cart", "kubefleet", "c"),
        ],
    )
    with pytest.raises(BrokenRuleError) as error, rule("each has a member left") as broken:  # noqa: PT012
        for region, rest in fleet.losing_each("region"):
            with broken.when(f"{region} is lost"):
                at_least(rest.placements("tier=0"), 1)
        broken.by(fleet.placed("cart"), "is alone", hint="a second one")
    assert [str(violation).splitlines()[0] for violation in error.value.violations] == [
        f"north is lost: ClusterResourcePlacement/shop ({fleet.placed('shop').origin}) is on no member",
        f"south is lost: ClusterResourcePlacement/cart ({fleet.placed('cart').origin}) is on no member",
        f"ClusterResourcePlacement/cart ({fleet.placed('cart').origin}) is alone",
    ]


def test_an_error_in_the_body_is_not_hidden_by_what_was_found_before(tmp_path: Path) -> None:
    shop = planned(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "a")]).placed("shop")
    with pytest.raises(ZeroDivisionError), rule("none") as broken:  # noqa: PT012
        broken.by(shop, "is wrong")
        with broken.when("never"):
            assert 1 / 0


@both
def test_a_loss_is_planned_as_the_command_does_after_this_update(
    system: str, tmp_path: Path
) -> None:
    spread = {
        "placementType": "PickN",
        "numberOfClusters": 2,
        "topologySpreadConstraints": [SPREAD],
    }
    places = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]}
    policy = by_kubefleet("shop", spread) if system == "kubefleet" else by_karmada("shop", places)
    documents = [*members(REGIONS), policy, namespace("shop"), deployment("shop")]
    fleet = planned(tmp_path / "fleet", documents)
    lost = fleet.placed("shop").members[0]
    after = fleet.losing(lost)
    again = planned(
        tmp_path / "fleet", documents, state=state_after(tmp_path, documents), lost=[lost]
    )
    assert after.placed("shop").members == again.placed("shop").members
    assert len(after.placed("shop").members) == 2
    assert lost not in after.placed("shop").members
    assert lost not in after.members
    assert after.lost == {lost}
    assert after.placed("shop").leaves == (lost,)
    both_lost = after.losing(after.members[0])
    assert both_lost.lost == {lost, after.members[0]}
    assert fleet.losing(region="north").members == ("c", "d")


def test_the_loss_is_that_of_the_fleet_as_it_was_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file that changes afterwards nor another working directory makes it another fleet."""
    write(tmp_path / "fleet", [*members(REGIONS), *service("shop", "kubefleet", "ab")])
    monkeypatch.chdir(tmp_path)
    fleet = plan_fleet_of("fleet")
    (tmp_path / "fleet" / "fleet.yaml").unlink()
    monkeypatch.chdir("/")
    assert fleet.losing("a").placed("shop").members == ("b",)


# Questions that find nothing


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            lambda fleet: fleet.placements("tier=1"),
            r"no placement has the label tier=1 \(tier is 0\)",
        ),
        (
            lambda fleet: fleet.placements("teir=0"),
            r'did you mean "tier"\? the labels are: app, policy, tier',
        ),
        (
            lambda fleet: fleet.placements("tier=0=1"),
            r'"tier=0=1" is not a label selector \(write it as for kubectl',
        ),
        (lambda fleet: fleet.placements(kind="Job"), r"no placement has the kind Job \(there is:"),
        (
            lambda fleet: fleet.placements(where=lambda item: False),
            r"with optional=True there may be none",
        ),
        (lambda fleet: fleet.placed("shp"), r'there is no placement "shp" \(did you mean "shop"\?'),
        (lambda fleet: fleet.placed("twice"), r"several placements are called \"twice\""),
        (
            lambda fleet: fleet.member("e"),
            r'there is no member "e" \(the members are: a, b, c, d\)',
        ),
        (
            lambda fleet: fleet.losing(region="nroth"),
            r'no member is in the region "nroth" \(did you mean "north"\?',
        ),
        (
            lambda fleet: fleet.losing("a").member("a"),
            r'there is no member "a" \(it is lost in this plan\)',
        ),
        (lambda fleet: fleet.placed("shop").objects_on("e"), r'there is no member "e"'),
        (lambda fleet: fleet.placed("shop").spread("zone"), r"no member has a zone"),
        (
            lambda fleet: at_least(fleet.placements(), 1, by="regoin"),
            r"no member has the label regoin \(did you mean",
        ),
    ],
)
def test_a_question_that_finds_nothing_is_an_error(
    asked: Callable[[PlannedFleet], Any], told: str, tmp_path: Path
) -> None:
    """A rule over nothing would hold, whatever is wrong with its question."""
    twice = service("twice", "karmada", "a")
    other = json.loads(json.dumps(twice).replace('"namespace": "twice"', '"namespace": "other"'))
    documents = [
        *members(REGIONS),
        *service("shop", "kubefleet", "a"),
        *twice,
        namespace("other"),
        other[0],
        other[2],
    ]
    with pytest.raises(FleetError, match=told):
        asked(planned(tmp_path, documents))


def test_there_may_be_none_where_that_is_said(tmp_path: Path) -> None:
    fleet = planned(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "a")])
    assert fleet.placements("tier=7", optional=True) == ()


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("tier", True),
        ("!tier", False),
        ("tier==0", True),
        ("tier!=1", True),
        ("tier notin (1, 2)", True),
        ("tier in (1,2)", False),
        ("tier in (1,0),app=shop,!other", True),
        ("", True),
    ],
)
def test_labels_are_asked_for_as_with_kubectl(selector: str, holds: bool, tmp_path: Path) -> None:
    shop = planned(tmp_path, [*members(REGIONS), *service("shop", "kubefleet", "a")]).placed("shop")
    assert shop.has_label(selector) is holds
