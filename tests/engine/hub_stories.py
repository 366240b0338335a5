"""A fleet whose source goes through a real hub, and whose objects are looked for on the hub and on the members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import attrs
import pytest
import yaml

from tests.engine.driver import Engine, provider_or_skip
from tests.hubs.karmada import CLUSTERS, KarmadaMember, karmada_hub
from tests.hubs.kubefleet import MemberSpec, kubefleet_hub
from tools.clusters.cluster import ControlPlane

Data = dict[str, Any]


class RealHub(Protocol):
    """A hub that runs, with its members."""

    @property
    def hub(self) -> ControlPlane:
        """The control plane of the hub."""

    @property
    def members(self) -> Mapping[str, ControlPlane]:
        """The control planes of the members, by name."""


@attrs.frozen
class HubKind:
    """What differs between the hubs of the two systems.

    Attributes:
        delivery: the way of delivery.
        member: the resource of its members.
        policies: the resource of what places the objects of the stories.
        starts: starts a hub with its members, and ends it.
    """

    delivery: str
    member: str
    policies: str
    starts: Callable[[], AbstractContextManager[RealHub]]


KUBEFLEET = HubKind(
    "kubefleet",
    "membercluster",
    "clusterresourceplacement",
    lambda: kubefleet_hub({name: MemberSpec(labels={"region": name}) for name in ("east", "west")}),
)
KARMADA = HubKind(
    "karmada",
    CLUSTERS,
    "propagationpolicy",
    lambda: karmada_hub([KarmadaMember("a", provider="aws"), KarmadaMember("b", nodes=2)]),
)


@pytest.fixture(scope="module")
def hub(request: pytest.FixtureRequest) -> Iterator[RealHub]:
    """The hub of the kind that the module names as ``HUB``."""
    provider_or_skip()
    with request.module.HUB.starts() as started:
        yield started


@pytest.fixture
def stack(
    request: pytest.FixtureRequest, hub: RealHub, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine[HubStory]]:
    """A stack that goes through the hub, and that has nothing yet but its members."""
    kind: HubKind = request.module.HUB
    live = {name: hub.hub.get(kind.member, name) for name in hub.members}
    story = HubStory(hub.hub, hub.members, {name: written(item) for name, item in live.items()})
    story.config = {
        "delivery": kind.delivery,
        "hub": hub.hub.kubeconfig.read_text(),
        "kubeconfigs": None,
    }
    yield Engine(tmp_path_factory.mktemp("stack"), world=story, standin=False)
    # The next story begins without what this one has left: what places goes first, and is waited for.
    hub.hub.kubectl("delete", kind.policies, "--all", "--all-namespaces")
    for plane in (hub.hub, *hub.members.values()):
        plane.kubectl("delete", "namespace", "shop", "--ignore-not-found")


@attrs.define
class HubStory:
    """What the user has written.

    Attributes:
        hub: the control plane of the hub.
        planes: the control planes of the members.
        members: the declarations of the members, by name.
        objects: everything else, by a name of the test's own.
        config: the configuration of the stack.
        observed: whether the source is the hub as it was observed.
    """

    hub: ControlPlane
    planes: Mapping[str, ControlPlane]
    members: dict[str, Data]
    objects: dict[str, Data] = attrs.field(factory=dict)
    config: dict[str, Any] = attrs.field(factory=dict)
    observed: bool = False

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own, unless that was observed."""
        if self.observed:
            return
        folder.mkdir(exist_ok=True)
        (folder / "fleet.yaml").write_text(
            yaml.safe_dump_all([*self.members.values(), *self.objects.values()])
        )

    def image(self, plane: str) -> str | None:
        """The image that the Deployment ``web`` has on a member; None if it is not there."""
        found = self.planes[plane].get("deployment", "web", "-n", "shop")
        return found and str(found["spec"]["template"]["spec"]["containers"][0]["image"])


def status(stack: Engine[HubStory], *options: str) -> tuple[int, str]:
    """What ``fleet status --hub`` tells: its exit status, and all that it prints."""
    hub = str(stack.world.hub.kubeconfig)
    with stack.fleet("status", ".", "--stack", stack.name, "--hub", hub, *options) as process:
        told, errors = process.communicate(timeout=120)
    return process.returncode, told + errors


def observe(stack: Engine[HubStory]) -> Path:
    """Make the hub as it is the source of the stack, and return the file of its Deployment."""
    stack.world.observed = True
    hub, folder = str(stack.world.hub.kubeconfig), stack.project / "fleet"
    update = ("--update",) if folder.exists() else ()
    with stack.fleet("observe", "--hub", hub, "--out", str(folder), *update) as process:
        told, errors = process.communicate(timeout=120)
    assert process.returncode == 0, told + errors
    return folder / "objects" / "shop" / "Deployment.web.yaml"


