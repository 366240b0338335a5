"""Runs a world on the real engine, with a file backend and a stand-in for the Kubernetes provider plugin."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi import automation

from fleet_components.testing import StackState
from tests.delivery.driver import Outcome, cluster_of, image_of, is_deployment, kubeconfigs, short
from tests.delivery.world import World
from tests.engine.standin import FOLDER

REQUIRED = "FLEET_REQUIRE_ENGINE"
REPOSITORY = Path(__file__).parents[2]
PROGRAM = REPOSITORY / "stacks" / "__main__.py"


def engine_or_skip() -> None:
    """Skip the test where there is no engine; fail it where one is required."""
    if shutil.which("pulumi") and shutil.which("pulumi-language-python"):
        return
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED}=1, and the Pulumi CLI with its Python language host is not on PATH")
    pytest.skip("needs the Pulumi CLI with its Python language host on PATH")


class Engine:
    """Successive runs of one stack."""

    def __init__(self, folder: Path, program: Path = PROGRAM, *, standin: bool = True) -> None:
        self.world = World()
        self.folder = folder
        self.project = folder / "project"
        self.standin = folder / "standin"
        for made in (self.project, folder / "backend", folder / "home", self.standin / "fails"):
            made.mkdir(parents=True)
        shutil.copy(program, self.project / "__main__.py")
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (self.project / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "fleet", "runtime": runtime}))
        (self.project / "Pulumi.dev.yaml").write_text("config: {}\n")
        workspace = automation.LocalWorkspaceOptions(work_dir=str(self.project), env_vars=self._environment(standin))
        self.stack = automation.create_stack("dev", work_dir=str(self.project), opts=workspace)

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update; on the named clusters the Deployment is refused."""
        self._write()
        for told in (self.standin / "fails").iterdir():
            told.unlink()
        for cluster in fails:
            (self.standin / "fails" / cluster).write_text("Deployment/shop/web")
        (self.standin / "calls.jsonl").unlink(missing_ok=True)
        return self._outcome(self.stack.up)

    def preview(self) -> Outcome:
        """Preview."""
        self._write()
        return self._outcome(self.stack.preview)

    def images(self) -> dict[str, str]:
        """From the stand-in's folders."""
        found = {}
        for cluster in sorted((self.standin / "clusters").glob("*")):
            for file in cluster.glob("*Deployment*"):
                found[cluster.name] = image_of(json.loads(file.read_text()))
        return found

    def order(self) -> list[str]:
        """From the stand-in's records."""
        calls = [json.loads(line) for line in (self.standin / "calls.jsonl").read_text().splitlines()]
        return [call["cluster"] for call in calls if call["object"] == "shop/web" and call["call"] != "delete"]

    def record(self) -> Mapping[str, Any]:
        """From the exported state."""
        placements = [r for r in self.state().resources.values() if r.type.endswith("fleet:Placement")]
        return placements[0].inputs

    def export(self) -> str:
        """The state as the backend holds it."""
        return json.dumps(self.stack.export_stack().deployment)

    def state(self) -> StackState:
        """The exported state."""
        return StackState.from_export({"deployment": self.stack.export_stack().deployment})

    def _write(self) -> None:
        self.world.write(self.project / "fleet")
        config = {"source": "fleet", "kubeconfigs": kubeconfigs(self.world.members), **self.world.config}
        config = {key: value for key, value in config.items() if value is not None}
        stack = self.project / "Pulumi.dev.yaml"
        settings = yaml.safe_load(stack.read_text())
        settings["config"] = {f"fleet:{key}": value for key, value in config.items()}
        stack.write_text(yaml.safe_dump(settings))

    def _outcome(self, operation: Any) -> Outcome:
        text: list[str] = []
        changes: dict[str, str] = {}

        def seen(event: automation.EngineEvent) -> None:
            if event.diagnostic_event:
                text.append(event.diagnostic_event.message)
            if event.resource_pre_event and event.resource_pre_event.metadata.op != automation.OpType.SAME:
                metadata = event.resource_pre_event.metadata
                if metadata.type == "pulumi:providers:pulumi-python":
                    return  # takes the whole stack configuration, so that any change of it shows
                changes[short(metadata.urn)] = str(metadata.op.value)

        try:
            operation(on_event=seen, on_output=lambda _: None)
        except automation.CommandError as error:
            return Outcome(False, "\n".join([*text, str(error)]), changes)
        return Outcome(True, "\n".join(text), changes)

    def _environment(self, standin: bool) -> dict[str, str]:
        home = self.folder / "home"
        environment = {
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "only for tests",
            "PULUMI_HOME": str(home),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PYTHONPATH": str(REPOSITORY),
            FOLDER: str(self.standin),
        }
        if standin:
            plugin = self.folder / "plugin" / "pulumi-resource-kubernetes"
            plugin.parent.mkdir()
            plugin.write_text(f'#!/bin/sh\nexec "{sys.executable}" -u -m tests.engine.standin "$@"\n')
            plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
            environment["PATH"] = f"{plugin.parent}:{os.environ['PATH']}"
        return environment


__all__ = ["Engine", "cluster_of", "engine_or_skip", "is_deployment"]
