"""What newcomers stumble over: the commands say what is meant, and what to write instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.fleets import FLEET, PLACEMENT, PROJECT, clusters, edit, plan, run, write

DEV, PROD = "stacks/Pulumi.dev.yaml", "stacks/Pulumi.prod.yaml"
LOST = {"amsterdam": "zurich", "dublin": "oslo"}
MORE_LOST = {**LOST, "virginia": "oregon"}
AT_ONCE = ("maxUnavailable: 1, maxSurge: 1", "maxUnavailable: 100%, maxSurge: 100%")
AGAIN = {
    "again.yaml": PLACEMENT.replace("name: shop}\nspec", "name: again}\nspec").replace(
        "name: shop}", "name: other}"
    ),
    "other.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write(tmp_path / "fleet"))
    return tmp_path / "fleet"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write(tmp_path / "project", {**PROJECT, PROD: PROJECT[DEV]}))
    return tmp_path / "project"


def refused(*args: object) -> list[str]:
    """What is said of an input that cannot be worked with, a line an item."""
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    return result.stderr.splitlines()


@pytest.mark.parametrize("command", ["plan", "explain"])
def test_the_folder_of_the_stacks_is_no_fleet(project: Path, command: str) -> None:
    expected = [
        f"error: {DEV}: is a Pulumi stack file",
        "  hint: fleet plan . --stack dev",
        f"error: {PROD}: is a Pulumi stack file",
        "  hint: fleet plan . --stack prod",
    ]
    assert refused(command, "stacks") == refused(command, "stacks", "--stack", "dev") == expected
    assert refused(command, DEV) == expected[:2]


def test_the_hint_is_a_command_that_works_from_here(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "stacks")
    hint = refused("plan", "Pulumi.dev.yaml")[1].removeprefix("  hint: fleet ")
    assert hint == "plan .. --stack dev"
    assert run(*hint.split()).exit_code == 0


def test_a_project_below_a_directory_is_named(folder: Path) -> None:
    write(folder, {"infra/Pulumi.yaml": PROJECT["Pulumi.yaml"]})
    said = refused("plan", ".")
    assert said == [
        "error: infra/Pulumi.yaml: is the file of a Pulumi project",
        "  hint: fleet plan infra --project",
    ]


def test_a_stack_file_without_its_project(folder: Path) -> None:
    write(folder, {"Pulumi.dev.yaml": PROJECT[DEV]})
    assert refused("plan", ".") == [
        "error: Pulumi.dev.yaml: is a Pulumi stack file",
        "  hint: plan its project: the directory with Pulumi.yaml",
    ]


def test_a_state_comes_through_a_pipe(folder: Path) -> None:
    assert run("render", ".", "--out", "../out").exit_code == 0
    state = Path("../out/local/state.json").read_text()
    piped = json.loads(run("plan", ".", "--all", "--state", "-", "-o", "json", stdin=state).stdout)
    assert clusters(piped) == {"amsterdam": "stays", "dublin": "stays"}
    assert piped["state"] == "standard input"
    again = run("render", ".", "--state", "-", "--out", "../again", stdin=state)
    assert "planned from standard input" in again.stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "is not JSON"), ("[]", "is not a state of a fleet"), ("{}", "has neither")],
)
def test_what_comes_through_a_pipe_and_is_no_state(folder: Path, text: str, why: str) -> None:
    result = run("plan", ".", "--state", "-", stdin=text)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: standard input")
    assert why in result.stderr
    assert "hint: give the output of: pulumi stack export" in result.stderr


def test_a_directory_says_as_which_stack_it_is_planned(folder: Path) -> None:
    assert plan(".")["fleet"] == {"paths": ["."], "stack": "local"}
    assert plan(".", "--stack", "prod")["fleet"] == {"paths": ["."], "stack": "prod"}


@pytest.mark.parametrize("time", ["yesterday", "2026-01-31T12:00:00"])
def test_how_a_time_is_written_is_said_once(folder: Path, time: str) -> None:
    assert run("plan", ".", "--as-of", time).stderr.count("write it as 2026-01-31T12:00:00Z") == 1


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (3, "PickN 3 of 4 members"),
        (4, "PickN 4 of 4 members"),
        (5, "PickN 5 (the fleet has only 4 members)"),
    ],
)
def test_more_members_than_there_are(folder: Path, wanted: int, words: str) -> None:
    edit(Path("placement.yaml"), "numberOfClusters: 2", f"numberOfClusters: {wanted}")
    assert f"  {words}, 4 objects, new\n" in run("plan", ".").stdout


def test_a_score_of_nothing_is_0(folder: Path) -> None:
    before, _, rest = FLEET["placement.yaml"].partition("    affinity:\n")
    Path("placement.yaml").write_text(before + "  strategy:" + rest.partition("  strategy:")[2])
    rows = [line.split() for line in run("plan", ".").stdout.splitlines() if "joins" in line]
    assert [row[row.index("0") + 1] for row in rows] == ["0", "0"]
    assert "| 0 | passes every filter |" in run("plan", ".", "-o", "markdown").stdout


def test_a_member_that_is_gone_is_called_so(folder: Path) -> None:
    assert run("render", ".", "--out", "../out").exit_code == 0
    edit(Path("members.yaml"), "name: amsterdam\n", "name: zurich\n")
    text = run("plan", ".", "--state", "../out/local/state.json").stdout
    assert re.search(
        "amsterdam +leaves .*no longer a member of the fleet, so it cannot be picked", text
    )


def test_refusals_of_one_object_come_in_the_order_of_its_lines(folder: Path) -> None:
    edit(Path("placement.yaml"), "maxSurge: 1", "maxSurge: some")
    edit(Path("placement.yaml"), "weight: 60", "weight: 600")
    edit(
        Path("placement.yaml"),
        "kind: Namespace, name: shop",
        "kind: Namespace, name: shop, selectionScope: All",
    )
    edit(Path("placement.yaml"), "numberOfClusters: 2", "numberOfClusters: -1")
    lines = [
        int(found) for found in re.findall(r"placement.yaml:(\d+)", "\n".join(refused("plan", ".")))
    ]
    assert len(lines) > 2
    assert lines == sorted(lines)


def lose(folder: Path, lost: Mapping[str, str]) -> None:
    """Take members at once, all that two placements have among them."""
    for old, new in lost.items():
        edit(folder / "members.yaml", f"name: {old}\n", f"name: {new}\n")
    for file in (
        file for name in ("placement.yaml", "again.yaml") if (file := folder / name).exists()
    ):
        edit(file, *AT_ONCE)


def test_several_tokens_are_confirmed_with_one_command(project: Path, tmp_path: Path) -> None:
    write(project / "stacks" / "fleet", AGAIN)
    assert run("render", ".", "--stack", "dev", "--out", tmp_path / "out").exit_code == 0
    state = tmp_path / "out" / "dev" / "state.json"
    lose(project / "stacks" / "fleet", MORE_LOST)
    result = run("plan", ".", "--stack", "dev", "--state", state)
    assert result.exit_code == 3
    tokens = re.findall(r"fleet:confirm=(\w+)", result.stderr)
    assert len(set(tokens)) == 2
    line = next(line for line in result.stdout.splitlines() if line.startswith("if all"))
    assert line == f"if all of them are meant: pulumi config set fleet:confirm {','.join(tokens)}"
    edit(
        project / DEV, "../rendered\n", f"../rendered\n  fleet:confirm: {line.rpartition(' ')[2]}\n"
    )
    document = plan(".", "--stack", "dev", "--state", state)
    assert clusters(document)["zurich"] == clusters(document, "again")["zurich"] == "joins"


def test_a_plan_of_a_directory_lists_the_tokens_too(folder: Path) -> None:
    write(folder, AGAIN)
    assert run("render", ".", "--out", "../out").exit_code == 0
    lose(folder, MORE_LOST)
    args = ("plan", ".", "--state", "../out/local/state.json")
    for text in (
        run(*args, width=50).stdout,
        run(*args, "-o", "markdown").stdout,
        run("render", ".", "--out", "../out").stderr,
    ):
        tokens = list(dict.fromkeys(re.findall(r"--confirm\s+(\w+)", text)))
        assert len(tokens) == 2
        assert f"if all of them are meant: --confirm {tokens[0]} --confirm {tokens[1]}" in text
        assert "pulumi config" not in text


def test_one_token_needs_no_list(folder: Path) -> None:
    assert run("render", ".", "--out", "../out").exit_code == 0
    lose(folder, LOST)
    text = run("plan", ".", "--state", "../out/local/state.json").stdout
    assert text.count("--confirm") == 1


def test_labels_that_no_member_has_are_told_with_those_that_they_have(folder: Path) -> None:
    edit(Path("placement.yaml"), "environment: production", "environment: staging, region: europe")
    hint = "no member has environment=staging; for environment the members have production (3), test (1)"
    assert hint in run("explain", ".").stdout
    assert hint in run("explain", ".", "shop").stdout
    (placement,) = json.loads(run("explain", ".", "-o", "json").stdout)["subjects"]
    assert placement["hints"] == [hint]


@pytest.mark.parametrize(
    ("labels", "hints"),
    [
        ("{environment: production}", []),
        (
            "{environmnt: production}",
            ["the label environmnt is on none of them; did you mean environment?"],
        ),
        ("{zzz: production}", ["the label zzz is on none of them"]),
        (
            "{environment: production, region: asia}",
            ["for region the members have america (2), europe (2)"],
        ),
    ],
)
def test_what_is_told_of_labels(folder: Path, labels: str, hints: list[str]) -> None:
    edit(Path("placement.yaml"), "{environment: production}", labels)
    (placement,) = json.loads(run("explain", ".", "-o", "json").stdout)["subjects"]
    assert [hint.partition("; ")[2] for hint in placement["hints"]] == hints


def test_two_objects_that_would_be_one_file_are_refused(folder: Path) -> None:
    maps = [{"name": "prices", "namespace": "shop-eu"}, {"name": "eu-prices", "namespace": "shop"}]
    objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": item} for item in maps]
    objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop-eu"}})
    write(folder, {"more.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})})
    selector = '  - {group: "", version: v1, kind: Namespace, name: shop}\n'
    edit(Path("placement.yaml"), selector, selector + selector.replace("shop", "shop-eu"))
    said = "\n".join(refused("render", ".", "--out", "../out"))
    assert "would be one file with" in said
    assert "ConfigMap shop/eu-prices" in said
    assert "ConfigMap shop-eu/prices" in said
