"""Update runs on real API servers: a canary, an approval, the rest; then back to what was, and every object stays alive."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.test_staged import GROUP
from tests.delivery.test_update_runs import APPROVAL, approved, run
from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    carried_out,
    deployment,
    namespace,
    placement,
    unchanged,
)

pytestmark = pytest.mark.engine
WEB = ("deployment", "web")
FIRST, SECOND, THIRD = (f"registry.k8s.io/pause:3.{minor}" for minor in (8, 9, 10))


def stage(name: str, **tasks: Any) -> Data:
    return {"name": name, "labelSelector": {"matchLabels": {"stage": name}}, **tasks}


def strategy() -> Data:
    """One member first; the other one once that is approved."""
    stages = [stage("canary", afterStageTasks=[APPROVAL]), stage("prod")]
    kind = {
        "apiVersion": GROUP,
        "kind": "ClusterStagedUpdateStrategy",
        "metadata": {"name": "careful"},
    }
    return {**kind, "spec": {"stages": stages}}


def images(story: Story) -> dict[str, str]:
    """The image of the Deployment on each API server."""
    live = {name: story.live(name, *WEB) for name in "ab"}
    return {
        name: item["spec"]["template"]["spec"]["containers"][0]["image"]
        for name, item in live.items()
        if item
    }


def test_a_run_goes_through_its_stages_and_another_one_goes_back(story: Engine[Story]) -> None:
    world = story.world
    space, web = namespace(world.space), deployment(world.space, FIRST, waits=120)
    world.members = {"a": {"stage": "canary"}, "b": {"stage": "prod"}}
    shop = placement("shop", space)
    shop["spec"]["strategy"] = {"type": "External"}
    world.objects = {
        "space": space,
        "shop": shop,
        "web": web,
        "careful": strategy(),
        "one": run("one"),
    }
    world.config["approvals"] = "one-after-canary"
    assert story.up().ok
    assert images(world) == {"a": FIRST, "b": FIRST}
    alive = world.uids(WEB)
    unchanged(story)

    world.objects |= {"web": deployment(world.space, SECOND, waits=120), "two": run("two")}
    shown = carried_out(story)
    assert "approval two-after-canary is missing" in shown.text
    assert images(world) == {"a": SECOND, "b": FIRST}

    world.objects["web"] = deployment(world.space, THIRD, waits=120)  # too late for that run
    assert "update run two does not take it, a new one does" in story.preview().text
    unchanged(story)
    world.objects["approval"] = approved("two")
    carried_out(story)
    assert images(world) == {"a": SECOND, "b": SECOND}

    world.objects |= {"back": run("back", resourceSnapshotIndex="0"), "again": approved("back")}
    carried_out(story)
    assert images(world) == {"a": FIRST, "b": FIRST}
    assert world.uids(WEB) == alive
