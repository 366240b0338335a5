"""A program in the place of the Pulumi CLI that says what a test wants, and a project to roll out with it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from tests.cli.test_rollout import PROGRAM
from tests.delivery.world import KubeFleetWorld
from tests.live.api_server import kubeconfig

TOKEN = "a-token-of-a-member"
PASSWORD = "hunter2-of-payment"
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "payment", "namespace": "shop"},
    "stringData": {"password": PASSWORD},
}
STACK = "urn:pulumi:stack::project::pulumi:pulumi:Stack::project-stack"
BINDING = (
    "urn:pulumi:stack::project::fleet:index:Fleet$fleet:index:Placement$fleet:index:Target"
    "$pulumi-python:dynamic/fleet:Binding::dev/shop@a"
)
END = {
    "summaryEvent": {"maybeCorrupt": False, "durationSeconds": 1, "resourceChanges": {"create": 1}}
}
_SCRIPT = """#!/bin/sh
cd {folder}
case "$*" in
*" version"*) exec cat version;;
*"stack export"*) . ./export.sh;;
*"config --show-secrets"*) . ./config.sh;;
*" up "*) echo "$@" >> ups; echo > "$TMPDIR/left"; . ./up.sh;;
esac
"""


@attrs.frozen
class FakePulumi:
    """The program and its project.

    Attributes:
        folder: where it finds what to say.
        project: the project.
        temporary: the folder for temporary files.
    """

    folder: Path
    project: Path
    temporary: Path

    @property
    def updates(self) -> list[str]:
        """The arguments of each update."""
        ups = self.folder / "ups"
        return ups.read_text().splitlines() if ups.exists() else []

    def says(
        self, command: str, out: str | bytes, *, err: bytes = b"", status: int = 0, script: str = ""
    ) -> None:
        """Let a command (``export``, ``config``, ``up``) print texts, do more, and end."""
        (self.folder / f"{command}.out").write_bytes(
            out if isinstance(out, bytes) else out.encode()
        )
        (self.folder / f"{command}.err").write_bytes(err)
        lines = (f"cat {command}.out", f"cat {command}.err >&2", script, f"exit {status}")
        (self.folder / f"{command}.sh").write_text("\n".join(lines))

    def tells(
        self, events: Iterable[Any], *, err: bytes = b"", status: int = 0, script: str = ""
    ) -> None:
        """Let an update tell events."""
        out = "".join(f"{json.dumps(event)}\n" for event in events)
        self.says("up", out, err=err, status=status, script=script)


def fake_pulumi(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    """Put the program on PATH; its update succeeds, and its stack is new."""
    place, project, temporary = (folder / name for name in ("fake", "project", "temporary"))
    for made in (place, project, temporary):
        made.mkdir()
    program = place / "pulumi"
    program.write_text(_SCRIPT.format(folder=place))
    program.chmod(0o755)
    (place / "version").write_text("v3.272.0\n")
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(project)
    world = KubeFleetWorld(members={"a": {}}, extra=[SECRET])
    world.write(project / "fleet")
    known = {
        name: kubeconfig({"server": f"https://{name}.invalid"}, {"token": TOKEN})
        for name in world.members
    }
    config = {"fleet:source": "fleet", "fleet:kubeconfigs": known}
    (project / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (project / "Pulumi.stack.yaml").write_text(yaml.safe_dump({"config": config}))
    (project / "__main__.py").write_text(PROGRAM)
    found = FakePulumi(place, project, temporary)
    found.says("export", json.dumps({"version": 3, "deployment": {"manifest": {}}}))
    listed = {"fleet:kubeconfigs": {"value": json.dumps(known), "secret": True}}
    found.says("config", json.dumps(listed))
    found.tells([END])
    return found
