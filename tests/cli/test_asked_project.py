"""A program is run where the command line asks for it, and never because of a file that is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from tests.cli.fleets import FLEET, PROJECT, write

PROGRAM = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nfrom fleet_components import Fleet\nFleet.from_config('dev')\n"
STACK = "config: {fleet:source: .}\n"
COMMANDS = {"plan": [], "explain": [], "render": ["--out", "../out"]}


@pytest.fixture
def yaml_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write(tmp_path / "fleet", FLEET))
    return tmp_path / "fleet"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write(tmp_path / "project", {**PROJECT, "stacks/__main__.py": PROGRAM}))
    return tmp_path / "project"


def call(command: str, *words: str) -> Result:
    return CliRunner().invoke(fleet, [command, *words, *COMMANDS[command]], catch_exceptions=False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["Pulumi.yaml", "Pulumi.yml"])
def test_a_file_makes_no_program_of_a_directory(yaml_alone: Path, command: str, name: str) -> None:
    write(
        yaml_alone,
        {name: "{name: web, runtime: python}", "Pulumi.dev.yaml": STACK, "__main__.py": PROGRAM},
    )
    done = call(command, ".")
    assert done.exit_code == 1
    assert done.stderr == (
        "error: .: is a Pulumi project, and nothing asks to run it\n"
        "  hint: say so: fleet plan . --project; or give the directory of its YAML\n"
    )
    assert not (yaml_alone / "ran").exists()


@pytest.mark.samples(4)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "words", [(".", "--project"), (".", "--stack", "dev"), ("Pulumi.yaml",), ("./Pulumi.yaml",)]
)
def test_it_is_run_where_it_is_asked_for(
    project: Path, command: str, words: tuple[str, ...]
) -> None:
    done = call(command, *words)
    assert done.exit_code == 0, done.output
    assert (project / "stacks/ran").exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "words", [(".",), (".", "--stack", "dev"), ("Pulumi.yaml",), ("stacks/fleet", ".")]
)
def test_no_program_runs_none(project: Path, command: str, words: tuple[str, ...]) -> None:
    given = (
        (words[0], "--with", *words[1:]) if command == "explain" and words[1:] == (".",) else words
    )
    done = call(command, *given, "--no-program")
    assert done.exit_code == 1
    assert "Pulumi project" in done.stderr
    assert not (project / "stacks/ran").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_program_plans_yaml(yaml_alone: Path, command: str) -> None:
    plain, guarded = call(command, "."), call(command, ".", "--no-program")
    assert guarded.exit_code == plain.exit_code == 0
    assert command == "render" or guarded.stdout == plain.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_directory_that_is_asked_for_as_a_project(yaml_alone: Path, command: str) -> None:
    done = call(command, ".", "--project")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: .: is no Pulumi project: it has no Pulumi.yaml\n")


@pytest.mark.parametrize("words", [("--project",), ("--plugin", "mine:Scorer")])
def test_options_that_exclude_each_other(yaml_alone: Path, words: tuple[str, ...]) -> None:
    done = call("plan", ".", "--no-program", *words)
    assert done.exit_code == 1
    assert f"--no-program and {words[0]} exclude each other" in done.stderr


def test_a_link_out_of_a_directory_is_not_read(yaml_alone: Path) -> None:
    write(yaml_alone.parent, {"elsewhere.yaml": FLEET["placement.yaml"]})
    (yaml_alone / "link.yaml").symlink_to("../elsewhere.yaml")
    (yaml_alone / "near.yaml").symlink_to("members.yaml")
    done = call("plan", ".")
    assert "error: link.yaml: is a link that leads out of .\n" in done.stderr
    assert "near.yaml: is a link" not in done.stderr
    assert (
        call("plan", "link.yaml", "members.yaml").exit_code == 1
    )  # named by the caller, so it is read
