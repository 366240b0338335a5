"""A new stack on the real engine, and stories on real API servers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.engine.control_planes import control_planes
from tests.engine.driver import Engine, engine_or_skip
from tests.engine.stories import Planes, Story

CLUSTER_SCOPED = "namespaces,clusterroles,clusterrolebindings,priorityclasses"


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Members are played by the stand-in plugin."""
    engine_or_skip()
    return Engine(tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="session")
def api_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planes]:
    """Two of them, for all stories: each has a namespace of its own."""
    engine_or_skip()
    with control_planes(tmp_path_factory.mktemp("planes"), "ab") as started:
        yield started


@pytest.fixture
def tale(api_servers: Planes, request: pytest.FixtureRequest) -> Iterator[Story]:
    """What a test writes: nothing yet; clusters that were given are left as they were."""
    space = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_")).strip("-")[:50].strip("-")
    yield Story(space, api_servers)
    for plane in api_servers.values():
        if plane.process is None:
            for name in (space, f"{space}-too"):
                plane.kubectl("delete", CLUSTER_SCOPED, name, "--ignore-not-found", "--wait=false")


@pytest.fixture
def story(tale: Story, tmp_path_factory: pytest.TempPathFactory) -> Engine[Story]:
    """A stack with both API servers as members, and nothing delivered to them."""
    for name in tale.planes:
        tale.join(name)
    return Engine(tmp_path_factory.mktemp("stack"), world=tale, standin=False)
