"""Patching the JSON and YAML documents that string fields hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fleet_components.content.patch import Operation, PatchError
from fleet_components.systems.karmada.content.embedded import patch_json, patch_yaml, settled

NOTHING: list[Operation] = []
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="ascii"), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from("xyz"), PLAIN, max_size=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"b": 1.50, "a": [1, {"c": 1e3}]}', '{"b":1.50,"a":[1,{"c":1e3}]}'),
        ('{"a":"<&>"}', '{"a":"\\u003c\\u0026\\u003e"}'),
        ("", ""),
    ],
)
def test_json_keeps_its_order_and_its_numbers(text: str, expected: str) -> None:
    assert patch_json(text, NOTHING) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b: 1\na: x\n", "a: x\nb: 1\n"),
        ("k10: a\nk2: b\nA: c\n_: d\n", "_: d\nA: c\nk2: b\nk10: a\n"),
        ("a: yes\nb: 0777\nc: 1_000\nd: 12:30\n", 'a: true\nb: 511\nc: 1000\nd: "12:30"\n'),
        ("a: 'yes'\nb: '1'\nc: 2020-01-01\n", 'a: "yes"\nb: "1"\nc: "2020-01-01"\n'),
        ("a: |\n  x\n  y\n", "a: |\n  x\n  y\n"),
        ("a: 1.0\nb: 1234567.5\nc: 0.00001\n", "a: 1\nb: 1.2345675e+06\nc: 1e-05\n"),
        ("base: &b {p: 1}\na:\n  <<: *b\n  q: 2\n", "a:\n  p: 1\n  q: 2\nbase:\n  p: 1\n"),
        ("1: a\ntrue: b\n", '"1": a\n"true": b\n'),
        ("- b\n- [1]\n", "- b\n- - 1\n"),
    ],
)
def test_yaml_is_written_as_go_writes_it(text: str, expected: str) -> None:
    assert patch_yaml(
        text,
        [Operation("add", "/-", "x"), Operation("remove", "/-1")] if text[0] == "-" else NOTHING,
    ) == (expected)


class Reader(yaml.SafeLoader):
    """PyYAML without YAML 1.1's type of a lone equals sign, for which it has no reader."""


Reader.add_constructor("tag:yaml.org,2002:value", lambda _, node: node.value)


@given(DOCUMENTS)
@example({"x": "="})
def test_what_is_written_reads_back(document: dict[str, object]) -> None:
    assert yaml.load(patch_yaml(json.dumps(document), NOTHING), Reader) == document
    assert json.loads(patch_json(json.dumps(document), NOTHING)) == document


@pytest.mark.parametrize(
    ("patch", "text", "error"),
    [
        (patch_json, "nope", "invalid state detected"),
        (
            patch_json,
            "5",
            "json: cannot unmarshal number into Go value of type map[string]*jsonpatch.lazyNode",
        ),
        (
            patch_json,
            "true",
            "json: cannot unmarshal bool into Go value of type map[string]*jsonpatch.lazyNode",
        ),
        (
            patch_yaml,
            "x",
            "json: cannot unmarshal string into Go value of type map[string]*jsonpatch.lazyNode",
        ),
        (patch_yaml, "a: .inf\n", ".inf cannot be written in JSON"),
    ],
)
def test_what_is_no_document_is_refused(patch: object, text: str, error: str) -> None:
    assert callable(patch)
    with pytest.raises(ValueError, match=error.replace("[", r"\[").replace("*", r"\*")):
        patch(text, NOTHING)


def test_an_empty_yaml_document_takes_nothing() -> None:
    with pytest.raises(
        PatchError, match="error in add for path: '/a': invalid value, expected object"
    ):
        patch_yaml("", [Operation("add", "/a", 1)])


@pytest.mark.parametrize(
    "value",
    [1e18, 0.1, -0.0, 1e300, "1", "yes", "1:30", " a\nb\n", None, True, {"z": [1e18], "a": ""}],
)
def test_a_value_is_settled_as_if_it_were_written_and_read_again(value: Any) -> None:
    first, second = Operation("add", "/b", value), Operation("add", "/c", "last")
    one_by_one = patch_yaml(patch_yaml("a: 1\n", [first]), [second])
    assert patch_yaml("a: 1\n", [Operation("add", "/b", settled(value)), second]) == one_by_one
