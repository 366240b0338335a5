"""The Pulumi engine behind one stack: its state, and updates of it that can be stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pulumi import automation
from pulumi.automation import errors
from semver import VersionInfo

from fleet_components.content.guarded import read_yaml
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.past import StateFile, parse_state
from fleet_components.review.planning.project import Project

_OLDEST = VersionInfo(3, 230)
_CLI_HINT = f"install the Pulumi CLI {_OLDEST.major}.{_OLDEST.minor} or newer: https://www.pulumi.com/docs/install"
_ERROR = "error: "
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")
"""Environment variables that name the folder for temporary files, of Go and Python on all systems."""

Seen = Callable[[automation.EngineEvent], None]


class _Command(automation.PulumiCommand):
    """The Pulumi CLI, started in a session of its own.

    A Ctrl-C in the terminal goes to all programs of its session; the CLI would get it twice, and would take the second
    one for the wish to end at once.
    """

    process: subprocess.Popen[str] | None = None

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Any = None,
        on_error: Any = None,
    ) -> automation.CommandResult:
        """Run a command; its output is in the result alone.

        Its temporary folder is its own and is removed at its end: the Kubernetes provider leaves a file with each
        kubeconfig there.
        """
        with tempfile.TemporaryDirectory(prefix="fleet-engine-", ignore_cleanup_errors=True) as private:
            own = dict.fromkeys(_TEMPORARY, private)
            with subprocess.Popen(
                [self.command, "--non-interactive", *args],
                cwd=cwd,
                env={**os.environ, **additional_env, **own, "PULUMI_AUTOMATION_API": "true"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            ) as self.process:
                out, err = self.process.communicate()
        result = automation.CommandResult(out, err, self.process.returncode)
        if result.code:
            raise errors.create_command_error(result)
        return result

    def send(self, sign: signal.Signals, *, everyone: bool = False) -> None:
        """Send a signal to the running command, or to everyone in its session."""
        if self.process and self.process.poll() is None:
            with suppress(ProcessLookupError):
                (os.killpg if everyone else os.kill)(self.process.pid, sign)


class _Workspace(automation.LocalWorkspace):
    """A workspace that leaves the selection of a stack to its user."""

    def select_stack(self, stack_name: str) -> None:
        """Check that there is a stack of that name."""
        self._run_pulumi_cmd_sync(["stack", "--stack", stack_name])


class Engine:
    """One stack of a project, as the Pulumi CLI sees it.

    Args:
        project: the project.
        stack: the name of the stack, with its organization if it was given.
        config: the file of the stack.

    Raises:
        FleetError: the CLI is not there or too old, it is not logged in, or there is no such stack.
    """

    def __init__(self, project: Project, stack: str, config: Path) -> None:
        folder = project.file.path.parent
        self.stack, self._config = stack, config
        try:
            self._command = _Command(version=_OLDEST)
            workspace = _Workspace(work_dir=str(folder.resolve()), pulumi_command=self._command)
            self._stack = automation.Stack.select(stack, workspace)
        except FileNotFoundError:
            raise FleetError([Problem("the Pulumi CLI is not on PATH", hint=_CLI_HINT)]) from None
        except (automation.InvalidVersionError, subprocess.CalledProcessError) as error:
            raise FleetError([Problem(str(error), hint=_CLI_HINT)]) from None
        except automation.StackNotFoundError:
            what, hint = f'the backend has no stack "{stack}"', f"pulumi stack init {stack}"
            raise FleetError([Problem(what, file=str(project.file.path), hint=hint)]) from None
        except automation.CommandError as error:
            raise FleetError([Problem(words_of(error))]) from None

    def state(self) -> StateFile:
        """Return the state of the stack, with its secrets in plain text.

        Raises:
            FleetError: it cannot be exported.
        """
        try:
            exported = self._stack.export_stack()
        except automation.CommandError as error:
            raise FleetError([Problem(words_of(error), subject=f"stack {self.stack}")]) from None
        data = {"version": exported.version, "deployment": exported.deployment or {}}
        return parse_state(json.dumps(data).encode(), f"stack {self.stack}")

    def update(self, seen: Seen, as_of: datetime | None, config: Mapping[str, str] = MappingProxyType({})) -> str:
        """Update the stack, and return what went wrong; empty if nothing did.

        Args:
            seen: called with each event of the engine, in another thread.
            as_of: the time of the update in the place of the one that is configured; None for that one.
            config: configuration values that count in this update alone, by key.
        """
        settings = {**config, **({"fleet:asOf": as_of.isoformat()} if as_of else {})}
        with ExitStack() as during:
            file = during.enter_context(self._with(settings)) if settings else None
            try:
                self._stack.up(on_event=seen, config_file=file and file.name)
            except automation.CommandError as error:
                return words_of(error)
        return ""

    def settings(self) -> Mapping[str, str]:
        """Return the configuration of the stack by key, with its secrets in plain text.

        Raises:
            FleetError: it cannot be read.
        """
        try:
            return {key: value.value for key, value in self._stack.get_all_config().items()}
        except automation.CommandError as error:
            raise FleetError([Problem(words_of(error), subject=f"stack {self.stack}")]) from None

    def configure(self, key: str, value: str) -> None:
        """Set a value of the stack's configuration, in its file.

        Raises:
            FleetError: it cannot be set.
        """
        try:
            self._stack.set_config(key, automation.ConfigValue(value))
        except automation.CommandError as error:
            raise FleetError([Problem(words_of(error), subject=f"stack {self.stack}")]) from None

    def stop(self) -> None:
        """Ask the running update to stop; it ends what it has begun."""
        self._command.send(signal.SIGINT)

    def kill(self) -> None:
        """End the running update at once, with all that it has started."""
        warnings.filterwarnings("ignore", "Error in event stream")  # of the SDK, whose stream breaks off
        self._command.send(signal.SIGKILL, everyone=True)

    def _with(self, config: Mapping[str, str]) -> Any:
        """Return the file of the stack with values of an update, readable for its owner alone."""
        settings = read_yaml(self._config.read_bytes()) if self._config.is_file() else None
        settings = settings or {}
        settings["config"] = {**(settings.get("config") or {}), **config}
        file = tempfile.NamedTemporaryFile("w", suffix=".yaml")  # noqa: SIM115
        yaml.safe_dump(settings, file)
        file.flush()
        return file


def words_of(error: automation.CommandError) -> str:
    """Return what a command of the CLI says of its end: its errors, or its last words."""
    text = str(error)
    _, _, said = text.rpartition("stderr: ")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
    return "; ".join(wrong or lines[-1:]) or "the Pulumi CLI has ended without a word"
