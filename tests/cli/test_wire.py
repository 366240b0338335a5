"""Documents as text: what kubectl reads back is what was written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fleet_components.content.load import load_text
from fleet_components.content.wire import to_json, to_yaml

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
WORDS = st.sampled_from(
    [
        "on",
        "y",
        "~",
        "0x1f",
        "1e3",
        "1_000",
        ".5",
        "+1",
        "12:30",
        "2026-01-31",
        "a: b",
        "# a",
        "- a",
    ]
)
VALUES = st.recursive(
    TEXTS
    | WORDS
    | st.integers(-(2**53), 2**53)
    | st.booleans()
    | st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | WORDS, inner, max_size=3),
    max_leaves=6,
)


@given(value=VALUES)
@example(value="a\n b\n\n")
@example(value={"y": "n", "<<": "x", "=": "="})
@settings(max_examples=120)
def test_what_is_written_is_read_back(value: Any) -> None:
    data = {
        "apiVersion": "x.io/v1",
        "kind": "Odd",
        "metadata": {"name": "odd"},
        "spec": {"value": value},
    }
    for text in (to_yaml(data), to_json(data)):
        (found,) = load_text(text)
        assert found.data["spec"] == {"value": value}


def test_nothing_is_shared_or_folded() -> None:
    shared = {"words": "word " * 100}
    text = to_yaml({"a": shared, "b": shared})
    assert "&" not in text
    assert max(map(len, text.splitlines())) > 400
    assert json.loads(to_json({"é": 1})) == {"é": 1}
