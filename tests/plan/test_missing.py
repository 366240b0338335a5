"""Objects that the state does not have any more, as after ``pulumi refresh``: plans say that they are created."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs
import pytest

from fleet_components import Cluster, Member, Options, Past, plan_fleet, source_of
from fleet_components.components.past import as_members_say
from fleet_components.model.manifest import Manifest
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import loss_token
from fleet_components.plan.lost import warn_of_another
from fleet_components.plan.names import Urn
from fleet_components.plan.state import StackState
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.wire import as_data
from fleet_components.review.planning.survey import Survey
from fleet_components.rollout.rollout import Change
from tests.delivery.world import KubeFleetWorld
from tests.live.api_server import api_server
from tests.plan.stack import Pair, Stack, changes, pair_of


def settled(world: KubeFleetWorld) -> Stack:
    """A stack on which an update has carried everything out."""
    stack = Stack()
    stack.carry_out(stack.program(world.documents(), world.config).run)
    assert not planned(stack, world).changes
    return stack


def planned(stack: Stack, world: KubeFleetWorld) -> FleetPlan:
    """The plan of the program, which is that of the directory."""
    plan = stack.program(world.documents(), world.config).plan
    assert plan is not None
    of_directory = stack.directory(world.documents())
    sides = (
        [(item["clusters"], item["content"]) for item in document(each)["subjects"]]
        for each in (plan, of_directory)
    )
    assert next(sides) == next(sides)
    return plan


def document(plan: FleetPlan) -> dict[str, Any]:
    surveyed = Survey((plan,), "", {"paths": [], "stack": "s"}, after=dict)
    document: dict[str, Any] = as_data(plan_document(surveyed))
    return document


def refreshed(stack: Stack, kind: str, members: Collection[str]) -> set[Pair]:
    """Somebody deletes the objects of a kind on some members, and a refresh finds that."""
    gone = {
        urn: pair_of(urn)
        for urn in stack.state.resources
        if names.is_object(Urn.parse(urn).type)
        if pair_of(urn)[1].kind == kind and pair_of(urn)[0] in members
    }
    stack.live = {pair: uid for pair, uid in stack.live.items() if pair not in gone.values()}
    left = {urn: found for urn, found in stack.state.resources.items() if urn not in gone}
    stack.state = StackState(left)
    return set(gone.values())


def created(plan: FleetPlan) -> set[Pair]:
    """What the content of a document creates now."""
    names_of = {
        str(key): key for item in plan.subjects for c in item.deliveries for key in item.keys(c)
    }
    return {
        (member, names_of[change["object"]])
        for subject in document(plan)["subjects"]
        for change in subject["content"]
        if change["change"] == "create" and not change["later"]
        for member in change["members"]
    }


def happens(stack: Stack, world: KubeFleetWorld) -> set[Pair]:
    """What the program creates."""
    run = stack.program(world.documents(), world.config).run
    return {pair_of(urn) for urn, change in changes(stack, run).items() if change == "create"}


@pytest.mark.samples(1)
@pytest.mark.parametrize("kind", ["Deployment", "Namespace"])
@pytest.mark.parametrize("members", ["a", "ac", "abcd"])
def test_they_are_created_and_nothing_else_changes(kind: str, members: str) -> None:
    world = KubeFleetWorld()
    stack = settled(world)
    gone = refreshed(stack, kind, members)
    plan = planned(stack, world)
    assert plan.changes
    assert created(plan) == happens(stack, world) == gone
    shown = document(plan)
    where = members if len(members) == 1 else f"{len(members)} clusters"
    assert shown["headline"][0].startswith(
        f"{where} {'gets' if len(members) == 1 else 'get'} a new object of shop"
    )
    assert shown["totals"]["updated"] == len(members)
    (row,) = [item for item in shown["subjects"][0]["clusters"] if item["name"] == members[0]]
    assert row["why"].startswith(f"{kind} shop")
    assert row["why"].endswith("is missing there")
    stack.carry_out(stack.program(world.documents(), world.config).run)
    after = planned(stack, world)
    assert not after.changes
    assert document(after)["headline"][0] == "nothing changes"


def test_waves_and_decisions_stay_as_they_are() -> None:
    world = KubeFleetWorld()
    stack = settled(world)
    before = planned(stack, world).subjects[0].record
    refreshed(stack, "Deployment", "bd")
    plan = planned(stack, world)
    assert plan.subjects[0].record == before
    waves = {wave.number: wave.clusters for wave in plan.subjects[0].outcome.rollout.waves}
    assert waves == {before.decisions[c].wave: (c,) for c in "bd"} or waves == {
        before.decisions["b"].wave: ("b", "d")
    }


def test_with_another_change_at_the_same_time() -> None:
    world = KubeFleetWorld()
    stack = settled(world)
    gone = refreshed(stack, "Deployment", "b")
    world.image = "web:2"
    plan = planned(stack, world)
    assert created(plan) == happens(stack, world) == gone
    stack.carry_out(stack.program(world.documents(), world.config).run)
    assert not planned(stack, world).changes


def test_on_a_member_that_is_held() -> None:
    """The engine creates what the state lacks, in the form of the old content."""
    world = KubeFleetWorld()
    stack = settled(world)
    world.rolling, world.image = {"maxUnavailable": 0}, "web:2"
    gone = refreshed(stack, "Deployment", "b")
    plan = planned(stack, world)
    assert plan.subjects[0].entries["b"].change is Change.HELD
    assert created(plan) == happens(stack, world) == gone
    assert plan.changes
    assert "b gets a new object of shop" in document(plan)["headline"][0]


SYSTEM, SHOP = "/api/v1/namespaces/kube-system", "/api/v1/namespaces/shop"


def known_as(stack: Stack, **uids: str) -> Past:
    """The past of a stack whose members have been these clusters."""
    past = Past.of(stack.state.resources.values(), "dev")
    known = {name: attrs.evolve(past.members[name], uid=uid) for name, uid in uids.items()}
    return attrs.evolve(past, members={**past.members, **known})


def test_what_stood_is_created_on_a_cluster_that_has_taken_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = KubeFleetWorld(members={"a": {}, "b": {}})
    past = known_as(settled(world), a="old a", b="old b")
    monkeypatch.setattr("fleet_components.components.past.in_process", lambda: False)
    with api_server() as api:
        for path in (SYSTEM, SHOP):
            api.put(path, None)
        token = loss_token("a", ["old a", f"uid of {SYSTEM}"])
        members = [Member(Cluster("a"), api.kubeconfig())]
        assert as_members_say(past, members, ()) == past
        assert as_members_say(past, members, {"another"}) == past
        found = as_members_say(past, members, {token})
    options = Options(fleet="dev", confirm=frozenset({token}))
    plan = plan_fleet(source_of(map(Manifest, world.documents())), found, options)
    ((member, key),) = created(plan)
    assert (member, str(key)) == ("a", "Deployment shop/web")
    shown = document(plan)
    assert shown["headline"][0].startswith("a gets a new object of shop")
    assert [row["why"] for row in shown["subjects"][0]["clusters"]] == [f"{key} is missing there"]
    assert plan.departures == ()


def test_of_exchanged_names_what_stays_on_the_other_is_named() -> None:
    """Each name leads to the cluster of the other; one object is brought to the first alone."""
    policy = {"placementType": "PickFixed", "clusterNames": ["a"]}
    world = KubeFleetWorld(members={"a": {}, "b": {}}, policy=policy)
    past = known_as(settled(world), a="one", b="two")
    plan = plan_fleet(source_of(map(Manifest, world.documents())), past, Options(fleet="dev"))
    stood = [key for cluster, key in plan.standing if cluster == "a"]
    warning = warn_of_another(plan, "a", {"a": "two", "b": "one"}, [], stood)
    stays = "b leads there now, and nothing brings it what stays there: "
    assert warning.what.endswith(f"{stays}Deployment shop/web, Namespace shop")
    assert stays not in warn_of_another(plan, "b", {"a": "two", "b": "one"}, [], []).what
