"""Strategies and targets as users write them."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.rollout.read import read_strategy, read_target
from fleet_components.rollout.strategy import External, RollingUpdate


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, RollingUpdate("25%", "25%", 60)),
        ({}, RollingUpdate()),
        ({"type": "RollingUpdate", "rollingUpdate": None}, RollingUpdate()),
        ({"rollingUpdate": {"maxUnavailable": 0, "unavailablePeriodSeconds": 0}}, RollingUpdate(0, "25%", 0)),
        ({"rollingUpdate": {"maxSurge": "10%"}}, RollingUpdate("25%", "10%", 60)),
        ({"type": "External"}, External()),
    ],
)
def test_strategy(written: dict[str, Any] | None, read: RollingUpdate | External) -> None:
    assert read_strategy(written) == read


@pytest.mark.parametrize(
    ("policy", "target"),
    [
        (None, None),
        ({"placementType": "PickAll"}, None),
        ({"placementType": "PickN", "numberOfClusters": 0}, 0),
        ({"placementType": "PickFixed", "clusterNames": ["a", "missing"]}, 2),
        ({"placementType": "PickFixed"}, 0),
    ],
)
def test_target(policy: dict[str, Any] | None, target: int | None) -> None:
    assert read_target(policy) == target
