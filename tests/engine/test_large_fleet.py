"""A wave that fails on real API servers: the small form of ``python -m tests.clusters.large_fleet``."""

from __future__ import annotations

import pytest

from tests.clusters.large_fleet import Large, story
from tests.control_planes import own_control_planes
from tests.engine.driver import Engine, provider_or_skip

pytestmark = [pytest.mark.engine, pytest.mark.clusters]


def test_a_wave_fails_and_the_next_update_goes_on(tmp_path_factory: pytest.TempPathFactory) -> None:
    provider_or_skip()
    with own_control_planes("abcd") as planes:
        engine = Engine(tmp_path_factory.mktemp("stack"), world=Large(planes, 20), standin=False)
        steps: list[str] = []
        story(engine, steps.append)
    assert steps[-1] == "update that goes on"
