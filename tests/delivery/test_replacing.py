"""What the engine is asked for so that a replacement never deletes the object that it has just written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest
from pulumi.runtime import register_resource_transform

from fleet_components import Fleet
from fleet_components.testing import StackState, kubeconfig, run_program
from tests.delivery.world import World

HUB = {"delivery": "kubefleet", "hub": kubeconfig("hub")}


def options(
    world: World, folder: Any, state: StackState | None = None
) -> tuple[Mapping[str, pulumi.ResourceOptions], StackState]:
    """The options of every Kubernetes object of a preview, by type and name, and the state after it."""
    found: dict[str, pulumi.ResourceOptions] = {}

    def look(args: pulumi.ResourceTransformArgs) -> None:
        if args.type_.startswith("kubernetes:"):
            found[f"{args.type_} {args.name}"] = args.opts

    def program() -> None:
        register_resource_transform(look)
        Fleet.from_config("dev")

    world.write(folder)
    reached = {"source": str(folder), "kubeconfigs": {name: kubeconfig(name) for name in world.members}}
    config = {f"fleet:{key}": value for key, value in {**reached, **world.config}.items()}
    done = run_program(program, config=config, state=state)
    assert done.error is None, done.error
    return found, done.state()


@pytest.mark.parametrize("config", [{}, {"keepClusterResources": "false"}, HUB], ids=["kept", "deleted", "hub"])
def test_every_object_is_deleted_before_its_replacement_is_created(config: Any, tmp_path: Any) -> None:
    """The engine may replace any of them: ``--replace``, ``pulumi state taint``, a replacement that failed."""
    world = World(members={"a": {}, "b": {}}, tainted={"b"} if "hub" in config else set(), config=config)
    first, state = options(world, tmp_path)
    world.image = "web:2"
    second, _ = options(world, tmp_path, state)
    assert len(first) == len(second) == 4, first.keys()
    assert {one.delete_before_replace for one in (*first.values(), *second.values())} == {True}
