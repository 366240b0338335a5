"""Objects that somebody has deleted on a member: what a refresh, a preview, a plan and an update say of them."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pytest

from tests.engine.driver import Engine

pytestmark = pytest.mark.engine
WEB = "Deployment shop/web"


def delete(engine: Engine, clusters: Collection[str]) -> None:
    """Delete the Deployment on some clusters, as kubectl does."""
    for file in (engine.standin / "clusters").glob("*/*_Deployment_*.json"):
        if file.parent.name in clusters:
            file.unlink()


def planned(engine: Engine) -> dict[str, Any]:
    """The document of ``fleet plan`` for the stack as it is."""
    file = engine.folder / "state.json"
    file.write_text(json.dumps(engine.stack.export_stack().__dict__))
    with engine.fleet("plan", ".", "--stack", "dev", "--state", str(file), "-o", "json") as process:
        text, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    document: dict[str, Any] = json.loads(text)
    return document


def test_a_refresh_has_found_that_they_are_gone(engine: Engine) -> None:
    assert engine.up().ok
    assert engine.images().keys() == set("abcd")
    settled = planned(engine)
    assert settled["subjects"] == []
    delete(engine, "ac")
    assert engine.refresh().ok
    document = planned(engine)
    assert document["headline"][0] == "2 clusters get a new object of shop, nothing else changes"
    (change,) = document["subjects"][0]["content"]
    assert (change["change"], change["object"], change["members"]) == ("create", WEB, ["a", "c"])
    preview = engine.preview()
    assert preview.changes == {f"Deployment shop@{name}/shop/web": "create" for name in "ac"}
    assert f"update a, c (revision 0): {WEB} is missing there" in preview.text
    assert engine.up().ok
    assert sorted(engine.order()) == ["a", "c"]
    assert engine.images().keys() == set("abcd")
    assert engine.preview().changes == {}
    assert planned(engine)["headline"][0] == settled["headline"][0]


def test_an_update_refreshes_first(engine: Engine) -> None:
    """The program reads the state as it was before: only the tree of the engine has the creation."""
    assert engine.up().ok
    delete(engine, "b")
    code, text = engine.command("preview", "--refresh")
    assert code == 0, text
    assert "dev/shop@b/shop/web create" in text
    assert engine.up_refreshed().ok
    assert engine.images().keys() == set("abcd")
    assert engine.preview().changes == {}
