"""How many clusters a placement asks for."""

from __future__ import annotations

import pytest

from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.rollout.strategy import target_of


@pytest.mark.parametrize(
    ("policy", "target"),
    [
        (None, None),
        (PlacementPolicy("PickAll"), None),
        (PlacementPolicy("PickN", number_of_clusters=0), 0),
        (PlacementPolicy("PickFixed", cluster_names=("a", "missing")), 2),
        (PlacementPolicy("PickFixed"), 0),
    ],
)
def test_target(policy: PlacementPolicy | None, target: int | None) -> None:
    assert target_of(policy) == target
