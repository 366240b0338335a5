"""Fields whose changes are ignored, as the engine resets them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fleet_components.plan.ignored import ignore

OLD = {"a": 1, "b": {"c": 2, "d.e/f": 3}, "l": [{"x": 1}, {"x": 2}], "gone": {"deep": 1}}
NEW = {"a": 9, "b": {"c": 8, "d.e/f": 7}, "l": [{"x": 9}, {"x": 8}], "new": {"deep": 2}}


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("a", {"a": 1}),
        ("b", {"b": OLD["b"]}),
        ("b.c", {"b": {"c": 2, "d.e/f": 7}}),
        ('b["d.e/f"]', {"b": {"c": 8, "d.e/f": 3}}),
        ('b.["c"]', {"b": {"c": 2, "d.e/f": 7}}),
        ("b.*", {"b": OLD["b"]}),
        ("b[*]", {"b": OLD["b"]}),
        ("l[0].x", {"l": [{"x": 1}, {"x": 8}]}),
        ("l[1]", {"l": [{"x": 9}, {"x": 2}]}),
        ("l[*].x", {"l": OLD["l"]}),
        ("l[2].x", {}),
        ("l[2]", {}),
        ("l.x", {}),
        ("a.b", {}),
        ("gone", {"gone": {"deep": 1}}),  # what is there no more comes back
        ("new", {"new": None}),  # what is new stays away
        ("gone.deep", {}),
        ("new.deep", {"new": {}}),
        ("neither.here", {}),
        ("b.other", {}),
        ("", {}),
        ("b[", {}),
        ('b["c', {}),
        ("b[x]", {}),
    ],
)
def test_a_field_takes_the_value_that_it_had(path: str, changed: dict[str, Any]) -> None:
    inputs: dict[str, Any] = copy.deepcopy(NEW)
    before = copy.deepcopy(OLD)
    ignore(inputs, before, [path])
    expected = {key: value for key, value in {**NEW, **changed}.items() if value is not None}
    assert inputs == expected
    assert before == OLD


def test_a_secret_stays_one() -> None:
    secret = {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "value": {"k": "new"},
    }
    inputs: dict[str, Any] = {"data": copy.deepcopy(secret)}
    ignore(inputs, {"data": {"k": "old"}}, ["data.k"])
    assert inputs == {"data": {**secret, "value": {"k": "old"}}}
    ignore(inputs, {"data": {"k": "older"}}, ["data"])
    assert inputs == {"data": {**secret, "value": {"k": "older"}}}
