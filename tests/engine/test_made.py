"""Objects made in a program, on the real engine: they go to the members alone, and wait for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pulumi import automation

from fleet_components.plan.names import is_object
from tests.delivery.world import KubeFleetWorld
from tests.engine.driver import Engine, engine_or_skip
from tests.engine.test_secrets import encrypted_state

pytestmark = pytest.mark.engine
PROGRAM = Path(__file__).parent / "programs" / "made.py"
PLANTED = "planted-5d1e"


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> Engine[KubeFleetWorld]:
    engine_or_skip()
    return Engine(
        tmp_path_factory.mktemp("stack"), PROGRAM, KubeFleetWorld(members={"a": {}, "b": {}})
    )


def maps(engine: Engine[KubeFleetWorld]) -> dict[str, dict[str, str]]:
    return {cluster: dict(data["data"]) for cluster, data in engine.stands("ConfigMap").items()}


def test_they_are_delivered_and_nothing_else_is_made_of_them(made: Engine[KubeFleetWorld]) -> None:
    made.world.config = {"own:database": "beside"}
    made.stack.set_config("own:token", automation.ConfigValue(PLANTED, secret=True))
    settings = yaml.safe_load((made.project / "Pulumi.dev.yaml").read_text())
    made.secrets = {"own:token": settings["config"]["own:token"]}
    assert made.preview().ok
    done = made.up()
    assert done.ok, done.text
    assert maps(made) == {"a": {"currency": "EUR"}, "b": {"currency": "EUR"}}
    tokens = {cluster: data["stringData"] for cluster, data in made.stands("Secret").items()}
    assert tokens == {cluster: {"token": PLANTED, "of": "made"} for cluster in "ab"}
    objects = [r for r in made.state().resources.values() if is_object(r.type)]
    assert len(objects) == 8
    assert all(r.name.startswith("dev/shop@") for r in objects)
    assert PLANTED in made.export(), "it has to be there to be hidden"
    assert PLANTED not in encrypted_state(made)
    assert made.preview().changes == {}
    made.world.config["own:currency"] = "SEK"
    assert made.up().ok
    assert maps(made) == {"a": {"currency": "SEK"}, "b": {"currency": "SEK"}}


@pytest.mark.parametrize("field", ["host", "size"])
def test_what_is_known_once_something_else_stands_is_refused(
    made: Engine[KubeFleetWorld], field: str
) -> None:
    """Even if a preview knows it: the object would not wait for it."""
    made.world.config = {"own:database": field}
    planned, done = made.preview(), made.up()
    hint = "(the plan is made before any resource: take what is known at once"
    unknown = f"the program: ConfigMap shop/database: data.host: is not known before database stands {hint}"
    known = f"the program: ConfigMap shop/database: data: comes of database {hint}"
    assert (planned.ok, done.ok) == (False, False)
    assert (unknown if field == "host" else known) in planned.text
    assert known in done.text
    assert not made.stands("ConfigMap")
