"""Reads strategies, update runs and targets from the form in which users write them.

Takes objects that were admitted: what the API would refuse is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from fleet_components.model.manifest import Manifest
from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.rollout.strategy import External, RollingUpdate, Stage, Task, UpdateRun

_UNIT_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DURATION_PART = re.compile(r"([0-9.]+)([hms])")


def read_strategy(strategy: Mapping[str, Any] | None, run: UpdateRun | None = None) -> RollingUpdate | External:
    """Read ``spec.strategy`` of a placement; absent fields have KubeFleet's defaults.

    Args:
        strategy: the field, None when absent.
        run: the update run in force, for a placement whose strategy is ``External``.
    """
    strategy = strategy or {}
    if strategy.get("type") == "External":
        return External(run)
    given = strategy.get("rollingUpdate") or {}
    fields = {
        "max_unavailable": given.get("maxUnavailable"),
        "max_surge": given.get("maxSurge"),
        "unavailable_period_seconds": given.get("unavailablePeriodSeconds"),
    }
    return RollingUpdate(**{name: value for name, value in fields.items() if value is not None})


def read_target(policy: Mapping[str, Any] | None) -> int | None:
    """How many clusters ``spec.policy`` of a placement asks for; None for PickAll: those that it finds."""
    match (policy or {}).get("placementType"):
        case "PickN":
            return int((policy or {})["numberOfClusters"])
        case "PickFixed":
            return len((policy or {}).get("clusterNames") or ())
    return None


def read_update_run(run: Manifest, strategy: Manifest) -> UpdateRun:
    """Read an update run and the strategy that it names."""
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
        None if selector is None else _selector(selector),
        stage.get("sortingLabelKey"),
        stage.get("maxConcurrency", 1),
        _tasks(stage.get("beforeStageTasks")),
        _tasks(stage.get("afterStageTasks")),
    )


def _tasks(tasks: Sequence[Mapping[str, Any]] | None) -> tuple[Task, ...]:
    return tuple(Task(task["type"], _duration(task.get("waitTime"))) for task in tasks or ())


def _selector(selector: Mapping[str, Any]) -> LabelSelector:
    expressions = selector.get("matchExpressions") or ()
    return LabelSelector(
        selector.get("matchLabels") or {},
        tuple(Requirement(e["key"], e["operator"], tuple(e.get("values") or ())) for e in expressions),
    )


def _duration(text: str | None) -> timedelta | None:
    if text is None:
        return None
    parts = _DURATION_PART.findall(text)
    return sum((timedelta(seconds=float(n) * _UNIT_SECONDS[unit]) for n, unit in parts), timedelta())
