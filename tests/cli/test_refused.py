"""An update that would take too much: shown whole, what is refused first, and allowed by its token alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.hub.folder.writing import write_observation
from fleet_components.review.documents.sweep import LossDocument, LossRefusal, SweepDocument
from fleet_components.review.showing.markdown import to_markdown
from fleet_components.review.showing.sweep import sweep_view
from fleet_components.review.showing.terminal import printed
from tests.cli.fleets import PLACEMENT, PROJECT, clusters, edit, plan, run, write
from tests.hub.folder.hubs import kubefleet, observed

OTHER = {
    "other.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n---\n"
    + "".join(
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: other}}\n---\n"
        for name in ("prices", "colours", "sizes")
    )
    + PLACEMENT.replace("name: shop}\nspec", "name: other}\nspec").replace(
        "name: shop}", "name: other}"
    ),
}
GONE = "ClusterResourcePlacement/shop"
LOST = "ConfigMap shop/storefront, Deployment shop/storefront, Secret shop/payment"
DELETED = f"{LOST} of {GONE} on amsterdam, dublin: deleted"
KEPT = f"Namespace shop of {GONE} on amsterdam, dublin: kept on the member, no longer managed"


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project and what was rendered of it."""
    folder = tmp_path_factory.mktemp("rendered")
    source = write(write(folder / "project", PROJECT) / "stacks/fleet", OTHER)
    with chdir(folder / "project"):
        for where in (".", "stacks/fleet"):
            assert run("render", where, "--out", "../out").exit_code == 0
    (source / "placement.yaml").unlink()
    return folder


