"""Runs a world again and again: in process here, on the real engine in ``tests/engine``."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, cast

import attrs
from typing_extensions import TypeVar

from fleet_components import Fleet
from fleet_components.testing import ProgramRun, Registration, StackState, kubeconfig, run_program
from tests.delivery.world import KubeFleetWorld

FLEET = "dev"
"""The name of the fleet, which begins all names."""


class Written(Protocol):
    """What a user has written."""

    config: dict[str, Any]

    @property
    def members(self) -> Collection[str]:
        """The names of the members."""

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own."""


W = TypeVar("W", bound=Written, default=KubeFleetWorld)


@attrs.frozen
class Outcome:
    """What came of one run.

    Attributes:
        ok: whether it went through.
        text: messages and errors.
        changes: what happens to each resource that is not left as it is, by name and short type.
    """

    ok: bool
    text: str
    changes: Mapping[str, str]


class Driver(Protocol[W]):
    """Successive runs on one stack."""

    world: W

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update; on the named clusters the Deployment is refused."""

    def preview(self) -> Outcome:
        """What an update would do."""

    def stands(self, kind: str = "Deployment") -> dict[str, Mapping[str, Any]]:
        """The one object of a kind that really stands on each cluster, by cluster."""

    def images(self) -> dict[str, str]:
        """What really runs, by cluster."""

    def order(self) -> list[str]:
        """The clusters whose Deployment the last update touched, in order."""

    def record(self, name: str = "shop") -> Mapping[str, Any]:
        """The inputs of a placement as the state holds them."""


class InProcess(Generic[W]):
    """Without an engine: the mocks run the providers' checks, the state is what was registered."""

    def __init__(self, world: W | None = None) -> None:
        self.world = cast(W, world or KubeFleetWorld())
        self.state = StackState()
        self._order: list[str] = []

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update."""
        run = self.run(preview=False, fails=fails)
        before = self.state.resources
        self._order = [
            cluster_of(r.name)
            for r in run.registrations
            if is_deployment(r.type) and (r.urn not in before or before[r.urn].inputs != r.inputs)
        ]
        outcome = self._outcome(run)
        self.state = run.state()
        return outcome

    def preview(self) -> Outcome:
        """Preview."""
        return self._outcome(self.run())

    def stands(self, kind: str = "Deployment") -> dict[str, Mapping[str, Any]]:
        """From the state."""
        resources = self.state.resources.values()
        objects = [
            r for r in resources if r.type.startswith("kubernetes:") and r.type.endswith(f":{kind}")
        ]
        return one_each((cluster_of(r.name), r.inputs) for r in objects)

    def images(self) -> dict[str, str]:
        """From the state."""
        return {cluster: image_of(data) for cluster, data in self.stands().items()}

    def order(self) -> list[str]:
        """The order of registration."""
        return self._order

    def record(self, name: str = "shop") -> Mapping[str, Any]:
        """From the state."""
        return record_of(self.state, name)

    def run(self, *, preview: bool = True, fails: Collection[str] = ()) -> ProgramRun:
        """Run the program; the state stays as it is."""

        def refused(registration: Registration) -> bool:
            return is_deployment(registration.type) and cluster_of(registration.name) in fails

        with tempfile.TemporaryDirectory() as folder:
            self.world.write(Path(folder))
            config = {f"fleet:{key}": value for key, value in self.world.config.items()}
            return run_program(
                lambda: Fleet.from_config(FLEET),
                state=self.state,
                config={
                    "fleet:source": folder,
                    "fleet:kubeconfigs": kubeconfigs(self.world.members),
                    **config,
                },
                preview=preview,
                fails=refused,
            )

    def _outcome(self, run: ProgramRun) -> Outcome:
        text = "\n".join(
            [message for _, message in run.messages] + ([str(run.error)] if run.error else [])
        )
        return Outcome(run.error is None, text, changes(run))


def record_of(state: StackState, name: str) -> Mapping[str, Any]:
    """The inputs of a placement or template in a state."""
    kinds = ("dynamic/fleet:Placement", "dynamic/fleet:Template")
    (found,) = (
        r
        for r in state.resources.values()
        if r.type.endswith(kinds) and r.name == f"{FLEET}/{name}"
    )
    return found.inputs


def one_each(found: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Mapping[str, Any]]:
    """By cluster; nothing may be there twice."""
    by_cluster: dict[str, Mapping[str, Any]] = {}
    for cluster, data in found:
        assert cluster not in by_cluster, (
            cluster,
            data["metadata"],
            by_cluster[cluster]["metadata"],
        )
        by_cluster[cluster] = data
    return by_cluster


def changes(run: ProgramRun) -> dict[str, str]:
    """What an engine would do, from the inputs before and after."""
    before, after = run.before.resources, run.state().resources
    found = {}
    for urn, resource in after.items():
        if urn not in before:
            found[short(urn)] = "create"
        elif before[urn].inputs != resource.inputs:
            found[short(urn)] = "update"
    return found | {short(urn): "delete" for urn in before if urn not in after}


def short(urn: str) -> str:
    """``Deployment shop@a/shop/web``, without the fleet's name."""
    kind = urn.split("::")[2].rpartition("$")[2].rpartition(":")[2]
    return f"{kind} {urn.rpartition('::')[2].removeprefix(f'{FLEET}/')}"


def is_deployment(kind: str) -> bool:
    """Whether a type token is that of a Deployment."""
    return kind == "kubernetes:apps/v1:Deployment"


def cluster_of(name: str) -> str:
    """The cluster in a resource's name, ``shop@a/shop/web``."""
    return name.partition("@")[2].partition("/")[0]


def image_of(deployment: Mapping[str, Any]) -> str:
    """The image of a Deployment's first container."""
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def kubeconfigs(members: Collection[str]) -> dict[str, str]:
    """A kubeconfig for each member; nothing answers there."""
    return {name: kubeconfig(name) for name in members}
