"""Members with providers of their own, on real API servers: what moves between them and ours stays alive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleet_components import NO_CLUSTER
from tests.engine.driver import Engine
from tests.engine.stories import (
    Story,
    carried_out,
    config_map,
    namespace,
    pick,
    placement,
    refused,
    unchanged,
)
from tests.engine.test_moves import having

pytestmark = pytest.mark.engine
PROGRAM = Path(__file__).parent / "programs" / "own_provider.py"
MAP = ("configmap", "c")
SETTINGS: dict[str, Any] = {
    "enable_config_map_mutable": True,
    "enable_secret_mutable": True,
    "upsert_existing_objects": True,
    "enable_patch_force": True,
}


@pytest.fixture
def story(tale: Story, tmp_path_factory: pytest.TempPathFactory) -> Engine[Story]:
    """A Namespace with a ConfigMap on both members, nothing delivered yet."""
    for name in tale.planes:
        tale.join(name)
    space = namespace(tale.space)
    tale.objects = {"space": space, "c": config_map(tale.space), "one": placement("one", space)}
    return Engine(tmp_path_factory.mktemp("stack"), PROGRAM, tale, standin=False)


def test_from_ours_to_its_own_and_back(story: Engine[Story]) -> None:
    assert story.up().ok
    world = story.world
    before = world.uids(MAP, ("namespace", world.space))
    for number, providers in enumerate(({"a": {**SETTINGS, "cluster_identifier": "a"}}, {})):
        world.config["own:providers"] = providers
        world.objects["c"] = config_map(world.space, f"step {number}")
        carried_out(story)
        assert world.uids(MAP, ("namespace", world.space)) == before
        assert world.live("a", *MAP)["data"] == {"k": f"step {number}"}


def test_a_member_that_always_had_its_own(story: Engine[Story]) -> None:
    """It has given its cluster a name; a kubeconfig in its place calls it the same, whatever else is said."""
    world = story.world
    world.config["own:providers"] = {
        name: {**SETTINGS, "cluster_identifier": f"mine {name}"} for name in "ab"
    }
    assert (first := story.up()).ok, first.text
    unchanged(story)
    before = world.uids(MAP, ("namespace", world.space))
    world.config["own:providers"]["a"]["kubeconfig"] = (
        world.config["kubeconfigs"]["a"] + "\n# rotated\n"
    )
    assert carried_out(story).changes == {"kubernetes mine-a": "update"}
    world.config["own:providers"] = {}
    carried_out(story)
    assert world.uids(MAP, ("namespace", world.space)) == before


def test_a_limited_update_beside_a_provider_of_its_own(story: Engine[Story]) -> None:
    """More comes to the other member, which is asked in the update alone: both register the same dependencies."""
    world, plan = story.world, str(story.project / "saved.json")
    world.config["own:providers"] = {"a": {**SETTINGS, "cluster_identifier": "a"}}
    assert (first := story.up()).ok, first.text
    world.objects["d"] = config_map(world.space, name="d")
    code, text = story.command("preview", "--save-plan", plan)
    assert code == 0, text
    code, text = story.command("up", "--yes", "--skip-preview", "--plan", plan)
    assert code == 0, text
    assert all(world.uids(("configmap", "d")).values())
    unchanged(story)


def test_what_would_make_every_object_anew_is_refused(story: Engine[Story]) -> None:
    assert story.up().ok
    world = story.world
    before = world.uids(MAP)
    for settings, words in (
        (
            {**SETTINGS, "cluster_identifier": "other"},
            'calls the cluster "other", and it was called "a"',
        ),
        (SETTINGS, 'lacks cluster_identifier="a"'),
        ({"cluster_identifier": "a"}, "lacks enable_config_map_mutable=True"),
    ):
        world.config["own:providers"] = {"a": settings}
        refused(story, "member a", words)
        assert world.uids(MAP) == before
    world.config["own:providers"] = {}
    carried_out(story)


def test_its_provider_leads_to_another_cluster(story: Engine[Story]) -> None:
    """Which one it is, is asked with the kubeconfig, the context and the cluster that the provider was given."""
    assert story.up().ok
    world = story.world
    before = world.uids(MAP)
    provider = {
        **SETTINGS,
        "cluster_identifier": "a",
        "kubeconfig": world.config["kubeconfigs"]["b"],
    }
    world.config["own:providers"] = {"a": provider}
    refused(story, "member a", "leads to another cluster than before")
    assert world.uids(MAP) == before
    world.config["own:providers"] = {}
    carried_out(story)


def test_a_cluster_that_is_lost_and_comes_back(story: Engine[Story]) -> None:
    """Its provider lets go of what cannot be reached; what has moved is deleted with the provider's kubeconfig."""
    world, space = story.world, story.world.space
    moving = namespace(f"{space}-too")
    own = {**SETTINGS, "cluster_identifier": "b"}
    world.config["own:providers"] = {"b": own}
    world.objects |= {
        "too": moving,
        "m": config_map(f"{space}-too"),
        "two": placement("two", moving, policy=pick(1)),
    }
    assert (first := story.up()).ok, first.text
    before = world.uids(MAP)
    assert having(world, moving) == ["b"]
    world.planes["b"].pause()
    try:
        world.config["lost"] = "b"
        refused(story, "member b: its provider lacks delete_unreachable=True")
        world.config["own:providers"] = {
            "b": {**own, "delete_unreachable": True, "kubeconfig": NO_CLUSTER}
        }
        assert "forgotten, as the member is lost" in carried_out(story).text
    finally:
        world.planes["b"].resume()
    assert having(world, moving) == ["a", "b"]
    del world.config["lost"]
    world.config["own:providers"] = {"b": own}
    assert f"ConfigMap {space}-too/c on b: deleted: the member is back" in carried_out(story).text
    assert having(world, moving) == ["a"]
    assert world.uids(MAP) == before