@pytest.fixture
def folder(rendered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose placements were rendered, and whose placement of the shop has gone since."""
    shutil.copytree(rendered, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "project")
    return Path("stacks/fleet")


DOORS = {
    "directory": ("stacks/fleet", "../out/local/state.json"),
    "project": (".", "../out/dev/state.json"),
}
door = pytest.mark.parametrize(("where", "state"), DOORS.values(), ids=DOORS)


def token(stderr: str) -> str:
    (found,) = re.findall(r"(?:fleet:confirm=|--confirm )(\w+)", stderr)
    return str(found)


def tree(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in folder.rglob("*") if path.is_file()}


@door
def test_a_refused_plan_is_whole(folder: Path, where: str, state: str) -> None:
    document = plan(where, "--state", state, status=3)
    (refused,) = document["refused"]
    assert refused["subject"] == GONE
    assert (
        "would lose 6 objects on 2 members (amsterdam, dublin), 6 of the 6 that it has there"
        in refused["what"]
    )
    assert refused["token"] in refused["hint"]
    assert [item["name"] for item in document["subjects"]] == ["ClusterResourcePlacement/other"]
    assert clusters(document, "other") == {"amsterdam": "stays", "dublin": "stays"}
    assert document["totals"]["stays"] == 2
    result = run("plan", where, "--state", state)
    assert result.exit_code == 3
    assert f"refused: {GONE}: would lose 6 objects" in result.stderr
    assert "ClusterResourcePlacement other" not in result.stdout, "it does not change"
    assert "1 placement unchanged: --all shows them" in result.stdout
    assert "2 stay; 1 placement goes; 6 objects are deleted; the update is refused" in result.stdout


@door
def test_what_is_removed_is_named_with_objects_and_members(
    folder: Path, where: str, state: str
) -> None:
    gone = plan(where, "--state", state, status=3)["gone"]
    assert (gone["subjects"], gone["members"]) == ([GONE], [])
    fates = {(item["member"], item["object"]): item["fate"] for item in gone["objects"]}
    assert fates == {
        **{(member, "Namespace shop"): "kept" for member in ("amsterdam", "dublin")},
        **{
            (member, name): "deleted"
            for member in ("amsterdam", "dublin")
            for name in LOST.split(", ")
        },
    }
    expected = [("lost", f"no longer in the source: {GONE}"), ("lost", DELETED), ("left", KEPT)]
    assert [(item["weight"], item["text"]) for item in gone["summary"]] == expected


@door
def test_what_is_refused_comes_first_and_then_what_is_lost(
    folder: Path, where: str, state: str
) -> None:
    table = run("plan", where, "--state", state).stdout.splitlines()
    happens, lost, _, empty, *table = table
    assert happens == "refused: shop goes, nothing else changes"
    assert (lost, empty) == ("the update is refused, for 1 reason below", "")
    assert table[0].startswith(f"refused: {GONE}: would lose 6 objects")
    assert table[1:5] == [f"no longer in the source: {GONE}", DELETED, KEPT, ""]
    heading, happens, _, _, *comment = filter(
        None, run("plan", where, "--state", state, "-o", "markdown").stdout.splitlines()
    )
    assert heading == "### Fleet plan"
    assert happens == "**refused: shop goes, nothing else changes**"
    assert comment[0].startswith(f"> **refused: {GONE}: would lose 6 objects")
    assert comment[1:4] == [f"- no longer in the source: {GONE}", f"- {DELETED}", f"- {KEPT}"]


@pytest.mark.samples(1)
@pytest.mark.parametrize("form", ["table", "markdown"])
def test_nothing_is_said_twice(folder: Path, form: str) -> None:
    """Not where both outputs are one terminal, or one log, either."""
    command = [sys.executable, "-m", "fleet_components.cli", "plan", "stacks/fleet", "-o", form]
    command += ["--state", "../out/local/state.json"]
    wide = {
        key: value for key, value in os.environ.items() if key != "COLUMNS"
    }  # some test runners set it
    both = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=wide
    )
    assert both.returncode == 3
    for text in ("would lose 6 objects", f"no longer in the source: {GONE}", DELETED, KEPT):
        assert both.stdout.count(text) == 1
    apart = subprocess.run(command, check=False, capture_output=True, text=True, env=wide)
    assert (
        apart.stdout.count("would lose 6 objects"),
        apart.stderr.count("would lose 6 objects"),
    ) == (1, 0)
    with Path("kept.txt").open("w") as kept:
        apart = subprocess.run(
            command, check=False, stdout=kept, stderr=subprocess.PIPE, text=True, env=wide
        )
    assert apart.stderr.count("would lose 6 objects") == 1


@door
def test_a_refused_render_says_the_same_and_writes_nothing(
    folder: Path, where: str, state: str
) -> None:
    before = tree(Path("../out"))
    result = run("render", where, "--out", "../out")
    assert result.exit_code == 3
    assert result.stderr.startswith(f"refused: {GONE}: would lose 6 objects")
    assert result.stdout.splitlines()[:3] == [f"no longer in the source: {GONE}", DELETED, KEPT]
    assert f"planned from {state}; wrote nothing" in result.stdout
    assert tree(Path("../out")) == before


@door
def test_an_explanation_of_a_refused_plan_says_so(folder: Path, where: str, state: str) -> None:
    result = run("explain", where, "--state", state)
    assert result.exit_code == 3
    assert f"refused: {GONE}" in result.stderr
    assert "ClusterResourcePlacement other" in result.stdout


@door
def test_its_token_makes_it_go_through(folder: Path, where: str, state: str) -> None:
    given = ("--confirm", token(run("plan", where, "--state", state).stderr))
    document = plan(where, "--state", state, *given)
    assert document["refused"] == []
    assert document["gone"]["subjects"] == [GONE]
    assert run("plan", where, "--state", state, "--confirm", "0badf00d").exit_code == 3
    result = run("render", where, "--out", "../out", *given)
    assert result.exit_code == 0
    assert DELETED in result.stdout
    assert plan(where, "--state", state)["gone"]["subjects"] == []
    assert not [
        path
        for path in tree(Path(state).parent)
        if path.endswith("deployment-shop-storefront.yaml")
    ]


def test_a_token_of_the_configuration_and_one_of_the_command_line_are_both_heard(
    folder: Path,
) -> None:
    state = ("--state", "../out/dev/state.json")
    for name, new in (("amsterdam", "zurich"), ("dublin", "oslo"), ("iowa", "ohio")):
        edit(folder / "members.yaml", f"name: {name}\n", f"name: {new}\n")
    refused = plan(".", *state, status=3)["refused"]
    first, second = (item["token"] for item in refused)
    edit(
        Path("stacks/Pulumi.dev.yaml"), "../rendered\n", f"../rendered\n  fleet:confirm: {first}\n"
    )
    assert [item["token"] for item in plan(".", *state, status=3)["refused"]] == [second]
    assert plan(".", *state, "--confirm", second)["refused"] == []


def test_a_refused_project_has_no_resources_and_its_messages(folder: Path) -> None:
    program = Path("stacks/__main__.py")
    program.write_text(
        program.read_text().replace("Fleet.from", "pulumi.log.warn('hear me')\nFleet.from")
    )
    document = plan(".", "--state", "../out/dev/state.json", status=3)
    assert document["resources"] is None
    assert document["totals"]["resources"] is None
    assert document["messages"] == [{"level": "warning", "text": "hear me"}]


@door
def test_members_that_go_are_named(folder: Path, where: str, state: str) -> None:
    write(folder, {"placement.yaml": PLACEMENT})
    edit(folder / "members.yaml", "name: amsterdam\n", "name: zurich\n")
    document = plan(where, "--state", state)
    assert document["refused"] == []
    assert (document["gone"]["subjects"], document["gone"]["members"]) == ([], ["amsterdam"])
    first = run("plan", where, "--state", state).stdout.splitlines()
    assert first[4] == "no longer members: amsterdam"
    assert f"{LOST} of {GONE} on amsterdam: deleted" in first


@door
def test_objects_that_go_are_named(folder: Path, where: str, state: str) -> None:
    write(folder, {"placement.yaml": PLACEMENT})
    objects = list(yaml.safe_load_all((folder / "shop.yaml").read_text()))
    (folder / "shop.yaml").write_text(
        yaml.safe_dump_all(data for data in objects if data["kind"] != "ConfigMap")
    )
    document = plan(where, "--state", state)
    gone = f"ConfigMap shop/storefront of {GONE} on amsterdam, dublin: deleted"
    assert [item["text"] for item in document["gone"]["summary"]] == [gone]
    for form in ("table", "markdown"):
        text = run("plan", where, "--state", state, "-o", form).stdout
        assert text.index(gone) < text.index("revision 0->1")


def emptied(folder: Path, *kept: str) -> None:
    for file in folder.iterdir():
        if file.name not in kept:
            file.unlink()


@door
def test_a_source_that_is_empty_now_is_refused_and_shown_whole(
    folder: Path, where: str, state: str
) -> None:
    emptied(folder, "members.yaml")
    (refused,) = plan(where, "--state", state, status=3)["refused"]
    assert refused["subject"] == "the fleet"
    assert "would lose 12 objects on 2 members" in refused["what"]
    result = run("plan", where, "--state", state)
    assert (
        "no longer in the source: ClusterResourcePlacement/other, ClusterResourcePlacement/shop"
        in result.stdout
    )
    assert "there is no placement" not in result.output
    document = plan(where, "--state", state, "--confirm", refused["token"])
    assert (document["subjects"], len(document["gone"]["subjects"])) == ([], 2)


def test_a_directory_without_its_members_is_refused_and_shown_whole(folder: Path) -> None:
    write(folder, {"placement.yaml": PLACEMENT})
    (folder / "members.yaml").unlink()
    state = ("--state", "../out/local/state.json")
    document = plan(folder, *state, status=3)
    assert [item["subject"] for item in document["refused"]] == ["the member list", "the fleet"]
    assert document["gone"]["members"] == ["amsterdam", "dublin", "iowa", "virginia"]
    assert clusters(document) == {"amsterdam": "leaves", "dublin": "leaves"}
    result = run("plan", folder, *state)
    assert "there is no member" not in result.output
    assert "(the fleet has no member)" in result.stdout
    tokens = [argument for item in document["refused"] for argument in ("--confirm", item["token"])]
    assert f"if all of them are meant: {' '.join(tokens)}\n" in result.stdout
    assert plan(folder, *state, *tokens)["refused"] == []


def test_a_new_fleet_without_placements_or_members_is_an_error_as_ever(folder: Path) -> None:
    emptied(folder, "members.yaml")
    assert "there is no placement" in run("plan", folder).stderr
    assert run("plan", folder).exit_code == 1


def test_a_member_that_is_lost_takes_nothing_along(folder: Path) -> None:
    write(folder, {"placement.yaml": PLACEMENT})
    state = ("--state", "../out/local/state.json")
    document = plan(folder, *state, "--lost", "amsterdam")
    assert {item["fate"] for item in document["gone"]["objects"]} == {"forgotten"}
    assert (
        "forgotten, as the member is lost"
        in run("plan", folder, *state, "--lost", "amsterdam").stdout
    )
    assert 'there is no member "berlin"' in str(
        plan(folder, *state, "--lost", "berlin")["warnings"]
    )
    # It need not be declared any more, as long as the state knows it.
    edit(folder / "members.yaml", "name: amsterdam\n", "name: berlin\n")
    gone = plan(folder, *state, "--lost", "amsterdam")["gone"]
    assert ({item["fate"] for item in gone["objects"]}, gone["members"]) == ({"forgotten"}, [])


EXPORT = {"deployment": {"resources": [{"urn": "urn:pulumi:qa::shops::a::b", "type": "a"}]}}
FOREIGN: dict[str, tuple[tuple[str, ...], str]] = {
    "project": ((".",), "stack qa of project shops, not of stack dev of project web"),
    "stack of a project": (
        (".", "--stack", "dev"),
        "stack qa of project shops, not of stack dev of project web",
    ),
    "directory": (
        ("stacks/fleet", "--stack", "dev"),
        "stack qa of project shops, not of stack dev",
    ),
}


@pytest.mark.samples(3)
@pytest.mark.parametrize(("where", "both"), FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("command", ["plan", "explain", "render"])
def test_a_state_of_another_stack_is_refused(
    folder: Path, tmp_path: Path, command: str, where: tuple[str, ...], both: str
) -> None:
    state = tmp_path / "export.json"
    state.write_text(json.dumps(EXPORT))
    path, *more = where
    args: list[Any] = [command, path, *more, "--state", state]
    args += ["--out", tmp_path / "new"] if command == "render" else []
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error: {state}: is the state of {both}\n" in result.stderr
    assert "--any-state, if it is meant" in result.stderr
    assert not (tmp_path / "new").exists()
    assert run(*args, "--any-state").exit_code == 0


def test_the_render_of_a_directory_is_no_state_of_a_project(folder: Path) -> None:
    result = run("plan", ".", "--state", "../out/local/state.json")
    assert result.exit_code == 1
    assert "is the state of stack local, not of stack dev of project web\n" in result.stderr


@pytest.mark.parametrize("where", [".", "stacks/fleet"])
def test_what_two_bring_is_named_with_its_file(folder: Path, where: str) -> None:
    write(
        Path("stacks/fleet"),
        {"placement.yaml": PLACEMENT, "second.yaml": PLACEMENT.replace("shop}\nspec", "b}\nspec")},
    )
    refused = run("plan", where, "-o", "json")
    assert refused.exit_code == 3
    told = [
        (load["subject"], load["file"], load["line"])
        for load in json.loads(refused.stdout)["refused"]
    ]
    assert ("Deployment shop/storefront", "stacks/fleet/shop.yaml", 17) in told
    assert f"refused: {told[0][1]}:{told[0][2]}" in refused.stderr


@pytest.mark.parametrize(
    "words", ["explain", "plan -o json", "simulate --sweep member", "drain dublin"]
)
def test_what_a_hub_would_not_ask_about_is_called_alike_everywhere(
    words: str, tmp_path: Path
) -> None:
    hub = tmp_path / "hub"
    write_observation(hub, observed(kubefleet()), update=False)
    edit(
        hub / "policies/ClusterResourcePlacement/shop.yaml",
        "numberOfClusters: 2",
        "numberOfClusters: 1",
    )
    result = run(*words.split(), hub)
    assert result.exit_code == 3, result.output
    assert "to be confirmed: " in result.output
    assert "refused: " not in result.output
    assert "update is refused" not in result.output


@pytest.mark.parametrize(
    ("of_hub", "token", "called"),
    [(True, "ab12", "to be confirmed"), (True, None, "refused"), (False, "ab12", "refused")],
)
def test_so_is_what_a_loss_would_lead_to(of_hub: bool, token: str | None, called: str) -> None:
    refusal = LossRefusal("Namespace shop", "would be deleted", None, token)
    loss = LossDocument("dublin", ["dublin"], [], 1, {}, {}, 0, [refusal])
    page = sweep_view(
        SweepDocument(
            fleet={},
            supposed=[],
            start="the hub",
            observed=of_hub,
            by="member",
            members=1,
            subjects=1,
            short_already=[],
            losses=[loss],
            never_lost=[],
        )
    )
    line = f"{called} once dublin is lost: Namespace shop: would be deleted"
    assert line in printed(page.blocks)
    assert line in to_markdown(page)
