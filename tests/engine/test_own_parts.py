"""Parts of charts, groups and releases, and imported objects move into a fleet: each keeps its uid."""

from __future__ import annotations

import pytest

from tests.engine.stories import carried_out, config_map, refused, unchanged
from tests.engine.test_claims import (
    MAP,
    Program,
    Several,
    moves_in,
    owned,
    placed,
    planned_text,
    program,
)

__all__ = ["owned", "program"]
pytestmark = pytest.mark.engine
PARTS = ["group", "group v2", "chart", "kustomize"]


def standing(program: Several, way: str) -> Program:
    """A fleet with a Namespace, and a ConfigMap in it that the program brings in this way."""
    world: Program = program.world
    world.fleets["first"], world.reach["first"] = placed(world.story), {"a": "a"}
    world.config = {"way": "provider", "last": False}
    assert (done := program.up()).ok, done.text
    world.own = [config_map(world.story.space)]
    world.config["way"] = way
    assert (done := program.up()).ok, done.text
    return world


def urn(program: Several, end: str) -> str:
    (found,) = (each for each in program.state().resources if each.endswith(end))
    return found


@pytest.mark.parametrize("way", PARTS)
def test_a_part_moves_into_the_fleet(program: Several, way: str) -> None:
    world = standing(program, way)
    before = moves_in(program)
    world.config["way"] = "provider"
    refused(program, "stands on a as the resource", "fleet:takesOver: {a: [")
    world.given["first"] = {"takes_over": {"a": ["*"]}}
    carried_out(program)
    assert world.story.uids(MAP, on="a") == before
    del world.given["first"]
    unchanged(program)


def test_a_part_of_a_release_moves_into_the_fleet(program: Several) -> None:
    """The state does not know it: what the release would delete is refused, and the hint keeps it."""
    world = standing(program, "release")
    before = moves_in(program)
    world.config["way"] = "provider"
    release = urn(program, "helm.sh/v3:Release::mine")
    text = refused(
        program, "stands on a as a part of the resource", "whose deletion would delete it"
    )
    assert f"pulumi state delete '{release}'" in text
    assert world.story.uids(MAP, on="a") == before
    code, text = program.command("state", "delete", release, "--yes")
    assert code == 0, text
    carried_out(program)
    assert world.story.uids(MAP, on="a") == before
    unchanged(program)


def test_an_imported_object_moves_into_the_fleet(owned: Several) -> None:
    """The import is protected, and the program does not declare it."""
    world = owned.world
    plane, space = world.story.planes["a"], world.story.space
    plane.kubectl("create", "configmap", "d", "-n", space, "--from-literal=k=one")
    provider = urn(owned, "pulumi:providers:kubernetes::mine")
    given = (
        "import",
        "kubernetes:core/v1:ConfigMap",
        "mine-d",
        f"{space}/d",
        "--yes",
        "--skip-preview",
    )
    code, text = owned.command(*given, "--provider", f"mine={provider}", "--generate-code=false")
    assert code == 0, text
    before = world.story.uids(("configmap", "d"), on="a")
    world.fleets["first"].append(config_map(space, name="d"))
    refused(owned, 'stands on a as the resource "mine-d"', "fleet:takesOver: {a: [mine-d]}")
    world.given["first"] = {"takes_over": {"a": ["mine-d"]}}
    carried_out(owned)
    assert world.story.uids(("configmap", "d"), on="a") == before
    del world.given["first"]
    unchanged(owned)


def test_a_patch_of_an_object_of_the_fleet(program: Several) -> None:
    """Once the state knows the patch, every plan warns of it; the fleet and the patch keep their own fields."""
    world, space = program.world, program.world.story.space
    world.fleets["first"], world.reach["first"] = placed(world.story, config_map(space)), {"a": "a"}
    world.config = {"way": "provider", "last": False}
    assert (done := program.up()).ok, done.text
    before = world.story.uids(MAP, on="a")
    world.own, world.config["way"] = [{**config_map(space), "data": {"mine": "yes"}}], "patch"
    seen = carried_out(program)
    assert seen.changes == {"ConfigMapPatch mine-c": "create"}
    warning = 'the resource "mine-c" of this stack sets fields of it on a'
    assert warning not in seen.text
    for value in ("two", "three"):
        world.fleets["first"][-1] = config_map(space, value)
        assert warning in planned_text(program)
        seen = carried_out(program)
        assert warning in seen.text
        assert world.story.live("a", *MAP)["data"] == {"k": value, "mine": "yes"}
    world.config["way"] = "provider"
    seen = carried_out(program)
    assert warning in seen.text
    assert world.story.live("a", *MAP)["data"] == {"k": "three"}
    assert world.story.uids(MAP, on="a") == before
    assert warning not in program.preview().text
