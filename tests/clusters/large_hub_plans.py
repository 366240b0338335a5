"""How long plans against a large hub of KubeFleet take: of its observed directory, and of a stack that goes through it.

``python -m tests.clusters.large_hub_plans`` starts a control plane, fills it as ``large_hub`` does, and prints seconds and
memory; numbers are those of members, placements, members of a placement and objects of one.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.reading import read_hub
from fleet_components.live.hub import ask_hub
from tests.clusters.large_fleet import Usage
from tests.clusters.large_hub import definitions, fill
from tests.control_planes import own_control_planes
from tests.engine.driver import Engine, provider_or_skip
from tests.hub.large_hub import large_hub
from tools.clusters.cluster import ControlPlane


@attrs.define
class Observed:
    """A stack whose source is the hub as it was observed."""

    config: dict[str, Any]
    members: Mapping[str, Any] = attrs.field(factory=dict)

    def write(self, folder: Path) -> None:
        """Leave it as it was observed."""


def measured(what: str, *command: str, refused: bool = False) -> str:
    """Run a command of the package, print what it took, and return what it said."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "fleet_components.cli", *command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == (3 if refused else 0), done.stderr[-3000:]
    computed = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(
        f"  {wall:6.1f} s, computed {computed:5.1f} s, {len(done.stdout.splitlines())} lines: {what}",
        flush=True,
    )
    return done.stdout


def edit(folder: Path) -> None:
    """Taint a member, ask for one member more in every fourth placement, and change an image in every other one."""
    member = folder / "members" / "member-0007.yaml"
    data = yaml.safe_load(member.read_text())
    data["spec"]["taints"] = [{"key": "drained", "effect": "NoSchedule"}]
    member.write_text(yaml.safe_dump(data))
    for number, file in enumerate(
        sorted((folder / "policies" / "ClusterResourcePlacement").glob("*.yaml"))
    ):
        policy = yaml.safe_load(file.read_text())
        if number % 4 == 0:
            policy["spec"]["policy"]["numberOfClusters"] += 1
            file.write_text(yaml.safe_dump(policy))
        if number % 2:
            web = folder / "objects" / file.stem / "Deployment.web-0.yaml"
            web.write_text(web.read_text().replace("nginx:1.27.5", "nginx:1.28.0"))


def of_stack(plane: ControlPlane, source: Path, home: Path) -> None:
    """Preview and update a stack through the hub, and compare it with what the hub says."""
    world = Observed(
        {
            "delivery": "kubefleet",
            "hub": str(plane.kubeconfig),
            "source": str(source),
            "kubeconfigs": None,
        }
    )
    engine = Engine(home, world=world, standin=False)
    engine.environment |= {"PYTHONDONTWRITEBYTECODE": "", "PULUMI_SKIP_CHECKPOINTS": "true"}
    usage = Usage()
    try:
        seen = engine.preview()
        assert seen.ok, seen.text[-3000:]
        usage.tell(f"preview of a stack through the hub: {len(seen.changes)} resources")
        done = engine.up()
        assert done.ok, done.text[-3000:]
        usage.tell("its first update")
        again = engine.preview()
        assert again.ok, again.text[-3000:]
        assert again.changes == {}
        usage.tell("preview with nothing to do")
    finally:
        usage.end()
    state = home / "state.json"
    state.write_text(f'{{"version": 3, "deployment": {engine.export()}}}')
    measured(
        "fleet status --hub",
        "status",
        str(source),
        "--state",
        str(state),
        "--hub",
        str(plane.kubeconfig),
    )


def main(*sizes: int) -> None:
    """Fill a hub, observe it, and print what plans, previews and a status take."""
    provider_or_skip()
    with own_control_planes("h") as planes, tempfile.TemporaryDirectory() as home:
        plane = planes["h"]
        for definition in definitions():
            (plane.folder / "definition.yaml").write_text(yaml.safe_dump(definition))
            plane.kubectl("create", "-f", str(plane.folder / "definition.yaml"))
        plane.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
        number, source = fill(plane, large_hub(*sizes)), Path(home) / "hub"
        print(f"{number} objects on the hub", flush=True)
        write_observation(
            source, read_hub(ask_hub(plane.kubeconfig.read_text(), timeout=600)), update=False
        )
        measured("fleet plan, with nothing to do", "plan", str(source))
        of_stack(plane, source, Path(home) / "stack")
        edit(source)
        measured("fleet plan after an edit that moves members", "plan", str(source))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"the largest process took {most} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
