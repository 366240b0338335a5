"""What the README promises is there, and nothing of one machine is in what everybody gets."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from fleet_components.testing import run_program
from tests.examples.outcome import run

REPOSITORY = Path(__file__).parents[2]
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "examples" / "README.md",
    *sorted((REPOSITORY / "docs").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_no_stack_file_carries_the_salt_of_somebodys_passphrase() -> None:
    stacks = sorted((REPOSITORY / "stacks").glob("Pulumi.*.yaml"))
    assert stacks
    assert [stack.name for stack in stacks if "encryption" in stack.read_text()] == []


def blocks(language: str) -> list[str]:
    """The snippets of the README in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.S)


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the fleet of the README, under both names that it uses."""
    (fleet_yaml,) = (text for text in blocks("yaml") if "MemberCluster" in text)
    for name in ("my-fleet", "fleet"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fleet.yaml").write_text(fleet_yaml)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_commands_do_what_they_say(in_a_folder: Path) -> None:
    lines = [line.partition("#")[0].strip() for text in blocks("sh") for line in text.splitlines()]
    said = [
        shlex.split(line)[1:] for line in lines if line.startswith("fleet ") and "my-fleet" in line
    ]
    assert [words[0] for words in said] == [
        "plan",
        "explain",
        "simulate",
        "review",
        "render",
        "drain",
    ]
    me = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
    for git in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        (*me, "commit", "--quiet", "-m", "first"),
    ):
        subprocess.run(["git", *git], check=True)
    for words in said:
        result = CliRunner().invoke(fleet, words)
        assert (result.exit_code, result.stderr) == (0, "")
    assert (in_a_folder / "out" / "local" / "east").is_dir()


@pytest.mark.parametrize("snippet", blocks("python"), ids=lambda text: text.split("\n")[0])
def test_the_snippets_run_as_they_stand(snippet: str, in_a_folder: Path) -> None:
    found: dict[str, Any] = {}
    run = run_program(lambda: exec(compile(snippet, "README.md", "exec"), found))
    assert run.error is None
    if "shop" in run.outputs:
        assert list(run.outputs["shop"]) == ["east"]


def test_the_commands_of_the_readme_are_those_that_ci_runs() -> None:
    """Nothing of the two commands is left to the machine that somebody happens to have."""
    ci = (REPOSITORY / ".ci" / "run").read_text()
    targets = re.findall(r"^(make \w+)", blocks("sh")[0], re.M)
    assert targets == ["make demo", "make test"]
    assert [target for target in targets if target not in ci] == []
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)


def test_the_four_clusters_are_the_members_of_their_stack_and_a_new_image_reaches_one_after_the_other(
    tmp_path: Path,
) -> None:
    (started,) = re.findall(
        r"tools.clusters up out/clusters (.*)", (REPOSITORY / "Makefile").read_text()
    )
    config = yaml.safe_load((REPOSITORY / "stacks" / "Pulumi.clusters.yaml").read_text())["config"]
    assert config["fleet:kubeconfigs"] == {
        name: f"../out/clusters/{name}/kubeconfig" for name in started.split()
    }
    (change,) = re.findall(
        r"sed -i.bak s/(.*)/(.*)/ stacks/clusters/(\S+)", (REPOSITORY / "README.md").read_text()
    )
    before, after, file = change
    folder = shutil.copytree(REPOSITORY / "stacks" / config["fleet:source"], tmp_path / "clusters")
    text = (folder / file).read_text()
    assert before in text
    first, records = run(folder)
    (folder / file).write_text(text.replace(before, after))
    second, _ = run(folder, records)
    names = started.split()
    assert first["shop"]["rollout"] == {"revision 0, wave 1": ", ".join(names)}
    assert second["shop"]["rollout"] == {
        f"revision 1, wave {n}": name for n, name in enumerate(names, 1)
    }
