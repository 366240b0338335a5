"""The help of every command: it fits, its options have their sections, and every line of its examples works."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner, Result

from fleet_components.cli.command import COMMANDS, GROUPS, fleet
from fleet_components.cli.help import Command, Option

MOST_TOGETHER = 14
"""Options of one section that are still found at a glance."""


def run(*args: str, width: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(fleet, args, prog_name="fleet")


def command(name: str) -> Command:
    found = fleet.get_command(click.Context(fleet), name)
    assert isinstance(found, Command)
    return found


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_a_help_fits_the_terminal(name: str, width: int) -> None:
    shown = run(*filter(None, [name]), "--help", width=width)
    copied = command(name).examples.values() if name else ()
    lines = [line for line in shown.stdout.splitlines() if line.strip() not in copied]
    assert shown.exit_code == 0
    # What cannot be broken is the name of an option with its values.
    assert [line for line in lines if len(line) > width and len(line.split()) > 3] == []
    assert width < 80 or max(map(len, shown.stdout.splitlines())) <= width


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_has_a_sentence_examples_and_exit_statuses(name: str) -> None:
    text = run(name, "--help").stdout
    usage, purpose, *further = text.split("\n\n")
    assert usage.startswith(f"Usage: fleet {name} ")
    assert " ".join(purpose.split()).endswith((".", ";"))
    assert further[-1].startswith("Exit status:\n  0  fine\n  1  an error")
    assert 2 <= len(command(name).examples) <= 4
    assert all(f"  # {why}\n  {line}\n" in text for why, line in command(name).examples.items())
    assert all("fleet " + name in line for line in command(name).examples.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_many_options_have_sections(name: str) -> None:
    shown = [
        param
        for param in command(name).params
        if isinstance(param, click.Option) and not param.hidden
    ]
    sections = [param.section if isinstance(param, Option) else "" for param in shown]
    assert all(sections.count(section) <= MOST_TOGETHER for section in sections)
    text = run(name, "--help").stdout
    assert all(f"\n{section}:\n" in text for section in sections if section)
    assert all(text.count(f" {max(param.opts, key=len)} ") for param in shown)  # none is lost


@pytest.mark.parametrize("args", [(), ("--help",), ("-h",)])
def test_the_commands_are_listed_in_the_order_of_their_use(args: tuple[str, ...]) -> None:
    shown = run(*args)
    text = shown.stdout + (shown.stderr if not args else "")
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert all(f"\n{heading}:\n" in text for heading in GROUPS)
    assert all(
        f" {line}\n" in text for group in GROUPS.values() for line in group.values()
    )  # none is cut


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (("plam",), "did you mean plan?"),
        (("Explain",), "did you mean explain?"),
        (("rolback",), "did you mean rollback?"),
        (("statsu",), "did you mean status?"),
        (("plan", ".", "--stat", "x"), "--state"),
        (("plan", ".", "--detailed-exit-code"), "--detailed-exitcode"),
    ],
)
def test_what_is_mistyped_gets_what_was_meant(args: tuple[str, ...], meant: str) -> None:
    result = run(*args)
    assert result.exit_code == 1
    assert meant in result.stderr


def test_what_is_like_nothing_gets_no_suggestion() -> None:
    result = run("x\x1b[31m")
    assert result.stderr.endswith("Error: there is no command x\\x1b[31m\n")
