"""A new stack on the real engine."""

from __future__ import annotations

import pytest

from tests.engine.driver import Engine, engine_or_skip


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Members are played by the stand-in plugin."""
    engine_or_skip()
    return Engine(tmp_path_factory.mktemp("stack"))
