"""Fields that are not what their kind has there."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from fleet_components.content.structure import misfits
from tools.defaults.__main__ import OBJECTS

POD = {"containers": [{"name": "web", "image": "web"}]}
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all is well": ({"spec": POD}, []),
    "a null": ({"spec": {**POD, "nodeSelector": None}}, []),
    "a map for a list": ({"spec": {"containers": {}}}, ["spec.containers: expected list, got map"]),
    "a list for a map": ({"spec": []}, ["spec: expected map, got list"]),
    "a number for a text": (
        {"spec": {**POD, "nodeName": 1}},
        ["spec.nodeName: expected string, got integer"],
    ),
    "a text for a number": (
        {"spec": {**POD, "priority": "1"}},
        ["spec.priority: expected integer, got string"],
    ),
    "a fraction": (
        {"spec": {**POD, "priority": 1.5}},
        ["spec.priority: expected integer, got number"],
    ),
    "a whole number with a point": ({"spec": {**POD, "priority": 1.0}}, []),
    "a boolean for a number": (
        {"spec": {**POD, "priority": True}},
        ["spec.priority: expected integer, got boolean"],
    ),
    "quantities": (
        {"spec": {**POD, "overhead": {"cpu": 1, "memory": "1Gi", "x": True}}},
        ["spec.overhead.x: expected quantity, got boolean"],
    ),
    "a text that is no quantity": (
        {"spec": {**POD, "overhead": {"cpu": "much", "memory": "100m"}}},
        ["spec.overhead.cpu: expected quantity, got string"],
    ),
    "a value of a map": (
        {"spec": {**POD, "nodeSelector": {"gpu": True}}},
        ["spec.nodeSelector.gpu: expected string, got boolean"],
    ),
    "an unknown field without a value": (
        {"spec": {**POD, "image": None}},
        ["spec.image: field not declared in schema"],
    ),
    "an unknown field": (
        {"spec": {"containers": [{"name": "web", "images": "web"}]}},
        ["spec.containers[0].images: field not declared in schema"],
    ),
}


@pytest.mark.parametrize(("fields", "found"), CASES.values(), ids=CASES)
def test_a_pod(fields: dict[str, Any], found: list[str]) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, **fields}
    assert list(map(str, misfits(pod))) == found


def test_nothing_is_known_of_custom_kinds() -> None:
    assert not list(misfits({"apiVersion": "example.com/v1", "kind": "Pod", "spec": 1}))


def test_objects_that_an_api_server_takes() -> None:
    for data in yaml.safe_load(OBJECTS.read_text()):
        assert not list(misfits(data)), data
        assert all(list(misfits(other)) for other in spoilt(data)), data


def spoilt(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object with one more field in each of its maps of named fields at the top."""
    for field in ("metadata", "unknown"):
        other = copy.deepcopy(data)
        other[field] = 1
        yield other
