"""What an update that fails says of the wave that broke, and what it then does."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components import Fleet, Options, Past, plan_fleet, source_of
from fleet_components.components import process
from fleet_components.components import trials as module
from fleet_components.components.plan_start import StandingResources
from fleet_components.components.trials import FormTrials
from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.departures import Replacement
from fleet_components.plan.standing import Standing
from fleet_components.testing import ProgramRun, StackState, kubeconfig, run_program
from tests.delivery.driver import cluster_of, is_deployment
from tests.delivery.karmada.world import KarmadaWorld, deployment, policy
from tests.delivery.world import KubeFleetWorld


class Told:
    """Runs a world in process, and asks at the end how far it came."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.state = StackState()

    def up(self, fails: Collection[str] = ()) -> tuple[ProgramRun, list[str]]:
        progress: list[StandingResources] = []

        def program() -> None:
            fleet = Fleet.from_config("dev")
            delivered = [*fleet.placements.values(), *fleet.templates.values()]
            progress.append(StandingResources(delivered, FormTrials(fleet.plan, {}, fleet)))

        with tempfile.TemporaryDirectory() as folder:
            self.world.write(Path(folder))
            members = {name: kubeconfig(name) for name in self.world.members}
            run = run_program(
                program,
                state=self.state,
                config={
                    "fleet:source": folder,
                    "fleet:kubeconfigs": members,
                    **_keyed(self.world.config),
                },
                preview=False,
                fails=lambda item: is_deployment(item.type) and cluster_of(item.name) in fails,
            )
        self.state = run.state()
        return run, [text for _, text in progress[0].broken()]


def _keyed(config: dict[str, Any]) -> dict[str, Any]:
    return {f"fleet:{key}": value for key, value in config.items()}


def test_the_wave_that_broke() -> None:
    told = Told(KubeFleetWorld())
    run, said = told.up()
    assert (run.error, said) == (None, [])
    told.world.image = "web:2"
    run, said = told.up(fails="b")
    assert run.error
    assert said == [
        "shop: wave 2 broke on b (Deployment shop/web); waves 3..4 are not touched (c, d); "
        "the next pulumi up begins with b"
    ]
    del told.world.members["a"]  # it would go at the end
    run, said = told.up(fails="c")
    assert run.error
    assert said == [
        "shop: wave 3 broke on c (Deployment shop/web); wave 4 is not touched (d); nothing is removed; "
        "the next pulumi up begins with c"
    ]
    run, said = told.up()
    assert (run.error, said) == (None, [])


def test_a_template_of_karmada() -> None:
    told = Told(KarmadaWorld())
    told.world.objects = {"web": deployment(), "policy": policy(placement={})}
    run, said = told.up(fails="b")
    assert run.error
    assert said == [
        "shop/Deployment/web: wave 1 broke on b (Deployment shop/web); the next pulumi up begins with b"
    ]


@pytest.fixture
def before() -> Iterator[Any]:
    handler = signal.getsignal(signal.SIGINT)
    yield handler
    signal.signal(signal.SIGINT, handler)


class Listening:
    """An engine."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def Log(self, request: Any) -> None:  # noqa: N802 - the name of the SDK's method
        self.heard.append((request.urn, request.message))


@pytest.mark.usefixtures("before")
def test_the_last_words_of_each_fleet_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Listening()
    monkeypatch.setattr(process, "get_engine", lambda: engine)
    process.tell_at_end(lambda: [("urn:1", "one"), ("urn:2", "two")])
    process.tell_at_end(lambda: [("urn:3", "three")])
    for _ in range(2):
        with pytest.raises(SystemExit):
            signal.raise_signal(signal.SIGINT)
    assert sorted(engine.heard) == [("urn:1", "one"), ("urn:2", "two"), ("urn:3", "three")]


@pytest.mark.usefixtures("before")
def test_an_engine_that_is_gone_and_a_handler_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither is in the way of the program's end."""
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    monkeypatch.setattr(process, "get_engine", lambda: None)
    process.tell_at_end(lambda: [("urn:1", "one")])
    with pytest.raises(SystemExit):
        signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGINT]


def test_nothing_is_said_in_a_preview_or_in_process(before: Any) -> None:
    Told(KubeFleetWorld()).up()
    assert signal.getsignal(signal.SIGINT) is before


PLAN = plan_fleet(source_of([]), Past(), Options())


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize(
    ("live", "fate"),
    [({"a": "1"}, ()), ({"a": "2"}, (False,)), ({"a": ""}, (True,)), (None, (None,))],
)
def test_what_stood_before_the_update(
    monkeypatch: pytest.MonkeyPatch, planned: bool, live: Mapping[str, str] | None, fate: Any
) -> None:
    """Also what no plan replaces; there a member that does not answer is nothing to speak of."""
    key = ObjectKey("", "ConfigMap", "shop", "c")
    standing = Standing("ClusterResourcePlacement/shop", "a", key, "v1", object_uid="1")
    replacements = (Replacement(standing.subject, "a", key, ("data",)),) if planned else ()
    past = attrs.evolve(PLAN.past, standing=(standing,))
    plan = attrs.evolve(PLAN, past=past, replacements=replacements)
    parent: Any = None
    trials = FormTrials(plan, {}, parent)
    answers = {(name, key): uid for name, uid in live.items()} if live is not None else None
    monkeypatch.setattr(module, "_uids", lambda *_: answers)
    found = trials.gone([("a", key), ("b", key)])
    assert tuple(found.values()) == (fate if planned or live is not None else ())
