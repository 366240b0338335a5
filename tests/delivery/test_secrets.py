"""Nothing secret is seen by anybody who may read along: planted values are searched for."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

from fleet_components import Fleet
from fleet_components.testing import redact, run_program
from tests.delivery.driver import kubeconfigs
from tests.delivery.world import KubeFleetWorld

IN_DATA, IN_TEXT, IN_KUBECONFIG = "SWORDFISH", "OPENSESAME", "BETTERNOT"
PLANTED = (IN_DATA, base64.b64encode(IN_DATA.encode()).decode(), IN_TEXT, IN_KUBECONFIG)


def plant(world: KubeFleetWorld) -> None:
    """Plant values in a Secret and in the kubeconfigs."""
    metadata = {"name": "login", "namespace": "shop"}
    data = {"password": base64.b64encode(IN_DATA.encode()).decode()}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "data": data,
        "stringData": {"user": IN_TEXT},
    }
    world.extra = [secret]
    token = f"\n# {IN_KUBECONFIG}\n"
    world.config["kubeconfigs"] = {
        name: text + token for name, text in kubeconfigs(world.members).items()
    }


def found(text: str) -> list[str]:
    """The planted values that a text shows."""
    return [value for value in PLANTED if value in text]


def run(world: KubeFleetWorld, **more: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        world.write(Path(folder))
        config = {f"fleet:{key}": value for key, value in world.config.items()}
        given = {
            "config": {"fleet:source": folder, **config},
            "secret_keys": ["fleet:kubeconfigs"],
            **more,
        }
        return run_program(lambda: Fleet.from_config("dev"), **given)


def test_what_a_plan_shows_in_process() -> None:
    world = KubeFleetWorld()
    plant(world)
    done = run(world, preview=False)
    assert done.error is None
    shown = json.dumps([redact(r.inputs) for r in done.registrations])
    assert not found(shown + str(done.messages) + str(done.outputs))
    assert found(json.dumps([r.inputs for r in done.registrations])), (
        "the values have to be there to be hidden"
    )
    # The compressed contents hold them too, so they are a secret as a whole.
    placement = done.named("dev/shop", "dynamic/fleet:Placement")
    assert redact(placement.inputs)["contents"] == "[secret]"


def test_rendered_objects_show_nothing() -> None:
    world = KubeFleetWorld()
    plant(world)
    world.config = {"render": "out"}
    done = run(world)
    assert done.error is None
    assert not found(
        json.dumps([r.inputs for r in done.registrations if r.type.startswith("kubernetes:")])
    )
    assert done.inputs("dev/shop@a/shop/login", "Secret")["stringData"] == {"user": "[secret]"}
