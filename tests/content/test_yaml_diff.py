"""Objects as lines of YAML, and the differences between two of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.difference import CHANGED, differences, shown_differences, shown_sides
from fleet_components.content.guarded import read_yaml
from fleet_components.content.secret import REDACTED
from fleet_components.content.yaml_diff import yaml_diff, yaml_lines
from tests.content.patching import patched

CANARY = "planted-canary"
signs = st.text("ab \n\t:#-\"'\\|>[]{}&*!%@`=~?,.é🙂\r\x00\x85\u2028\ufeff01ey", max_size=12)
words = st.sampled_from(
    ["yes", "null", "~", "1e3", "0x1", "-", "- a", "---", "a: b", "a #b", "key:", "=", "<<", ""]
)
texts = st.one_of(
    signs, words, st.lists(st.sampled_from(["a", "b", "", " c", "d "]), max_size=6).map("\n".join)
)
leaves = st.one_of(st.booleans(), st.integers(-5, 300), st.sampled_from([0.5, 1.25e30]), texts)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
maps = st.dictionaries(
    st.sampled_from(["spec", "metadata", "data", "items"]), values, min_size=1, max_size=4
)


def as_text(value: dict[str, Any]) -> str:
    return "".join(f"{line}\n" for _, line in yaml_lines(value))


def alike(value: Any, other: Any) -> bool:
    """Equal as JSON, in which true is not 1."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(maps)
def test_lines_read_as_the_object(value: dict[str, Any]) -> None:
    text = as_text(value)
    assert alike(read_yaml(text), value)
    assert text.splitlines() == text.split("\n")[:-1]  # nothing in a line breaks it
    assert text.replace("\n", "").replace("\t", "").isprintable()


@given(maps, maps)
def test_a_diff_is_a_patch(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert patched(old, yaml_diff(old, new)) == [text for _, text in yaml_lines(new)]
    assert bool(yaml_diff(old, new)) is bool(list(differences(old, new)))


@given(maps, st.data())
def test_a_small_change_makes_a_small_diff(old: dict[str, Any], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 3))
    new = {
        **old,
        "z": {
            "list": [
                {"name": f"item-{at}", "image": "b" if at == number else "a"} for at in range(4)
            ]
        },
    }
    old = {**old, "z": {"list": [{"name": f"item-{at}", "image": "a"} for at in range(4)]}}
    lines = yaml_diff(old, new).splitlines()
    assert lines[0] == f"@@ z.list[{number}] @@"
    assert [line for line in lines if line[0] in "+-"] == ["-  - image: a", "+  - image: b"]
    assert len(lines) <= 9


def test_a_text_of_several_lines_differs_line_by_line() -> None:
    old = {
        "data": {"app.conf": "one\ntwo \nthree\n", "dos.ini": "one\r\ntwo\r\n", "lead": "  a\nb"}
    }
    new = {"data": {"app.conf": "one\n2 \nthree\n", "dos.ini": "one\r\n2\r\n", "lead": "  a\nc"}}
    changed = [line.strip() for line in yaml_diff(old, new).splitlines() if line[0] in "+-"]
    assert changed == [
        "-    two",
        "+    2",
        "-    two\\r\\n\\",
        "+    2\\r\\n\\",
        '-    b"',
        '+    c"',
    ]


def test_a_text_alone_is_named_by_its_header() -> None:
    lines = [f"line {number}" for number in range(20)]
    old, new = (
        {"data": {"a.conf": "\n".join(text)}}
        for text in (lines, [*lines[:10], "other", *lines[11:]])
    )
    assert yaml_diff(old, new).splitlines()[0] == "@@ data[a.conf] @@"


def test_changes_far_apart_have_hunks_of_their_own() -> None:
    fields = {f"f{number:02}": number for number in range(30)}
    lines = yaml_diff({"spec": fields}, {"spec": {**fields, "f02": 0, "f28": 0}}).splitlines()
    assert [line for line in lines if line.startswith("@@")] == ["@@ spec @@", "@@ spec @@"]
    assert yaml_diff({"a": 1, "b": 1}, {"a": 2, "b": 2}).splitlines()[0] == "@@ a, b @@"


numbers = st.lists(st.integers(0, 40), max_size=60)


