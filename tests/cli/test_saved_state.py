"""What a plan saves is the state that it leads to: planned again nothing changes, and something else changes alone."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fleet_components.review.planning.past import MADE_UP
from tests.cli.fleets import FLEET, PROJECT, SECRET, clusters, edit, plan, run, write

pytestmark = pytest.mark.long

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return tmp_path / "saved" / "state.json"


def changes(document: dict[str, Any]) -> dict[str, str]:
    """The resources that change."""
    return {
        item["name"]: item["change"] for item in document["resources"] if item["change"] != "same"
    }


def unchanged(document: dict[str, Any]) -> None:
    """Every member stays at its revision, and every resource as it is."""
    assert {member["change"] for item in document["subjects"] for member in item["clusters"]} <= {
        "stays"
    }
    assert changes({"resources": document.get("resources") or []}) == {}
    assert [item["key"] for item in document["subjects"] if item["content"]] == []


@pytest.mark.parametrize("stack", ["azure", "clusters", "kubeconfigs", "local"])
def test_a_stack_of_the_repository_planned_again(stack: str, saved: Path) -> None:
    if stack == "azure":
        pytest.importorskip("pulumi_azure_native")
    first = plan(REPOSITORY, "--stack", stack, "--save-state", saved)
    assert set(changes(first).values()) == {"create"}
    again = plan(REPOSITORY, "--stack", stack, "--state", saved)
    unchanged(again)
    assert len(again["resources"]) == len(first["resources"])
    # Once more on top of it, which loses nothing either.
    plan(REPOSITORY, "--stack", stack, "--state", saved, "--save-state", saved)
    unchanged(plan(REPOSITORY, "--stack", stack, "--state", saved))


@pytest.mark.parametrize("files", [FLEET, PROJECT], ids=["directory", "project"])
class TestOfOne:
    def test_planned_again(self, files: dict[str, str], tmp_path: Path, saved: Path) -> None:
        folder = write(tmp_path / "it", files)
        plan(folder, "--save-state", saved)
        unchanged(plan(folder, "--state", saved))

    def test_what_changes_later_is_all_that_changes(
        self, files: dict[str, str], tmp_path: Path, saved: Path
    ) -> None:
        folder = write(tmp_path / "it", files)
        plan(folder, "--save-state", saved)
        edit(next(folder.rglob("shop.yaml")), "nginx:1.27.5", "nginx:1.28.0")
        later = plan(folder, "--state", saved)
        assert set(clusters(later).values()) == {"updated"}
        (change,) = later["subjects"][0]["content"]
        assert [item["new"] for item in change["fields"]] == ["nginx:1.28.0"]

    def test_no_secret_is_saved(self, files: dict[str, str], tmp_path: Path, saved: Path) -> None:
        folder = write(tmp_path / "it", files)
        plan(folder, "--save-state", saved)
        assert SECRET not in saved.read_text()
        assert base64.b64encode(SECRET.encode()).decode() not in saved.read_text()

    def test_nothing_is_saved_of_a_refused_plan(
        self, files: dict[str, str], tmp_path: Path, saved: Path
    ) -> None:
        folder = write(tmp_path / "it", files)
        plan(folder, "--save-state", saved)
        before = saved.read_bytes()
        # Without its policy the shop would go from all of its members.
        next(folder.rglob("placement.yaml")).write_text("")
        plan(folder, "--state", saved, "--save-state", saved, status=3)
        assert saved.read_bytes() == before

    def test_only_its_own_is_replaced(
        self, files: dict[str, str], tmp_path: Path, saved: Path
    ) -> None:
        folder = write(tmp_path / "it", files)
        saved.parent.mkdir()
        real = json.dumps({"version": 3, "deployment": {"resources": []}})
        for text in (real, "notes", "[]"):
            saved.write_text(text)
            result = run("plan", folder, "--save-state", saved)
            assert result.exit_code == 1
            assert "neither fleet plan --save-state nor fleet render" in result.stderr
            assert saved.read_text() == text
        saved.unlink()
        for _ in range(2):
            assert run("plan", folder, "--save-state", saved).exit_code == 0
        assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_strict_refusal_saves_nothing(tmp_path: Path, saved: Path) -> None:
    folder = write(tmp_path / "it", FLEET)
    edit(folder / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 4")
    plan(folder, "--strict", "--save-state", saved, status=3)
    assert not saved.exists()
    plan(folder, "--save-state", saved)
    assert saved.exists()


def test_it_says_what_it_is(tmp_path: Path, saved: Path) -> None:
    folder = write(tmp_path / "it", PROJECT)
    plan(folder, "--save-state", saved)
    assert MADE_UP in json.loads(saved.read_text())
    assert any(
        "plan has saved" in item["text"] for item in plan(folder, "--state", saved)["messages"]
    )


def test_the_configuration_of_one_plan(tmp_path: Path) -> None:
    folder = write(tmp_path / "it", PROJECT)
    write(
        folder / "stacks" / "next",
        {**FLEET, "shop.yaml": FLEET["shop.yaml"].replace("1.27.5", "1.28.0")},
    )
    images = {
        source: plan(folder, "--config", f"fleet:source={source}")["resources"]
        for source in ("fleet", "next")
    }
    assert "nginx:1.27.5" in str(images["fleet"])
    assert "nginx:1.28.0" in str(images["next"])
    assert images["fleet"] == plan(folder)["resources"]
    assert run("explain", folder, "--config", "fleet:source=nowhere").exit_code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--config", "fleet:source"), "KEY=VALUE"),
        (("--config", "=secret-value"), "KEY=VALUE"),
        (("--config", "a=1", "--config", "a=2"), "given twice"),
        (("--config", "fleet:confirm=12"), "--config fleet:confirm"),
        (("--config", "fleet:source=nowhere"), "nowhere"),
    ],
)
def test_configuration_that_is_wrong(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = run("plan", write(tmp_path / "it", PROJECT), *words)
    assert result.exit_code == 1
    assert said in result.stderr
    assert "secret-value" not in result.stderr


def test_a_directory_has_no_configuration(tmp_path: Path) -> None:
    result = run("plan", write(tmp_path / "it", FLEET), "--config", "a=b")
    assert result.exit_code == 1
    assert "no Pulumi project" in result.stderr
