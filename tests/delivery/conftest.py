"""Every story is told twice: without an engine, and on the real one."""

from __future__ import annotations

import pytest

from tests.delivery.driver import Driver, InProcess
from tests.engine.driver import Engine, engine_or_skip


@pytest.fixture(params=["in process", pytest.param("engine", marks=pytest.mark.engine)])
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """Successive runs of one stack."""
    if request.param == "in process":
        return InProcess()
    engine_or_skip()
    return Engine(tmp_path_factory.mktemp("stack"))