def takes_over(stack: Engine[HubStory], settle: Callable[[], None]) -> None:
    """A hub that runs becomes the hub of a stack: nothing moves, and then a change goes through the stack."""
    tale = stack.world
    uids = {name: uid(plane) for name, plane in tale.planes.items()}
    assert all(uids.values())
    deployment = observe(stack)
    seen = stack.preview()
    print(seen.text, seen.changes, sep="\n")
    assert seen.ok, seen.text
    assert "wave 1" not in seen.text
    assert (first := stack.up()).ok, first.text
    settle()
    assert {name: uid(plane) for name, plane in tale.planes.items()} == uids
    assert stack.preview().changes == {}
    deployment.write_text(deployment.read_text().replace("image: web:1", "image: web:2"))
    seen = stack.preview()
    print(seen.text, seen.changes, sep="\n")
    assert "Deployment shop/web changes" in seen.text
    assert (second := stack.up()).ok, second.text
    settle()
    assert {name: tale.image(name) for name in tale.planes} == dict.fromkeys(tale.planes, "web:2")
    assert {name: uid(plane) for name, plane in tale.planes.items()} == uids
    observe(stack)
    again = stack.preview()
    print(again.text, again.changes, sep="\n")
    assert "wave 1" not in again.text


def moves(
    stack: Engine[HubStory], way: str, settle: Callable[[], None], taken: Callable[[Data], bool]
) -> None:
    """What stands directly moves to a hub and back: no object is deleted, and each way brings changes.

    Args:
        stack: the stack, with objects and their placement.
        way: the way of the hub.
        settle: waits until the hub rests.
        taken: tells of an object whether it has the mark of the hub.
    """
    tale = stack.world
    tale.config |= {
        "delivery": "direct",
        "kubeconfigs": {n: p.kubeconfig.read_text() for n, p in tale.planes.items()},
    }
    assert (first := stack.up()).ok, first.text
    uids = {name: uid(plane) for name, plane in tale.planes.items()}
    assert all(uids.values())

    def check(there: str, image: str, *, marked: bool) -> None:
        settle()
        assert {name: uid(plane) for name, plane in tale.planes.items()} == uids
        assert {name: tale.image(name) for name in tale.planes} == dict.fromkeys(tale.planes, image)
        live = [plane.get("deployment", "web", "-n", "shop") for plane in tale.planes.values()]
        assert [taken(item) for item in live] == [marked] * len(live)
        tale.config["delivery"] = there

    code, told = move(stack, way)
    print(told)
    assert code == 0
    assert "nothing was done" in told
    for there, image in ((way, "web:2"), ("direct", "web:3")):
        tale.config["delivery"] = there
        refused = stack.preview()
        assert not refused.ok
        assert f"fleet move PROJECT --stack STACK --to {there}" in refused.text
        tale.config["delivery"] = "direct" if there == way else way
        code, told = move(stack, there, "--yes")
        print(told)
        assert code == 0, told
        assert "each with the uid that it had" in told
        before = f"web:{int(image[-1]) - 1}"
        check(there, before, marked=there == way)
        tale.objects["web"]["spec"]["template"]["spec"]["containers"][0]["image"] = image
        assert (done := stack.up()).ok, done.text
        check(there, image, marked=there == way)
        assert stack.preview().changes == {}
    code, told = move(stack, "direct", "--yes")
    assert code == 0, told
    assert "nothing is left to do" in told


def move(stack: Engine[HubStory], to: str, *options: str) -> tuple[int, str]:
    """What ``fleet move`` tells: its exit status, and all that it prints."""
    with stack.fleet("move", ".", "--stack", stack.name, "--to", to, *options) as process:
        told, errors = process.communicate(timeout=1200)
    return process.returncode, told + errors


def uid(plane: ControlPlane) -> str | None:
    found = plane.get("deployment", "web", "-n", "shop")
    return found and str(found["metadata"]["uid"])


def written(live: Data) -> Data:
    """A member as its user declares it: with the labels and taints that it has, and what it reports."""
    metadata = {
        "name": live["metadata"]["name"],
        "labels": dict(live["metadata"].get("labels") or {}),
    }
    kept: Data = {key: live[key] for key in ("apiVersion", "kind", "spec", "status") if key in live}
    return {**kept, "metadata": metadata}


def web(image: str = "web:1", replicas: int = 2) -> Data:
    labels = {"app": "web"}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod},
    }
