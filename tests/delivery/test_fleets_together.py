"""Several fleets of one program: what moves between them stays alive, and no object has two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components import Cluster, Fate, Fleet, FleetArgs, Member, source_of
from fleet_components.components.refusal import RefusedPlanError
from fleet_components.model.manifest import Manifest
from fleet_components.plan import names
from fleet_components.testing import ProgramRun, StackState, kubeconfig, run_program
from tests.engine.stories import Data, config_map, namespace, pick, placement

Fleets = Mapping[str, Sequence[Data]]
SPACE = namespace("shop")
SHOP = [SPACE, config_map("shop"), placement("shop", SPACE)]
CLUSTERS = {"a": "a", "b": "b"}
ORDERS = [("first", "second"), ("second", "first")]


def run(
    fleets: Fleets,
    state: StackState | None = None,
    *,
    called: Mapping[str, Mapping[str, str]] | None = None,
    plans: dict[str, Fleet] | None = None,
    within: Callable[[Callable[[], None]], None] = lambda declare: declare(),
    **given: Any,
) -> ProgramRun:
    """Run a program with these fleets, declared in this order.

    Args:
        fleets: what each fleet places.
        state: the state before.
        called: the cluster behind each member of a fleet, where its members are called otherwise.
        plans: the fleets are added here.
        within: calls what declares the fleets.
        given: further arguments of every fleet.
    """

    def declare() -> None:
        for name, objects in fleets.items():
            clusters = (called or {}).get(name, CLUSTERS)
            members = [
                Member(Cluster(cluster), kubeconfig(of), identifier=of)
                for cluster, of in clusters.items()
            ]
            args = FleetArgs(source=source_of(map(Manifest, objects)), members=members, **given)
            made = Fleet(name, args)
            for key, decided in made.placements.items():
                pulumi.export(f"{name}/{key}", decided.decisions)
            if plans is not None:
                plans[name] = made

    return run_program(lambda: within(declare), state=state)


def after(fleets: Fleets, **given: Any) -> StackState:
    """The state once these fleets are delivered."""
    done = run(fleets, **given)
    assert done.error is None, done.error
    return done.state()


def objects_of(state: StackState) -> set[str]:
    return {urn for urn, resource in state.resources.items() if names.is_object(resource.type)}


def aliased(done: ProgramRun) -> set[str]:
    return {alias for registration in done.registrations for alias in registration.aliases}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("called", [CLUSTERS, {"east": "a", "west": "b"}])
def test_what_moves_to_another_fleet_is_not_lost(
    order: tuple[str, ...], called: dict[str, str]
) -> None:
    clusters = {"second": called}
    before = after({"first": SHOP, "second": []}, called=clusters)
    plans: dict[str, Fleet] = {}
    moved: Fleets = {name: SHOP if name == "second" else [] for name in order}
    done = run(moved, before, called=clusters, plans=plans)
    assert done.error is None, done.error
    departures = plans["first"].plan.departures
    assert {(departure.fate, departure.owner) for departure in departures} == {
        (Fate.MOVED, "second: ClusterResourcePlacement/shop")
    }
    assert objects_of(before) <= aliased(done)
    assert "moves to second: ClusterResourcePlacement/shop and stays alive" in said(done)


def said(done: ProgramRun) -> str:
    return "\n".join(text for _, text in done.messages)


@pytest.mark.parametrize("order", ORDERS)
def test_what_does_not_move_is_guarded(order: tuple[str, ...]) -> None:
    """The other fleet places it on one of the two members only."""
    objects = [SPACE, config_map("shop"), config_map("shop", name="d")]
    before = after({"first": [*objects, placement("shop", SPACE)], "second": []})
    less = [*objects, placement("shop", SPACE, policy=pick(1))]
    done = run({name: less if name == "second" else [] for name in order}, before, limit=0.2)
    assert isinstance(done.error, RefusedPlanError)
    assert done.registrations == ()
    fates = {
        (departure.cluster, departure.fate)
        for departure in done.error.plan.departures
        if departure.key.namespace
    }
    assert {fate for _, fate in fates} == {Fate.MOVED, Fate.DELETED}
    assert len(fates) == 2


def test_what_another_cluster_gets_does_not_move() -> None:
    before = after({"first": SHOP, "second": []}, called={"second": {"a": "c", "b": "d"}})
    fleets: Fleets = {"first": [], "second": SHOP}
    done = run(fleets, before, called={"second": {"a": "c", "b": "d"}})
    assert isinstance(done.error, RefusedPlanError)
    assert "would lose 2 objects" in str(done.error)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("called", [CLUSTERS, {"east": "a", "b": "b"}])
@pytest.mark.parametrize("known", [True, False])
def test_no_object_has_two_fleets(
    order: tuple[str, ...], called: dict[str, str], known: bool
) -> None:
    before = after({"first": SHOP, "second": []}) if known else None
    done = run(dict.fromkeys(order, SHOP), before, called={"second": called})
    assert isinstance(done.error, RefusedPlanError)
    assert done.registrations == ()
    text = str(done.error)
    assert "ConfigMap shop/c: is brought to" in text
    assert "of the fleet first" in text
    assert "of the fleet second" in text


def test_a_fleet_that_a_later_error_ends_is_not_written() -> None:
    class Wrong(Exception):
        pass

    def within(declare: Callable[[], None]) -> None:
        declare()
        raise Wrong

    done = run({"first": SHOP}, within=within)
    assert isinstance(done.error, Wrong)
    assert done.registrations == ()


def test_a_coroutine_may_wait_for_a_fleet() -> None:
    """It is judged at once: the coroutine would wait for ever for what waits for its end."""
    found = []

    async def main() -> None:
        fleet = Fleet("first", FleetArgs(source=source_of(map(Manifest, SHOP)), members=members()))
        found.append(await fleet.delivered.future())

    done = run_program(lambda: pulumi.run(main), preview=False)
    assert done.error is None, done.error
    assert found == [{"shop": {"a": 0, "b": 0}}]


def members() -> list[Member]:
    return [Member(Cluster(name), kubeconfig(name)) for name in CLUSTERS]


SPACES = [namespace(name) for name in ("one", "two", "three")]
PLACED = {
    space["metadata"]["name"]: [
        space,
        config_map(space["metadata"]["name"]),
        placement(f"p-{space['metadata']['name']}", space),
    ]
    for space in SPACES
}
OWNERS = st.fixed_dictionaries({name: st.sampled_from(["first", "second", ""]) for name in PLACED})


@settings(max_examples=settings().max_examples * 15 // 100)
@given(history=st.lists(OWNERS, min_size=2, max_size=3), data=st.data())
def test_no_wanted_object_is_ever_deleted(
    history: Sequence[Mapping[str, str]], data: st.DataObject
) -> None:
    """Wherever placements wander between the fleets: the resource of a wanted object is registered, or aliased."""
    state = StackState()
    for owners in history:
        order = data.draw(st.permutations(["first", "second"]))
        fleets = {
            fleet: [item for name, of in owners.items() if of == fleet for item in PLACED[name]]
            for fleet in order
        }
        done = run(fleets, state, limit=1.0)
        assert done.error is None, done.error
        registered = {registration.urn for registration in done.registrations} | aliased(done)
        for urn in objects_of(state) - registered:
            space = names.Urn.parse(urn).name.split("@")[1].split("/")[1]
            assert not owners[space], f"{urn} is deleted, and {owners[space]} wants it"
        state = done.state()
