"""``fleet move`` without an engine: programs run in process, and clusters answer from tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from click.testing import Result

from fleet_components.automation import move, reach
from fleet_components.live.connection import Leftover
from fleet_components.review.planning.past import StateFile
from tests.cli.fleets import run
from tests.cli.test_rollout import PROGRAM
from tests.delivery.driver import InProcess, kubeconfigs
from tests.delivery.karmada import world as karmada
from tests.delivery.world import KubeFleetWorld

HUB = kubeconfigs(["hub"])["hub"]
OWNER = {
    "apiVersion": "placement.kubernetes-fleet.io/v1",
    "kind": "AppliedWork",
    "name": "shop-work",
}


@attrs.define
class Clusters:
    """The members and the hub of a stack: each object that the state has, or that the hub has sent, is there."""

    driver: InProcess
    works: list[dict[str, Any]] = attrs.field(factory=list)
    there: dict[tuple[str, Leftover], dict[str, Any]] = attrs.field(factory=dict)
    patches: list[tuple[str, str]] = attrs.field(factory=list)
    never: bool = False
    takes: bool = True

    def connecting(
        self, kubeconfig: str, who: str, work: Callable[[Any], Any], *, timeout: float
    ) -> Any:
        return work(Cluster(self, who.removeprefix("member ")))

    @property
    def on_hub(self) -> bool:
        every = (resource.name for resource in self.driver.state.resources.values())
        return any(name.endswith("@hub/shop") for name in every)

    def send(self) -> None:
        """Let the hub send what it has: its Works, and its marks on the objects."""
        self.works = [self.work(member) for member in "ab"] if self.on_hub else []
        for (member, item), data in self.there.items():
            if self.on_hub and self.takes and not self.never:
                data["metadata"]["ownerReferences"] = [OWNER]
            assert self.on_hub or not data["metadata"].get("ownerReferences"), (
                f"{item} goes from {member}"
            )

    def work(self, member: str) -> dict[str, Any]:
        """A Work of a member, whose agent has seen it."""
        mine = [(item, data) for (name, item), data in self.there.items() if name == member]
        applied = any(data["metadata"].get("ownerReferences") for _, data in mine)
        manifests = [
            {
                "apiVersion": item.api_version,
                "kind": item.kind,
                "metadata": {"name": item.name, "namespace": item.namespace},
            }
            for item, _ in mine
        ]
        labels = {"kubernetes-fleet.io/parent-CRP": "shop"}
        return {
            "metadata": {"namespace": f"fleet-member-{member}", "generation": 1, "labels": labels},
            "spec": {
                "applyStrategy": {"whenToTakeOver": "Never" if self.never else "Always"},
                "workload": {"manifests": manifests},
            },
            "status": {
                "conditions": [{"type": "Applied", "observedGeneration": 1}],
                "manifestConditions": [
                    {"conditions": [{"type": "Applied", "status": str(applied)}]}
                ],
            },
        }


@attrs.define
class Cluster:
    """One of them, as a connection."""

    all: Clusters
    name: str

    def get(self, leftover: Leftover) -> dict[str, Any]:
        uid = f"{self.name}-{leftover.kind}"
        self.all.there.setdefault(
            (self.name, leftover),
            {"metadata": {"uid": uid, "resourceVersion": "1", "name": leftover.name}},
        )
        self.all.send()
        data = self.all.there[self.name, leftover]
        data |= {"apiVersion": leftover.api_version, "kind": leftover.kind}
        data["metadata"] |= {"namespace": leftover.namespace} if leftover.namespace else {}
        return data

    def items(self, group: str, kind: str, label: str) -> list[dict[str, Any]]:
        self.all.send()
        return self.all.works

    def change(self, leftover: Leftover, patch: Any, *, manager: str) -> None:
        self.all.patches.append((self.name, leftover.kind))
        if self.name == "the hub":
            self.all.never = True
            return
        for each in patch[2:]:
            self.all.there[self.name, leftover]["metadata"][each["path"].rpartition("/")[2]] = each[
                "value"
            ]


@attrs.define
class InPlaceOfTheEngine:
    """Updates the stack of a driver by running the program of its world in process."""

    driver: InProcess
    folder: Path
    updates: list[Mapping[str, str]] = attrs.field(factory=list)
    fails_at: int | None = None

    def __call__(self, project: object, stack: str, config: object) -> InPlaceOfTheEngine:
        return self

    def state(self) -> StateFile:
        retaining = bool(self.updates) and "fleet:moving" in self.updates[-1]
        fields = ("urn", "type", "inputs", "outputs", "parent")
        every = self.driver.state.resources.values()
        resources = [
            {field: getattr(item, field) for field in fields} | {"retainOnDelete": retaining}
            for item in every
        ]
        return StateFile(
            "stack", self.driver.state, export={"deployment": {"resources": resources}}
        )

    def settings(self) -> Mapping[str, str]:
        return {"fleet:kubeconfigs": "{}", "fleet:hub": HUB}

    def configure(self, key: str, value: str) -> None:
        self.driver.world.config[key.removeprefix("fleet:")] = value
        write(self.driver, self.folder)

    def hide(self, secrets: Iterable[str]) -> None:
        pass

    def update(self, seen: Any, as_of: object, config: Mapping[str, str]) -> str:
        if len(self.updates) == self.fails_at:
            return "the machine was switched off"
        self.updates.append(config)
        before = dict(self.driver.world.config)
        self.driver.world.config |= {
            key.removeprefix("fleet:"): value for key, value in config.items()
        }
        outcome = self.driver.up()
        self.driver.world.config = before
        return "" if outcome.ok else outcome.text


def write(driver: InProcess, folder: Path) -> None:
    driver.world.write(folder / "fleet")
    given = {"kubeconfigs": kubeconfigs(driver.world.members), **driver.world.config}
    config = {
        "source": "fleet",
        **{key: value for key, value in given.items() if value is not None},
    }
    (folder / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (folder / "Pulumi.stack.yaml").write_text(
        yaml.safe_dump({"config": {f"fleet:{k}": v for k, v in config.items()}})
    )
    (folder / "__main__.py").write_text(PROGRAM)


@attrs.define
class Stage:
    """A stack that stands, and its clusters."""

    driver: InProcess
    clusters: Clusters
    engine: InPlaceOfTheEngine

    def move(self, to: str, *options: str) -> Result:
        write(self.driver, self.engine.folder)
        given = [f"--kubeconfig={name}={self.engine.folder / 'kubeconfig'}" for name in "ab"]
        return run("move", ".", "--stack", "stack", "--to", to, *given, *options)


@pytest.fixture(params=["direct", "kubefleet"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    world = KubeFleetWorld(members={"a": {}, "b": {}}, policy={"placementType": "PickAll"})
    world.config = {"delivery": way, "hub": HUB}
    return standing(world, tmp_path, monkeypatch)


def standing(world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stack of a world, after its first update."""
    driver = InProcess(world)
    up = driver.up()
    assert up.ok, up.text
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kubeconfig").write_text(HUB)
    clusters, engine = Clusters(driver), InPlaceOfTheEngine(driver, tmp_path)
    monkeypatch.setattr(move, "Engine", engine)
    monkeypatch.setattr(reach, "connecting", clusters.connecting)
    monkeypatch.setattr(move, "_PATIENCE", 0)
    return Stage(driver, clusters, engine)


