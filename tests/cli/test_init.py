"""``fleet init``: what it writes plans at once, what is there stays, and a kubeconfig is only read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_components import read_source
from fleet_components.cli.command import fleet
from fleet_components.starting.fleet import fleet_files
from fleet_components.starting.member import LONGEST, NewMember, members_of, usable_name
from tests.cli.fleets import run

SYSTEMS = tuple(LONGEST)
CANARY = "SWORDFISH-planted"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def init(*args: object) -> Result:
    source = (
        ["--install", "make it"]
        if "--ci" in args and not {"--install", "--requirements"} & {*args}
        else []
    )
    return CliRunner().invoke(fleet, ["init", *source, *map(str, args)])


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kubeconfig(path: Path, contexts: dict[str, str], current: str = "", **servers: str) -> Path:
    """A file with contexts, each of a cluster; its users have secrets and a plug-in that leaves a trace."""
    user = {"token": CANARY, "exec": {"command": "touch", "args": [str(path.parent / "ran")]}}
    clusters = {
        name: servers.get(name, f"https://{name}.example.com/{path.stem}")
        for name in contexts.values()
    }
    data = {
        "clusters": [
            {"name": name, "cluster": {"server": server, "certificate-authority-data": CANARY}}
            for name, server in clusters.items()
        ],
        "contexts": [
            {"name": n, "context": {"cluster": c, "user": "u", "namespace": CANARY}}
            for n, c in contexts.items()
        ],
        "current-context": current,
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(json.dumps(data))
    return path


def members(folder: Path = Path("fleet")) -> dict[str, Any]:
    found = yaml.safe_load_all((folder / "members.yaml").read_text())
    return {item["metadata"]["name"]: item["metadata"].get("labels") for item in found}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    "given_members", [[], ["--member", "only"], ["--member", "a:tier=gold,x/y=", "--member", "b"]]
)
def test_what_it_writes_plans_explains_and_renders(system: str, given_members: list[str]) -> None:
    result = init("--system", system, *given_members)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("\nnext:\n  fleet plan fleet\n")
    planned = run("plan", "fleet", "--strict")
    assert (planned.exit_code, planned.stderr) == (0, "")
    for name in members():
        assert f"  {name} " in planned.stdout
    for command in (["explain", "fleet"], ["render", "fleet", "--out", "out", "--strict"]):
        done = run(*command)
        assert (done.exit_code, done.stderr) == (0, "")
    assert {path.name for path in Path("out/local").iterdir() if path.is_dir()} == set(members())


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lines_that_do_not_count_yet_are_a_policy(system: str, here: Path) -> None:
    assert (
        init("--system", system, "--member", "a:environment=production", "--member", "b").exit_code
        == 0
    )
    policy = here / "fleet" / ("placement.yaml" if system == "kubefleet" else "policy.yaml")
    policy.write_text(policy.read_text().replace("    # ", "    "))
    planned = run("plan", "fleet", "--strict")
    assert (planned.exit_code, planned.stderr) == (0, "")
    assert "  a " in planned.stdout
    assert "  b " not in planned.stdout


def test_without_members_there_are_two_that_are_called_examples() -> None:
    result = init()
    assert members() == {
        "east": {"environment": "production"},
        "west": {"environment": "production"},
    }
    assert "east and west are examples: put your own members in their place\n" in result.stdout
    assert "are examples" in Path("fleet/members.yaml").read_text()
    assert (
        "examples"
        not in init("other", "--member", "a").stdout + Path("other/members.yaml").read_text()
    )


def test_a_workflow_needs_a_source_of_the_package() -> None:
    for words in (
        ["--ci", "github"],
        ["--ci", "github", "--install", "make it", "--requirements", "a.txt"],
    ):
        result = CliRunner().invoke(fleet, ["init", *words])
        assert (
            result.exit_code,
            "--ci takes --requirements FILE, or --install COMMAND" in result.stderr,
        ) == (1, True)
    assert tree(Path.cwd()) == {}


def test_members_by_hand_have_their_labels() -> None:
    assert (
        init(
            "--member", "on:region=eu,example.com/tier=1", "--member", "no", "--member", "1e3"
        ).exit_code
        == 0
    )
    assert (
        Path("fleet/members.yaml").read_text().count('name: "on"') == 2
    )  # a truth value to some readers
    assert members() == {"on": {"region": "eu", "example.com/tier": "1"}, "no": None, "1e3": None}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_kubeconfig_gives_a_member_for_each_cluster_and_nothing_secret(
    system: str, here: Path
) -> None:
    file = kubeconfig(
        here / "config.yaml",
        {"arn:aws:eks:eu-west-1:1:cluster/Prod": "a", "admin@b": "b", "dev@b": "b", "~": "c"},
        current="dev@b",
    )
    before = file.read_text()
    result = init("--kubeconfig", file, "--system", system, "--member", "hand")
    assert (result.exit_code, result.stderr) == (0, "")
    assert list(members()) == ["arn-aws-eks-eu-west-1-1-cluster-prod", "dev-b", "member", "hand"]
    assert f"member dev-b: context dev@b of {file}\n" in result.stdout
    assert f"left out: context admin@b of {file}, which leads to dev-b too\n" in result.stdout
    written = tree(here / "fleet")
    assert sorted(written) == [
        "app.yaml",
        "members.yaml",
        "placement.yaml" if system == "kubefleet" else "policy.yaml",
    ]
    assert CANARY not in "".join(written.values()) + result.output
    assert not (here / "ran").exists()
    assert file.read_text() == before
    assert run("plan", "fleet", "--strict").exit_code == 0


def test_contexts_of_one_name_are_told_apart_by_their_files(here: Path) -> None:
    files = [
        kubeconfig(here / f"{name}.yaml", {"default": "default"}) for name in ("paris", "Rome")
    ]
    given_files = [part for file in [*files, files[0]] for part in ("--kubeconfig", file)]
    assert init(*given_files, "--member", "paris-default").exit_code == 0
    assert list(members()) == ["paris-default-2", "rome-default", "paris-default"]


def test_only_the_contexts_that_are_chosen_count(here: Path) -> None:
    file = kubeconfig(here / "config", {"a": "a", "b": "b", "c": "c"})
    assert init("--kubeconfig", file, "--context", "c", "--context", "a").exit_code == 0
    assert list(members()) == ["a", "c"]


@given(
    names=st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=6, unique=True),
    system=st.sampled_from(SYSTEMS),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_context_becomes_a_member_of_its_own(names: list[str], system: str, here: Path) -> None:
    contexts = {name: f"c{number}" for number, name in enumerate(names)}
    file = kubeconfig(here / "any", contexts)
    found = members_of([file], (), system, {"taken"}).members
    assert len({item.name for item in found} | {"taken"}) == len(names) + 1
    for path, text in fleet_files(here / "any-fleet", found, system).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    source = read_source(str(here / "any-fleet"))
    assert (source.problems, source.warnings) == ((), ())
    assert {cluster.name for cluster in source.clusters} == {item.name for item in found}


BAD = {
    "the home of nobody": (
        ["--kubeconfig", "~nobody-here/config"],
        "the kubeconfig cannot be read: No such file",
    ),
    "no kubeconfig there": (
        ["--kubeconfig", "none.yaml"],
        "none.yaml: the kubeconfig cannot be read: No such file",
    ),
    "a folder": (["--kubeconfig", "."], "the kubeconfig cannot be read: Is a directory"),
    "no YAML": (["--kubeconfig", "bad.yaml"], "bad.yaml: is not a kubeconfig"),
    "something else": (
        ["--kubeconfig", "list.yaml"],
        "list.yaml: is not a kubeconfig: it is not a YAML mapping",
    ),
    "a context that leads nowhere": (
        ["--kubeconfig", "nowhere.yaml"],
        'the context "a" leads to no cluster of the file',
    ),
    "a context twice": (
        ["--kubeconfig", "twice.yaml"],
        'twice.yaml: the context "a" is there twice',
    ),
    "no such context": (
        ["--kubeconfig", "good.yaml", "--context", "prot"],
        'no kubeconfig has a context "prot"',
    ),
    "a context of nothing": (["--context", "a"], "--context is a part of a --kubeconfig"),
    "upper case": (["--member", "East"], '"East" cannot be the name of a member'),
    "dots": (["--member", "a.b"], '"a.b" cannot be the name of a member'),
    "no name": (["--member", ":a=b"], '"" cannot be the name of a member'),
    "too long": (["--member", "a" * 64], "at most 63 of them"),
    "too long for Karmada": (["--member", "a" * 49, "--system", "karmada"], "at most 48 of them"),
    "a command": (["--member", "a\x1b[2J"], '"a\\x1b[2J" cannot be the name of a member'),
    "two of a name": (["--member", "a", "--member", "a"], 'there are two members "a"'),
    "no label": (["--member", "a:b"], 'member a: label "b": it is not label=value'),
    "a label without a key": (
        ["--member", "a:=b"],
        'member a: label "=b": name part must be non-empty',
    ),
    "a value with a space": (
        ["--member", "a:b=c d"],
        'member a: label "b=c d": a valid label must be',
    ),
    "a label twice": (["--member", "a:b=c,b=d"], 'member a: label "b=d": it is there twice'),
    "an empty label": (["--member", "a:"], 'member a: label "": it is not label=value'),
    "another system": (
        ["--system", "openshift"],
        "'openshift' is not one of 'kubefleet', 'karmada'",
    ),
    "another CI": (["--ci", "jenkins"], "'jenkins' is not one of"),
    "an install of two lines": (
        ["--ci", "github", "--install", "a\nb"],
        "--install is not one line",
    ),
    "an empty install": (["--ci", "github", "--install", " "], "--install is not one line"),
    **{
        f"an install by name alone, {name}": (
            ["--ci", "github", "--install", command],
            "by its name from a public index",
        )
        for name, command in {
            "plain": "pip install fleet-components",
            "with an extra": "pip install 'fleet-components[cli]'",
            "with a version": "uv pip install 'Fleet_Components[cli]==0.1.0'",
            "with one index more": "pip install --extra-index-url https://a.example 'fleet-components>=0.1'",
            "with a marker": "pip install 'fleet.components ; python_version > \"3\"'",
            "of a tool": "pipx install fleet--components",
            "beside another": "pip install wheel && pip install fleet-components",
        }.items()
    },
    "an install that no shell reads": (
        ["--ci", "github", "--install", "pip install 'x"],
        "cannot be read by a shell",
    ),
    "requirements that are not there": (
        ["--ci", "github", "--requirements", "gone.txt"],
        "cannot be read",
    ),
    "requirements of nothing": (
        ["--requirements", "good.yaml"],
        "--requirements is a part of the workflow",
    ),
    "an install of nothing": (
        ["--install", "pip install x"],
        "--install is a part of the workflow",
    ),
    "a folder that a shell reads": (
        ["--ci", "github", "a b"],
        "a b: a workflow cannot name this folder",
    ),
    "an option as folder": (
        ["--ci", "github", "--", "-x"],
        "-x: a workflow cannot name this folder",
    ),
    "a folder elsewhere": (["--ci", "github", "../elsewhere"], "../elsewhere: is not in "),
    "a project above": (
        ["--project", "."],
        ".: is the current folder, and the project goes into the one above",
    ),
    "a file as folder": (["good.yaml"], "cannot be written: "),
    "a context that is not current": (
        ["--project", "--kubeconfig", "good.yaml"],
        '"prod" is not its current context',
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_named_and_nothing_is_written(case: str, here: Path) -> None:
    kubeconfig(here / "good.yaml", {"prod": "p"})
    kubeconfig(here / "nowhere.yaml", {"a": "a"}).write_text(
        "{clusters: [{name: c, cluster: {}}], contexts: [{name: a, context: {cluster: b}}]}"
    )
    (here / "twice.yaml").write_text(
        "{clusters: [{name: c, cluster: {}}], contexts: [{name: a, context: {cluster: c}}, {name: a, context: {cluster: c}}]}"
    )
    (here / "bad.yaml").write_text("a: [")
    (here / "list.yaml").write_text("- a")
    (here / ".git").mkdir()
    before = tree(here.parent)
    arguments, said = BAD[case]
    result = init(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr.replace("\n", " ")
    assert isinstance(result.exception, SystemExit)
    assert tree(here.parent) == before
    assert sorted(path.name for path in here.parent.iterdir()) == ["here"]


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="root may read and write everything"
)
def test_what_may_not_be_read_or_written_is_named(here: Path) -> None:
    kubeconfig(here / "config", {"a": "a"}).chmod(0)
    assert "cannot be read: Permission denied" in init("--kubeconfig", "config").stderr
    (here / "locked").mkdir(mode=0o500)
    assert "cannot be written: Permission denied" in init("locked/fleet").stderr


def test_all_or_nothing_and_never_over_what_is_there(here: Path) -> None:
    (here / "fleet").mkdir()
    (here / "fleet/app.yaml").write_text("mine")
    (here / "Pulumi.yaml").symlink_to("nowhere")
    result = init("--project")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error: fleet/app.yaml: exists\n" in result.stderr
    assert "error: Pulumi.yaml: exists\n" in result.stderr
    assert "members" not in result.stderr
    assert tree(here) == {"fleet/app.yaml": "mine"}
    assert init("other", "--member", "a").exit_code == 0
    before = tree(here)
    assert init("other").exit_code == 1
    assert tree(here) == before


def test_a_failure_in_the_middle_leaves_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".github").write_text("a file where a folder has to be")
    result = init("a/b/fleet", "--ci", "github")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "cannot be written: " in result.stderr
    assert [path.name for path in here.iterdir()] == [".github"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_project_plans_and_reaches_members_by_their_files(system: str, here: Path) -> None:
    (here / "my Shop").mkdir()
    file = kubeconfig(here / "east.yaml", {"east": "e"}, current="east")
    result = init("my Shop/fleet", "--project", "--system", system, "--kubeconfig", file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("  fleet plan 'my Shop' --stack dev\n")
    stack = yaml.safe_load((here / "my Shop/Pulumi.dev.yaml").read_text())
    assert stack == {"config": {"fleet:source": "fleet", "fleet:kubeconfigs": {"east": str(file)}}}
    planned = run("plan", "my Shop", "--stack", "dev", "--strict")
    assert (planned.exit_code, planned.stderr) == (0, "")
    assert "Stack my-shop-dev" in planned.stdout
    assert CANARY not in planned.output


def test_a_project_without_kubeconfigs_renders(here: Path) -> None:
    assert init("--project").exit_code == 0
    text = (here / "Pulumi.dev.yaml").read_text()
    assert yaml.safe_load(text) == {"config": {"fleet:source": "fleet", "fleet:render": "out"}}
    planned = run("plan", ".", "--stack", "dev", "--strict")
    assert (planned.exit_code, planned.stderr) == (0, "")
    mended = (
        text.replace("  fleet:render: out\n", "").replace("  # ", "  ").replace("  #   ", "    ")
    )
    assert yaml.safe_load(mended)["config"]["fleet:kubeconfigs"] == {
        n: f"~/.kube/{n}.yaml" for n in ("east", "west")
    }


def test_paths_of_kubeconfigs_move_with_the_project_and_the_home(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(here / "home"))
    (here / "home/p/in").mkdir(parents=True)
    for name in ("home/h", "home/p/in/i", "o"):
        kubeconfig(here / name, {Path(name).name: name}, current=Path(name).name)
    monkeypatch.chdir(here / "home/p")
    assert (
        init(
            "--project", "--kubeconfig", "~/h", "--kubeconfig", "in/i", "--kubeconfig", "../../o"
        ).exit_code
        == 0
    )
    config = yaml.safe_load(Path("Pulumi.dev.yaml").read_text())["config"]
    assert config["fleet:kubeconfigs"] == {"h": "~/h", "i": "in/i", "o": str(here / "o")}


@pytest.mark.parametrize("ci", ["github", "gitlab", "azure-devops"])
def test_a_fleet_that_is_there_only_gets_its_workflow(
    ci: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".git").write_text("gitdir: a worktree has a file")
    assert init("clusters/fleet").exit_code == 0
    before = tree(here / "clusters")
    monkeypatch.chdir(here / "clusters")
    result = init("fleet", "--ci", ci)
    assert (result.exit_code, result.stderr) == (0, "")
    assert tree(here / "clusters") == before
    assert result.stdout.startswith("wrote ../.")
    assert "fleet plan" not in result.stdout
    text = "".join(path.read_text() for path in here.glob(".[a-z]*/**/*.yml"))
    assert "review clusters/fleet --base" in text
    again = init("fleet", "--ci", ci)
    assert again.exit_code == 1
    assert ": exists\n" in again.stderr


def test_what_is_printed_commands_nothing(here: Path) -> None:
    result = init(
        "x\x1b[2J",
        "--project",
        "--kubeconfig",
        kubeconfig(here / "c", {"a\x1b[2J": "a"}, "a\x1b[2J"),
    )
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\x1b" not in "".join(path.read_text() for path in here.rglob("*.yaml"))


def test_fleet_and_workflow_come_together(here: Path) -> None:
    result = init("--ci", "github", "--member", "a")
    assert result.exit_code == 0
    assert {"fleet/members.yaml", ".github/workflows/fleet-comment.yml"} <= tree(here).keys()
    following = result.stdout.partition("next:\n")[2]
    steps = ("  fleet plan fleet\n", "  commit the workflow; ")
    assert sorted(steps, key=following.index) == list(steps)


def test_a_fleet_may_be_the_whole_repository(here: Path) -> None:
    """The files of CI systems are hidden from it."""
    for ci in ("github", "gitlab", "azure-devops"):
        assert init(".", "--ci", ci).exit_code == 0
    assert run("plan", ".", "--strict").exit_code == 0
    assert 'paths: ["**"]' in (here / ".github/workflows/fleet-review.yml").read_text()
    assert "review . --base" in (here / ".gitlab/fleet-review.yml").read_text()


def test_a_workflow_runs_where_a_file_of_the_fleet_changes_at_any_depth(here: Path) -> None:
    """GitLab takes ``fleet/**`` for the files of one folder."""
    filters = {
        "github": 'paths: ["fleet/**"]',
        "gitlab": 'changes: ["fleet/**/*"]',
        "azure-devops": "/fleet/*. ",
    }
    for ci, wanted in filters.items():
        assert init("--ci", ci).exit_code == 0
        assert any(wanted in path.read_text() for path in here.glob(".[a-z]*/**/*.yml"))


