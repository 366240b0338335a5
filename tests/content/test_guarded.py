"""Texts that others have written: read, or refused without a crash and without a value of theirs."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import fleet_components
from fleet_components.content.guarded import UnreadableError, read_json, read_nodes, read_yaml

DEEP = 100_000
BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
BAD_JSON = {
    "nothing": ("", "is not JSON: Expecting value, at character 1", 1),
    "no value": ('{\n"a": hunter2}', "is not JSON: Expecting value, at character 6", 2),
    "too deep": ("[" * DEEP, "is nested more than 200 levels deep", None),
    "a long number": ("1" * 5000, "is not JSON: it has a number that is too long", None),
    "not UTF-8": (b'"\xff"', "is not UTF-8 text", None),
    "two values": ("1 2", "is not JSON: Extra data, at character 3", 1),
}
BAD_YAML = {
    "open": ("a: {hunter2", "is not valid YAML", 2),
    "twice": ("a: hunter2\na: 2", "is not valid YAML", 2),
    "an anchor that is not there": ("a: 1\nb: *hunter2", "is not valid YAML", 2),
    "a strange tag": ("a: !!binary hunter2", "is not valid YAML", 1),
    "two documents": ("a: 1\n---\nb: 2", "has several YAML documents", 3),
    "too deep": ("[" * DEEP, "is not valid YAML", 1),
    "too deep by dashes": ("- " * DEEP, "is not valid YAML", 1),
    "too deep by question marks": ("? " * DEEP, "is not valid YAML", 1),
    "a bomb": (BOMB, "is not valid YAML", 1),
    "not UTF-8": (b"a: \xff", "is not UTF-8 text", None),
}


@pytest.mark.parametrize(("text", "what", "line"), BAD_JSON.values(), ids=BAD_JSON)
def test_json_that_cannot_be_read(text: str | bytes, what: str, line: int | None) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_json(text)
    assert (str(caught.value), caught.value.line) == (what, line)


@pytest.mark.parametrize(("text", "what", "line"), BAD_YAML.values(), ids=BAD_YAML)
def test_yaml_that_cannot_be_read(text: str | bytes, what: str, line: int | None) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_yaml(text)
    assert (str(caught.value), caught.value.line) == (what, line)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (BOMB, "document contains excessive aliasing"),
        ("&a [*a]", "is nested more than 200 levels deep"),
        ("[" * 500 + "]" * 500, "is nested more than 200 levels deep"),
        ("[" * DEEP, "is nested more than 200 levels deep"),
        ("- " * DEEP, "is nested more than 200 levels deep"),
    ],
)
def test_nodes_that_would_grow(text: str, what: str) -> None:
    with pytest.raises(UnreadableError, match=what):
        read_nodes(text)


def test_what_is_read() -> None:
    assert read_json(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert read_json("[1, 2.50]", str) == ["1", "2.50"]
    assert read_yaml("") is None
    assert read_yaml("a: yes\nb: &x [0777]\nc: *x") == {"a": True, "b": [511], "c": [511]}


@given(st.text() | st.binary(), st.sampled_from([read_json, read_yaml]))
def test_no_text_crashes_it(text: str | bytes, read: Callable[[str | bytes], Any]) -> None:
    with suppress(UnreadableError):
        read(text)


@given(st.text())
def test_no_text_crashes_the_reader_of_nodes(text: str) -> None:
    with suppress(UnreadableError, yaml.YAMLError):
        read_nodes(text)


OWN = {
    "admission/definitions.py": "data files of the package",
    "plan/private_files.py": "what this program has written",
    "systems/karmada/plan/record.py": "what this line has written",
}
"""Modules that parse without the guard, with the reason."""


def test_nothing_else_parses() -> None:
    root = Path(fleet_components.__file__).parent
    parse = re.compile(
        r"\b(json\.loads?|yaml\.(safe_|full_|unsafe_)?load(_all)?|yaml\.compose(_all)?|yaml\.parse)\("
    )
    found = {
        str(path.relative_to(root)) for path in root.rglob("*.py") if parse.search(path.read_text())
    }
    assert found == {"content/guarded.py", "content/section.py", *OWN}
