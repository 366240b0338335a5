"""The plan in process and the engine's preview are held against each other, resource by resource."""

from __future__ import annotations

import json
import runpy
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.rpc import UNKNOWN

from fleet_components import Fleet
from fleet_components.testing import Registration, StackState, redact, run_program
from tests.delivery.driver import kubeconfigs
from tests.delivery.karmada.test_depending import CONFIG, needing
from tests.delivery.karmada.test_overriding import override
from tests.delivery.karmada.world import KarmadaWorld, policy, weights
from tests.delivery.test_secrets import plant
from tests.engine.driver import Engine, engine_or_skip
from tests.engine.test_operations import changed, interrupted

pytestmark = pytest.mark.engine
Shown = dict[str, dict[str, Any]]
"""By URN: type, name, parent, provider, dependencies, inputs, what protects it, and whether it is new."""
PROGRAMS = Path(__file__).parent / "programs"
OPTIONED, LINEAGE, OWN = (
    PROGRAMS / f"{name}.py" for name in ("optioned", "lineage", "own_provider")
)


def previewed(engine: Engine[Any]) -> Shown:
    """What ``pulumi preview --json`` says."""
    code, text = engine.command("preview", "--json", "--show-sames")
    assert code == 0, text
    steps = json.loads(text[text.index("\n{") if not text.startswith("{") else 0 :])["steps"]
    states = [(step["newState"], step["op"]) for step in steps if step["op"] != "delete"]
    return {
        state["urn"]: shown_by_engine(state, op)
        for state, op in states
        if not is_the_engines_own(state)
    }


def is_the_engines_own(state: dict[str, Any]) -> bool:
    return state["type"] == "pulumi:pulumi:Stack" or "::default" in state["urn"]


def shown_by_engine(state: dict[str, Any], op: str) -> dict[str, Any]:
    return {
        "new": op == "create",
        "protect": bool(state.get("protect")),
        "retainOnDelete": bool(state.get("retainOnDelete")),
        "type": state["type"],
        "custom": state["custom"],
        "parent": state.get("parent", ""),
        "provider": provider_urn(state.get("provider", "")),
        "dependencies": sorted(state.get("dependencies") or ()),
        "inputs": inputs(state["type"], state.get("inputs") or {}),
    }


def planned(engine: Engine[Any], state: StackState, program: Callable[[], Any]) -> Shown:
    """What the same program registers in process."""
    settings = {
        "source": str(engine.project / "fleet"),
        "kubeconfigs": kubeconfigs(engine.world.members),
    }
    config = {
        k if ":" in k else f"fleet:{k}": value
        for k, value in {**settings, **engine.world.config}.items()
    }
    run = run_program(program, state=state, project="fleet", stack="dev", config=config)
    assert run.error is None
    return {r.urn: shown_in_process(r, state) for r in run.registrations}


def shown_in_process(registration: Registration, before: StackState) -> dict[str, Any]:
    return {
        "new": before.resources.keys().isdisjoint((registration.urn, *registration.aliases)),
        "protect": bool(registration.options.get("protect")),
        "retainOnDelete": bool(registration.options.get("retainOnDelete")),
        "type": registration.type,
        "custom": registration.custom,
        "parent": registration.parent,
        "provider": provider_urn(registration.provider),
        "dependencies": list(registration.dependencies),
        "inputs": inputs(registration.type, registration.inputs),
    }


def provider_urn(reference: str) -> str:
    """The URN of an explicit provider; the id is not known before an update, and defaults are the engine's own."""
    urn, _, _ = reference.rpartition("::")
    return "" if "::default" in urn else urn


def inputs(kind: str, given: Any) -> Any:
    """With secrets redacted; the engine adds its version to those of a provider, and writes them as JSON."""
    if kind.startswith("pulumi:providers:"):
        own = {"version", "__internal"}
        return {key: str(value).lower() for key, value in redact(given).items() if key not in own}
    if "dynamic/my:" in kind:  # of a class in the program itself, which is pickled whole
        return {key: value for key, value in redact(given).items() if key != "__provider"}
    return redact(given)


def of_the_stack() -> None:
    Fleet.from_config("dev")


def same(engine: Engine[Any], state: StackState, program: Callable[[], Any] = of_the_stack) -> None:
    """Every difference is named: which resource, which field."""
    preview, plan = previewed(engine), planned(engine, state, program)
    assert preview.keys() == plan.keys()
    fields = [(urn, field) for urn in plan for field in plan[urn]]
    assert not [
        (u, f, preview[u][f], plan[u][f]) for u, f in fields if not alike(preview[u][f], plan[u][f])
    ]


def alike(engines: Any, ours: Any) -> bool:
    """Whether two values are the same. What an engine learns in an update alone is known in process: how the provider of
    a member treats what it finds there depends on which cluster answers.
    """
    if isinstance(engines, dict) and isinstance(ours, dict):
        return engines.keys() == ours.keys() and all(alike(engines[key], ours[key]) for key in ours)
    return engines in (UNKNOWN, ours)


