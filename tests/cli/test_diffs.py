"""How differences of objects are shown, in a terminal and in Markdown."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fleet_components.review.documents.schema import ContentDocument
from fleet_components.review.showing.blocks import LINES, Block, Diff, Page
from fleet_components.review.showing.markdown import to_markdown
from fleet_components.review.showing.subject import change_blocks, heading
from fleet_components.review.showing.terminal import print_blocks, printed

DIFF = "@@ spec @@\n spec:\n-  image: a\n+  image: b\n"


def change(**fields: Any) -> ContentDocument:
    given = ContentDocument(
        object="Deployment shop/web", change="update", later=False, members=["east"], diff=DIFF
    )
    return attrs.evolve(given, **fields)


def in_terminal(found: ContentDocument, *, whole: bool) -> list[str]:
    return printed(change_blocks(found, whole=whole)).splitlines()


def in_markdown(*blocks: Block) -> list[str]:
    return to_markdown(Page("", blocks, "")).splitlines()[2:]


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
        ({"taken_up": True, "fields": [1]}, "~ Deployment shop/web on east: taken up again, as the member is back"),
        (
            {"taken_up": True, "diff": ""},
            "~ Deployment shop/web on east: taken up again, as the member is back; in which form it stands there is not known",
        ),
        (
            {"change": "replace", "immutable": ["spec.selector"]},
            "+- Deployment shop/web on east: made anew for spec.selector",
        ),
    ],
)  # fmt: skip
def test_a_heading_says_what_changes_where(fields: dict[str, Any], text: str) -> None:
    assert heading(change(**fields)) == text


def test_a_diff_has_an_end() -> None:
    assert in_terminal(change(), whole=False) == [
        "~ Deployment shop/web on east",
        "  @@ spec @@",
        "   spec:",
        "  -  image: a",
        "  +  image: b",
    ]
    long = "".join(f"+line {number}\n" for number in range(LINES + 134))
    texts = in_terminal(change(diff=long), whole=False)
    assert len(texts) == LINES + 2
    assert texts[-1] == "  ... 134 more lines: --diff shows them"
    assert len(in_terminal(change(diff=long), whole=True)) == LINES + 135
    assert [*Diff(long, whole=False, limit=3).lines()][:3] == ["+line 0", "+line 1", "+line 2"]
    assert len(in_terminal(change(diff=f"+{'x' * 1000}\n"), whole=False)[1]) < 250


def test_a_diff_has_colours() -> None:
    console = Console(width=80, color_system="standard", force_terminal=True)
    with console.capture() as captured:
        print_blocks(console, change_blocks(change(), whole=False))
    coloured = captured.get()
    for code, line in (
        (33, "~ Deployment"),
        (36, "  @@ spec"),
        (31, "  -  image"),
        (32, "  +  image"),
    ):
        assert f"\x1b[{code}m{line}" in coloured


def test_a_new_object_is_a_heading_unless_all_is_shown() -> None:
    new = change(change="create", diff="+kind: Deployment\n")
    assert in_terminal(new, whole=False) == ["+ Deployment shop/web on east"]
    first = "- \\+ Deployment shop/web on east"
    assert in_markdown(*change_blocks(new, whole=False)) == [first]
    assert in_markdown(*change_blocks(new, whole=True)) == [
        first,
        "",
        "```diff",
        "+kind: Deployment",
        "```",
    ]


signs = st.text("`~ +-@\n\r\t\x1b\x07\u202ea<>|#[]!:", max_size=60)


@given(signs, st.booleans())
def test_nothing_breaks_out_of_its_block(text: str, whole: bool) -> None:
    first, *lines, last = in_markdown(Diff(text, whole)) or ["```diff", "```"]
    assert (first, set(last)) == (f"{last}diff", {"`"})
    assert not [line for line in lines if re.match(rf" {{0,3}}`{{{len(last)},}}\s*$", line)]
    assert "".join(lines).isprintable()
