"""The example in which a plain program hands its resources to a fleet."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from fleet_components.plan import names
from fleet_components.testing import ProgramRun, StackState, kubeconfig, run_program

EXAMPLE = Path(__file__).parents[2] / "examples" / "taking-over"


def ran(program: str, state: StackState, *, preview: bool = False) -> ProgramRun:
    config = {"project:kubeconfigs": {"east": kubeconfig("east")}}
    run = run_program(lambda: runpy.run_path(program), state=state, config=config, preview=preview)
    assert run.error is None, run.error
    return run


def test_every_object_is_updated_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    before = ran("before.py", StackState()).state()
    run = ran("after.py", before)
    objects = [r for r in run.registrations if names.is_object(r.type)]
    assert len(objects) == 3
    former = {urn for urn, resource in before.resources.items() if names.is_object(resource.type)}
    assert {alias for r in objects for alias in r.aliases} == former
    again = ran(
        "after.py", StackState({k: v for k, v in run.state().resources.items() if k not in former})
    )
    assert not any(r.aliases for r in again.registrations if names.is_object(r.type))
