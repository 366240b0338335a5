"""Names change and clusters stay: on real API servers, whatever is renamed stays alive, and no cluster is mistaken."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.engine.driver import Engine
from tests.engine.stories import (
    Story,
    carried_out,
    config_map,
    deployment,
    namespace,
    placement,
    refused,
    unchanged,
)

pytestmark = pytest.mark.engine
PROGRAMS = Path(__file__).parent / "programs"
MAP = ("configmap", "c")
ARGUED = PROGRAMS / "argued.py"
Started = Callable[..., Engine[Story]]


@pytest.fixture
def started(tale: Story, tmp_path_factory: pytest.TempPathFactory) -> Started:
    """Delivers a Namespace with a ConfigMap, by a program that is given its kubeconfigs as outputs, or otherwise."""

    def start(members: dict[str, str], program: Path | None = None) -> Engine[Story]:
        for name, plane in members.items():
            tale.join(name, plane)
        space = namespace(tale.space)
        tale.objects = {"space": space, "c": config_map(tale.space), "one": placement("one", space)}
        options: dict[str, Any] = {"program": program} if program else {}
        engine: Engine[Story] = Engine(
            tmp_path_factory.mktemp("stack"), world=tale, standin=False, **options
        )
        done = engine.up()
        assert done.ok, done.text
        return engine

    return start


def tokens(text: str) -> list[str]:
    """The tokens that would allow what is refused."""
    return sorted(set(re.findall(r"fleet:confirm=([0-9a-f]{8})", text)))


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("secret", [True, False])
def test_a_member_that_is_renamed(started: Started, declared: bool, secret: bool) -> None:
    """It is told, or found by what the kubeconfig says of the cluster, even where that is a secret."""
    story = started({"a": "a", "west": "b"})
    before = story.world.uids(MAP, ("namespace", story.world.space))
    for old, new in (("west", "east"), ("east", "west")):
        story.world.config.setdefault(
            "kubeconfigs", {"a": story.world.planes["a"].kubeconfig.read_text()}
        )
        story.world.members.pop(old)
        story.world.config["kubeconfigs"].pop(old, None)
        story.world.join(new, "b")
        if secret:
            story.encrypt_kubeconfigs()
        if declared:
            story.world.config["renamed"] = {"members": {new: old}}
        carried_out(story)
        assert story.world.uids(MAP, ("namespace", story.world.space)) == before
        assert story.runs().keys() == {"a", new}


def test_a_member_that_is_renamed_and_not_known_before_the_program_runs(started: Started) -> None:
    story = started({"a": "a", "west": "b"}, ARGUED)
    before = story.world.uids(MAP)
    for old, new in (("west", "east"), ("east", "west")):
        story.world.leave(old)
        story.world.join(new, "b")
        refused(story, f"member {new}: is the cluster that was called {old}", "fleet:renamed")
        assert story.world.uids(MAP) == before
        story.world.config["renamed"] = {"members": {new: old}}
        carried_out(story)
        assert story.world.uids(MAP) == before
        del story.world.config["renamed"]
        unchanged(story)


@pytest.mark.parametrize("back", [True, False])
@pytest.mark.parametrize("declared", [True, False])
def test_a_rename_of_a_member_that_breaks(started: Started, declared: bool, back: bool) -> None:
    """Then the state has both names: whether the source goes back or on, the objects are the same ones."""
    story = started({"a": "a", "b": "b"})
    source, before = story.world.source(), story.world.uids(MAP, ("namespace", story.world.space))
    story.world.leave("a")
    story.world.join("aa", "a")
    story.world.objects["c"] = config_map(story.world.space, "two")
    if declared:
        story.world.config["renamed"] = {"members": {"aa": "a"}}
    story.world.planes["b"].pause()
    try:
        broken = story.up()
    finally:
        story.world.planes["b"].resume()
    assert not broken.ok
    assert story.world.uids(MAP, ("namespace", story.world.space)) == before
    if back:
        story.world.go_back(source)
        if declared:
            story.world.config["renamed"] = {"members": {"aa": "a"}}
    seen = carried_out(story)
    assert "deleted" not in seen.text
    assert story.world.uids(MAP, ("namespace", story.world.space)) == before
    assert story.runs().keys() == {"a" if back else "aa", "b"}


@pytest.mark.parametrize("program", [None, ARGUED])
def test_two_names_for_one_cluster(started: Started, program: Path | None) -> None:
    story = started({"a": "a"}, program)
    before = story.world.uids(MAP, on="a")
    source = story.world.source()
    story.world.join("again", "a")
    refused(story, "is the same cluster as member a")
    assert story.world.uids(MAP, on="a") == before
    story.world.go_back(source)
    # Nothing but an empty component may have come into the state.
    assert story.preview().changes.keys() <= {"Target one@again"}
    assert story.up().ok
    assert story.world.uids(MAP, on="a") == before
    unchanged(story)


@pytest.mark.parametrize("program", [None, ARGUED])
def test_two_kubeconfigs_that_are_swapped(started: Started, program: Path | None) -> None:
    """Nothing is written before it is known that each member is the cluster that it was."""
    story = started({"a": "a", "b": "b"}, program)
    source = story.world.source()
    story.world.join("a", "b")
    story.world.join("b", "a")
    story.world.objects["c"] = config_map(story.world.space, "two")
    confirmed(story)
    assert [live["data"]["k"] for live in maps(story.world).values()] == ["two", "two"]
    unchanged(story)
    story.world.go_back(source)
    confirmed(story)


def confirmed(story: Engine[Story]) -> None:
    """Both members are refused until their tokens are given; nothing is written before that."""
    before = versions(story.world)
    said = refused(
        story, "member a: leads to another cluster", "member b: leads to another cluster"
    )
    assert versions(story.world) == before
    story.world.config["confirm"] = ",".join(tokens(said))
    done = story.up()
    assert done.ok, done.text
    del story.world.config["confirm"]


def maps(story: Story) -> dict[str, Any]:
    return {plane: story.live(plane, *MAP) for plane in story.planes}


def versions(story: Story) -> dict[str, str]:
    """What changes whenever anything is written."""
    return {plane: live["metadata"]["resourceVersion"] for plane, live in maps(story).items()}


def test_a_fleet_that_is_renamed(started: Started) -> None:
    story = started({"a": "a", "b": "b"}, ARGUED)
    before = story.world.uids(MAP, ("namespace", story.world.space))
    for old, new in (("dev", "prod"), ("prod", "dev")):
        story.world.config |= {"own:name": new, "renamed": {"fleet": old}}
        carried_out(story)
        assert story.world.uids(MAP, ("namespace", story.world.space)) == before
        assert {
            r.name.partition("/")[0].partition("@")[0] for r in story.state().resources.values()
        } <= {
            new,
            f"{story.name}",
            f"fleet-{story.name}",
            "default",
        }
        # In the next release nobody has to know of it any more.
        del story.world.config["renamed"]
        unchanged(story)


@attrs.define
class Two:
    """Two stories in one program, with placements of one name."""

    first: Story
    second: Story
    config: dict[str, Any]

    @property
    def members(self) -> dict[str, dict[str, str]]:
        return self.first.members

    def write(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.first.write(folder / "first")
        self.second.write(folder / "second")


def test_two_fleets_in_one_program(tale: Story, tmp_path_factory: pytest.TempPathFactory) -> None:
    both = tale, Story(f"{tale.space}-too", tale.planes)
    for item in both:
        space = namespace(item.space)
        item.join("a")
        item.join("b")
        item.objects = {"space": space, "c": config_map(item.space), "one": placement("one", space)}
    world = Two(*both, tale.config)
    engine = Engine(
        tmp_path_factory.mktemp("stack"), PROGRAMS / "two_fleets.py", world, standin=False
    )
    done = engine.up()
    assert done.ok, done.text
    assert engine.preview().changes == {}
    before = [item.uids(MAP) for item in both]
    both[1].objects["c"] = config_map(both[1].space, "two")
    shown, done = engine.preview(), engine.up()
    assert done.ok, done.text
    assert {name for name in shown.changes if name.startswith("ConfigMap")} == {
        f"ConfigMap second/one@{plane}/{both[1].space}/c" for plane in "ab"
    }
    assert [item.uids(MAP) for item in both] == before
    assert engine.preview().changes == {}


def test_resources_of_a_plain_program(
    tale: Story, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the stack has managed itself goes on living in the fleet that takes it over, and the other way round."""
    tale.join("a")
    c, web = config_map(tale.space), deployment(tale.space)
    tale.objects = {"space": namespace(tale.space), "c": c, "web": web}
    tale.config["own:plain"] = "true"
    story: Engine[Story] = Engine(
        tmp_path_factory.mktemp("stack"), PROGRAMS / "plain.py", tale, standin=False
    )
    done = story.up()
    assert done.ok, done.text
    objects = (MAP, ("namespace", tale.space), ("deployment", "web"))
    before = tale.uids(*objects, on="a")
    assert None not in before.values()
    tale.config |= {"own:plain": "false", "takesOver": {"a": ["*"]}}
    tale.objects["one"] = placement("one", tale.objects["space"])
    taken = carried_out(story)
    assert not [
        name for name, change in taken.changes.items() if change == "delete" and "ConfigMap" in name
    ]
    assert tale.uids(*objects, on="a") == before
    del tale.config["takesOver"]
    tale.objects["c"] = config_map(tale.space, "two")
    carried_out(story)
    assert tale.uids(*objects, on="a") == before
    assert tale.live("a", *MAP)["data"] == {"k": "two"}
