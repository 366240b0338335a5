"""Rendered by the real Kubernetes provider, the sample fleet is what ``fleet render`` writes without one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.driver import REPOSITORY, Engine, engine_or_skip

pytestmark = pytest.mark.engine
Objects = dict[tuple[str, str, str, str], Any]


def test_the_engine_renders_what_the_command_line_renders(tmp_path: Path) -> None:
    engine_or_skip()
    if not shutil.which("pulumi-resource-kubernetes"):
        pytest.skip("needs the Kubernetes provider plugin on PATH")
    engine = Engine(tmp_path / "stack", standin=False, name="local")
    shutil.copytree(REPOSITORY / "stacks" / "fleet", engine.project / "sample")
    engine.world.config = {"source": "sample", "render": "out", "kubeconfigs": None}
    done = engine.up()
    assert done.ok, done.text
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "fleet_components.cli",
        "render",
        str(REPOSITORY),
        "--stack",
        "local",
    ]
    rendered = subprocess.run(
        [*command, "--out", str(out), "--fresh"], capture_output=True, text=True, check=False
    )
    assert rendered.returncode == 0, rendered.stderr
    by_engine, by_command = objects(engine.project / "out"), objects(out / "local")
    assert len({folder for folder, *_ in by_engine}) == 5
    assert by_engine.keys() == by_command.keys()
    assert [key for key in by_engine if by_engine[key] != by_command[key]] == []


def objects(root: Path) -> Objects:
    """The objects of every member, without what tells the two stacks apart."""
    found: Objects = {}
    for folder in (folder for folder in root.iterdir() if folder.is_dir()):
        for file in folder.rglob("*.yaml"):
            for data in yaml.safe_load_all(file.read_text()):
                metadata = data["metadata"]
                metadata["annotations"] = dict(metadata.get("annotations") or {})
                metadata["annotations"].pop("pulumi.com/autonamed", None)
                key = (folder.name, data["kind"], metadata.get("namespace", ""), metadata["name"])
                found[key] = data
    return found
