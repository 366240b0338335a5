"""The hub of KubeFleet that the stories of a file share; files of Karmada have a hub and stories of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hubs.kubefleet import KubeFleetHub, kubefleet_hub
from tests.hubs.kubefleet_story import MEMBERS, begun
from tests.hubs.story import Story


@pytest.fixture(scope="module")
def fleet() -> Iterator[KubeFleetHub]:
    with kubefleet_hub(MEMBERS) as started:
        yield started


@pytest.fixture
def story(fleet: KubeFleetHub, tmp_path: Path) -> Iterator[Story]:
    with begun(fleet, tmp_path / "fleet") as told:
        yield told
