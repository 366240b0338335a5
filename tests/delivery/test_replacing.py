"""What the engine is asked for so that a replacement never deletes the object that it has just written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pulumi
import pytest
from pulumi.runtime import register_resource_transform

from fleet_components import Fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.ownership import left_over, vanished
from fleet_components.testing import StackState, kubeconfig, run_program
from tests.delivery.driver import InProcess
from tests.delivery.world import KubeFleetWorld

PLANS: list[FleetPlan] = []
"""The plan of the last update."""
HUB = {"delivery": "kubefleet", "hub": kubeconfig("hub")}


def options(
    world: KubeFleetWorld, folder: Any, state: StackState | None = None, broken: str = "nowhere"
) -> tuple[Mapping[str, pulumi.ResourceOptions], StackState]:
    """The options of the Kubernetes objects of an update, by type and name, and its state.

    Args:
        world: what is delivered.
        folder: where it is written.
        state: the state before.
        broken: the member that refuses its Deployment.
    """
    found: dict[str, pulumi.ResourceOptions] = {}
    PLANS.clear()

    def look(args: pulumi.ResourceTransformArgs) -> None:
        if args.type_.startswith("kubernetes:"):
            found[f"{args.type_} {args.name}"] = args.opts

    def program() -> None:
        register_resource_transform(look)
        PLANS.append(Fleet.from_config("dev").plan)

    world.write(folder)
    reached = {
        "source": str(folder),
        "kubeconfigs": {name: kubeconfig(name) for name in world.members},
    }
    config = {f"fleet:{key}": value for key, value in {**reached, **world.config}.items()}

    def refused(resource: Any) -> bool:
        return bool(resource.name.endswith(f"@{broken}/shop/web"))

    done = run_program(program, config=config, state=state, preview=False, fails=refused)
    assert bool(done.error) is (broken in world.members), done.error
    return found, done.state()


@pytest.mark.parametrize(
    "config", [{}, {"keepClusterResources": "false"}, HUB], ids=["kept", "deleted", "hub"]
)
def test_every_object_is_deleted_before_its_replacement_is_created(
    config: Any, tmp_path: Any
) -> None:
    """The engine may replace any of them: ``--replace``, ``pulumi state taint``, a replacement that failed."""
    world = KubeFleetWorld(
        members={"a": {}, "b": {}}, tainted={"b"} if "hub" in config else set(), config=config
    )
    first, state = options(world, tmp_path)
    world.image = "web:2"
    second, _ = options(world, tmp_path, state)
    assert len(first) == len(second) == 4, first.keys()
    assert {item.delete_before_replace for item in (*first.values(), *second.values())} == {True}


def test_what_is_gone_is_created_and_never_updated(tmp_path: Any) -> None:
    """Whatever changes in it: the provider would look for the object that it is to update."""
    world = KubeFleetWorld(members={"a": {}, "b": {}})
    _, state = options(world, tmp_path)
    world.image = "web:2"
    _, state = options(world, tmp_path, state, broken="a")
    urns = [urn for urn in state.resources if urn.endswith("@a/shop/web") and "Deployment" in urn]
    gone = {urn: attrs.evolve(state.resources[urn], pending_replacement=True) for urn in urns}
    assert len(gone) == 1
    found, _ = options(world, tmp_path, attrs.evolve(state, resources={**state.resources, **gone}))
    forced = {name for name, given in found.items() if given.replace_on_changes == ["*"]}
    (web,) = forced
    assert web.endswith("Deployment dev/shop@a/shop/web")
    kinds = {name: [each.key.kind for each in left] for name, left in left_over(PLANS[0]).items()}
    assert kinds == {"a": ["Namespace"], "b": ["Namespace", "Deployment"]}


def test_what_stands_after_an_update_that_broke_may_be_gone(tmp_path: Any) -> None:
    """It is asked for where that update had something to do; what the state alone has is refused."""
    world = KubeFleetWorld(members={"a": {}, "b": {}})
    _, state = options(world, tmp_path)
    assert left_over(PLANS[0]) == {}
    world.image = "web:2"
    _, state = options(world, tmp_path, state, broken="a")
    assert left_over(PLANS[0]) == {}
    options(world, tmp_path, state)
    left = [arrival for each in left_over(PLANS[0]).values() for arrival in each]
    live: dict[str, Any] = {"Namespace": {"metadata": {}}}
    (problem,) = vanished(left, lambda arrival: live.get(arrival.key.kind), {})
    assert str(problem).startswith(
        "Deployment shop/web: is gone from a, b, and the state still has"
    )


def definition(scope: str) -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    spec = {
        "group": "example.com",
        "scope": scope,
        "names": {"plural": "widgets", "kind": "Widget"},
    }
    metadata = {"name": "widgets.example.com"}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**kind, "metadata": metadata, "spec": {**spec, "versions": [version]}}


def test_a_definition_is_not_replaced_while_the_fleet_has_objects_of_it() -> None:
    """The provider would find the old ones by the new scope, and delete what has their names by then."""
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop"},
    }
    chosen = {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"}
    world = KubeFleetWorld(members={"a": {}, "b": {}}, extra=[definition("Namespaced"), widget])
    world.selectors = [{**chosen, "name": "widgets.example.com"}]
    driver = InProcess(world)
    assert (done := driver.up()).ok, done.text
    left = {**widget, "metadata": {"name": "w"}}
    for extra in (
        [definition("Cluster"), widget],
        [definition("Cluster"), left],
        [definition("Cluster")],
    ):
        world.extra = extra
        refused = driver.up()
        assert not refused.ok
        assert (
            "cannot be replaced on a, b while the fleet has objects of its kind there (Widget shop/w)"
            in refused.text
        )
    world.extra = [definition("Namespaced")]
    assert (done := driver.up()).ok, done.text
    world.extra = [definition("Cluster")]
    refused = driver.up()
    assert "would be deleted on a, b and made anew, with all that it holds" in refused.text
    assert "while the fleet has objects" not in refused.text
