"""Real Kubernetes API servers for tests: control planes that ``make test-clusters`` has built, or given clusters.

``FLEET_TEST_KUBECONFIGS`` names kubeconfig files of clusters that tests may write to, with ``:`` between them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from tools.clusters.binary import Binary, built
from tools.clusters.cluster import ControlPlane, start_all

GIVEN = "FLEET_TEST_KUBECONFIGS"
Planes = dict[str, ControlPlane]


@attrs.define
class Given(ControlPlane):
    """A cluster that somebody else runs: it is never stopped."""

    def start(self, **_: Any) -> None:
        pytest.skip(f"needs a control plane of its own to stop; {GIVEN} gives clusters")

    def _signal(self, _: Any) -> None:
        self.start()


def built_or_skip() -> Binary:
    """The control plane; skips the test where it has not been built."""
    if (binary := built()) is None:
        pytest.skip(
            f"needs a control plane, which make test-clusters builds with Go, or kubeconfigs in {GIVEN}"
        )
    return binary


@contextmanager
def control_planes(names: str) -> Iterator[Planes]:
    """One control plane for each letter, on free ports; they end with the block.

    Skips the test where there are none to be had.
    """
    if given := os.environ.get(GIVEN):
        files, client = given.split(":"), shutil.which("kubectl")
        if len(files) < len(names) or client is None:
            pytest.skip(f"needs kubectl on PATH, and {len(names)} kubeconfigs in {GIVEN}")
        yield {
            name: Given(Path(file), Path(client)) for name, file in zip(names, files, strict=False)
        }
        return
    with own_control_planes(names) as planes:
        yield planes


@contextmanager
def own_control_planes(names: Collection[str]) -> Iterator[Planes]:
    """One built control plane of each name, on free ports; they end with the block.

    Skips the test where none is built, also where clusters are given.
    """
    binary = built_or_skip()
    # Not below the folder of the tests, whose path may be too long for a socket.
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        planes = {name: ControlPlane.within(Path(folder) / name, binary) for name in names}
        start_all(list(planes.values()))
        try:
            yield planes
        finally:
            for plane in planes.values():
                plane.kill()
