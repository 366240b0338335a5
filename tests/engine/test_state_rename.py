"""What ``pulumi state rename`` renames: objects stay alive, and everything else is found again or refused."""

from __future__ import annotations

import pytest

from tests.engine.driver import Engine
from tests.engine.stories import Story, config_map, refused, shop_of, unchanged

pytestmark = [pytest.mark.engine]
MAP = ("configmap", "c")


def urn_of(engine: Engine[Story], kind: str, name: str) -> str:
    """The only URN with this end of its type and this name."""
    (found,) = (
        urn
        for urn, resource in engine.state().resources.items()
        if resource.type.endswith(kind) and resource.name == name
    )
    return found


def renamed(engine: Engine[Story], urn: str, name: str) -> None:
    code, text = engine.command("state", "rename", urn, name, "--yes")
    assert code == 0, text


def test_an_object_with_another_name_in_the_state(story: Engine[Story]) -> None:
    """It is the same object: where one member lacks it, that member confirms it; where two do, it is refused."""
    tale = story.world
    shop_of(tale)
    assert (first := story.up()).ok, first.text
    before = tale.uids(MAP, ("deployment", "web"))
    name = f"dev/shop@b/{tale.space}/c"
    renamed(story, urn_of(story, ":ConfigMap", name), "other-name")
    tale.objects["c"] = config_map(tale.space, "two")
    seen, done = story.preview(), story.up()
    assert seen.ok, seen.text
    assert done.ok, done.text
    assert not {"create", "delete", "replace"}.intersection(seen.changes.values()), seen.changes
    assert tale.uids(MAP, ("deployment", "web")) == before
    unchanged(story)
    for plane in "ab":
        renamed(
            story, urn_of(story, ":ConfigMap", f"dev/shop@{plane}/{tale.space}/c"), f"other-{plane}"
        )
    said = refused(story, "under a name that no fleet gives it", "pulumi state rename")
    assert "other-a" in said
    for plane in "ab":
        renamed(
            story, urn_of(story, ":ConfigMap", f"other-{plane}"), f"dev/shop@{plane}/{tale.space}/c"
        )
    unchanged(story)
    assert tale.uids(MAP, ("deployment", "web")) == before


def test_the_other_resources_of_a_fleet(story: Engine[Story]) -> None:
    """Components and providers are replaced by new ones, and no object; records are refused until they are named back."""
    tale = story.world
    shop_of(tale)
    assert (first := story.up()).ok, first.text
    objects = (MAP, ("deployment", "web"), ("namespace", tale.space))
    before = tale.uids(*objects)
    for kind, name in (
        ("index:Fleet", "dev"),
        ("index:Placement", "dev/shop"),
        ("index:Target", "dev/shop@a"),
        ("providers:kubernetes", "dev/a"),
        ("fleet:Barrier", "dev/members"),
    ):
        renamed(story, urn_of(story, kind, name), "other-name")
        done = story.up()
        assert done.ok, (kind, done.text)
        assert tale.uids(*objects) == before, kind
        unchanged(story)
    for kind, name in (
        ("fleet:Placement", "dev/shop"),
        ("fleet:Binding", "dev/shop@a"),
        ("fleet:Member", "dev/a"),
        ("fleet:Roster", "dev"),
    ):
        renamed(story, urn_of(story, kind, name), "other-name")
        refused(story, "is not what the URN says")
        renamed(story, urn_of(story, kind, "other-name"), name)
        unchanged(story)
    assert tale.uids(*objects) == before
