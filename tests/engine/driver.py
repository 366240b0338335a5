"""Runs a world on the real engine, with a file backend and a stand-in for the Kubernetes provider plugin."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Generic, cast

import pytest
import yaml
from pulumi import automation

from fleet_components.testing import StackState
from tests.delivery.driver import (
    Driver,
    InProcess,
    Outcome,
    W,
    image_of,
    kubeconfigs,
    one_each,
    record_of,
    short,
)
from tests.delivery.world import KubeFleetWorld
from tests.engine.standin import FOLDER

REQUIRED = "FLEET_REQUIRE_ENGINE"
REPOSITORY = Path(__file__).parents[2]
PROGRAM = REPOSITORY / "stacks" / "__main__.py"


def engine_or_skip() -> None:
    """Skip the test where there is no engine; fail it where one is required."""
    if shutil.which("pulumi") and shutil.which("pulumi-language-python"):
        return
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(
            f"{REQUIRED}=1, and the Pulumi CLI with its Python language host is not on PATH"
        )
    pytest.skip("needs the Pulumi CLI with its Python language host on PATH")


def provider_or_skip() -> None:
    """Skip the test where there is no engine, or no Kubernetes provider for it."""
    engine_or_skip()
    if not shutil.which("pulumi-resource-kubernetes"):
        pytest.skip("needs the Kubernetes provider plugin on PATH")


UNCHANGED = (automation.OpType.SAME, automation.OpType.REFRESH)
DRIVERS = ["in process", pytest.param("engine", marks=pytest.mark.engine)]
"""Parameters of a fixture: a story is told twice."""


def started(kind: str, world: W, folders: pytest.TempPathFactory) -> Driver[W]:
    """A new stack; the test is skipped where there is no engine."""
    if kind == "in process":
        return InProcess(world)
    engine_or_skip()
    return Engine(folders.mktemp("stack"), world=world)


class Engine(Generic[W]):
    """Successive runs of one stack."""

    def __init__(
        self,
        folder: Path,
        program: Path = PROGRAM,
        world: W | None = None,
        *,
        standin: bool = True,
        name: str = "dev",
    ) -> None:
        self.name = name
        self.world = cast(W, world or KubeFleetWorld())
        self.secrets: dict[str, Any] = {}
        self.folder = folder
        self.project = folder / "project"
        self.standin = folder / "standin"
        for made in (self.project, folder / "backend", folder / "home", self.standin / "fails"):
            made.mkdir(parents=True)
        shutil.copy(program, self.project / "__main__.py")
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (self.project / "Pulumi.yaml").write_text(
            yaml.safe_dump({"name": "fleet", "runtime": runtime})
        )
        (self.project / f"Pulumi.{self.name}.yaml").write_text("config: {}\n")
        self.environment = self._environment(standin)
        workspace = automation.LocalWorkspaceOptions(
            work_dir=str(self.project), env_vars=self.environment
        )
        self.stack = automation.create_stack(self.name, work_dir=str(self.project), opts=workspace)

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update; on the named clusters the Deployment is refused."""
        self._write()
        self.fail(fails)
        (self.standin / "calls.jsonl").unlink(missing_ok=True)
        return self._outcome(self.stack.up)

    def preview(self) -> Outcome:
        """Preview."""
        self._write()
        return self._outcome(self.stack.preview)

    def target(self, *resources: str) -> Outcome:
        """Update the named resources alone; ``**`` stands for anything."""
        self._write()
        return self._outcome(self.stack.up, target=list(resources))

    def refresh(self) -> Outcome:
        """Compare the state with what stands."""
        return self._outcome(self.stack.refresh)

    def up_refreshed(self) -> Outcome:
        """Compare the state with what stands, then update."""
        self._write()
        return self._outcome(self.stack.up, refresh=True)

    def destroy(self) -> Outcome:
        """Destroy, without a preview before it."""
        return self._outcome(self.stack.destroy)

    def unprotect(self) -> Outcome:
        """Let the fleet go, as the configuration and an update do."""
        self.world.config["protect"] = "false"
        return self.up()

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start the command line on this stack, in a process group of its own."""
        self._write()
        return subprocess.Popen(
            ["pulumi", *command, "--stack", self.name, "--non-interactive"],
            cwd=self.project,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def command(self, *command: str) -> tuple[int, str]:
        """Run the command line on this stack: its exit code and all that it printed."""
        with self.start(*command) as process:
            text, _ = process.communicate(timeout=300)
        return process.returncode, text

    def pulumi(self, *command: str, answers: str = "") -> tuple[int, str]:
        """Run the command line in the project, on no stack of its own: its exit code and all that it printed.

        Args:
            command: the words, and the stack where the command has an option for it.
            answers: what it reads.
        """
        done = subprocess.run(
            ["pulumi", *command, "--non-interactive"],
            cwd=self.project,
            env={**os.environ, **self.environment},
            input=answers,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def fleet(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """Start a command of the package in the project, in a process group of its own."""
        self._write()
        return subprocess.Popen(
            [sys.executable, "-m", "fleet_components.cli", *command],
            cwd=self.project,
            env={**os.environ, **self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def fail(self, clusters: Collection[str]) -> None:
        """Let the Deployment be refused on these clusters, from now on."""
        for told in (self.standin / "fails").iterdir():
            told.unlink()
        for cluster in clusters:
            (self.standin / "fails" / cluster).write_text("Deployment/shop/web")

    def encrypt_kubeconfigs(self) -> None:
        """Give the kubeconfigs as secrets from now on, as ``pulumi config set --secret`` does."""
        self.stack.remove_config("fleet:kubeconfigs")
        for name, text in self.world.config.pop("kubeconfigs").items():
            self.stack.set_config(
                f"fleet:kubeconfigs.{name}", automation.ConfigValue(text, secret=True), path=True
            )
        settings = yaml.safe_load((self.project / f"Pulumi.{self.name}.yaml").read_text())
        self.secrets = {"fleet:kubeconfigs": settings["config"]["fleet:kubeconfigs"]}

    def slow(self, cluster: str) -> Path:
        """While the returned file is there, the cluster finishes nothing."""
        mark = self.standin / "slow" / cluster
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
        return mark

    def stands(self, kind: str = "Deployment") -> dict[str, Mapping[str, Any]]:
        """From the stand-in's folders."""
        files = sorted((self.standin / "clusters").glob(f"*/*_{kind}_*.json"))
        return one_each((file.parent.name, json.loads(file.read_text())) for file in files)

    def images(self) -> dict[str, str]:
        """From the stand-in's folders."""
        return {cluster: image_of(data) for cluster, data in self.stands().items()}

    def calls(self) -> list[dict[str, str]]:
        """What the stand-in was asked in the last update: call, cluster and object."""
        file = self.standin / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def order(self) -> list[str]:
        """From the stand-in's records."""
        calls = self.calls()
        return [
            call["cluster"]
            for call in calls
            if call["object"] == "shop/web" and call["call"] != "delete"
        ]

    def record(self, name: str = "shop") -> Mapping[str, Any]:
        """From the exported state."""
        return record_of(self.state(), name)

    def runs(self) -> dict[str, int]:
        """The revision that each cluster's binding says."""
        bindings = [r for r in self.state().resources.values() if r.type.endswith("fleet:Binding")]
        return {r.outputs["cluster"]: int(r.outputs["revision"]) for r in bindings}

    def export(self) -> str:
        """The state as the backend holds it."""
        return json.dumps(self.stack.export_stack().deployment)

    def state(self) -> StackState:
        """The exported state."""
        return StackState.from_export({"deployment": self.stack.export_stack().deployment})

    def _write(self) -> None:
        self.world.write(self.project / "fleet")
        config = {
            "source": "fleet",
            "kubeconfigs": kubeconfigs(self.world.members),
            **self.world.config,
        }
        config = {key: value for key, value in config.items() if value is not None}
        stack = self.project / f"Pulumi.{self.name}.yaml"
        settings = yaml.safe_load(stack.read_text())
        settings["config"] = {
            key if ":" in key else f"fleet:{key}": value for key, value in config.items()
        }
        settings["config"] |= self.secrets
        stack.write_text(yaml.safe_dump(settings))

    def _outcome(self, operation: Any, **options: Any) -> Outcome:
        text: list[str] = []
        changes: dict[str, str] = {}

        def seen(event: automation.EngineEvent) -> None:
            if event.diagnostic_event and event.diagnostic_event.severity != "debug":
                text.append(event.diagnostic_event.message)
            if event.resource_pre_event and event.resource_pre_event.metadata.op not in UNCHANGED:
                metadata = event.resource_pre_event.metadata
                if metadata.type == "pulumi:providers:pulumi-python":
                    return  # takes the whole stack configuration, so that any change of it shows
                changes[short(metadata.urn)] = str(metadata.op.value)

        try:
            operation(on_event=seen, on_output=lambda _: None, **options)
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
            "PULUMI_OPTION_SKIP_PLUGIN_PRE_INSTALL": "true",  # spares two runs of pip per command
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "false",  # the plugins of these tests are found on PATH
            "PYTHONPATH": str(REPOSITORY),
            FOLDER: str(self.standin),
        }
        if standin:
            plugin = self.folder / "plugin" / "pulumi-resource-kubernetes"
            plugin.parent.mkdir()
            plugin.write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -u -m tests.engine.standin "$@"\n'
            )
            plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
            environment["PATH"] = f"{plugin.parent}:{os.environ['PATH']}"
        return environment
