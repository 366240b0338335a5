"""Every command in terminals and pipes: colours where they are wanted, nothing wider than the terminal."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import MAIN, in_terminal, left_of
from tests.cli.test_examples_of_help import place

__all__ = ["place"]
pytestmark = pytest.mark.long

SGR, ESCAPE = re.compile(r"\x1b\[[0-9;]*m"), "\x1b"
STATE = ("--state", "state.json")
LINES = {
    "plan": ("plan", "fleet", *STATE),
    "plan --diff": ("plan", "fleet", *STATE, "--diff"),
    "explain": ("explain", "fleet"),
    "explain shop": ("explain", "fleet", "shop"),
    "render": ("render", "fleet", "--out", "out"),
    "review": ("review", "fleet", "--base", "origin/main"),
    "simulate": ("simulate", "fleet", "--lose", "east"),
    "simulate --sweep": ("simulate", "fleet", "--sweep", "member"),
    "drain": ("drain", "east", "fleet", *STATE),
    "rollback": ("rollback", "shop", "fleet", *STATE, "--to", "0"),
    "status": ("status", "fleet", *STATE),
    "drift": ("drift", "fleet", *STATE),
    "init": ("init", "new"),
    "an error": ("plan", "nowhere"),
    "a usage error": ("plan", "fleet", "--nothing"),
}
COLOURED = {
    "plan",
    "plan --diff",
    "explain shop",
    "review",
    "simulate",
    "simulate --sweep",
    "drain",
    "rollback",
}


def cannot_be_folded(line: str) -> bool:
    """Whether a line is a name alone (behind the lines of a tree), or to be copied: a line of a file, a command, a hint, where files are."""
    copied = re.match(
        r"[-+]| \S| {3,}(- )?\S+:|@@| *hint: |error: |warning: |planned |written|not written|east and west are",
        line,
    )
    return len(line.lstrip("│├└─ ").split()) == 1 or bool(copied and "─" not in line)


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", LINES)
def test_nothing_is_wider_than_the_terminal(place: Path, name: str, width: int) -> None:
    _, text, _ = in_terminal(*LINES[name], where=place, env={"COLUMNS": str(width)})
    lines = left_of(SGR.sub("", text)).splitlines()
    assert lines
    assert [line for line in lines if len(line) > width and not cannot_be_folded(line)] == []


@pytest.mark.parametrize("name", LINES)
def test_colours_are_for_terminals_that_want_them(place: Path, name: str) -> None:
    coloured = left_of(in_terminal(*LINES[name], where=place)[1])
    assert bool(SGR.search(coloured)) or name not in COLOURED
    unwanted: tuple[dict[str, str], ...] = (
        {"NO_COLOR": "1"},
        {"NO_COLOR": "anything", "FORCE_COLOR": "1"},
        {"TERM": "dumb"},
    )
    for env in unwanted:
        assert not SGR.search(left_of(in_terminal(*LINES[name], where=place, env=env)[1])), env


@pytest.mark.parametrize("name", LINES)
def test_pipes_are_plain(place: Path, name: str) -> None:
    done = subprocess.run(
        [*MAIN, *LINES[name]], cwd=place, capture_output=True, text=True, check=False
    )
    assert ESCAPE not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_colours_can_be_forced(place: Path) -> None:
    forced = ["env", "FORCE_COLOR=1", *MAIN, "plan", "fleet"]
    done = subprocess.run(forced, cwd=place, capture_output=True, text=True, check=True)
    assert SGR.search(done.stdout)


def test_the_machine_readable_forms_have_no_colours(place: Path) -> None:
    for form in ("json", "yaml", "markdown"):
        _, text, _ = in_terminal("plan", "fleet", "-o", form, where=place)
        assert ESCAPE not in left_of(text)
