"""One object that two placements bring: a hub refuses it to the second, and keeps it as it is."""

from __future__ import annotations

from typing import Any

from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.model.manifest import Manifest
from tests.hub.kubefleet.hubs import recorded
from tests.hub.kubefleet.planned import changes, past_of, planned, source_of

NAME = "two-crps-same-object"


def observed(step: int) -> HubObservation:
    return read_hub(recorded(NAME, step))


def test_what_stands_is_warned_of() -> None:
    observation = next(item for item in map(observed, range(4)) if len(item.subjects) == 2)
    plan = planned(observation)
    assert list(changes(plan)) == []
    assert [str(warning) for warning in plan.warnings if "is brought to cluster" in warning.what]


def test_what_comes_new_is_refused() -> None:
    alone = observed(0)
    (placement,) = (
        policy for policy in alone.policies if policy["kind"] == "ClusterResourcePlacement"
    )
    other: dict[str, Any] = {**placement, "metadata": {"name": "other"}}
    source = source_of(alone).with_objects([Manifest(other)])
    assert [
        item.what
        for item in planned(alone, source, past_of(alone)).refused
        if "is brought to" in item.what
    ]
