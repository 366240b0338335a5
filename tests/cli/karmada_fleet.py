"""A small Karmada fleet on disk, as a directory and as a project, rendered by the command and by its program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components import Fleet
from fleet_components.plan.state import reveal
from fleet_components.testing import ProgramRun, StackState, run_program
from tests.cli.fleets import run
from tests.delivery.driver import cluster_of
from tests.delivery.karmada.world import KarmadaWorld, deployment, on, policy, weights

WEB = "shop/Deployment/web"
MANIFEST = "1-manifest/apps_v1-deployment-shop-web.yaml"
SECRET = "hunter2-planted"


def said(*arguments: object) -> str:
    result = run(*arguments, width=240)
    assert result.exit_code == 0, result.output
    return result.stdout


@attrs.define
class RenderedFleet:
    """A fleet on disk, as a directory and as a project, rendered by the command and by its program.

    Attributes:
        root: where it lies.
        world: what the user has written.
        state: the stack of the program.
        done: the last run of the program.
    """

    root: Path
    world: KarmadaWorld = attrs.field(factory=KarmadaWorld)
    state: StackState = StackState()
    done: ProgramRun | None = None

    @property
    def folder(self) -> Path:
        return self.root / "project" / "fleet"

    def write(self, **objects: Mapping[str, Any] | None) -> None:
        """Write the fleet, with objects added, changed, or taken out by None."""
        known = {**self.world.objects, **objects}
        self.world.objects = {name: dict(data) for name, data in known.items() if data is not None}
        self.world.write(self.folder)
        project = self.root / "project"
        (project / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
        (project / "__main__.py").write_text(
            'from fleet_components import Fleet\n\nFleet.from_config("dev")\n'
        )
        (project / "Pulumi.dev.yaml").write_text(
            "config:\n  fleet:source: fleet\n  fleet:render: out\n"
        )

    def render(self, *arguments: str, project: bool = False, confirm: str = "") -> dict[str, str]:
        """Render, the directory or the project, and confirm a loss with its token; the manifests by path."""
        confirmed = ("--confirm", confirm) if confirm else ()
        said(*self._rendering(project), *arguments, *confirmed)
        stack = self.root / "out" / ("dev" if project else "local")
        files = (path for path in stack.rglob("*.yaml") if path.parent != stack)
        return {str(path.relative_to(stack)): path.read_text() for path in sorted(files)}

    def refused(self, *, project: bool = False) -> str:
        """The token of what a render refuses to lose."""
        result = run(*self._rendering(project), width=240)
        assert result.exit_code == 3, result.output
        (token,) = re.findall(r"(?:fleet:confirm=|--confirm )(\w+)", result.stderr)
        return str(token)

    def _rendering(self, project: bool) -> tuple[object, ...]:
        return (
            "render",
            self.root / "project" if project else self.folder,
            "--out",
            self.root / "out",
        )

    def up(self, confirm: str = "") -> dict[tuple[str, str, str], Any]:
        """Update the stack of the program, which renders; what the Kubernetes provider is given, by member."""
        config = {"fleet:source": str(self.folder), "fleet:render": "out", "fleet:confirm": confirm}
        done = run_program(
            lambda: Fleet.from_config("dev"),
            state=self.state,
            project="shop",
            stack="dev",
            config=config,
            preview=False,
        )
        assert done.error is None
        self.state, self.done = done.state(), done
        objects = (r for r in done.registrations if r.type.startswith("kubernetes:"))
        return {
            placed(cluster_of(r.name), data): data for r in objects if (data := reveal(r.inputs))
        }

    def state_file(self, stack: str = "local") -> Path:
        return self.root / "out" / stack / "state.json"


def divided(root: Path) -> RenderedFleet:
    """A Deployment divided over two of three members, with its namespace, a secret and an override."""
    world = RenderedFleet(root)
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "registry", "namespace": "shop"},
        "spec": {
            "overrideRules": [
                {
                    "targetCluster": {"clusterNames": ["b"]},
                    "overriders": {
                        "labelsOverrider": [{"operator": "add", "value": {"mirror": "b"}}]
                    },
                }
            ]
        },
    }
    world.write(
        namespace={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        secret=secret(),
        override=override,
        web=deployment(4, volumes=[{"name": "s", "secret": {"secretName": "pay"}}]),
        policy=policy(placement={**on("a", "b"), **weights(a=3, b=1)}, propagateDeps=True),
    )
    return world


def secret(value: str = SECRET, **more: str) -> dict[str, Any]:
    data = {"token": value, **more}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pay", "namespace": "shop"},
        "stringData": data,
    }


def placed(cluster: str, data: Mapping[str, Any]) -> tuple[str, str, str]:
    return cluster, data["kind"], data["metadata"]["name"]


def parsed(files: Mapping[str, str]) -> dict[tuple[str, str, str], Any]:
    loaded = ((path.partition("/")[0], yaml.safe_load(text)) for path, text in files.items())
    return {placed(cluster, data): data for cluster, data in loaded}


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }
