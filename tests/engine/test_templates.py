"""What users do to a stack of templates besides previews and updates, and what nobody may see of it."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from tests.delivery.karmada.test_depending import CONFIG, needing
from tests.delivery.karmada.world import (
    KarmadaWorld,
    carried_out,
    decided,
    delivered,
    deployment,
    of_kind,
    on,
    policy,
    replicas,
    weights,
)
from tests.delivery.test_secrets import IN_KUBECONFIG, IN_TEXT, found, plant
from tests.delivery.world import KubeFleetWorld
from tests.engine.driver import Engine, engine_or_skip
from tests.engine.test_operations import PROGRAMS
from tests.engine.test_secrets import encrypted_state

pytestmark = pytest.mark.engine
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine[KarmadaWorld]:
    """Members are played by the stand-in plugin."""
    engine_or_skip()
    return Engine(tmp_path_factory.mktemp("stack"), world=KarmadaWorld())


def test_what_a_workload_needs_comes_before_it(engine: Engine[KarmadaWorld]) -> None:
    web = needing({"configMap": {"name": "settings"}})
    asked = policy(placement=on("a", "b"), propagateDeps=True)
    engine.world.objects = {"web": web, "settings": CONFIG, "namespace": NAMESPACE, "policy": asked}
    carried_out(engine)
    for cluster in "ab":
        calls = [call["object"] for call in engine.calls() if call["cluster"] == cluster]
        assert calls == ["shop", "shop/settings", "shop/web"]


def test_target_moves_one_member_alone(engine: Engine[KarmadaWorld]) -> None:
    delivered(engine, weights(a=1, b=1))
    engine.world.objects["web"] = deployment(8, image="web:2")
    seen = engine.target(
        "**fleet:Template::dev/shop/Deployment/web", "**::dev/shop/Deployment/web@a", "**web@a/**"
    )
    assert seen.ok, seen.text
    assert engine.images() == {"a": "web:2", "b": "web:1"}
    assert replicas(engine) == {"a": 4, "b": 2}
    assert of_kind(carried_out(engine)) == {"b": "update"}
    assert replicas(engine) == {"a": 4, "b": 4}


def test_what_is_preserved_leaves_the_state_and_stays_on_the_member(
    engine: Engine[KarmadaWorld],
) -> None:
    delivered(engine, on("a"), preserveResourcesOnDeletion=True)
    del engine.world.objects["web"]
    carried_out(engine)
    assert not [r for r in engine.state().resources.values() if "shop/Deployment/web" in r.name]
    assert engine.images() == {"a": "web:1"}


def test_refresh_leaves_the_decisions_alone(engine: Engine[KarmadaWorld]) -> None:
    delivered(engine, weights(a=1, b=1))
    engine.world.objects["web"] = deployment(8, image="web:2")
    assert not engine.up(fails="b").ok
    before = decided(engine)
    assert (refreshed := engine.refresh()).ok, refreshed.text
    assert decided(engine) == before
    assert of_kind(carried_out(engine))["b"] == "update"


def test_clusters_that_the_same_program_creates(tmp_path: Path) -> None:
    """Their kubeconfigs are unknown in the first preview, which shows every object all the same."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", PROGRAMS / "clusters_first.py", KarmadaWorld(members={}))
    web = needing({"configMap": {"name": "settings"}})
    engine.world.objects = {"web": web, "settings": CONFIG, "policy": policy(propagateDeps=True)}
    seen = carried_out(engine)
    assert of_kind(seen) == of_kind(seen, "ConfigMap") == {"x": "create", "y": "create"}
    assert replicas(engine) == {"x": 4, "y": 4}


def test_state_events_and_output_show_nothing(engine: Engine[KarmadaWorld]) -> None:
    """After an update that succeeds, one that breaks, and one that goes on."""
    planted = KubeFleetWorld()
    plant(planted)
    engine.world.config["kubeconfigs"] = {
        name: planted.config["kubeconfigs"][name] for name in engine.world.members
    }
    engine.encrypt_kubeconfigs()
    engine.environment["PULUMI_DEBUG_COMMANDS"] = (
        "true"  # makes the event log known to the command line
    )
    engine.world.objects = {
        "login": planted.extra[0],
        "policy": policy(placement=weights(a=1, b=1), propagateDeps=True),
    }
    web, shown = needing({"secret": {"secretName": "login"}}), list[str]()
    for image, fails in (("web:1", ""), ("web:2", "b"), ("web:2", "")):
        web["spec"]["template"]["spec"]["containers"][0]["image"] = image
        engine.world.objects["web"] = copy.deepcopy(web)
        engine.fail(fails)
        events = engine.folder / f"events-{len(shown)}"
        code, text = engine.command("up", "--yes", "--event-log", str(events), "--diff")
        assert (code == 0) is (not fails), text
        shown += [text, events.read_text(), encrypted_state(engine)]
    assert engine.images() == {"a": "web:2", "b": "web:2"}
    assert not [found(text) for text in shown if found(text)]
    assert set(found(engine.export())) >= {IN_TEXT, IN_KUBECONFIG}, (
        "they have to be there to be hidden"
    )
