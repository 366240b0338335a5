"""Fields that an API server does not keep as they were sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.unkept import is_empty, nulls, unkept, without
from fleet_components.model.manifest import value_at

EMPTY: st.SearchStrategy[Any] = st.sampled_from([{}, [], None])
VALUES = st.recursive(
    EMPTY | st.sampled_from(["", "text", 0, False]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from("abc"), below),
)


def test_what_means_something_is_stored() -> None:
    sent = {"rules": [], "spec": {"podSelector": {}, "ingress": [{"from": []}], "port": None}}
    stored = {"rules": None, "spec": {"podSelector": {}, "ingress": [{}], "port": 80}}
    found = unkept({"__inputs": sent, **stored})
    assert found == (("rules",), ("spec", "ingress", 0, "from"))
    assert tuple(nulls(sent)) == (("spec", "port"),)
    assert without(sent, (*found, *nulls(sent))) == {"spec": {"podSelector": {}, "ingress": [{}]}}


def test_an_item_of_a_list_is_never_left_out() -> None:
    assert unkept({"__inputs": {"egress": [{}, {}]}, "egress": [{}]}) == ()


def test_without_what_was_sent_nothing_is_known() -> None:
    assert unkept({"rules": None}) == ()


WEB, SIDE = {"name": "web", "image": "web:1"}, {"name": "side", "image": "side:1"}


@pytest.mark.parametrize(
    ("stored", "moved"),
    [
        ([SIDE, {**WEB, "imagePullPolicy": "Always"}], True),
        ([SIDE, {**WEB, "image": "web:2"}], False),
        ([WEB, SIDE], False),
        ([SIDE], False),
        ([SIDE, WEB, WEB], False),
        ([{"image": "side:1"}, WEB], False),
    ],
    ids=["before it", "and another image", "behind it", "instead of it", "twice", "without a name"],
)
def test_items_that_others_have_added(stored: list[Any], moved: bool) -> None:
    """They are no change of the list, where the provider compares its items by position."""
    found = unkept({"__inputs": {"spec": {"containers": [WEB]}}, "spec": {"containers": stored}})
    assert found == ((("spec", "containers"),) if moved else ())


@given(st.dictionaries(st.sampled_from("abc"), VALUES), VALUES)
def test_only_empty_fields_and_nothing_that_is_stored(sent: dict[str, Any], stored: Any) -> None:
    outputs = {**(stored if isinstance(stored, dict) else {}), "__inputs": sent}
    for path in unkept(outputs):
        value = value_at(sent, path)
        assert is_empty(value)
        assert isinstance(path[-1], str)
        assert value_at(outputs, path) is None
    assert without(sent, ()) == sent
