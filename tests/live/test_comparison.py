"""Fields that differ between what is wanted and what a member has, without a member."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.live.comparison import (
    MOST_DIFFERENCES,
    REDACTED,
    as_go_prints,
    field_differences,
)

CANARY = "U1dPUkRGSVNI"


def thing(kind: str = "ConfigMap", annotations: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": "it", "annotations": annotations},
        **fields,
    }


def found(wanted: Any, there: Any) -> list[tuple[str, str | None, str | None]]:
    return [
        (difference.path, difference.wanted, difference.there)
        for difference in field_differences(wanted, there)
    ]


def test_fields_are_told_by_pointers() -> None:
    wanted = thing(data={"a": "1", "gone": "x"}, list=[{"n": 1}, 2])
    there = thing(data={"a": "2", "by/hand~": "y"}, list=[{"n": 2}, 2, 3])
    assert found(wanted, there) == [
        ("/data/a", "1", "2"),
        ("/data/by~1hand~0", None, "y"),
        ("/data/gone", "x", None),
        ("/list/0/n", "1", "2"),
        ("/list/2", None, "3"),
    ]


def test_what_nobody_has_meant_is_no_difference() -> None:
    there = thing(
        annotations={
            "fleet-components/stack": "a/b/c",
            "pulumi.com/patchFieldManager": "m",
            "deployment.kubernetes.io/revision": "3",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
        status={"phase": "Active"},
    )
    kept = {
        "uid": "u",
        "resourceVersion": "1",
        "generation": 4,
        "managedFields": [],
        "creationTimestamp": "t",
    }
    there["metadata"].update(kept)
    assert found(thing(), there) == []


@pytest.mark.parametrize("sides", [1, -1])
def test_secrets_are_hidden_on_both_sides(sides: int) -> None:
    pair = [
        thing("Secret", data={"k": CANARY}),
        thing("Secret", data={"k": CANARY[::-1], "more": CANARY}),
    ][::sides]
    told = found(*pair)
    assert [path for path, _, _ in told] == ["/data/k", "/data/more"]
    assert {value for _, *values in told for value in values if value} == {REDACTED}


def test_no_more_than_a_hundred() -> None:
    assert (
        len(found(thing(data={str(n): "" for n in range(500)}), thing(data={}))) == MOST_DIFFERENCES
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (True, "true"),
        (0.5, "0.5"),
        ("text", "text"),
        (["a", 1], "[a 1]"),
        ({"b": {"x": None}, "a": []}, "map[a:[] b:map[x:<nil>]]"),
    ],
)
def test_values_are_written_as_by_the_api(value: Any, text: str) -> None:
    assert as_go_prints(value) == text
