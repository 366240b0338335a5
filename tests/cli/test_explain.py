"""``fleet explain``: every member, chosen or not, with each plug-in's verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.fleets import PLACEMENT, edit, run, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "fleet")


def members(folder: Path, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("explain", folder, *args, "-o", "json").stdout)[
        "subjects"
    ][0]["members"]
    return found


def test_every_member_is_explained(folder: Path) -> None:
    found = {member["name"]: member for member in members(folder)}
    assert {name: item["selected"] for name, item in found.items()} == {
        "amsterdam": True,
        "dublin": True,
        "iowa": False,
        "virginia": False,
    }
    plugins = [verdict["plugin"] for verdict in found["iowa"]["verdicts"]]
    assert plugins == [
        "ClusterAffinity",
        "ClusterEligibility",
        "NamespaceAffinity",
        "TaintToleration",
        "ClusterAffinity",
    ]
    taint = next(
        verdict for verdict in found["iowa"]["verdicts"] if verdict["plugin"] == "TaintToleration"
    )
    assert taint["passed"] is False
    assert taint["remedy"].startswith("without the taint maintenance=true:NoSchedule, or")
    score = found["dublin"]["verdicts"][-1]
    assert (score["plugin"], score["passed"], score["score"]) == ("ClusterAffinity", None, 32)


def test_one_member_alone(folder: Path) -> None:
    assert [member["name"] for member in members(folder, "shop", "iowa")] == ["iowa"]
    text = run("explain", folder, "shop", "iowa").stdout
    assert "would be chosen" in text
    assert "dublin" not in text


def test_all_placements_in_short(folder: Path) -> None:
    (folder / "again.yaml").write_text(PLACEMENT.replace("name: shop}\nspec", "name: again}\nspec"))
    text = run("explain", folder).stdout
    assert text.index("ClusterResourcePlacement again") < text.index(
        "ClusterResourcePlacement shop"
    )
    assert "remedy" not in text


def test_a_placement_is_found_with_its_kind_too(folder: Path) -> None:
    assert members(folder, "ClusterResourcePlacement/shop") == members(folder, "shop")


def test_yaml_and_json_say_the_same(folder: Path) -> None:
    texts = [run("explain", folder, "shop", "-o", form).stdout for form in ("yaml", "json")]
    assert yaml.safe_load(texts[0]) == json.loads(texts[1])


def test_a_member_that_stays_against_the_policy_says_so(folder: Path, tmp_path: Path) -> None:
    run("render", folder, "--out", tmp_path / "out")
    edit(folder / "members.yaml", "environment: test", "environment: staging")
    edit(
        folder / "members.yaml",
        "{region: europe, environment: production}",
        "{region: europe, environment: closed}",
    )
    found = json.loads(
        run(
            "explain",
            folder,
            "shop",
            "dublin",
            "--state",
            tmp_path / "out/local/state.json",
            "-o",
            "json",
        ).stdout
    )
    (dublin,) = found["subjects"][0]["members"]
    assert dublin["selected"]
    assert "stays although" in dublin["summary"]


def test_what_would_change_the_outcome_is_told_with_its_edits(folder: Path) -> None:
    (iowa,) = members(folder, "shop", "iowa")
    assert [flip["would"] for flip in iowa["flips"]] == ["be chosen"] * 2
    first = iowa["flips"][0]
    assert first["words"] == "would be chosen without the taint maintenance=true:NoSchedule"
    assert first["change"] == [
        {
            "of": "member",
            "member": "iowa",
            "operation": "drop",
            "field": ["spec", "taints"],
            "value": {"key": "maintenance", "value": "true", "effect": "NoSchedule"},
        }
    ]


def test_in_a_large_fleet_it_is_tried_for_the_member_that_is_named(folder: Path) -> None:
    member = "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\nmetadata: {{name: m{0:03}}}\n"
    spec = "spec: {identity: {kind: ServiceAccount, name: agent, namespace: fleet-system}}\n"
    (folder / "more.yaml").write_text(
        "---\n".join(member.format(number) + spec for number in range(100))
    )
    assert {item["flips"] is None for item in members(folder, "shop")} == {True}
    assert "tried for up to 100 members" in run("explain", folder, "shop").stdout
    assert members(folder, "shop", "iowa")[0]["flips"]
    assert "tried for up to" not in run("explain", folder, "shop", "iowa").stdout


@pytest.mark.parametrize("arguments", [("shop",), ("shop", "iowa"), ()])
def test_no_name_and_no_path_is_broken_in_a_narrow_terminal(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    long = "a-placement-whose-name-is-longer-than-a-line-of-the-terminal"
    edit(folder / "placement.yaml", "name: shop}\nspec", f"name: {long}}}\nspec")
    edit(
        folder / "members.yaml",
        "maintenance",
        "maintenance.of.nodes.example.com/planned-for-tonight",
    )
    asked = [long if argument == "shop" else argument for argument in arguments]
    narrow = run("explain", folder, *asked, width=40).stdout
    assert long in narrow
    assert "example.com/planned-for-tonight" in narrow
    assert set(narrow.split()) - {"│"} <= set(
        run("explain", folder, *asked, width=10_000).stdout.split()
    )
