"""Options of ``pulumi up``, ``refresh`` and ``destroy`` that limit nothing: waves hold, and the next preview is empty."""

from __future__ import annotations

import attrs
import pytest
import yaml

from tests.engine.driver import Engine, engine_or_skip
from tests.engine.test_limited_updates import status

pytestmark = pytest.mark.engine
OBJECTS = "**::dev/shop@a/**"
UPDATES = {
    "all at once": ("--parallel", "100"),
    "in turn": ("--parallel", "1"),
    "configuration unchecked": ("--skip-config-validation",),
    "protection ignored": ("--ignore-protect",),
    "refreshed by the program": ("--refresh", "--run-program"),
    "a setting on the way": ("--config", "fleet:readyTimeout=300"),
    "held to the plan of its preview": ("--strict",),
    "errors do not stop it": ("--continue-on-error",),
}
REFRESHES = {
    "plain": (),
    "by the program": ("--yes", "--run-program"),
    "shown only": ("--preview-only",),
    "a member": ("--yes", "--target", OBJECTS),
    "all but a member": ("--yes", "--exclude", OBJECTS),
    "pending creations cleared": ("--yes", "--clear-pending-creates"),
    "nothing is expected": ("--yes", "--expect-no-changes"),
}


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A fleet of two waves in which everything stands: each test ends with that."""
    engine_or_skip()
    engine = Engine(tmp_path_factory.mktemp("stack"))
    engine.world.members = {"a": {}, "b": {}}
    engine.world.rolling = {"maxUnavailable": 1, "maxSurge": 0}
    done = engine.up()
    assert done.ok, done.text
    return engine


def settled(engine: Engine) -> None:
    """Everything stands, and says so."""
    again = engine.preview()
    assert again.ok, again.text
    assert again.changes == {}
    assert status(engine) == "2 of 2"


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_with_an_option(standing: Engine, name: str) -> None:
    engine = standing
    engine.world.image = f"web:{name.replace(' ', '-')}"
    (engine.standin / "calls.jsonl").unlink(missing_ok=True)
    code, text = engine.command("up", "--yes", *UPDATES[name])
    assert code == 0, text
    assert engine.images() == dict.fromkeys("ab", engine.world.image)
    assert engine.order() == ["a", "b"]
    settled(engine)


def test_an_update_that_goes_on_after_errors(standing: Engine) -> None:
    """The next wave waits all the same, and the next update begins where this one broke."""
    engine, before = standing, standing.images()
    engine.world.image = "web:on"
    engine.fail("a")
    code, text = engine.command("up", "--yes", "--skip-preview", "--continue-on-error")
    assert code != 0, text
    assert engine.images() == before
    assert status(engine) == "0 of 2"
    assert engine.up().ok
    assert engine.images() == dict.fromkeys("ab", "web:on")
    settled(engine)


def test_an_update_in_which_nothing_is_expected(standing: Engine) -> None:
    """The engine looks at the end: what was sent is sent, and recorded."""
    engine = standing
    assert engine.command("up", "--yes", "--expect-no-changes")[0] == 0
    engine.world.image = "web:unexpected"
    code, text = engine.command("up", "--yes", "--expect-no-changes")
    assert code != 0
    assert "no changes were expected" in text
    assert engine.images() == dict.fromkeys("ab", "web:unexpected")
    settled(engine)


WAYS: dict[str, dict[str, object]] = {
    "as usual": {},
    "never taken over": {"applyStrategy": {"whenToTakeOver": "Never"}},
    "not forced": {"applyStrategy": {"type": "ServerSideApply"}},
    "compared only": {"applyStrategy": {"type": "ReportDiff"}},
}


@pytest.mark.parametrize("way", WAYS)
def test_an_update_held_to_a_saved_preview(engine: Engine, way: str) -> None:
    """Of a new stack whose members cannot be asked, and then of a change: no property is another one."""
    file, world = str(engine.folder / "plan.json"), engine.world
    world.members = {"a": {}, "b": {}}
    world.strategy = {"type": "RollingUpdate", **WAYS[way]}
    for image in ("web:1", "web:2"):
        world.image = image
        for command in (
            ("preview", "--save-plan", file),
            ("up", "--yes", "--skip-preview", "--plan", file),
        ):
            code, text = engine.command(*command)
            assert code == 0, text
        assert engine.images() == ({} if way == "compared only" else dict.fromkeys("ab", image))
        again = engine.preview()
        assert again.ok, again.text
        assert again.changes == {}
    world.image = "web:3"
    code, text = engine.command("up", "--yes", "--skip-preview", "--plan", file)
    assert code != 0
    assert "violates plan" in text


def test_another_file_of_settings(standing: Engine) -> None:
    """It takes the place of the file of the stack."""
    other = standing.project / "other.yaml"
    other.write_text(yaml.safe_dump({"config": {"fleet:source": "nowhere"}}))
    code, text = standing.command("preview", "--config-file", str(other))
    assert code != 0
    assert "nowhere" in text
    settled(standing)


@pytest.mark.parametrize("name", REFRESHES)
def test_a_refresh(standing: Engine, name: str) -> None:
    """Nothing of a fleet changes."""
    before = standing.images()
    code, text = standing.command("refresh", *REFRESHES[name] or ("--yes",))
    assert code == 0, text
    assert standing.images() == before
    settled(standing)


@attrs.frozen
class Destroy:
    """A ``pulumi destroy`` of a fleet that is protected.

    Attributes:
        options: its options.
        ends: whether it ends with success.
    """

    options: tuple[str, ...]
    ends: bool = False


DESTROYS = {
    "shown only": Destroy(("--preview-only",)),
    "plain": Destroy(("--yes",)),
    "without a preview": Destroy(
        (
            "--yes",
            "--skip-preview",
        )
    ),
    "of a member": Destroy(("--yes", "--skip-preview", "--target", OBJECTS)),
    "of a member and what depends on it": Destroy(
        ("--yes", "--skip-preview", "--target", OBJECTS, "--target-dependents")
    ),
    "after errors": Destroy(("--yes", "--skip-preview", "--continue-on-error")),
    "by the program": Destroy(("--yes", "--skip-preview", "--run-program")),
    "with the stack": Destroy(("--yes", "--skip-preview", "--remove")),
    "refreshed": Destroy(("--yes", "--skip-preview", "--refresh")),
    "of all but the roster": Destroy(
        ("--yes", "--skip-preview", "--exclude", "**fleet:Roster::**"), ends=True
    ),
    "of what is not protected": Destroy(
        ("--yes", "--skip-preview", "--exclude-protected"), ends=True
    ),
}


@pytest.mark.parametrize("name", DESTROYS)
def test_a_destroy_of_a_protected_fleet(standing: Engine, name: str) -> None:
    operation, before = DESTROYS[name], standing.images()
    (standing.standin / "calls.jsonl").unlink(missing_ok=True)
    code, text = standing.command("destroy", *operation.options)
    assert (code == 0) is operation.ends, text
    assert standing.calls() == []
    assert standing.images() == before
    assert standing.up().ok  # brings back default providers, which are not protected
    settled(standing)
