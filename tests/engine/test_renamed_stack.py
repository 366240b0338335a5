"""A stack is renamed, and its fleet with it: everything goes on under the new name, and nothing is deleted."""

from __future__ import annotations

import pytest
import yaml
from pulumi import automation

from tests.engine.driver import Engine

pytestmark = pytest.mark.engine


def renamed(engine: Engine, name: str) -> None:
    """Rename the stack, as a user does."""
    assert engine.command("stack", "rename", name)[0] == 0
    settings = (engine.project / f"Pulumi.{name}.yaml").read_text()
    assert yaml.safe_load(settings)
    engine.name = name
    workspace = automation.LocalWorkspaceOptions(
        work_dir=str(engine.project), env_vars=engine.environment
    )
    engine.stack = automation.select_stack(name, work_dir=str(engine.project), opts=workspace)


@pytest.mark.parametrize("broken", [False, True])
def test_a_stack_that_is_renamed(engine: Engine, broken: bool) -> None:
    assert engine.up().ok
    if broken:
        engine.world.image = "web:2"
        assert not engine.up(fails="b").ok
    renamed(engine, "prod")
    shown = engine.preview()
    assert shown.ok, shown.text
    assert "fleet dev: is called prod now" in shown.text
    assert not {"create", "delete", "replace"}.intersection(shown.changes.values()), shown.changes
    if broken:
        assert not engine.up(fails="c").ok
    done = engine.up()
    assert done.ok, done.text
    assert not [call for call in engine.calls() if call["call"] == "delete"]
    assert engine.images() == dict.fromkeys("abcd", engine.world.image)
    again = engine.preview()
    assert again.changes == {}, again.changes
    assert "is called" not in again.text
    assert {
        resource.name
        for resource in engine.state().resources.values()
        if resource.type.endswith("fleet:Roster")
    } == {"prod"}
