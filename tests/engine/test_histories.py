"""A sample of histories on the real engine: the plan of the directory, the steps of its preview, what stands then."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.plan import names
from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.survey import CommandLine, survey
from tests.engine.driver import Engine, engine_or_skip
from tests.plan.stack import Pair, pair_of
from tests.plan.test_histories import Written

pytestmark = pytest.mark.engine

ALL = {name: dict[str, str]() for name in "abcd"}
EVERYWHERE = {"placementType": "PickAll"}
FOUR, TWO = ({"placementType": "PickN", "numberOfClusters": number} for number in (4, 2))
X, Y, Z = ("one", "x"), ("two", "y"), ("two", "z")
HISTORIES = {
    "content and members change, an object goes": [
        Written(
            ALL,
            {"p": ("one", FOUR)},
            {"k": ("two", ["a", "b"])},
            {X: "web:1", Y: "web:1", Z: "web:1"},
        ),
        Written(
            ALL,
            {"p": ("one", FOUR)},
            {"k": ("two", ["a", "b"])},
            {X: "web:2", Y: "web:1", Z: "web:2"},
        ),
        Written(
            {n: {} for n in "abc"},
            {"p": ("one", TWO)},
            {"k": ("two", ["b", "c"])},
            {X: "web:2", Y: "web:2"},
        ),
    ],
    "objects change hands, and back": [
        Written(ALL, {"p": ("two", EVERYWHERE)}, {}, {X: "web:1", Y: "web:1"}),
        Written(ALL, {}, {"k": ("two", ["a", "b", "c", "d"])}, {X: "web:1", Y: "web:1"}),
        Written(ALL, {"q": ("two", TWO)}, {}, {X: "web:1", Y: "web:2"}),
    ],
}


@attrs.define
class Files:
    """What the user has written, as the engine's driver takes it."""

    written: Written
    config: dict[str, Any] = attrs.field(factory=dict)

    @property
    def members(self) -> Collection[str]:
        """The names of the members."""
        return self.written.members

    def write(self, folder: Path) -> None:
        """Write all documents."""
        folder.mkdir(exist_ok=True)
        (folder / "fleet.yaml").write_text(
            "\n---\n".join(map(json.dumps, self.written.documents()))
        )


class Refusing(Engine[Any]):
    """Clusters that are told to refuse any Deployment."""

    def fail(self, clusters: Collection[str]) -> None:
        """Let Deployments be refused on these clusters, from now on."""
        super().fail(clusters)
        for cluster in clusters:
            (self.standin / "fails" / cluster).write_text("Deployment/")


@pytest.mark.parametrize("fails", [(), ("b",)], ids=["all goes well", "b refuses"])
@pytest.mark.parametrize("name", HISTORIES)
def test_the_plan_is_what_happens(tmp_path: Path, name: str, fails: tuple[str, ...]) -> None:
    engine_or_skip()
    engine = Refusing(tmp_path / "stack", world=Files(HISTORIES[name][0]))
    for written in HISTORIES[name]:
        engine.world.written = written
        engine.world.config = {"limit": 1}
        for failing in (fails, ()) if fails else ((),):
            plan = planned(engine)
            before, steps = standing(engine), stepped(engine)
            holds(plan, steps)
            refused = any(
                p[0] in failing and p[1].kind == "Deployment"
                for p in steps["create"] | steps["update"]
            )
            done = engine.up(failing)
            if refused:
                assert not done.ok
                assert survivors(before, plan) <= standing(engine)
                continue
            assert done.ok, done.text
            assert standing(engine) == survivors(before, plan) | wanted(plan)
        assert engine.preview().changes == {}


def planned(engine: Engine[Any]) -> FleetPlan:
    """The plan of the directory, from the exported state."""
    engine._write()
    told = CommandLine(
        state=StateFile("state.json", engine.state()), stack="organization/fleet/dev"
    )
    told = told if told.state.state.resources else attrs.evolve(told, state=StateFile())
    (plan,) = survey([engine.project / "fleet"], told).plans
    return plan


def stepped(engine: Engine[Any]) -> dict[str, set[Pair]]:
    """What ``pulumi preview --json`` says of each object."""
    code, text = engine.command("preview", "--json")
    assert code == 0, text
    steps = json.loads(text[text.index("\n{") if not text.startswith("{") else 0 :])["steps"]
    found: dict[str, set[Pair]] = {"create": set(), "update": set(), "delete": set()}
    for step in steps:
        if names.is_object(Urn.parse(step["urn"]).type) and step["op"] in found:
            found[step["op"]].add(pair_of(step["urn"]))
        else:
            assert step["op"] in ("same", *found), step["op"]  # nothing is ever replaced here
    return found


def holds(plan: FleetPlan, steps: dict[str, set[Pair]]) -> None:
    """The plan says what the preview says."""
    leaving = {(departure.cluster, departure.key): departure.fate for departure in plan.departures}
    unrecorded = (Fate.MOVED, Fate.SWEPT, Fate.UNDONE)
    assert steps["create"] == wanted(plan) - set(plan.standing)
    assert steps["delete"] == {pair for pair, fate in leaving.items() if fate not in unrecorded}
    moved = {pair for pair, fate in leaving.items() if fate is Fate.MOVED}
    moving = {
        (c, key)
        for subject in plan.subjects
        if subject.moves
        for c in subject.deliveries
        for key in subject.keys(c)
    }
    assert steps["update"] <= moved | moving


def wanted(plan: FleetPlan) -> set[Pair]:
    return {
        (cluster, key)
        for subject in plan.subjects
        for cluster in subject.deliveries
        for key in subject.keys(cluster)
    }


def survivors(before: set[Pair], plan: FleetPlan) -> set[Pair]:
    """What stands afterwards of what stood: all but what the plan calls deleted."""
    return before - {
        (departure.cluster, departure.key)
        for departure in plan.departures
        if departure.fate is Fate.DELETED
    }


def standing(engine: Engine[Any]) -> set[Pair]:
    """What the clusters hold."""
    files = (engine.standin / "clusters").glob("*/*.json")
    return {(file.parent.name, Manifest(json.loads(file.read_text())).key) for file in files}
