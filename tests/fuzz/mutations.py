"""Hostile input made of a good one: its text cut up, or anything else in the place of any of its values."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from fleet_components.content.document import documents

Path_ = tuple[str | int, ...]

SNIPPETS = [
    *("\0", "\x01", "\x1b[31m", "\x85", "\u2028", "\ufeff", "\u202e", "\U0010ffff", "é", "\t", "\r", "\n"),
    *("<<: 5\n", "<<: [*a, 5]\n", "&a ", "*a", "*b", "!!binary ", "!!int ", "! ", "? ", "- ", "---\n", "...\n", "%YAML 9.9\n"),
    *("{", "}", "[", "]", '"', "'", ":", ",", "#", "|\n", ">\n", "@", "`", "/", "~", "~2", "-", "..", "$", "::error::"),
    *("0", "-1", "1e400", "-1e-400", ".inf", ".nan", "0x", "0777", "9" * 30, "9" * 5000, "1" + "0" * 400, "NaN", "null"),
    *("true", "yes", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "\\ud800", "\\u0000", "{{ .x }}", "[" * 300),
]  # fmt: skip
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 2.5, 2**31, 2**63, -(2**63) - 1, 10**30, 1e308, -1e308),
    *("", " ", "x", "X", "a/b", "a.b/c", "-", "*", "~", "/", "..", "0", "-1", "1.5", "true", "null", "é", "\0", "\n", "\ud800"),
    *("x" * 5000, "9" * 30, "9" * 5000, "1e400", "1e-400", "-1Ki", "10%", "101%", "1h", "99999999h", "9" * 400 + "h"),
    *("2026-01-01", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "sha256:x", "a:b@c"),
    *([], [None], [[]], ["x"], ["x", "x"], [0], [{}], ["x"] * 40, {}, {"x": None}, {"x": "y"}, {"": ""}, {"a": {"b": {}}}),
]  # fmt: skip
_FORMS = ("delete", "duplicate", "swap", "insert", "insert", "insert")


@st.composite
def cut(draw: st.DrawFn, texts: list[str]) -> str:
    """A text with up to four pieces of it deleted, doubled, swapped, or something odd put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        match draw(st.sampled_from(_FORMS)):
            case "delete":
                text = text[:start] + text[end:]
            case "duplicate":
                text = text[:end] + text[start:end] + text[end:]
            case "swap":
                text = text[:start] + text[start:end][::-1] + text[end:]
            case _:
                text = text[:start] + draw(st.sampled_from(SNIPPETS)) + text[start:]
    return text


@st.composite
def changed(draw: st.DrawFn, wholes: list[Any]) -> Any:
    """A value in which up to three fields are gone, are renamed, or hold something else."""
    whole = copy.deepcopy(draw(st.sampled_from(wholes)))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        places = list(paths(whole))
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        above = whole
        for step in way:
            above = above[step]
        above[last] = _other(draw, above[last], wholes)
        if isinstance(above, dict) and draw(st.integers(0, 4)) == 0:
            value = above.pop(last)
            if draw(st.booleans()):
                above[
                    draw(
                        st.sampled_from(
                            [str(last).upper(), f"{last}s", "", "x", "\0", "a.b/c", "<<"]
                        )
                    )
                ] = value
    return whole


def _other(draw: st.DrawFn, value: Any, wholes: list[Any]) -> Any:
    """Something in the place of a value."""
    match draw(st.integers(0, 9)):
        case 0:
            return [value]
        case 1:
            return {"x": value}
        case 2 if isinstance(value, str):
            return draw(cut([value]))
        case 3 if isinstance(value, list):
            return [*value, *value]
        case 4:  # a piece of another place
            whole = draw(st.sampled_from(wholes))
            places = list(paths(whole))
            return copy.deepcopy(at(whole, draw(st.sampled_from(places)))) if places else whole
        case 5 if draw(st.integers(0, 9)) == 0:
            return nested(draw(st.sampled_from([20, 190, 300])), draw(st.booleans()))
        case 6 | 7 | 8:  # another value of the same type comes further
            alike = [item for item in VALUES if type(item) is type(value)]
            return copy.deepcopy(draw(st.sampled_from(alike or VALUES)))
    return copy.deepcopy(draw(st.sampled_from(VALUES)))


def nested(levels: int, lists: bool) -> Any:
    """A value of so many levels."""
    value: Any = "x"
    for _ in range(levels):
        value = [value] if lists else {"x": value}
    return value


def paths(value: Any, above: Path_ = ()) -> Iterator[Path_]:
    """Every field of a value."""
    if above:
        yield above
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from paths(item, (*above, key))


def at(value: Any, path: Path_) -> Any:
    """The value of a field."""
    for step in path:
        value = value[step]
    return value


def parsed(text: str) -> list[Any]:
    """The documents of a good text."""
    return [document.data for document in documents(text, "", [])]


def written(whole: list[Any]) -> str:
    """Documents as a text that YAML reads; JSON where there is one."""
    return "\n---\n".join(json.dumps(document) for document in whole)
