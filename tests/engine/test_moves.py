"""What moves stays alive: on real API servers, an object keeps its uid whatever brings it, there and back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.checked import checked
from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    carried_out,
    cluster_role,
    config_map,
    deployment,
    namespace,
    pick,
    placement,
    propagation,
    unchanged,
)
from tests.engine.test_replacing import placed_in, sealed, workload

pytestmark = pytest.mark.engine
MAP = ("configmap", "c")


def delivered(story: Engine[Story], **objects: Data) -> None:
    """Deliver a Namespace by a placement, with these objects in it."""
    space = namespace(story.world.space)
    story.world.objects = {"space": space, "one": placement("one", space), **objects}
    done = story.up()
    assert done.ok, done.text


def there_and_back(story: Engine[Story], *objects: tuple[str, str], **changed: Data | None) -> None:
    """Change the source, then revert it: the objects are the same ones all the time.

    Args:
        story: the stack, with the objects delivered.
        objects: kind and name of each.
        changed: what is written otherwise; None for what is taken out.
    """
    source, before = story.world.source(), story.world.uids(*objects)
    assert None not in before.values()
    written = {**story.world.objects, **changed}
    story.world.objects = {name: data for name, data in written.items() if data}
    carried_out(story)
    assert story.world.uids(*objects) == before
    story.world.go_back(source)
    carried_out(story)
    assert story.world.uids(*objects) == before


def test_another_api_version(story: Engine[Story]) -> None:
    delivered(story, scaler=scaler(story.world.space, "v1", targetCPUUtilizationPercentage=70))
    usage = {"type": "Utilization", "averageUtilization": 70}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": usage}}]
    there_and_back(story, ("hpa", "web"), scaler=scaler(story.world.space, "v2", metrics=metrics))


def scaler(space: str, version: str, **spec: Any) -> Data:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": space},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3, **spec},
    }


def test_from_one_placement_to_another(story: Engine[Story]) -> None:
    """Two placements exchange what they select."""
    name = story.world.space
    role, space = cluster_role(name), namespace(name)
    delivered(story, c=config_map(name), role=role, two=placement("two", role))
    objects = (MAP, ("namespace", name), ("clusterrole", name))
    there_and_back(story, *objects, one=placement("one", role), two=placement("two", space))


def test_from_one_placement_to_another_in_two_steps(story: Engine[Story]) -> None:
    """A Namespace is kept when its placement lets it go; the other one takes it up without a conflict."""
    name = story.world.space
    role, space = cluster_role(name), namespace(name)
    story.world.config["limit"] = "1"
    delivered(story, c=config_map(name), role=role, one=placement("one", space))
    before = story.world.uids(("namespace", name))
    for first, then in (("one", "two"), ("two", "one")):
        story.world.objects[first] = placement(first, role)
        carried_out(story)
        assert story.world.uids(("namespace", name)) == before
        assert set(story.world.uids(MAP).values()) == {None}
        labelled = {**space, "metadata": {"name": name, "labels": {"by": then}}}
        del story.world.objects[first]
        story.world.objects |= {"space": labelled, then: placement(then, space)}
        carried_out(story)
        assert story.world.uids(("namespace", name)) == before
        assert None not in story.world.uids(MAP).values()


@pytest.mark.parametrize("conflict", ["Abort", "Overwrite"])
def test_from_a_placement_to_a_policy_of_karmada(story: Engine[Story], conflict: str) -> None:
    name = story.world.space
    c, web = config_map(name), deployment(name)
    delivered(story, c=c, web=web)
    # The default is left out, as users do.
    asked = {} if conflict == "Abort" else {"conflictResolution": conflict}
    objects = (MAP, ("deployment", "web"), ("namespace", name))
    there_and_back(story, *objects, one=None, policy=propagation("all", c, web, **asked))


def test_a_placement_that_is_renamed(story: Engine[Story]) -> None:
    """It stays where it is, although a new placement would take another member."""
    world, name = story.world, story.world.space
    world.leave("b")
    space = namespace(name)
    world.objects = {
        "space": space,
        "c": config_map(name),
        "one": placement("one", space, policy=pick(1)),
    }
    assert story.up().ok
    world.join("b")
    carried_out(story)
    before = world.uids(MAP, ("namespace", name))
    assert [key for key, uid in before.items() if uid] == [("a", *MAP), ("a", "namespace", name)]
    for old, new in (("one", "two"), ("two", "one")):
        del world.objects[old]
        world.objects[new] = placement(new, space, policy=pick(1))
        world.config["renamed"] = {"placements": {new: old}}
        carried_out(story)
        assert world.uids(MAP, ("namespace", name)) == before
        # In the next release nobody has to know of it any more.
        del world.config["renamed"]
        unchanged(story)


def test_a_placement_that_another_name_would_place_elsewhere(story: Engine[Story]) -> None:
    """The other test means something: without being told, the new name is a new placement."""
    world, name = story.world, story.world.space
    space = namespace(name)
    world.objects = {
        "space": space,
        "c": config_map(name),
        "one": placement("one", space, policy=pick(1)),
    }
    assert story.up().ok
    assert [key[0] for key, uid in world.uids(MAP).items() if uid] == ["b"]


def test_a_kept_object_comes_back_with_other_content(story: Engine[Story]) -> None:
    name = story.world.space
    role, space = cluster_role(name), namespace(name)
    story.world.objects = {"space": space, "role": role, "one": placement("one", role, space)}
    assert story.up().ok
    before = story.world.uids(("clusterrole", name), ("namespace", name))
    for verb in ("list", "get"):
        del story.world.objects["one"]
        carried_out(story)
        labelled = {**space, "metadata": {"name": name, "labels": {"may": verb}}}
        role = cluster_role(name, verb)
        story.world.objects |= {
            "space": labelled,
            "role": role,
            "one": placement("one", role, space),
        }
        carried_out(story)
        assert story.world.uids(("clusterrole", name), ("namespace", name)) == before
        live = story.world.live("a", "clusterrole", name)
        assert live["rules"][0]["verbs"] == [verb]


def test_a_cluster_that_is_lost_and_comes_back(story: Engine[Story]) -> None:
    """It is rid of what has moved away meanwhile; what stays is taken up as it is, and what is kept stays."""
    world, name = story.world, story.world.space
    space, moving = namespace(name), namespace(f"{name}-too")
    stays = {"space": space, "c": config_map(name), "one": placement("one", space)}
    moves = {
        "too": moving,
        "m": config_map(f"{name}-too"),
        "two": placement("two", moving, policy=pick(1)),
    }
    world.objects = {**stays, **moves}
    assert story.up().ok
    before, kept = world.uids(MAP), world.uids(("namespace", f"{name}-too"), on="b")
    assert having(world, moving) == ["b"]
    world.planes["b"].pause()
    try:
        world.config["lost"] = "b"
        world.objects["c"] = config_map(name, "two")
        moved = carried_out(story)
        assert "forgotten, as the member is lost" in moved.text
        assert not [urn for urn in story.state().resources if "@b" in urn]
    finally:
        world.planes["b"].resume()
    assert having(world, moving) == ["a", "b"]
    del world.config["lost"]
    back = carried_out(story)
    assert f"ConfigMap {name}-too/c on b: deleted: the member is back" in back.text
    assert having(world, moving) == ["a"]
    assert world.uids(("namespace", f"{name}-too"), on="b") == kept
    assert world.uids(MAP) == before
    assert world.live("b", *MAP)["data"] == {"k": "two"}


def having(story: Story, space: Data) -> list[str]:
    """The clusters with the ConfigMap in that Namespace."""
    planes = story.planes.items()
    return [name for name, plane in planes if plane.get(*MAP, "-n", space["metadata"]["name"])]


def test_a_move_that_failed_half_way_can_be_taken_back(story: Engine[Story]) -> None:
    name = story.world.space
    c, web = config_map(name), deployment(name)
    delivered(story, c=c, web=web)
    objects = (MAP, ("deployment", "web"))
    source, before = story.world.source(), story.world.uids(*objects)
    del story.world.objects["one"]
    stuck = deployment(name, waits=5, nodeSelector={"no": "node"})
    story.world.objects |= {"web": stuck, "policy": propagation("all", c, web)}
    failed = story.up()
    assert not failed.ok
    assert "web" in failed.text
    story.world.go_back(source)
    carried_out(story)
    assert story.world.uids(*objects) == before
    assert (
        "nodeSelector" not in story.world.live("a", "deployment", "web")["spec"]["template"]["spec"]
    )


@pytest.mark.parametrize("make", [workload, sealed])
def test_a_move_with_a_change_that_replaces(story: Engine[Story], make: Any) -> None:
    """Two placements exchange their objects on the same members, and a field of one of them cannot be changed."""
    name, world = story.world.space, story.world
    old, new = (placed_in(name, data) for data in make())
    what, other = (old["kind"].lower(), old["metadata"]["name"]), config_map(name)
    space = namespace(name)
    spaces = placement("spaces", space)
    spaces = {**spaces, "apiVersion": in_namespace("", other)["apiVersion"]}
    spaces["spec"]["resourceSelectors"][0]["selectionScope"] = "NamespaceOnly"
    world.objects = {"space": space, "c": other, "spaces": spaces}
    first, second = old, other
    world.objects |= {
        "it": old,
        "one": in_namespace("one", first),
        "two": in_namespace("two", second),
    }
    done = story.up()
    assert done.ok, done.text
    for wanted in (new, old):
        first, second = second, first
        world.objects |= {
            "it": wanted,
            "one": in_namespace("one", first),
            "two": in_namespace("two", second),
        }
        before, kept = world.uids(what), world.uids(MAP, ("namespace", name))
        step = checked(story)
        assert {item["object"] for item in step.plan["replaced"]} == {
            f"{old['kind']} {name}/{what[1]}"
        }
        assert step.done.changes == step.shown.changes
        after = world.uids(what)
        assert None not in after.values()
        assert set(after.values()).isdisjoint(before.values())
        assert world.uids(MAP, ("namespace", name)) == kept


def in_namespace(name: str, selected: Data) -> Data:
    """A ResourcePlacement in the namespace of what it selects, on all members."""
    written = placement(name, selected)
    metadata = {"name": name, "namespace": selected["metadata"]["namespace"]}
    version = "placement.kubernetes-fleet.io/v1beta1"
    return {**written, "apiVersion": version, "kind": "ResourcePlacement", "metadata": metadata}
