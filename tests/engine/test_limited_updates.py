"""Updates that users limit with ``--target`` or ``--exclude``: what is left out is still to be done, and is called so.

Each operation begins with a fleet in which everything stands and the source has changed. What it leaves is compared
with what the next plan lists; the update after it brings the rest, and nothing is left then.
"""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

from tests.engine.driver import Engine, engine_or_skip

pytestmark = pytest.mark.engine
OPTIONED = Path(__file__).parent / "programs" / "optioned.py"
DECISION = "**fleet:Placement::dev/shop"


@attrs.frozen
class Operation:
    """An update with options.

    Attributes:
        options: the options of ``pulumi up``.
        sent: members whose Deployment has the new image afterwards.
        done: members that are recorded as done.
        decided: whether the decision is recorded.
    """

    options: tuple[str, ...]
    sent: str
    done: str
    decided: bool = True


def excluding(*patterns: str) -> tuple[str, ...]:
    return tuple(text for pattern in patterns for text in ("--exclude", pattern))


def targeting(*patterns: str) -> tuple[str, ...]:
    return tuple(text for pattern in patterns for text in ("--target", pattern))


OPERATIONS = {
    "exclude an object": Operation(excluding("**Deployment::dev/shop@b/**"), sent="a", done="a"),
    "exclude everything of a member": Operation(excluding("**::dev/shop@b/**"), sent="a", done="a"),
    "exclude what does not change": Operation(
        excluding("**Namespace::dev/shop@b/**"), sent="ab", done="ab"
    ),
    "exclude with dependents": Operation(
        (*excluding("**Deployment::dev/shop@a/**"), "--exclude-dependents"), sent="", done=""
    ),
    "exclude a decision": Operation(excluding(DECISION), sent="ab", done="", decided=False),
    "exclude a binding": Operation(excluding("**fleet:Binding::dev/shop@b"), sent="ab", done="a"),
    "exclude a provider": Operation(excluding("**kubernetes::dev/b"), sent="ab", done="ab"),
    "exclude members and roster": Operation(
        excluding("**fleet:Member::**", "**fleet:Roster::**"), sent="ab", done="ab"
    ),
    "target objects": Operation(targeting("**::dev/shop@a/**"), sent="a", done="", decided=False),
    "target a binding": Operation(
        targeting("**fleet:Binding::dev/shop@a"), sent="", done="", decided=False
    ),
    "target a decision": Operation(targeting(DECISION), sent="", done=""),
    "target decision and bindings": Operation(
        targeting(DECISION, "**fleet:Binding::dev/shop@*"), sent="", done=""
    ),
    "target a decision with dependents": Operation(
        (*targeting(DECISION), "--target-dependents"), sent="ab", done="ab"
    ),
}


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A fleet in which everything stands: each operation ends with that."""
    engine_or_skip()
    engine = Engine(tmp_path_factory.mktemp("stack"))
    engine.world.members = {"a": {}, "b": {}}
    # Of the same name as the Deployment: what is sent is known by kind and name.
    metadata = {"name": "web", "namespace": "shop"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata}
    engine.world.extra = [service | {"spec": {"ports": [{"port": 80}]}}]
    assert engine.up().ok
    assert engine.preview().changes == {}
    return engine


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_left_out_is_still_to_be_done(standing: Engine, name: str) -> None:
    engine, operation = standing, OPERATIONS[name]
    before, revision = engine.images(), max(engine.runs().values())
    engine.world.image = f"web:{name.replace(' ', '-')}"
    code, text = engine.command("up", "--yes", "--skip-preview", *operation.options)
    assert code == 0, text
    new = engine.world.image
    assert engine.images() == {c: new if c in operation.sent else before[c] for c in "ab"}
    assert {c for c, runs in engine.runs().items() if runs > revision} == set(operation.done)
    left = {*"ab"} - {*operation.done}
    assert status(engine) == (f"{2 - len(left)} of 2" if operation.decided else "2 of 2")
    shown = engine.preview()
    assert shown.ok, shown.text
    assert {c for c in "ab" if f"Binding shop@{c}" in shown.changes} == left
    done = engine.up()
    assert done.ok, done.text
    assert engine.images() == dict.fromkeys("ab", new)
    assert status(engine) == "2 of 2"
    again = engine.preview()
    assert again.ok, again.text
    assert again.changes == {}


def test_what_a_transform_ignores_is_not_left_out(tmp_path: Path) -> None:
    """The source changes a field that a transform of the fleet leaves alone: the member is done all the same."""
    engine_or_skip()
    engine = Engine(tmp_path / "stack", OPTIONED)
    engine.world.members = {"a": {}, "b": {}}
    engine.world.config = {"own:option": "transforms"}
    assert engine.up().ok
    engine.world.image = "web:2"
    done = engine.up()
    assert done.ok, done.text
    assert engine.images() == dict.fromkeys("ab", "web:1")
    again = engine.preview()
    assert again.ok, again.text
    assert again.changes == {}


def status(engine: Engine) -> str:
    """How many members are as decided, as ``fleet status`` says."""
    with engine.fleet("status", ".", "--stack", "dev") as process:
        text, errors = process.communicate(timeout=300)
    found = re.search(r"(\d+ of \d+) as decided", text)
    assert found, (text, errors)
    return found[1]
