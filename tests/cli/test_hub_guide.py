"""The page for who has a hub shows what its commands print."""

from __future__ import annotations

from pathlib import Path

from tests.cli.hub_guide import PAGE, page


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    """``python -m tests.cli.hub_guide`` writes it anew."""
    text = PAGE.read_text()
    assert text.count("$ fleet ") >= 6
    assert page(text, tmp_path) == text
