"""An eviction on real API servers: a workload moves, and the old one goes once the new one stands."""

from __future__ import annotations

import pytest

from tests.delivery.test_evictions import budget, eviction
from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    carried_out,
    deployment,
    member,
    namespace,
    pick,
    placement,
    unchanged,
)

pytestmark = pytest.mark.engine
WEB = ("deployment", "web")


def tainted(name: str) -> Data:
    """A member that a taint keeps placements away from."""
    data = member(name)
    return {
        **data,
        "spec": {**data["spec"], "taints": [{"key": "drained", "effect": "NoSchedule"}]},
    }


def test_an_eviction_moves_a_workload_once(story: Engine[Story]) -> None:
    world = story.world
    space = namespace(world.space)
    # The provider waits for the Deployment, so that it stands before anything is removed.
    web = deployment(world.space, "registry.k8s.io/pause:3.10", waits=120)
    world.objects = {"space": space, "shop": placement("shop", space, policy=pick(1)), "web": web}
    assert story.up().ok
    (there,) = (name for name in "ab" if world.live(name, *WEB))
    other = "b" if there == "a" else "a"
    uid = world.live(there, *WEB)["metadata"]["uid"]

    world.objects |= {"out": eviction("again", there), "budget": budget(maxUnavailable=1)}
    again = carried_out(story)
    assert (
        f"{there} is evicted, picked again, and keeps what it has; a taint on that member keeps it away"
        in again.text
    )
    assert world.live(there, *WEB)["metadata"]["uid"] == uid

    del world.members[there]
    world.objects |= {"member": tainted(there), "out": eviction("out", there)}
    shown = carried_out(story)
    assert (
        f"eviction out: {there} is evicted, and left at the end of the update (Eviction is allowed by spec"
        in shown.text
    )
    assert (world.live(there, *WEB), bool(world.live(other, *WEB))) == (None, True)

    world.objects["out"] = eviction("out", there)
    del world.objects["member"]
    world.members[there] = {}
    unchanged(story)
