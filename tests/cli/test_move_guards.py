"""A move goes by the hub of its stack alone, and runs no update that deletes anything on members."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet_components import FleetError
from fleet_components.automation import reach
from fleet_components.automation.move import StackMove
from fleet_components.automation.reach import Reach
from fleet_components.live.connection import Answer
from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.departures import Departure, Fate
from fleet_components.plan.state import StackState


@pytest.mark.parametrize("fate", [Fate.DELETED, Fate.SWEPT, Fate.UNDONE])
def test_no_update_of_a_move_deletes_anything(fate: Fate, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Departure("", "dublin", ObjectKey("", "ConfigMap", "shop", "old"), fate)
    plan = SimpleNamespace(refused=(), departures=(gone,), replacements=())
    monkeypatch.setattr(StackMove, "_planned", lambda *_: plan)
    mover = StackMove.__new__(StackMove)
    mover.name = "prod"
    with pytest.raises(FleetError, match="would delete ConfigMap shop/old on dublin"):
        mover._update({})


@pytest.mark.parametrize(("known", "refused"), [("one", False), ("", False), ("another", True)])
def test_a_hub_that_the_stack_has_not_used_is_not_asked(
    known: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def connecting(text: str, *_: Any, **__: Any) -> None:
        asked.append(text)

    monkeypatch.setattr(reach, "hub_kubeconfig", lambda *_: "text")
    monkeypatch.setattr(reach, "ask_cluster", lambda *_, **__: Answer("one"))
    monkeypatch.setattr(reach, "connecting", connecting)
    engine: Any = SimpleNamespace(settings=dict)
    access = Reach(Path(), engine, {}, Path("hub"), 1.0)
    if refused:
        with pytest.raises(FleetError, match="is another one than this stack has used"):
            access.on_hub(lambda _: None, StackState.of([]), known)
    else:
        access.on_hub(lambda _: None, StackState.of([]), known)
    assert asked == ([] if refused else ["text"])
