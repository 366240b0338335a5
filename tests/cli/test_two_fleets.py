"""Two fleets of one program have placements and members of the same names: every view tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.fleets import FLEET, PROJECT, plan, run, write

PROGRAM = """\
from fleet_components import Fleet, FleetArgs

for name in ("blue", "green"):
    Fleet(name, FleetArgs(source=f"{name}.yaml", render_to=f"out-{name}", limit=1))
"""
YAML = "\n---\n".join(FLEET.values())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {name: text for name, text in PROJECT.items() if not name.startswith("stacks/fleet/")}
    main = next(name for name in files if name.endswith("__main__.py"))
    folder = main.removesuffix("__main__.py")
    config = {name: "config: {}\n" for name in files if name.endswith("Pulumi.dev.yaml")}
    fleets = {f"{folder}blue.yaml": YAML, f"{folder}green.yaml": YAML}
    return write(tmp_path / "project", {**files, **config, **fleets, main: PROGRAM})


def test_every_view_says_which_fleet(project: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    new = plan(project, "--save-state", state)
    placements = {(item["ofFleet"], item["name"]) for item in new["subjects"]}
    assert len(placements) == 2 * len({name for _, name in placements})
    assert {fleet for fleet, _ in placements} == {"blue", "green"}
    members = 2 * len(new["subjects"][0]["clusters"])
    assert f"on {members} clusters" in new["headline"][0]
    assert new["unchanged"]["members"] == new["members"] - members
    kind, key = new["subjects"][0]["kind"], new["subjects"][0]["key"]
    for command, more in (
        ("plan", ["--all"]),
        ("plan", ["--all", "-o", "markdown"]),
        ("explain", []),
        ("status", ["--by", "placement"]),
    ):
        options = ["--state", state] if command == "status" else []
        shown = run(command, project, *options, *more).output.replace("<b>", "").replace("</b>", "")
        for fleet in ("blue", "green"):
            assert f"{fleet}: {kind} {key}" in shown, (command, shown)
    by_member = run("status", project, "--state", state, "--by", "member").output
    assert all(
        f"{fleet}/{new['subjects'][0]['clusters'][0]['name']}" in by_member
        for fleet in ("blue", "green")
    )


def test_what_changes_in_one_fleet_is_said_of_that_fleet(project: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    run("plan", project, "--save-state", state)
    (file,) = project.rglob("green.yaml")
    documents = [
        text for text in YAML.split("\n---\n") if "kind: ClusterResourcePlacement" not in text
    ]
    file.write_text("\n---\n".join(documents))
    gone = plan(project, "--state", state)
    assert all(line["text"].startswith("green: ") for line in gone["gone"]["summary"])
    assert gone["gone"]["summary"]


@pytest.mark.parametrize("fleet", ["blue", "green"])
def test_a_fleet_that_is_refused_is_named_beside_the_other(
    project: Path, tmp_path: Path, fleet: str
) -> None:
    state, main = tmp_path / "state.json", next(project.rglob("__main__.py"))
    main.write_text(PROGRAM.replace("limit=1", "limit=0.3"))
    run("plan", project, "--save-state", state)
    (file,) = project.rglob(f"{fleet}.yaml")
    documents = [
        text for text in YAML.split("\n---\n") if "kind: ClusterResourcePlacement" not in text
    ]
    file.write_text("\n---\n".join(documents))
    refused = run("plan", project, "--state", state)
    assert refused.exit_code == 3
    assert f"refused: {fleet}: shop goes" in refused.stdout
    assert f"refused: {fleet}: ClusterResourcePlacement/shop: would lose" in refused.stderr
    (other,) = plan(project, "--state", state, status=3)["subjects"]
    assert other["ofFleet"] == ({"blue", "green"} - {fleet}).pop()


def test_a_single_fleet_is_not_named(tmp_path: Path) -> None:
    found = plan(write(tmp_path))
    assert {item["ofFleet"] for item in found["subjects"]} == {None}
