"""Reads update runs and targets from what users wrote.

Expects admitted objects: what the API would refuse is not checked again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from fleet_components.model.codec import decode
from fleet_components.model.kubefleet.placement import PICK_FIXED, PICK_N, PlacementPolicy
from fleet_components.model.manifest import Manifest
from fleet_components.model.selector import LabelSelector
from fleet_components.rollout.strategy import Stage, Task, UpdateRun

_UNIT_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DURATION_PART = re.compile(r"([0-9.]+)([hms])")


def target_of(policy: PlacementPolicy | None) -> int | None:
    """Return how many clusters a placement asks for; None for PickAll, which takes all that fit."""
    if policy and policy.placement_type == PICK_N:
        return policy.number_of_clusters
    return len(policy.cluster_names) if policy and policy.placement_type == PICK_FIXED else None


def read_update_run(run: Manifest, strategy: Manifest) -> UpdateRun:
    """Build an update run from its manifest and that of the strategy it names."""
    return UpdateRun(
        run.name,
        f"{strategy.namespace}/{strategy.name}",
        tuple(_stage(stage) for stage in strategy.data["spec"].get("stages") or ()),
        run.data["spec"].get("state") or "Initialize",
    )


def _stage(stage: Mapping[str, Any]) -> Stage:
    selector = stage.get("labelSelector")
    return Stage(
        stage["name"],
        None if selector is None else decode(LabelSelector, selector),
        stage.get("sortingLabelKey"),
        stage.get("maxConcurrency", 1),
        _tasks(stage.get("beforeStageTasks")),
        _tasks(stage.get("afterStageTasks")),
    )


def _tasks(tasks: Sequence[Mapping[str, Any]] | None) -> tuple[Task, ...]:
    return tuple(Task(task["type"], _duration(task.get("waitTime"))) for task in tasks or ())


def _duration(text: str | None) -> timedelta | None:
    if text is None:
        return None
    parts = _DURATION_PART.findall(text)
    return sum((timedelta(seconds=float(n) * _UNIT_SECONDS[unit]) for n, unit in parts), timedelta())
