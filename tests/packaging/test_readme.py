"""What the README promises is there, and nothing of one machine is in what everybody gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "examples" / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_no_stack_file_carries_the_salt_of_somebodys_passphrase() -> None:
    stacks = sorted((REPOSITORY / "stacks").glob("Pulumi.*.yaml"))
    assert stacks
    assert [stack.name for stack in stacks if "encryption" in stack.read_text()] == []
