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
from tests.cli.clone import Clone
from tests.cli.fleets import run as review
from tests.examples.outcome import run

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PAGES = [
    *(
        REPOSITORY / name
        for name in ("README.md", "CONTRIBUTING.md", "examples/README.md", "changelog.d/README.md")
    ),
    *sorted(DOCS.rglob("*.md")),
]


def name_of(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_no_stack_file_carries_the_salt_of_somebodys_passphrase() -> None:
    stacks = sorted((REPOSITORY / "stacks").glob("Pulumi.*.yaml"))
    assert stacks
    assert [stack.name for stack in stacks if "encryption" in stack.read_text()] == []


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M
    )
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_section_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())
    targets = [(page.parent / path if path else page, anchor) for path, anchor in links]
    assert [
        anchor
        for target, anchor in targets
        if target.suffix == ".md" and anchor not in headings(target)
    ] == []


def test_the_readme_fits_on_two_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 100


def test_the_sample_is_what_a_review_prints(tmp_path: Path) -> None:
    """The README leaves out lines, where it has three dots; all others are printed in this order."""
    (sample,) = blocks("", "README.md")
    command, *shown = sample.splitlines()
    clone = Clone(
        tmp_path / "clone",
        {path.name: path.read_text() for path in (REPOSITORY / "stacks/fleet").iterdir()},
    )
    for path in (REPOSITORY / "stacks/fleet-next").iterdir():
        (clone.fleet / path.name).write_text(path.read_text())
    words = shlex.split(command.removeprefix("$ fleet ").replace(" fleet ", f" {clone.fleet} "))
    printed = review(*words, width=120).stdout
    at = 0
    for part in filter(
        None, re.split(r"^\.\.\.\n", "".join(f"{line}\n" for line in shown), flags=re.M)
    ):
        assert part in printed[at:]
        at = printed.index(part, at) + len(part)


def test_every_page_is_in_the_index_by_its_title() -> None:
    index = DOCS / "README.md"
    listed = re.findall(r"^\| \[([^]]+)\]\(([^)]+)\) \|", index.read_text(), re.M)
    single = [page for page in DOCS.rglob("*.md") if page.parent != DOCS / "decisions"]
    pages = {*single, DOCS / "decisions" / "README.md"} - {index}
    assert sorted(path for _, path in listed) == sorted(
        str(page.relative_to(DOCS)) for page in pages
    )
    titles = {
        path: (DOCS / path).read_text().partition("\n")[0].removeprefix("# ") for _, path in listed
    }
    assert {path: title for title, path in listed} == titles


def test_every_decision_is_in_its_index_and_has_its_three_parts() -> None:
    folder = DOCS / "decisions"
    pages = sorted(page.name for page in folder.glob("0*.md"))
    assert len(pages) >= 10
    assert re.findall(r"\]\((0[^)]+)\)", (folder / "README.md").read_text()) == pages
    for number, page in enumerate(pages, 1):
        text = (folder / page).read_text()
        assert re.match(rf"# {number}\. .+\n\nStatus: \w", text), page
        assert re.findall(r"^## (.*)", text, re.M) == ["Context", "Decision", "Consequences"]
        assert len(text.splitlines()) <= 40


def blocks(language: str, page: str) -> list[str]:
    """The snippets of a page in a language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (REPOSITORY / page).read_text(), re.S | re.M)
    return [text for name, text in fenced if name == language]


COMMANDS, LIBRARY, PROJECT = "docs/commands.md", "docs/library.md", "docs/pulumi.md"
SNIPPETS = [*blocks("python", LIBRARY), *blocks("python", PROJECT)]


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the fleet of the page on the commands, under both names that pages use."""
    (fleet_yaml,) = (text for text in blocks("yaml", COMMANDS) if "MemberCluster" in text)
    for name in ("my-fleet", "fleet"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fleet.yaml").write_text(fleet_yaml)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_commands_do_what_they_say(in_a_folder: Path) -> None:
    lines = [
        line.partition("#")[0].strip()
        for text in blocks("sh", COMMANDS)
        for line in text.splitlines()
    ]
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


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.split("\n")[0])
def test_the_snippets_run_as_they_stand(snippet: str, in_a_folder: Path) -> None:
    found: dict[str, Any] = {}
    run = run_program(lambda: exec(compile(snippet, "page.md", "exec"), found))
    assert run.error is None
    if "shop" in run.outputs:
        assert list(run.outputs["shop"]) == ["east"]


def test_the_commands_of_the_readme_are_those_that_ci_runs() -> None:
    """Nothing of the two commands is left to the machine that somebody happens to have."""
    ci = (REPOSITORY / ".ci" / "run").read_text()
    targets = re.findall(r"^(make \w+)", blocks("sh", "README.md")[0], re.M)
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
        r"sed -i.bak s/(.*)/(.*)/ stacks/clusters/(\S+)", (REPOSITORY / PROJECT).read_text()
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
