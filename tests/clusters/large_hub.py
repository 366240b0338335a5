"""A large hub of KubeFleet on a real control plane, and how long it takes to observe.

``python -m tests.clusters.large_hub`` starts a control plane, fills it and prints the seconds.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.reading import read_hub
from fleet_components.live.connection import connected
from fleet_components.live.hub import ask_hub
from tests.clusters.documents import documents
from tests.control_planes import control_planes
from tests.hub.large_hub import large_hub
from tests.shared import shared
from tools.clusters.cluster import ControlPlane

_AT_ONCE = 16


def definitions() -> list[Any]:
    """The definitions of KubeFleet, by which a status can be made with its object."""
    found = documents(shared("data/crds/kubefleet"))
    for item in found:
        for version in item["spec"]["versions"]:
            version.pop("subresources", None)
    return found


def fill(plane: ControlPlane, objects: Iterable[list[Any]]) -> int:
    """Make objects on a control plane, many at once, and return their number."""
    number = 0
    with (
        connected(plane.kubeconfig.read_text(), time.monotonic() + 3600, sys.maxsize) as hub,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        for some in objects:
            for answer in pool.map(
                lambda item: hub.client.post(_path(item), json=item, timeout=60), some
            ):
                assert answer.is_success, answer.text[:500]
            number += len(some)
    return number


def _path(value: Any) -> str:
    api, space = value["apiVersion"], value["metadata"].get("namespace")
    root = f"/{'apis' if '/' in api else 'api'}/{api}"
    kind = value["kind"].lower()
    return f"{root}/{f'namespaces/{space}/' if space else ''}{kind}s"


def main() -> None:
    """Fill a hub, observe it, write it twice, and print the seconds."""
    with control_planes("h") as planes, tempfile.TemporaryDirectory() as folder:
        plane, began = planes["h"], time.monotonic()
        for definition in definitions():
            (plane.folder / "definition.yaml").write_text(yaml.safe_dump(definition))
            plane.kubectl("create", "-f", str(plane.folder / "definition.yaml"))
        plane.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
        number = fill(plane, large_hub(*map(int, sys.argv[1:])))
        print(f"{number} objects made in {time.monotonic() - began:.1f} s", flush=True)
        for update in (False, True):
            print("once more" if update else "for the first time")
            clock = Clock(int((plane.folder / "pid").read_text()))
            listing = ask_hub(plane.kubeconfig.read_text())
            clock.tell(f"asked: {sum(map(len, listing.answers.values()))} objects")
            observation = read_hub(listing)
            clock.tell(f"read: {len(observation.subjects)} subjects")
            changes = write_observation(Path(folder) / "hub", observation, update=update)
            clock.tell(f"written: {len(changes.added)} files added, {len(changes.changed)} changed")


class Clock:
    """Seconds since the last look, and in how many of them this process and the control plane computed.

    On a machine that others use, too, only what is computed tells how long it takes on a free one.
    """

    def __init__(self, control_plane: int) -> None:
        self._control_plane = control_plane
        self._last = self._now()

    def _now(self) -> tuple[float, ...]:
        fields = Path(f"/proc/{self._control_plane}/stat").read_text().rpartition(")")[2].split()
        server = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), time.process_time(), server

    def tell(self, what: str) -> None:
        now = self._now()
        wall, own, server = (new - old for new, old in zip(now, self._last, strict=True))
        print(
            f"  {wall:5.1f} s, computed {own:5.1f} s here and {server:5.1f} s there: {what}",
            flush=True,
        )
        self._last = now


if __name__ == "__main__":
    main()
