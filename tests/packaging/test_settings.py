"""The page of settings says what the code takes."""

from __future__ import annotations

from pathlib import Path

from tools.settings import page


def test_the_page_is_that_of_the_code() -> None:
    """``make docs`` writes it."""
    assert (Path(__file__).parents[2] / "docs/settings.md").read_text() == page()
