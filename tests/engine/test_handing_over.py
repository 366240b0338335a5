"""Objects go from one stack to another, which goes on with them: nothing is deleted, and nothing is made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.checked import planned
from tests.engine.driver import Engine
from tests.engine.stories import (
    Story,
    carried_out,
    cluster_role,
    config_map,
    namespace,
    placement,
    refused,
    unchanged,
)
from tests.engine.test_state_rename import urn_of

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
MAP = ("configmap", "c")
STACKS = ("--source", "organization/fleet/dev", "--dest", "organization/fleet/second")
LETS_GO = {
    "applyStrategy": {"type": "ClientSideApply"},
    "deleteStrategy": {"propagationPolicy": "Abandon"},
}


class Beside(Engine[Story]):
    """Another stack on the backend of the first."""

    def __init__(self, folder: Path, first: Engine[Story], world: Story, name: str) -> None:
        self._backend = first.environment["PULUMI_BACKEND_URL"]
        super().__init__(folder, world=world, standin=False, name=name)

    def _environment(self, standin: bool) -> dict[str, str]:
        return {**super()._environment(standin), "PULUMI_BACKEND_URL": self._backend}


def brings(world: Story, value: str = "one") -> None:
    space = namespace(world.space)
    shop = {**placement("shop", space), "apiVersion": "placement.kubernetes-fleet.io/v1beta1"}
    world.objects = {"space": space, "c": config_map(world.space, value), "shop": shop}


def beside(first: Engine[Story], folder: Path) -> Beside:
    """Another stack, of a fleet with the same members that brings a ClusterRole."""
    world = Story(first.world.space, first.world.planes)
    for name in world.planes:
        world.join(name)
    role = cluster_role(world.space)
    world.objects = {"role": role, "rest": placement("rest", role)}
    return Beside(folder, first, world, "second")


def updated(engine: Engine[Story]) -> None:
    done = engine.up()
    assert done.ok, done.text


def test_a_stack_lets_go_and_another_takes(
    story: Engine[Story], tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = story
    brings(first.world)
    updated(first)
    before = first.world.uids(MAP)
    assert None not in before.values()
    world = Story(first.world.space, first.world.planes)
    for name in world.planes:
        world.join(name)
    brings(world)
    second = Beside(tmp_path_factory.mktemp("second"), first, world, "second")
    refused(second, "belongs to the stack organization/fleet/dev", "fleet:takesFrom")
    world.config["takesFrom"] = "organization/fleet/dev"
    refused(second, "the stack organization/fleet/dev still manages it")

    shop: dict[str, Any] = first.world.objects["shop"]
    shop["spec"]["strategy"] = LETS_GO
    updated(first)
    role = cluster_role(first.world.space)
    first.world.objects = {"role": role, "rest": placement("rest", role)}
    updated(first)
    assert first.world.uids(MAP) == before

    updated(second)
    assert world.uids(MAP) == before
    del world.config["takesFrom"]
    unchanged(second)
    brings(world, "two")
    updated(second)
    assert world.uids(MAP) == before
    assert [world.live(plane, *MAP)["data"] for plane in "ab"] == [{"k": "two"}, {"k": "two"}]
    unchanged(second)
    unchanged(first)


def test_a_state_that_is_moved(
    story: Engine[Story], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """``pulumi state move`` hands nothing over: the first stack goes on, and the second one says what it would delete."""
    first, space = story, story.world.space
    brings(first.world)
    updated(first)
    before = first.world.uids(MAP)
    second = beside(first, tmp_path_factory.mktemp("second"))
    updated(second)

    code, text = first.pulumi(
        "state", "move", urn_of(first, ":ConfigMap", f"dev/shop@a/{space}/c"), *STACKS, "--yes"
    )
    assert code == 0, text
    moved = urn_of(second, ":ConfigMap", f"dev/shop@a/{space}/c")
    assert carried_out(first).changes == {f"ConfigMap shop@a/{space}/c": "create"}
    shown = second.preview()
    assert shown.ok, shown.text
    assert shown.changes[f"ConfigMap shop@a/{space}/c"] == "delete"
    (said,) = (
        item
        for item in planned(second)["warnings"]
        if "belongs to the stack organization/fleet/dev" in str(item)
    )
    hint = f"pulumi state delete '{moved}'"
    for text in (shown.text, str(said)):
        assert hint in text

    code, text = second.command("state", "delete", moved, "--yes")
    assert code == 0, text
    updated(second)
    unchanged(second)
    unchanged(first)
    assert first.world.uids(MAP) == before


@pytest.mark.parametrize("known", [False, True], ids=["to an empty stack", "to a fleet"])
def test_a_state_that_is_moved_with_its_parents(
    story: Engine[Story], tmp_path_factory: pytest.TempPathFactory, known: bool
) -> None:
    """The CLI cannot do that with what a fleet has, and both stacks stay as they are."""
    first, space = story, story.world.space
    brings(first.world)
    updated(first)
    before = first.world.uids(MAP)
    second = beside(first, tmp_path_factory.mktemp("second"))
    if known:
        updated(second)
    urn = urn_of(first, ":ConfigMap", f"dev/shop@a/{space}/c")
    states = first.state(), second.state()
    code, text = first.pulumi("state", "move", urn, *STACKS, "--include-parents", "--yes")
    assert code != 0, text
    assert "failed to verify integrity of destination snapshot" in text
    assert (first.state(), second.state()) == states
    unchanged(first)
    assert first.world.uids(MAP) == before
