"""The messages of the package as a list: every one has a code of its own and fills its places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import attrs

import fleet_components
from tests.cli.test_looks import golden

PACKAGE = Path(fleet_components.__file__).parent


@attrs.frozen
class Written:
    """A message as the code has it.

    Attributes:
        code: its code; empty for a phrase.
        template: its template.
        given: the values that stand beside it.
        filled: True if more values come later, as it is a constant.
        where: file and line.
    """

    code: str
    template: str
    given: frozenset[str]
    filled: bool
    where: str


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _written() -> Iterator[Written]:
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        constants = {
            id(part)
            for item in tree.body
            if isinstance(item, ast.Assign)
            for part in ast.walk(item)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id not in ("Message", "Phrase"):
                continue
            texts = [_text(argument) for argument in node.args]
            code = texts[0] if node.func.id == "Message" else ""
            template = texts[-1]
            if code is None or template is None:
                continue
            yield Written(
                code,
                template,
                frozenset(keyword.arg for keyword in node.keywords if keyword.arg),
                id(node) in constants,
                f"{path.relative_to(PACKAGE)}:{node.lineno}",
            )


WRITTEN = tuple(_written())


def test_a_code_has_one_template() -> None:
    templates = defaultdict(set)
    for written in WRITTEN:
        if written.code:
            templates[written.code].add(written.template)
    assert {code: found for code, found in templates.items() if len(found) > 1} == {}


def test_every_place_has_a_value_and_every_value_a_place() -> None:
    wrong = []
    for written in WRITTEN:
        places = {
            name.partition(".")[0] for _, name, _, _ in Formatter().parse(written.template) if name
        }
        if written.given - places or (places - written.given and not written.filled):
            wrong.append((written.where, places ^ written.given))
    assert wrong == []


def test_the_texts_are_those_that_were_reviewed() -> None:
    lines = sorted({f"{written.code}: {written.template}" for written in WRITTEN if written.code})
    assert len(lines) > 500
    golden("messages.txt", "".join(f"{line}\n" for line in lines))
