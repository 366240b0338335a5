"""Plug-ins beside a program, on the real engine: the process of the providers imports them and decides alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.delivery.world import KubeFleetWorld
from tests.engine.driver import REPOSITORY, Engine, engine_or_skip

pytestmark = pytest.mark.engine
PLUGINS = "my_plugins:Freeze,my_plugins:Cheapest"


@pytest.fixture
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine[KubeFleetWorld]:
    engine_or_skip()
    members = {"a": {"price": "3"}, "b": {"price": "1"}, "c": {"price": "0", "freeze": "true"}}
    world = KubeFleetWorld(
        members=members, policy={"placementType": "PickN", "numberOfClusters": 1}
    )
    world.config = {"plugins": PLUGINS}
    engine = Engine(tmp_path_factory.mktemp("stack"), world=world)
    page = (REPOSITORY / "docs" / "plugins.md").read_text()
    module, *_ = re.findall(r"```python\n(.*?)```", page, re.S)
    (engine.project / "my_plugins.py").write_text(module)
    return engine


def test_the_providers_import_them_and_the_preview_says_so(shop: Engine[KubeFleetWorld]) -> None:
    planned, done = shop.preview(), shop.up()
    assert planned.ok, planned.text
    assert (
        "decided with my_plugins:Freeze, my_plugins:Cheapest too, and so no longer as KubeFleet v0.3.1"
        in planned.text
    )
    assert done.ok, done.text
    assert shop.stands("Deployment").keys() == {"b"}
    assert shop.preview().changes == {}


def test_a_module_that_is_not_there_is_refused_with_the_key(shop: Engine[KubeFleetWorld]) -> None:
    Path(shop.project / "my_plugins.py").unlink()
    planned = shop.preview()
    assert not planned.ok
    assert "my_plugins:Freeze: there is no module my_plugins" in planned.text


def test_a_plugin_that_answers_otherwise_in_the_providers_stops_the_update(
    shop: Engine[KubeFleetWorld],
) -> None:
    module = shop.project / "my_plugins.py"
    elsewhere = "(-1 if 'dynamic' in str(getattr(__import__('__main__'), '__file__', '')) else 1)"
    module.write_text(module.read_text().replace("-int(price)", f"-int(price) * {elsewhere}"))
    done = shop.up()
    assert not done.ok
    assert "my_plugins:Freeze or my_plugins:Cheapest does not answer alike each time" in done.text
    assert shop.stands("Deployment") == {}
