"""The language of the code: messages and docstrings that are read once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "fleet_components").rglob("*.py"))
ARCHAIC = re.compile(
    r"(?<!there )(?<!There )\b(is|are) no (?!longer\b|other\b|way\b|more\b)[a-z]|\bhas it not\b"
)
RIDDLE = re.compile(r"(What|Who|Whom|Whose|Why|How|Whether|That)\b")


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """The texts that stand alone: docstrings, those of constants included."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_texts_are_plain(file: Path) -> None:
    tree = ast.parse(file.read_text())
    alone = list(docstrings(tree))
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    messages = [
        node.value for node in texts if node not in alone and ARCHAIC.search(str(node.value))
    ]
    riddles = [str(node.value) for node in alone if RIDDLE.match(str(node.value))]
    assert (messages, riddles) == ([], [])
