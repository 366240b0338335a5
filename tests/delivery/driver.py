"""Runs a world again and again: in process here, on the real engine in ``tests/engine``."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs

from fleet_components import Fleet
from fleet_components.testing import ProgramRun, Registration, StackState, kubeconfig, run_program
from tests.delivery.world import World


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


class Driver(Protocol):
    """Successive runs on one stack."""

    world: World

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update; on the named clusters the Deployment is refused."""

    def preview(self) -> Outcome:
        """What an update would do."""

    def images(self) -> dict[str, str]:
        """What really runs, by cluster."""

    def order(self) -> list[str]:
        """The clusters whose Deployment the last update touched, in order."""

    def record(self) -> Mapping[str, Any]:
        """The inputs of the placement as the state holds them."""


class InProcess:
    """Without an engine: the mocks run the providers' checks, the state is what was registered."""

    def __init__(self) -> None:
        self.world = World()
        self.state = StackState()
        self._order: list[str] = []

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update."""
        run = self._run(preview=False, fails=fails)
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
        return self._outcome(self._run(preview=True, fails=()))

    def images(self) -> dict[str, str]:
        """From the state."""
        deployments = [r for r in self.state.resources.values() if is_deployment(r.type)]
        return {cluster_of(r.name): image_of(r.inputs) for r in deployments}

    def order(self) -> list[str]:
        """The order of registration."""
        return self._order

    def record(self) -> Mapping[str, Any]:
        """From the state."""
        placements = [r for r in self.state.resources.values() if r.type.endswith("fleet:Placement")]
        return placements[0].inputs

    def _run(self, *, preview: bool, fails: Collection[str]) -> ProgramRun:
        def refused(registration: Registration) -> bool:
            return is_deployment(registration.type) and cluster_of(registration.name) in fails

        with tempfile.TemporaryDirectory() as folder:
            self.world.write(Path(folder))
            config = {f"fleet:{key}": value for key, value in self.world.config.items()}
            return run_program(
                lambda: Fleet.from_config("dev"),
                state=self.state,
                config={"fleet:source": folder, "fleet:kubeconfigs": kubeconfigs(self.world.members), **config},
                preview=preview,
                fails=refused,
            )

    def _outcome(self, run: ProgramRun) -> Outcome:
        text = "\n".join([message for _, message in run.messages] + ([str(run.error)] if run.error else []))
        return Outcome(run.error is None, text, changes(run))


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
    """``Deployment shop@a/shop/web``."""
    kind = urn.split("::")[2].rpartition("$")[2].rpartition(":")[2]
    return f"{kind} {urn.rpartition('::')[2]}"


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
