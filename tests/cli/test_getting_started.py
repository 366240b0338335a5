"""The page for newcomers shows what its commands print."""

from __future__ import annotations

from pathlib import Path

from tests.cli.guide import PAGE, replayed


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    """``python -m tests.cli.guide`` writes it anew."""
    text = PAGE.read_text()
    assert text.count("$ fleet ") >= 6
    assert replayed(text, tmp_path) == text
