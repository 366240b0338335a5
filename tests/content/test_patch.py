"""The JSON patch engine: RFC 6902, and the errors of the real control planes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.content.patch import Operation, PatchError, apply_patch

RECORDED = json.loads((Path(__file__).parent / "data/patch-errors.json").read_text())
KEYS = st.sampled_from(["a", "b", "c~d", "e/f", "0", "-"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
STEPS = st.lists(KEYS | st.sampled_from(["1", "2"]), min_size=1, max_size=4)
OPERATIONS = st.builds(
    lambda op, steps, value: Operation(op, "".join(map(_escaped, steps)), value),
    st.sampled_from(["add", "remove", "replace"]),
    STEPS,
    VALUES,
)


def _escaped(step: str) -> str:
    return "/" + step.replace("~", "~0").replace("/", "~1")


def _by_oracle(document: Any, operations: list[Operation]) -> Any:
    """What the jsonpatch package makes of it; None for an error."""
    patch = [{"op": it.op, "path": it.path, "value": it.value} for it in operations]
    try:
        return jsonpatch.apply_patch(document, patch)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError):
        return None


@pytest.mark.long
@settings(max_examples=300)
@given(DOCUMENTS, st.lists(OPERATIONS, min_size=1, max_size=3))
def test_it_patches_as_jsonpatch_does(
    document: dict[str, Any], operations: list[Operation]
) -> None:
    before = copy.deepcopy(document)
    expected = _by_oracle(document, operations)
    try:
        assert apply_patch(document, operations) == expected
    except PatchError:
        assert expected is None
    assert document == before


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["error"][:60])
def test_errors_are_worded_as_by_the_real_library(case: dict[str, Any]) -> None:
    with pytest.raises(PatchError) as caught:
        apply_patch(case["document"], [Operation(**operation) for operation in case["patch"]])
    assert str(caught.value) == case["error"]


def test_an_error_names_the_operation() -> None:
    good, bad = Operation("add", "/a", 1), Operation("remove", "/nope")
    with pytest.raises(PatchError) as caught:
        apply_patch({}, [good, bad])
    assert (caught.value.index, caught.value.operation) == (1, bad)


@pytest.mark.parametrize(
    ("document", "operation", "expected"),
    [
        ({"a": [1, 2]}, Operation("add", "/a/-", 3), {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, Operation("add", "/a/0", 3), {"a": [3, 1, 2]}),
        ({"a": [1, 2]}, Operation("remove", "/a/-1"), {"a": [1]}),
        ({"a": [1, 2]}, Operation("replace", "/a/-2", 3), {"a": [3, 2]}),
        ({"x.io/y": 1}, Operation("replace", "/x.io~1y", 2), {"x.io/y": 2}),
        ({"a": {}}, Operation("add", "", {"b": 1}), {"b": 1}),
        ({}, Operation("add", "a", 1), None),
        ({"a": 1}, Operation("add", "a/b", 1), {"a": 1, "b": 1}),
    ],
)
def test_paths(document: Any, operation: Operation, expected: Any) -> None:
    if expected is None:
        with pytest.raises(PatchError):
            apply_patch(document, [operation])
    else:
        assert apply_patch(document, [operation]) == expected
