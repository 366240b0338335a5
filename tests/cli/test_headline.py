"""The first three lines of a plan: what happens, what is lost, and what it starts from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.fleets import edit, run, write

UNCOMPARED = "data of Secrets is not compared, as the state has left it out"
KARMADA = Path(__file__).parents[2] / "examples" / "karmada-static-weights"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "fleet")


def lines(*arguments: object, status: int = 0) -> list[str]:
    """The first three lines; those of the table and of the comment are the same."""
    result = run("plan", *arguments, "-o", "json")
    assert result.exit_code == status, result.output
    found: list[str] = json.loads(result.stdout)["headline"]
    assert run("plan", *arguments).stdout.splitlines()[:3] == found
    comment = run("plan", *arguments, "-o", "markdown").stdout.splitlines()
    assert [line.strip("*").replace("\\", "") for line in comment[2:7:2]] == found
    return found


def decided(folder: Path) -> Path:
    state = folder.parent / "state.json"
    assert run("plan", folder, "--save-state", state).exit_code == 0
    return state


def documents(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text()))


def test_of_a_new_fleet(folder: Path) -> None:
    assert lines(folder) == [
        "shop is new on 2 clusters, nothing else changes",
        "no object is deleted or replaced",
        "compared with nothing, a new fleet: unchanged are 0 of 1 placement, 2 of 4 members",
    ]


def test_where_nothing_changes(folder: Path) -> None:
    state = decided(folder)
    assert lines(folder, "--state", state) == [
        "nothing changes",
        "no object is deleted or replaced",
        f"compared with the state {state}: unchanged are 1 of 1 placement, 4 of 4 members; {UNCOMPARED}",
    ]


IMAGE = ("shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
REPLICAS = ("shop.yaml", "replicas: 3", "replicas: 5")
CURRENCY = ("shop.yaml", "currency: EUR", "currency: CHF")
TAINT = '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n'
ANOTHER = "metadata: {name: another, namespace: shop}\n---\napiVersion: v1\nkind: ConfigMap\n"
HAPPENS = {
    "an image": ([IMAGE], "2 clusters get a new image of shop in 2 waves, nothing else changes"),
    "replicas": (
        [REPLICAS],
        "2 clusters get another number of replicas of shop in 2 waves, nothing else changes",
    ),
    "content": ([CURRENCY], "2 clusters get new content of shop in 2 waves, nothing else changes"),
    "both": (
        [IMAGE, CURRENCY],
        "2 clusters get a new image and other fields of shop in 2 waves, nothing else changes",
    ),
    "an image, replicas and an object": (
        [IMAGE, REPLICAS, ("shop.yaml", "kind: ConfigMap\n", "kind: ConfigMap\n" + ANOTHER)],
        "2 clusters get a new image, another number of replicas and a new object of shop in 2 waves, "
        "nothing else changes",
    ),
    "one more": (
        [
            ("members.yaml", TAINT, ""),
            ("placement.yaml", "numberOfClusters: 2", "numberOfClusters: 3"),
        ],
        "shop gains iowa, nothing else changes",
    ),
    "one less": (
        [("placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")],
        "shop loses amsterdam, nothing else changes",
    ),
    "too few": (
        [("placement.yaml", "numberOfClusters: 2", "numberOfClusters: 4")],
        "shop is not fulfilled, nothing else changes",
    ),
    "another member": (
        [("members.yaml", "name: amsterdam\n", "name: zurich\n")],
        "amsterdam leaves the fleet, shop moves from amsterdam to zurich, nothing else changes",
    ),
    "an object more": (
        [
            (
                "shop.yaml",
                "kind: ConfigMap\nmetadata: {name: storefront,",
                "kind: ConfigMap\nmetadata: {name: other,",
            )
        ],
        "2 clusters get a new object and an object less of shop in 2 waves, nothing else changes",
    ),
}


@pytest.mark.parametrize("name", HAPPENS)
def test_what_happens(folder: Path, name: str) -> None:
    state = decided(folder)
    edits, expected = HAPPENS[name]
    for file, old, new in edits:
        edit(folder / file, old, new)
    assert lines(folder, "--state", state)[0] == expected


def test_of_several_placements_it_counts(folder: Path) -> None:
    (placement,) = documents(folder / "placement.yaml")
    many = []
    for number in range(4):
        name = f"app-{number}"
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": name}
        spec = {**placement["spec"], "resourceSelectors": [selector]}
        many += [{**placement, "metadata": {"name": name}, "spec": spec}]
        many += [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}]
    (folder / "more.yaml").write_text(yaml.safe_dump_all(many))
    state = decided(folder)
    for number in (0, 1):
        many[2 * number]["spec"]["policy"] = {**placement["spec"]["policy"], "numberOfClusters": 1}
    many[4]["spec"]["policy"] = {**placement["spec"]["policy"], "numberOfClusters": 4}
    many[7]["metadata"]["labels"] = {"team": "shop"}
    (folder / "more.yaml").write_text(yaml.safe_dump_all(many))
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    first, second, third = lines(folder, "--state", state)
    assert first == (
        "app-0 and app-1 lose amsterdam, app-2 is not fulfilled, "
        "2 clusters get new content of app-3 in 2 waves, 2 clusters get a new image of shop in 2 waves, "
        "nothing else changes"
    )
    assert second == "2 objects are kept and no longer managed on amsterdam"
    assert (
        third
        == f"compared with the state {state}: unchanged are 0 of 5 placements, 2 of 4 members; {UNCOMPARED}"
    )


def test_of_a_refused_plan(folder: Path) -> None:
    state = decided(folder)
    (folder / "placement.yaml").unlink()
    first, second, third = lines(folder, "--state", state, status=3)
    assert first == "refused: shop goes, nothing else changes"
    assert second == "the update is refused, for 1 reason below"
    assert third.endswith("unchanged are 4 of 4 members; 1 warning")


def test_what_moves_or_is_replaced_is_told(folder: Path) -> None:
    state = decided(folder)
    edit(folder / "placement.yaml", "metadata: {name: shop}", "metadata: {name: boutique}")
    first, second, _ = lines(folder, "--state", state)
    assert first == "shop goes, boutique is new on 2 clusters, nothing else changes"
    assert second == "8 objects move and stay alive on amsterdam, dublin"
    edit(folder / "placement.yaml", "metadata: {name: boutique}", "metadata: {name: shop}")
    edit(folder / "shop.yaml", "matchLabels: {app: storefront}", "matchLabels: {app: front}")
    edit(folder / "shop.yaml", "labels: {app: storefront}", "labels: {app: front}")
    first, second, _ = lines(folder, "--state", state)
    assert first == "2 clusters get an object made anew of shop in 2 waves, nothing else changes"
    assert second == "2 objects are replaced on amsterdam, dublin"


def test_of_templates() -> None:
    first, *_, third = lines(KARMADA)
    assert first.endswith("nothing else changes")
    assert "template" in third
    assert "placement" not in third


def test_of_one_member(folder: Path) -> None:
    state = decided(folder)
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    assert lines(folder, "--state", state, "--member", "dublin")[0] == (
        "dublin gets a new image of shop, nothing else changes on dublin"
    )
    assert lines(folder, "--state", state, "--member", "iowa")[0] == "nothing changes on iowa"
