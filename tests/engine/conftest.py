"""A new stack on the real engine, and stories on real API servers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.control_planes import Given, Planes
from tests.engine.driver import Engine, engine_or_skip, provider_or_skip
from tests.engine.stories import Story

CLUSTER_SCOPED = "namespaces,clusterroles,clusterrolebindings,priorityclasses"


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Members are played by the stand-in plugin."""
    engine_or_skip()
    return Engine(tmp_path_factory.mktemp("stack"))


@pytest.fixture
def tale(request: pytest.FixtureRequest) -> Iterator[Story]:
    """What a test writes, for two of the API servers: nothing yet; clusters that were given are left as they were."""
    provider_or_skip()
    api_servers: Planes = request.getfixturevalue("api_servers")
    planes = {name: api_servers[name] for name in "ab"}
    space = (
        re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))
        .strip("-")[:50]
        .strip("-")
    )
    yield Story(space, planes)
    for plane in planes.values():
        if isinstance(plane, Given):
            for name in (space, f"{space}-too"):
                plane.kubectl("delete", CLUSTER_SCOPED, name, "--ignore-not-found", "--wait=false")


@pytest.fixture
def story(tale: Story, tmp_path_factory: pytest.TempPathFactory) -> Engine[Story]:
    """A stack with both API servers as members, and nothing delivered to them."""
    for name in tale.planes:
        tale.join(name)
    return Engine(tmp_path_factory.mktemp("stack"), world=tale, standin=False)
