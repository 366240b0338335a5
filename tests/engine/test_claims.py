"""One object is one resource: on real API servers, no object of the stack is deleted under another URN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    Uids,
    carried_out,
    config_map,
    namespace,
    placement,
    refused,
    unchanged,
)

pytestmark = pytest.mark.engine
PROGRAM = Path(__file__).parent / "programs" / "several.py"
MAP = ("configmap", "c")


@attrs.define
class Program:
    """What a program with several fleets and with resources of its own has written.

    Attributes:
        story: the API servers, and a namespace that no other test has.
        fleets: the placed objects of each fleet, by the order in which the program declares them.
        reach: the API server behind each member of a fleet.
        given: further arguments of each fleet.
        own: objects outside all fleets.
        config: the configuration of the stack.
    """

    story: Story
    fleets: dict[str, list[Data]] = attrs.field(factory=dict)
    reach: dict[str, dict[str, str]] = attrs.field(factory=dict)
    given: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    own: list[Data] = attrs.field(factory=list)
    config: dict[str, Any] = attrs.field(factory=dict)

    @property
    def members(self) -> dict[str, dict[str, str]]:
        return {}

    def write(self, folder: Path) -> None:
        """Write the sources and the configuration."""
        folder.mkdir(exist_ok=True)
        fleets = []
        for name, objects in self.fleets.items():
            tale = Story(self.story.space, self.story.planes)
            for member, plane in self.reach[name].items():
                tale.join(member, plane)
            tale.objects = {str(number): data for number, data in enumerate(objects)}
            tale.write(folder / name)
            kubeconfigs = tale.config["kubeconfigs"]
            fleets.append([name, {"kubeconfigs": kubeconfigs, **self.given.get(name, {})}])
        (folder / "own.yaml").write_text(yaml.safe_dump_all(self.own))
        parts = folder / "chart" / "templates"
        parts.mkdir(parents=True, exist_ok=True)
        (parts / "own.yaml").write_text(yaml.safe_dump_all(self.own))
        (parts / "kustomization.yaml").write_text("resources: [own.yaml]\n")
        (parts.parent / ".helmignore").write_text("kustomization.yaml\n")
        chart = {"apiVersion": "v2", "name": "own", "version": "1.0.0"}
        (parts.parent / "Chart.yaml").write_text(yaml.safe_dump(chart))
        kubeconfig = self.story.planes["a"].kubeconfig.read_text()
        own = {"fleets": fleets, "provider": {"kubeconfig": kubeconfig}, **self.config}
        self.config_written = {f"own:{key}": value for key, value in own.items()}

    config_written: dict[str, Any] = attrs.field(factory=dict)


class Several(Engine[Any]):
    """A stack of that program."""

    def _write(self) -> None:
        self.world.write(self.project / "fleet")
        settings = self.project / f"Pulumi.{self.name}.yaml"
        kept = yaml.safe_load(settings.read_text())
        kept["config"] = self.world.config_written
        settings.write_text(yaml.safe_dump(kept))


@pytest.fixture
def program(tale: Story, tmp_path_factory: pytest.TempPathFactory) -> Several:
    """A stack with nothing in it."""
    folder = tmp_path_factory.mktemp("stack")
    return Several(folder, PROGRAM, Program(tale), standin=False)


def placed(tale: Story, *more: Data) -> list[Data]:
    """A Namespace with its placement, and what is in it."""
    space = namespace(tale.space)
    return [space, placement("one", space), *more]


@pytest.fixture
def owned(program: Several) -> Several:
    """A fleet with a Namespace, in which the program has a ConfigMap of its own."""
    world = program.world
    world.fleets["first"], world.reach["first"] = placed(world.story), {"a": "a"}
    world.own, world.config = [config_map(world.story.space)], {"way": "plain", "last": False}
    done = program.up()
    assert done.ok, done.text
    return program


def moves_in(program: Several) -> Uids:
    """The program hands its ConfigMap over to the fleet; returns its uid."""
    world = program.world
    world.fleets["first"].append(config_map(world.story.space))
    world.config["way"] = ""
    before: Uids = world.story.uids(MAP, on="a")
    assert None not in before.values()
    return before


def planned_text(program: Several) -> str:
    """What ``fleet plan`` says of the sources of the first fleet and an export of the stack."""
    file = program.folder / "state.json"
    code, text = program.command("stack", "export", "--file", str(file))
    assert code == 0, text
    with program.fleet("plan", "fleet/first", "--state", str(file), COLUMNS="1000") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out + err


def test_a_resource_of_the_program_moves_into_the_fleet(owned: Several) -> None:
    world, before = owned.world, moves_in(owned)
    said = planned_text(owned)
    assert 'is the resource "mine-c" of this stack as well' in said
    assert "no member is asked" in said
    refused(owned, 'stands on a as the resource "mine-c"', "fleet:takesOver: {a: [mine-c]}")
    assert world.story.uids(MAP, on="a") == before
    world.given["first"] = {"takes_over": {"a": ["mine-c"]}}
    carried_out(owned)
    assert world.story.uids(MAP, on="a") == before
    del world.given["first"]
    unchanged(owned)
    world.fleets["first"][-1] = config_map(world.story.space, "two")
    carried_out(owned)
    assert world.story.uids(MAP, on="a") == before


@pytest.mark.parametrize("last", [True, False])
def test_a_resource_that_the_program_still_declares(owned: Several, last: bool) -> None:
    """What is called handed over and is declared all the same is refused, at the latest by the engine."""
    world, before = owned.world, moves_in(owned)
    world.config |= {"way": "plain", "last": last}
    refused(owned, 'stands on a as the resource "mine-c"', "take that resource out of the program")
    world.given["first"] = {"takes_over": {"a": ["mine-c"]}}
    refused(owned, "mine-c")
    assert world.story.uids(MAP, on="a") == before


@pytest.fixture
def two(program: Several) -> Several:
    """Two fleets on the same clusters; the first one has a ConfigMap, and both have Namespaces of their own."""
    world = program.world
    world.fleets = {"first": placed(world.story, config_map(world.story.space)), "second": []}
    world.reach = {name: {"a": "a", "b": "b"} for name in world.fleets}
    done = program.up()
    assert done.ok, done.text
    return program


def reversed_order(program: Several) -> None:
    """The program declares its fleets in the other order."""
    program.world.fleets = dict(reversed(program.world.fleets.items()))


@pytest.mark.parametrize("first", ["first", "second"])
def test_a_placement_moves_to_another_fleet(two: Several, first: str) -> None:
    """And back, in both orders of declaration; nothing has to be confirmed."""
    world = two.world
    if first == "second":
        reversed_order(two)
    before = world.story.uids(MAP, ("namespace", world.story.space))
    assert None not in before.values()
    for source, to in (("first", "second"), ("second", "first")):
        world.fleets[to], world.fleets[source] = world.fleets[source], []
        seen = carried_out(two)
        assert f"moves to {to}: ClusterResourcePlacement/one and stays alive" in seen.text
        assert world.story.uids(MAP, ("namespace", world.story.space)) == before
    world.fleets["first"][-1] = config_map(world.story.space, "two")
    carried_out(two)
    assert world.story.live("b", *MAP)["data"] == {"k": "two"}


@pytest.mark.parametrize("names", [{"a": "a", "b": "b"}, {"east": "a", "west": "b"}])
def test_two_fleets_bring_the_same_object(two: Several, names: dict[str, str]) -> None:
    world = two.world
    before = world.story.uids(MAP, ("namespace", world.story.space))
    source = world.fleets["second"]
    world.reach["second"] = names
    world.fleets["second"] = world.fleets["first"]
    refused(
        two, "of the fleet first", "of the fleet second", "take it out of one of the two fleets"
    )
    assert world.story.uids(MAP, ("namespace", world.story.space)) == before
    world.fleets["second"] = source
    world.reach["second"] = {"a": "a", "b": "b"}
    unchanged(two)
