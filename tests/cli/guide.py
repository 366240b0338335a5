"""Replays the commands of ``docs/getting-started.md``: ``python -m tests.cli.guide`` prints the page with their output."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from click.testing import CliRunner

from fleet_components.cli.command import fleet

PAGE = Path(__file__).parents[2] / "docs" / "getting-started.md"
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_LINE = re.compile(r"^\$ .*\n", re.MULTILINE)
_COMMIT = re.compile(r"\bat [0-9a-f]{7}\b")
_PERSON = {
    f"GIT_{who}_{what}": "me@example.com"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
_REQUIREMENTS = "fleet-components[cli] @ https://files.example/a.whl --hash=sha256:aa\n"
"""What the jobs of the page's workflow install."""

Program = Callable[[str], str]
"""Function that returns the line of a command with what it prints."""


def replayed(text: str, folder: Path, programs: Mapping[str, Program] = {}) -> str:
    """Return the page with what its commands print in a folder with a list of requirements, which becomes a git repository.

    Args:
        text: the page.
        folder: the folder.
        programs: stand-ins for programs that are not run, by name.
    """

    def run(line: str) -> str:
        program = line.removeprefix("$ ").split()[0]
        return programs.get(program, _run)(line)

    _shell("git init -q -b main .", folder)
    (folder / "ci-requirements.txt").write_text(_REQUIREMENTS)
    here = Path.cwd()
    os.chdir(folder)
    try:
        return _BLOCK.sub(lambda block: "".join(map(run, _LINE.findall(block[0]))), text)
    finally:
        os.chdir(here)


def _run(line: str) -> str:
    """Return a command with what it prints: a refusal on standard output and standard error is one to its reader."""
    command = line.removeprefix("$ ").strip()
    program, *words = shlex.split(command)
    if program != "fleet":
        return line + _shell(command, Path.cwd())
    done = CliRunner().invoke(fleet, words, env={"COLUMNS": "96"})
    assert done.exit_code in (0, 3), done.output
    return line + _COMMIT.sub("at 1a2b3c4", done.stdout)


def _shell(command: str, folder: Path) -> str:
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PATH": os.environ["PATH"],
        **_PERSON,
    }
    done = subprocess.run(
        command, shell=True, cwd=folder, env=settings, check=True, capture_output=True, text=True
    )
    return done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        sys.stdout.write(replayed(PAGE.read_text(), Path(empty)))
