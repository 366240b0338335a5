"""The pages on security name what is there: guards, tests, limits, options and keys."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from fleet_components.automation.pulumi_command import MOST_LINE, SECONDS
from fleet_components.cli import command
from fleet_components.cli.command import fleet
from fleet_components.content import document, revision, tool
from fleet_components.content import paths as regular_file
from fleet_components.content import paths as walk
from fleet_components.live.connection import ask_cluster
from fleet_components.live.exchange import LARGE_PLACES, hub_room, member_room
from fleet_components.options import KEYS
from fleet_components.plan.options import Settings
from fleet_components.status import events

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/threat-model.md").read_text()
SECURITY = (ROOT / "SECURITY.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]
DOORS = {row[0]: row[1:] for row in ROWS if len(row) == 5 and row[0] not in ("door", "---")}


@pytest.mark.parametrize("page", [PAGE, SECURITY], ids=["threat model", "security"])
def test_what_is_linked_is_there(page: str) -> None:
    place = ROOT / "docs" if page is PAGE else ROOT
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert links
    assert [link for link in links if not (place / link).is_file()] == []


@pytest.mark.parametrize("door", DOORS)
def test_a_guard_has_a_test(door: str) -> None:
    _, _, guards, tests = DOORS[door]
    assert all("/fleet_components/" in guard for guard in re.findall(r"\(([^)]+)\)", guards))
    named = re.findall(r"\]\(\.\./(tests/[^)]+)\)", tests)
    assert named
    assert [name for name in named if "def test_" not in (ROOT / name).read_text()] == []


def test_the_limits_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(regular_file.LIMIT_VARIABLE, raising=False)
    expected = {
        "size of a file, or of standard input": f"{regular_file.limit_mib()} MiB",
        "size of all revisions that a state keeps": f"{regular_file.limit_mib()} MiB",
        "values in all revisions that a state keeps": f"{revision._VALUES_A_MIB * regular_file.limit_mib():,}",
        "levels of maps and lists": f"{document.MOST_LEVELS}",
        "folders in one another": f"{walk.MOST_FOLDERS}",
        "values that aliases add to a document": f"{document.MOST_ALIASED:,}",
        "time of helm or kustomize": f"{tool.SECONDS} s",
        "share that one update may take": f"{Settings().limit}",
        "memory that all answers of a hub or a plain cluster take": f"{hub_room() // 2**20:,} MiB",
        "memory that all answers of a member take": f"{member_room(0) // 2**20} MiB, and {member_room(1) // 2**20 - member_room(0) // 2**20} MiB for each object",
        "members that may take more than a sixteenth of that at once": f"{LARGE_PLACES}",
        "size of one event of the engine": f"{MOST_LINE // 2**20} MiB; longer ones are passed over",
        "length of one message of the engine": f"{events._LONGEST:,} characters",
        "errors, and warnings, that are kept of an update": f"{events._MOST_ERRORS:,} each",
        "time of a command of the Pulumi CLI, but for an update": f"{SECONDS} s",
        "errors that are shown": f"{command.MOST_SHOWN}",
    }
    stated = {row[0]: row[1] for row in ROWS if len(row) == 3 and row[0] not in ("limit", "---")}
    assert stated == expected
    assert f"`{regular_file.LIMIT_VARIABLE}`" in PAGE
    assert f"more than {tool.SECONDS} s" in PAGE
    assert f"more than {(ask_cluster.__kwdefaults__ or {})['timeout']:g} s" in PAGE


def test_options_and_keys_are_there() -> None:
    commands = [fleet.get_command(click.Context(fleet), name) for name in command.COMMANDS]
    options = {
        option for item in commands if item for param in item.params for option in param.opts
    }
    named = set(re.findall(r"`(--[a-z-]+)`", PAGE + SECURITY))
    assert named <= options
    assert set(re.findall(r"`fleet:(\w+)`", PAGE)) <= KEYS.keys()


def test_the_page_is_one_screen() -> None:
    assert len(PAGE.splitlines()) <= 80