@given(numbers, numbers, st.integers(0, 400))
def test_a_diff_of_many_lines_is_a_patch(old: list[int], new: list[int], many: int) -> None:
    """Lines that are found once hold the two sides together where not all can be compared with one another."""
    common = [*range(100, 100 + many)]
    was = {"a": [*old, *common, *new], "t": "\n".join(map(str, [*new, *common]))}
    now = {"a": [*new, *common[::2], *old], "t": "\n".join(map(str, [*old, *common, *old]))}
    assert patched(was, yaml_diff(was, now)) == [text for _, text in yaml_lines(now)]


def test_a_few_changes_in_many_lines_are_a_few_hunks() -> None:
    names = [f"field{number}" for number in range(1500)]
    old = {"spec": {name: {"type": "object", "of": {"type": "string"}} for name in names}}
    new = {
        "spec": {
            name: {**old["spec"][name], **({"x": 1} if name in names[::300] else {})}
            for name in names
        }
    }
    assert len(yaml_diff(old, new).splitlines()) == 5 * (1 + 3 + 1 + 3)
    # Where nothing can hold them together, all of it is shown as new.
    same, other = ({"t": "\n".join(["a"] * many + ["b"] * many)} for many in (400, 500))
    assert patched(same, yaml_diff(same, other)) == [text for _, text in yaml_lines(other)]


def test_null_and_the_order_of_keys_make_no_difference() -> None:
    assert not yaml_diff({"spec": {"a": 1, "b": {"c": None}}}, {"spec": {"b": {}, "a": 1}})


def secret(**data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, **data}


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (
            secret(stringData={"a": CANARY, "b": "same"}),
            secret(stringData={"a": f"{CANARY}-2", "b": "same"}),
            [f'-  a: "{REDACTED}"', f'+  a: "{CHANGED}"'],
        ),
        (
            secret(data={"a": CANARY}),
            secret(data={"a": CANARY, "b": CANARY}),
            [f'+  b: "{REDACTED}"'],
        ),
        (secret(), secret(data={"a": CANARY}), ["+data:", f'+  a: "{REDACTED}"']),
        (
            secret(data={"a": CANARY}),
            secret(data=CANARY),
            [f'-data: "{REDACTED}"', f'+data: "{CHANGED}"'],
        ),
        (
            {
                "kind": "ConfigMap",
                "data": {"m": f"kind: Secret\nstringData: {{a: {CANARY}}}", "n": "x"},
            },
            {"kind": "ConfigMap", "data": {"m": f"stringData: {{a: {CANARY}}}", "n": "x"}},
            [f'-  m: "{REDACTED}"', f'+  m: "{CHANGED}"'],
        ),
        (
            {"kind": "ConfigMap", "data": {"m": f"kind: Secret\nstringData: {{a: {CANARY}}}"}},
            {"kind": "ConfigMap", "data": {"o": CANARY}},
            [f'-  m: "{REDACTED}"', f'+  o: "{REDACTED}"'],
        ),
    ],
)
def test_a_secret_shows_that_it_changed_and_not_how(
    old: dict[str, Any], new: dict[str, Any], changed: list[str]
) -> None:
    diff = yaml_diff(*shown_sides(old, new))
    assert CANARY not in diff
    assert [line for line in diff.splitlines() if line[0] in "+-"] == changed


hiding = st.one_of(
    st.just(CANARY),
    st.just({"kind": "Secret", "data": {"a": CANARY}}),
    st.just(f"kind: Secret\ndata: {{a: {CANARY}}}"),
)
objects = st.builds(
    lambda kind, data, more: {"kind": kind, "metadata": {"name": "x"}, "data": data, **more},
    st.sampled_from(["Secret", "secret", "SecretList", "List"]),
    st.dictionaries(st.sampled_from("abc"), hiding, max_size=3),
    st.dictionaries(st.sampled_from(["items", "dta"]), st.lists(hiding, max_size=2), max_size=2),
).filter(lambda data: data["kind"] in ("Secret", "secret"))


@given(objects, objects)
def test_nothing_secret_is_shown_and_every_change_is(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    sides = shown_sides(old, new)
    assert CANARY not in json.dumps(sides)
    assert bool(yaml_diff(*sides)) is bool(list(shown_differences(old, new)))


@given(maps, maps)
def test_what_is_not_secret_is_shown_as_it_is(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert shown_sides(old, new) == (old, new)