def test_gitlabs_own_file_is_written_once_and_then_only_told(here: Path) -> None:
    include = {"include": [{"local": ".gitlab/fleet-review.yml"}]}
    assert "add to" not in init("--ci", "gitlab").stdout
    assert yaml.safe_load((here / ".gitlab-ci.yml").read_text()) == include
    (here / "two").mkdir()
    (here / "two/.git").mkdir()
    (here / "two/.gitlab-ci.yml").write_text("mine: {}\n")
    result = init("two/fleet", "--ci", "gitlab")
    assert (here / "two/.gitlab-ci.yml").read_text() == "mine: {}\n"
    assert yaml.safe_load(result.stdout.partition("  add to .gitlab-ci.yml:\n")[2]) == include


@pytest.mark.parametrize(
    ("text", "longest", "name"),
    [
        ("Prod_EU", 63, "prod-eu"),
        ("--a--", 63, "a"),
        ("a" * 50 + "-b", 51, "a" * 50),
        ("é", 63, "member"),
        ("", 9, "member"),
    ],
)
def test_a_usable_name_is_near(text: str, longest: int, name: str) -> None:
    assert usable_name(text, longest) == name


def test_a_label_is_written_as_text(here: Path) -> None:
    files = fleet_files(
        here, [NewMember("a", {"n": "1", "b": "true", "e": "", "d": "2026-01-01"})], "kubefleet"
    )
    (data,) = yaml.safe_load_all(files[here / "members.yaml"])
    assert data["metadata"]["labels"] == {"n": "1", "b": "true", "e": "", "d": "2026-01-01"}
