"""How differences of objects are shown, in a terminal and in Markdown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.review.documents.form import Document, to_read
from fleet_components.review.showing.diffs import LINES, diff_block, diff_lines, heading

DIFF = "@@ spec @@\n spec:\n-  image: a\n+  image: b\n"


def change(**fields: Any) -> Document:
    given = {
        "object": "Deployment shop/web",
        "change": "update",
        "later": False,
        "unknown": False,
        "fate": None,
        "takenUp": False,
        "fields": [],
        "immutable": [],
        "members": ["east"],
        "envelope": None,
        "diff": DIFF,
    }
    return to_read({**given, **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "~ Deployment shop/web on east"),
        ({"members": list("abcdefgh")}, "~ Deployment shop/web on a, b, c, d, e and 3 more"),
        ({"change": "create", "envelope": "ResourceEnvelope shop/e, c"}, "+ Deployment shop/web in ResourceEnvelope shop/e, c on east"),
        ({"later": True}, "~ Deployment shop/web on east: once it moves"),
        ({"later": True, "members": ["a", "b"]}, "~ Deployment shop/web on a, b: once they move"),
        ({"change": "delete", "fate": "deleted", "diff": ""}, "- Deployment shop/web on east"),
        (
            {"change": "delete", "fate": "kept", "later": True, "diff": ""},
            "- Deployment shop/web on east: once it moves, kept there, no longer managed",
        ),
        ({"takenUp": True, "fields": [1]}, "~ Deployment shop/web on east: taken up again, as the member is back"),
        (
            {"takenUp": True, "diff": ""},
            "~ Deployment shop/web on east: taken up again, as the member is back; in which form it stands there is not known",
        ),
        (
            {"change": "replace", "immutable": ["spec.selector"]},
            "+- Deployment shop/web on east: made anew for spec.selector",
        ),
    ],
)  # fmt: skip
def test_a_heading_says_what_changes_where(fields: Document, text: str) -> None:
    assert heading(change(**fields)) == text


def test_a_diff_has_colours_and_an_end() -> None:
    assert list(diff_lines(change(), whole=False)) == [
        ("yellow", "~ Deployment shop/web on east"),
        ("cyan", "  @@ spec @@"),
        ("", "   spec:"),
        ("red", "  -  image: a"),
        ("green", "  +  image: b"),
    ]
    long = change(diff="".join(f"+line {number}\n" for number in range(LINES + 134)))
    texts = [text for _, text in diff_lines(long, whole=False)]
    assert len(texts) == LINES + 2
    assert texts[-1] == "  ... 134 more lines: --diff shows them"
    assert len(list(diff_lines(long, whole=True))) == LINES + 135
    assert [text for _, text in diff_lines(long, whole=False, limit=3)][1:4] == [
        "  +line 0",
        "  +line 1",
        "  +line 2",
    ]
    assert len(list(diff_lines(change(diff=f"+{'x' * 1000}\n"), whole=False))[1][1]) < 250


def test_a_new_object_is_a_heading_unless_all_is_shown() -> None:
    new = change(change="create", diff="+kind: Deployment\n")
    assert list(diff_lines(new, whole=False)) == [("green", "+ Deployment shop/web on east")]
    assert diff_block(new, whole=False) == []
    assert diff_block(new, whole=True) == ["```diff", "+kind: Deployment", "```"]


signs = st.text("`~ +-@\n\r\t\x1b\x07\u202ea<>|#[]!:", max_size=60)


@given(signs, st.booleans())
def test_nothing_breaks_out_of_its_block(text: str, whole: bool) -> None:
    for one in (change(diff=text), {**change(), "diff": text}):
        first, *lines, last = diff_block(one, whole=whole) or ["```diff", "```"]
        assert (first, set(last)) == (f"{last}diff", {"`"})
        assert not [line for line in lines if re.match(rf" {{0,3}}`{{{len(last)},}}\s*$", line)]
        assert "".join(lines).isprintable()
