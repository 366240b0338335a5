"""Every story is told twice: without an engine, and on the real one."""

from __future__ import annotations

import pytest

from tests.delivery.driver import Driver
from tests.delivery.world import KubeFleetWorld
from tests.engine.driver import DRIVERS, started


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """Successive runs of one stack."""
    return started(request.param, KubeFleetWorld(), tmp_path_factory)
