"""Each way in which the doors once said different things: the directory and the program say the same now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.rollout.rollout import Change
from fleet_components.testing import StackState
from tests.delivery.karmada.world import deployment, on, policy
from tests.delivery.test_staged import GROUP
from tests.delivery.world import KubeFleetWorld
from tests.plan.stack import Stack
from tests.plan.test_broken import CLAIM, Break, BreakingStack, Source, checked, of
from tests.plan.test_histories import alike

pytestmark = pytest.mark.long

SHOP = "ClusterResourcePlacement/shop"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
Documents = list[dict[str, Any]]


def planned(stack: Stack, documents: Documents, **config: Any) -> FleetPlan:
    """What the program plans; the directory plans the same."""
    seen = stack.program(documents, config)
    confirm = str(config.get("confirm", "")).split(",")
    alike(stack.directory(documents, list(filter(None, confirm)), config.get("lost", ())), seen)
    assert seen.plan is not None
    return seen.plan


def updated(stack: Stack, documents: Documents, fails: str = "", **config: Any) -> FleetPlan:
    """The same, carried out."""
    plan = planned(stack, documents, **config)
    assert not plan.refused, plan.refused
    stack.carry_out(stack.program(documents, config, fails=set(fails)).run)
    return plan


def steered(
    *more: dict[str, Any], placement: Mapping[str, Any] | None = None, **spec: Any
) -> Documents:
    """Members, and a Deployment that a policy of Karmada takes."""
    given = [policy(placement=placement or on("a"), **spec)]
    members = [
        document
        for document in KubeFleetWorld(members={"a": {}, "b": {}}).documents()
        if document["kind"] == "MemberCluster"
    ]
    return [*members, NAMESPACE, *given, *more]


def test_a_lazy_policy_leaves_what_waited() -> None:
    stack = Stack()
    nobody = policy(
        "other",
        resourceSelectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody"}],
    )
    waiting = [
        item
        for item in steered(deployment(2), nobody)
        if item["metadata"]["name"] != "web" or "Cluster" in item["kind"]
    ]
    updated(stack, [*waiting, deployment(2)])
    plan = updated(stack, steered(deployment(2), activationPreference="Lazy"))
    assert not [
        subject
        for subject in plan.subjects
        if subject.name.endswith("/web") and subject.record.decisions
    ]


def test_a_protected_object_is_refused_and_its_token_allows_it() -> None:
    stack, web = Stack(), deployment(2)
    web["metadata"]["labels"]["resourcetemplate.karmada.io/deletion-protected"] = "Always"
    updated(stack, steered(web))
    (refusal,) = planned(stack, steered()).refused
    assert refusal.subject == "Template/shop/Deployment/web"
    assert "is protected from deletion" in refusal.what
    assert not planned(stack, steered(), confirm=refusal.hint[-8:]).refused


def test_a_protected_placement_is_refused() -> None:
    stack, world = Stack(), KubeFleetWorld(members={"a": {}})
    documents = world.documents()
    next(document for document in documents if document["kind"] == "ClusterResourcePlacement")[
        "metadata"
    ]["annotations"] = {"fleet-components/protected": "true"}
    updated(stack, documents)
    gone = [document for document in documents if document["kind"] != "ClusterResourcePlacement"]
    assert [item.subject for item in planned(stack, gone).refused] == [SHOP]


def test_waves_after_a_member_has_left() -> None:
    stack, world = Stack(), KubeFleetWorld(policy={"placementType": "PickN", "numberOfClusters": 3})
    updated(stack, world.documents())
    del world.members["d"]
    world.members["e"], world.image = {}, "web:2"
    decisions = updated(stack, world.documents()).subjects[0].record.decisions
    assert {cluster: placed.wave for cluster, placed in decisions.items()} == {
        "b": 2,
        "c": 3,
        "e": 1,
    }


def test_a_member_that_is_gone_is_never_held() -> None:
    stack, world = Stack(), KubeFleetWorld(rolling={"maxUnavailable": 0, "maxSurge": 0})
    updated(stack, world.documents())
    del world.members["d"]
    plan = updated(stack, world.documents())
    assert plan.subjects[0].entries["d"].change is Change.REMOVE
    assert plan.members_gone == ("d",)
    assert {departure.cluster for departure in plan.departures} == {"d"}


def test_two_placements_of_one_object_are_refused() -> None:
    documents = KubeFleetWorld(members={"a": {}}).documents()
    (placement,) = [
        document for document in documents if document["kind"] == "ClusterResourcePlacement"
    ]
    plan = planned(Stack(), [*documents, {**placement, "metadata": {"name": "store"}}])
    assert [item.subject for item in plan.refused] == ["Namespace shop", "Deployment shop/web"]
    assert not any("confirm" in item.hint for item in plan.refused)


def test_one_object_twice_within_a_placement_is_refused() -> None:
    world = KubeFleetWorld(members={"a": {}})
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "shop"},
        "data": {},
    }
    envelope = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceEnvelope",
        "metadata": {"name": "both", "namespace": "shop"},
        "data": {"c.yaml": config},
    }
    world.extra = [config, envelope]
    (refusal,) = planned(Stack(), world.documents()).refused
    assert refusal.subject == "ConfigMap shop/c"
    assert "twice by ClusterResourcePlacement/shop: on its own (" in refusal.what
    assert " and in ResourceEnvelope shop/both, c.yaml (" in refusal.what


def test_warnings_and_skipped_objects_are_in_both() -> None:
    world = KubeFleetWorld(
        members={"a": {}}, policy={"placementType": "PickFixed", "clusterNames": ["a", "nobody"]}
    )
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "shop"}}
    world.extra = [event]
    stack = Stack()
    here = stack.directory(world.documents()).subjects[0].subject
    plan = stack.program(world.documents(), {}).plan
    assert plan is not None
    there = plan.subjects[0].subject
    assert list(map(str, here.warnings))
    assert [warning.what for warning in here.warnings] == [
        warning.what for warning in there.warnings
    ]
    assert getattr(here, "skipped", ()) == getattr(there, "skipped", ())


def test_what_is_removed_is_seen_and_guarded() -> None:
    stack, world = Stack(), KubeFleetWorld()
    updated(stack, world.documents())
    gone = [
        document for document in world.documents() if document["kind"] != "ClusterResourcePlacement"
    ]
    plan = planned(stack, gone)
    assert plan.gone == (SHOP,)
    assert {
        (departure.key.kind, departure.cluster, departure.fate) for departure in plan.departures
    } == {
        *(("Deployment", cluster, Fate.DELETED) for cluster in "abcd"),
        *(("Namespace", cluster, Fate.KEPT) for cluster in "abcd"),
    }
    (refusal,) = plan.refused
    assert refusal.what.startswith("would lose 4 objects on 4 members (a, b, c, d)")
    assert not planned(stack, gone, confirm=refusal.hint[-8:]).refused


def test_a_smaller_loss_is_named_and_needs_no_token() -> None:
    stack, world = Stack(), KubeFleetWorld()
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "shop"},
        "data": {},
    }
    world.extra = [config, {**config, "metadata": {"name": "d", "namespace": "shop"}}]
    updated(stack, world.documents())
    world.extra = [config]
    plan = updated(stack, world.documents())
    assert {(str(departure.key), departure.fate) for departure in plan.departures} == {
        ("ConfigMap shop/d", Fate.DELETED)
    }


def test_the_baseline_is_what_stands() -> None:
    """An update that was confirmed has failed before it deleted anything: the next one asks again."""
    stack, world = (
        Stack(),
        KubeFleetWorld(policy={"placementType": "PickFixed", "clusterNames": ["a", "b", "c", "d"]}),
    )
    updated(stack, world.documents())
    world.policy, world.image = {"placementType": "PickFixed", "clusterNames": ["a"]}, "web:2"
    (refusal,) = planned(stack, world.documents()).refused
    updated(stack, world.documents(), fails="a", confirm=refusal.hint[-8:])
    assert {cluster for cluster, _ in stack.live} == set("abcd")
    assert [item.hint for item in planned(stack, world.documents()).refused] == [refusal.hint]


@pytest.mark.parametrize("keep", [True, False])
def test_namespaces_that_go_take_others_objects_along(keep: bool) -> None:
    stack, world = Stack(), KubeFleetWorld(members={"a": {}, "b": {}, "c": {}})
    world.policy = {"placementType": "PickFixed", "clusterNames": ["a", "b", "c"]}
    config = {"keepClusterResources": str(keep).lower()}
    stack.carry_out(stack.program(world.documents(), config).run)
    world.policy = {"placementType": "PickFixed", "clusterNames": ["a", "b"]}
    plan = stack.program(world.documents(), config).plan
    assert plan is not None
    assert [item.subject for item in plan.refused] == ([] if keep else ["Namespace shop"])


def test_what_was_never_delivered_is_the_first_to_go() -> None:
    """PickN 4 to 2 while two await an approval: those that run stay."""
    stack, world = Stack(), KubeFleetWorld(policy={"placementType": "PickN", "numberOfClusters": 4})
    world.members = {
        "a": {"stage": "rest"},
        "b": {"stage": "rest"},
        "c": {"stage": "canary"},
        "d": {"stage": "canary"},
    }
    world.strategy = {"type": "External"}
    stages = [
        {
            "name": name,
            "labelSelector": {"matchLabels": {"stage": name}},
            "afterStageTasks": [{"type": "Approval"}],
        }
        for name in ("canary", "rest")
    ]
    run = {"placementName": "shop", "stagedRolloutStrategyName": "s", "state": "Run"}
    world.extra = [
        {
            "apiVersion": GROUP,
            "kind": "ClusterStagedUpdateStrategy",
            "metadata": {"name": "s"},
            "spec": {"stages": stages},
        },
        {
            "apiVersion": GROUP,
            "kind": "ClusterStagedUpdateRun",
            "metadata": {"name": "go"},
            "spec": run,
        },
    ]
    held = updated(stack, world.documents()).subjects[0].entries
    assert {cluster for cluster, entry in held.items() if entry.change is Change.HELD} == {"a", "b"}
    world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    plan = updated(stack, world.documents())
    assert set(plan.subjects[0].record.decisions) == {"c", "d"}
    assert not plan.departures


@pytest.mark.parametrize(
    ("renamed", "says"),
    [
        ({"members": {"e": "a"}}, '"e" is not declared'),
        (
            {"members": {"b": "a"}},
            "",
        ),  # both are known: it was done before, whatever is called a now
        ({"placements": {"store": "shop"}}, '"store" is not declared'),
    ],
)
def test_what_is_renamed_wrongly_is_refused(renamed: dict[str, Any], says: str) -> None:
    stack, world = Stack(), KubeFleetWorld()
    updated(stack, world.documents())
    error = stack.program(world.documents(), {"renamed": json.dumps(renamed)}).run.error
    assert says in str(error) if says else error is None


def test_what_is_renamed_in_vain_is_said() -> None:
    stack, world = Stack(), KubeFleetWorld()
    updated(stack, world.documents())
    world.members["e"] = {}
    plan = stack.program(world.documents(), {"renamed": json.dumps({"members": {"e": "zzz"}})}).plan
    assert plan is not None
    assert [warning.what for warning in plan.warnings] == ['nothing was ever called "zzz"']


def test_a_refused_move_is_taken_back_by_reverting_the_source() -> None:
    stack = Stack()
    placed = KubeFleetWorld(members={"a": {}, "b": {}}).documents()
    updated(stack, placed)
    live = dict(stack.live)
    both = [*placed, policy(placement=on("a", "b"))]
    assert planned(stack, both).refused
    moved = [item for item in both if item["kind"] not in ("ClusterResourcePlacement",)]
    stack.carry_out(stack.program(moved, {}, fails={"a"}).run)
    updated(stack, placed)
    assert stack.live == live


@pytest.mark.parametrize("kind", ["Placement", "Binding", "Roster", "Member"])
def test_a_state_of_a_later_format_is_refused_by_name(kind: str) -> None:
    stack, world = Stack(), KubeFleetWorld(members={"a": {}})
    updated(stack, world.documents())
    newer = {
        urn: attrs.evolve(resource, outputs={**resource.outputs, "format": 2})
        if resource.type.endswith(f"fleet:{kind}")
        else resource
        for urn, resource in stack.state.resources.items()
    }
    stack.state = StackState(newer)
    assert "the state is of format 2, this version reads up to 1" in str(
        stack.program(world.documents(), {}).run.error
    )


@pytest.mark.parametrize("how", Break)
def test_after_an_update_that_broke(how: Break) -> None:
    """Both doors read what stands from the state, whatever the source says next."""
    world = BreakingStack()
    checked(world, Source().documents())
    checked(world, Source(2, 2, 2).documents(), of(CLAIM, "data"), how)
    for then in (Source(), Source(2, 2, 2), Source(0, 1, 2), Source(3, 0, 0, members=("b",))):
        alike(world.directory(then.documents()), world.program(then.documents(), {}))
