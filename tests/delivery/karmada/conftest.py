"""The stories that an engine could spoil are told twice: without an engine, and on the real one."""

from __future__ import annotations

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import Driver, KarmadaWorld
from tests.engine.driver import DRIVERS, started


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """Successive runs of one stack."""
    return started(request.param, KarmadaWorld(), tmp_path_factory)


@pytest.fixture
def in_process() -> InProcess[KarmadaWorld]:
    """The same, without an engine alone."""
    return InProcess(KarmadaWorld())
