"""No known difference hides a fault: a recording that says anything else of what it tells does not pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.mutations import changed
from tests.delivery.passes import Passed, replay_of

FEW = [
    ("karmada-live", "conflict_template_annotation"),
    ("karmada-live", "overrides_field_configmap"),
    ("kubefleet-live", "envelope-resource"),
    ("kubefleet-live", "override-cro-clusterrole"),
    ("kubefleet-live", "serversideapply-conflict"),
]


@pytest.mark.samples(2)
@pytest.mark.parametrize(("folder", "name"), FEW)
def test_a_changed_value_is_noticed(folder: str, name: str) -> None:
    assert Passed.of(replay_of(folder, name)).hidden == []


@pytest.mark.parametrize(
    "value", [None, True, 1, "a", {"a": 1}, {"a": [1, "b"]}, [], (1, {"b": None})]
)
def test_changed_values_differ(value: Any) -> None:
    found = list(changed(value))
    assert found
    assert value not in found
    assert {type(item) for item in found} == {type(value) if value is not None else str}