@pytest.fixture
def to(way: str) -> str:
    return "kubefleet" if way == "direct" else "direct"


def test_nothing_is_done_before_it_is_said(stage: Stage, to: str, way: str) -> None:
    said = stage.move(to)
    assert said.exit_code == 0, said.output
    assert "to move: ClusterResourcePlacement/shop" in said.output
    assert "stays on a: Deployment shop/web, uid a-Deployment" in said.output
    assert f"fleet move . --stack stack --to {to} --yes does it" in said.output
    assert (stage.engine.updates, stage.clusters.patches) == ([], [])
    assert stage.driver.world.config["delivery"] == way


def test_everything_moves_and_then_there_is_nothing_to_do(stage: Stage, to: str) -> None:
    done = stage.move(to, "--yes")
    assert done.exit_code == 0, done.output
    assert "4 objects on members, each with the uid that it had" in done.output
    keep, switch = stage.engine.updates
    assert keep["fleet:moving"] == "true"
    assert "fleet:moving" not in switch
    assert stage.driver.world.config["delivery"] == to
    assert stage.clusters.on_hub == (to == "kubefleet")
    assert "nothing is left to do" in stage.move(to, "--yes").output


@pytest.mark.samples(2)
@pytest.mark.parametrize("updates", [0, 1])
def test_it_goes_on_after_an_update_that_has_failed(stage: Stage, to: str, updates: int) -> None:
    stage.engine.fails_at = updates
    broken = stage.move(to, "--yes")
    assert broken.exit_code == 1
    assert "the machine was switched off" in broken.output
    stage.engine.fails_at = None
    again = stage.move(to, "--yes")
    assert again.exit_code == 0, again.output


def test_what_is_not_to_move_is_refused(stage: Stage, to: str, way: str) -> None:
    unknown = stage.move(to, "--placement", "till")
    assert "nothing that stands is called till" in unknown.output
    otherwise = stage.move(to, "--placement", "shop")
    assert f"is to go {way}, as the source says" in otherwise.output
    assert f"fleet-components/delivery: {to}" in otherwise.output


@pytest.mark.parametrize(("there", "other"), [("kubefleet", "karmada"), ("karmada", "kubefleet")])
def test_from_one_hub_to_another_it_goes_by_way_of_direct(
    there: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world: Any = KubeFleetWorld(members={"a": {}, "b": {}}, policy={"placementType": "PickAll"})
    if there == "karmada":
        world = karmada.KarmadaWorld(
            objects={"web": karmada.deployment(), "policy": karmada.policy(placement={})}
        )
    world.config = {"delivery": there, "hub": HUB}
    stage = standing(world, tmp_path, monkeypatch)
    refused = stage.move(other, "--yes")
    assert refused.exit_code == 1
    told = " ".join(refused.output.split())
    names = {"kubefleet": "KubeFleet", "karmada": "Karmada"}
    assert (
        f"goes through a hub of {names[there]}, and nothing moves from one hub to another" in told
    )
    assert "fleet move . --stack stack --to direct;" in told
    assert f"fleet move . --stack stack --to {other}" in told
    assert (stage.engine.updates, world.config["delivery"]) == ([], there)


def test_nobody_would_manage_what_is_never_taken_over(stage: Stage, to: str) -> None:
    stage.driver.world.strategy = {"applyStrategy": {"whenToTakeOver": "Never"}}
    refused = stage.move(to, "--yes")
    assert refused.exit_code == 1
    assert "whenToTakeOver of its strategy is Never" in refused.output
    assert stage.engine.updates == []


def test_what_the_hub_does_not_take_over_is_named(stage: Stage, to: str) -> None:
    if to == "direct":
        pytest.skip("a hub takes over nothing then")
    stage.clusters.takes = False
    stuck = stage.move(to, "--yes")
    assert stuck.exit_code == 1
    assert "it has not taken over Namespace shop on a, Deployment shop/web on a" in stuck.output
