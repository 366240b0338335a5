"""Texts that a stranger wrote are shown as they are, and neither hide nor command anything."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fleet_components.content.wire import to_json, to_yaml
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import could_command, indented, visible
from fleet_components.review.showing import console
from fleet_components.review.showing.blocks import (
    Block,
    Branch,
    Diff,
    Drawing,
    Fold,
    Page,
    Paragraph,
    Role,
    Row,
    Table,
)
from fleet_components.review.showing.markdown import to_markdown
from fleet_components.review.showing.terminal import printed

TEXTS = {
    "colour": ("\x1b[31mred", "\\x1b[31mred"),
    "a title of the window": ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    "back to the start of the line": ("a\rb", "a b"),
    "right to left": ("a\u202eb", "a\\u202eb"),
    "no width": ("a\u200bb", "a\\u200bb"),
    "tags": ("a\U000e0041", "a\\U000e0041"),
    "C1": ("a\x9b31m", "a\\x9b31m"),
    "a command of GitHub": ("::error::owned", "\\::error::owned"),
    "an indented one": ("  ::add-mask::x", "\\  ::add-mask::x"),
    "an old command of GitHub": ("x ##[error]owned", "x # #[error]owned"),
    "a command of Azure Pipelines": ("x ##vso[task.complete]", "x # #vso[task.complete]"),
    "two lines": ("a\nerror: b", "a error: b"),
    "words of any language": ("München 東京 😀 a\u00a0b", "München 東京 😀 a b"),
}
COMMANDS = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)


@pytest.mark.parametrize(("text", "shown"), TEXTS.values(), ids=TEXTS)
def test_texts(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_nothing_is_hidden_and_nothing_commands(text: str) -> None:
    for shown in (
        visible(text),
        visible(text, lines=True),
        str(Problem(Message("any", "{text}", text=text), (text,), text, text, text)),
    ):
        assert all(char.isprintable() or char == "\n" for char in shown)
        assert not COMMANDS.search(shown)
    assert "\n" not in visible(text)


@given(st.text(), st.dictionaries(st.text(), st.text() | st.lists(st.text())))
def test_documents_are_the_same_values_without_anything_that_a_log_would_carry_out(
    text: str, more: object
) -> None:
    document = {"name": text, "more": more}
    for written, read in ((to_json(document), json.loads), (to_yaml(document), yaml.safe_load)):
        assert all(char.isprintable() or char in "\n\t" for char in written)
        assert not COMMANDS.search(written)
        if (
            written.isascii() or read is json.loads
        ):  # PyYAML reads back only what YAML 1.1 has as printable
            assert read(written) == document


def every_block(text: str) -> list[Block]:
    """A block of each kind, with a text wherever it has one."""
    row = Row([text, text], text)
    paragraphs: list[Block] = [Paragraph(text, role) for role in Role]
    below = Branch([[(text, "")], [(text, ""), (text, "bold")]])
    drawing = Drawing(text, [Branch([[(text, "")]], [below])])
    some = [
        *paragraphs,
        Paragraph(text, multiline=True),
        Table(row, [row, row]),
        Diff(text),
        drawing,
    ]
    return [*some, Diff(text, exact=True), Fold(text, some, kind=text, outcome=text)]


@given(st.text())
@example("a\r\n::error::b\x1b[31m\u202e ##vso[task.complete]\x85##[error]")
def test_no_block_has_anything_to_carry_out(text: str) -> None:
    blocks = every_block(text)
    for shown in (printed(blocks), to_markdown(Page("t", blocks, "c"))):
        assert all(char.isprintable() or char == "\n" for char in shown)
        assert not COMMANDS.search(shown)


def test_no_line_of_a_message_looks_like_another_message() -> None:
    assert indented("a\nerror: b\n  c") == "a\n  error: b\n  c"
    assert str(Problem(Message("any", "a\nerror: b"))) == "a\n  error: b"


UNSEEN = ["\u034f", "\u115f", "\u3164", "\uffa0", "\u180b", "\ufe0f", "\U000e0100", "\u2800"]


@pytest.mark.parametrize("char", UNSEEN, ids=[f"{ord(char):x}" for char in UNSEEN])
def test_what_a_font_leaves_out_is_shown(char: str) -> None:
    assert visible(f"nginx:1{char}") == "nginx:1" + char.encode("unicode_escape").decode()


def test_a_folded_line_commands_nothing() -> None:
    text = console.shown(lambda drawn: drawn.print("x" * 99_990 + " ::error file=a::owned"))
    assert not could_command(text)