def test_a_new_stack(engine: Engine) -> None:
    plant(engine.world)
    same(engine, StackState())


def test_a_stack_in_the_middle_of_a_rollout(engine: Engine) -> None:
    plant(engine.world)
    assert engine.up().ok
    engine.world.image = "web:2"
    assert not engine.up(fails="b").ok
    engine.world.image = "web:3"
    engine.world.rolling = {"maxUnavailable": 0, "maxSurge": 1}
    engine.world.members["e"] = {"new": "yes"}
    plant(engine.world)
    same(engine, engine.state())


@pytest.mark.parametrize("how", ["failed", "killed", "killed, then refused"])
def test_back_after_an_update_that_broke(engine: Engine, how: str) -> None:
    """Each object that may have been written is written again, and both doors know of it."""
    changed(engine)
    if how == "failed":
        assert not engine.up(fails="b").ok
    else:
        interrupted(engine, "b", signal.SIGKILL)
        assert engine.command("cancel", "--yes")[0] == 0
    if how.endswith("refused"):
        engine.world.config["limit"] = "never"
        assert not engine.up().ok
        del engine.world.config["limit"]
    engine.world.image = "web:1"
    same(engine, engine.state())
    assert engine.up().ok
    assert set(engine.images().values()) == {"web:1"}
    assert engine.preview().changes == {}


def test_what_goes(engine: Engine) -> None:
    engine.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    assert engine.up().ok
    del engine.world.members["d"]
    same(engine, engine.state())


@pytest.mark.parametrize("broken", [False, True])
def test_templates(tmp_path: Path, broken: bool) -> None:
    """On a new stack, and after an update that broke, with a member that goes and an object that is renamed."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", world=KarmadaWorld())
    asked = policy(
        placement=weights(a=2, b=1), propagateDeps=True, preserveResourcesOnDeletion=True
    )
    engine.world.objects = {
        "policy": asked,
        "settings": CONFIG,
        "web": needing({"configMap": {"name": "settings"}}),
    }
    if broken:
        assert not engine.up(fails="b").ok
        rename = [{"path": "/metadata/name", "operator": "replace", "value": "www"}]
        engine.world.objects["override"] = override("a", plaintext=rename)
        engine.world.objects["policy"] = policy(placement=weights(a=2, c=1), propagateDeps=True)
    same(engine, engine.state())


def running(program: Path) -> Callable[[], Any]:
    return lambda: runpy.run_path(str(program))


def optioned(tmp_path: Path, option: str) -> Engine:
    """A stack whose fleet is given a resource option."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", OPTIONED)
    engine.world.members = {"a": {}, "b": {}}
    engine.world.config = {"own:option": option}
    return engine


OPTIONS = (
    "depends_on",
    "transforms",
    "transformations",
    "of the stack",
    "of a parent",
    "protect",
    "providers",
)


@pytest.mark.parametrize("option", OPTIONS)
def test_each_resource_option(tmp_path: Path, option: str) -> None:
    """On a new stack, and where something changes."""
    engine = optioned(tmp_path, option)
    same(engine, StackState(), running(OPTIONED))
    done = engine.up()
    assert done.ok, done.text
    engine.world.image = "web:2"
    same(engine, engine.state(), running(OPTIONED))


def test_a_fleet_that_moves(tmp_path: Path) -> None:
    """It gets another name, and becomes part of a component: nothing that it has brought is new, and nothing goes."""
    engine = optioned(tmp_path, "")
    assert engine.up().ok
    for option in ("aliases", "parent"):
        engine.world.config = {"own:option": option, "own:name": "prod"}
        same(engine, engine.state(), running(OPTIONED))
        moved = engine.up()
        assert moved.ok, moved.text
        assert {name for name, change in moved.changes.items() if change != "update"} <= {"App app"}
        assert not [call for call in engine.calls() if call["call"] in ("create", "delete")]
    assert engine.preview().changes == {}


def test_names_and_parents_of_old(tmp_path: Path) -> None:
    """In process everything is found where the engine finds it, and has from above what it has there."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", LINEAGE)
    same(engine, StackState(), running(LINEAGE))
    assert engine.up().ok
    engine.world.config = {"own:now": "true"}
    same(engine, engine.state(), running(LINEAGE))


def test_members_with_providers_of_their_own(tmp_path: Path) -> None:
    """From a kubeconfig to a provider, in one update of the records."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", OWN)
    engine.world.members = {"a": {}, "b": {}}
    mutable = {"enable_config_map_mutable": True, "enable_secret_mutable": True}
    engine.world.config = {"own:providers": {"a": {**mutable, "cluster_identifier": "mine"}}}
    same(engine, StackState(), running(OWN))
    assert engine.up().ok
    engine.world.config = {"own:providers": {"b": {**mutable, "cluster_identifier": "b"}}}
    same(engine, engine.state(), running(OWN))
    moved = engine.up()
    assert moved.ok, moved.text
    assert not [call for call in engine.calls() if call["call"] in ("create", "delete")]
