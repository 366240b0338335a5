"""The guide for clusters that pull shows what its commands print."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.guide import replayed

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``python -m tests.cli.test_gitops_guide`` writes it anew."""
    shutil.copytree(ROOT / "stacks" / "fleet", tmp_path / "stacks" / "fleet")
    text = (ROOT / "docs" / "gitops.md").read_text()
    assert text.count("$ fleet ") >= 4
    assert replayed(text, tmp_path) == text


if __name__ == "__main__":
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as empty:
        shutil.copytree(ROOT / "stacks" / "fleet", Path(empty) / "stacks" / "fleet")
        sys.stdout.write(replayed((ROOT / "docs" / "gitops.md").read_text(), Path(empty)))
