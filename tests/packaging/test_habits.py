"""The files for contributors fit their schemas, pin what they use, and call what the project itself calls."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
check_jsonschema = import_module("check_jsonschema").main  # untyped
SCHEMAS = {
    "workflows/ci.yml": "vendor.github-workflows",
    "ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/feature.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    "dependabot.yml": "vendor.dependabot",
}
"""Schemas that come with the tool: nothing is fetched."""
HOOKS: list[dict[str, Any]] = [
    hook
    for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for hook in repository["hooks"]
]


def fits(schema: str, file: Path) -> bool:
    return (
        CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(file)]).exit_code == 0
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_file_of_github_fits_its_schema(name: str, tmp_path: Path) -> None:
    assert fits(SCHEMAS[name], GITHUB / name)
    broken = tmp_path / "broken.yml"
    broken.write_text((GITHUB / name).read_text() + "\nnonsense: {a: b}\n")
    assert not fits(SCHEMAS[name], broken)


def test_every_file_of_github_is_checked() -> None:
    assert {str(file.relative_to(GITHUB)) for file in GITHUB.rglob("*.yml")} == SCHEMAS.keys()


def test_actions_are_pinned_as_in_the_workflows_that_users_get() -> None:
    pin = re.compile(r"uses: (actions/[\w-]+)@(.+)")
    templates = "".join(
        file.read_text() for file in (ROOT / "fleet_components/starting/templates").glob("*.yml")
    )
    used = pin.findall((GITHUB / "workflows/ci.yml").read_text())
    assert used
    assert set(used) <= set(pin.findall(templates))
    assert [
        action for action, version in used if not re.fullmatch(r"[0-9a-f]{40}  # v[\d.]+", version)
    ] == []


def test_the_workflow_runs_what_ci_runs_and_may_only_read() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows/ci.yml").read_text())
    steps = workflow["jobs"]["all"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert workflow["permissions"] == {"contents": "read"}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_hooks_fetch_nothing_and_call_the_tools_of_make_lint() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"repo: (.*)", text) == ["local"]
    assert "://" not in text
    assert {hook["language"] for hook in HOOKS} == {"system"}
    lint = (
        (ROOT / "Makefile")
        .read_text()
        .partition("\nlint: ")[2]
        .partition("\n\n")[0]
        .replace("$(BIN)", ".venv/bin")
    )
    commands = [line.strip() for line in lint.splitlines()[1:]]
    for hook in HOOKS:
        entry = hook["entry"].replace(" --force-exclude", "")
        assert any(
            shlex.split(command)[: len(shlex.split(entry))] == shlex.split(entry)
            for command in commands
        ), entry


def test_the_container_sets_up_as_everybody_does() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == "make setup"
    assert container["image"].startswith("mcr.microsoft.com/devcontainers/python:3.")


def test_editors_leave_recorded_files_alone() -> None:
    config = configparser.ConfigParser()
    config.read_string("[top]\n" + (ROOT / ".editorconfig").read_text())
    assert config["top"]["root"] == "true"
    assert config["Makefile"]["indent_style"] == "tab"
    (recorded,) = (name for name in config.sections() if "golden" in name)
    assert config[recorded]["trim_trailing_whitespace"] == "unset"


@pytest.mark.parametrize(
    ("path", "attribute", "value"),
    [
        ("docs/fields.md", "linguist-generated", "set"),
        ("README.md", "linguist-generated", "unspecified"),
        ("tests/cli/golden/plan-80.txt", "text", "unset"),
        (".ci/run", "eol", "lf"),
    ],
)
def test_git_knows_what_is_generated_and_what_is_recorded(
    path: str, attribute: str, value: str
) -> None:
    assert (ROOT / path).exists()
    command = ["git", "check-attr", attribute, "--", path]
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == f"{path}: {attribute}: {value}\n"
