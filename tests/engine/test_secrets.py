"""Planted values are searched for in all that the engine keeps, prints and leaves behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.delivery.test_secrets import IN_KUBECONFIG, IN_TEXT, found, plant
from tests.engine.driver import Engine

pytestmark = pytest.mark.engine


def test_state_events_and_output_show_nothing(engine: Engine) -> None:
    """After an update that succeeds, one that breaks, and one that goes on."""
    plant(engine.world)
    engine.encrypt_kubeconfigs()
    engine.environment["PULUMI_DEBUG_COMMANDS"] = (
        "true"  # makes the event log known to the command line
    )
    left = engine.folder / "temporary"
    left.mkdir()
    engine.environment["TMPDIR"] = str(left)
    shown = []
    for image, fails in (("web:1", ""), ("web:2", "b"), ("web:2", "")):
        engine.world.image = image
        engine.fail(fails)
        events = engine.folder / "events"
        code, text = engine.command("up", "--yes", "--event-log", str(events), "--diff")
        assert (code == 0) is (not fails), text
        shown += [text, events.read_text(), encrypted_state(engine)]
        events.unlink()
    assert engine.images() == dict.fromkeys("abcd", "web:2")
    assert not [found(text) for text in shown if found(text)]
    assert set(found(engine.export())) >= {IN_TEXT, IN_KUBECONFIG}, (
        "they have to be there to be hidden"
    )
    assert not [
        file
        for file in left.rglob("*")
        if file.is_file() and found(file.read_text(errors="replace"))
    ]


def test_rendered_files_show_nothing(engine: Engine) -> None:
    plant(engine.world)
    engine.world.config = {"render": "out"}
    done = engine.up()
    assert done.ok, done.text
    written = [file for file in (engine.standin / "clusters").rglob("*") if file.is_file()]
    assert written
    assert not [file for file in written if found(file.read_text())]
    assert not found(encrypted_state(engine))


def encrypted_state(engine: Engine[Any]) -> str:
    """What the backend holds."""
    files = [file for file in (engine.folder / "backend").rglob("*.json*") if file.is_file()]
    assert any(
        json.loads(file.read_text()).get("checkpoint") for file in files if file.suffix == ".json"
    )
    return "\n".join(file.read_text() for file in files)
