"""Answers of the resource API, read. Source: ``Microsoft.ContainerService/fleets``, version 2026-06-01."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fleet_components.hub.azure.fleet_resource import (
    FleetResource,
    JoinedCluster,
    StrategyStage,
    UpgradeProfile,
    UpgradeRun,
    UpgradeStage,
    UpgradeStrategy,
    is_under_way,
)
from fleet_components.hub.listing import Object
from fleet_components.model.text import visible

MEMBERS, RUNS, STRATEGIES, PROFILES = "members", "updateRuns", "updateStrategies", "autoUpgradeProfiles"
PARTS = (MEMBERS, RUNS, STRATEGIES, PROFILES)
"""The lists of a fleet, as they are called in paths."""
_LONGEST = 500
T = TypeVar("T")


def fleet_resource(
    identity: str, fleet: Object, lists: Mapping[str, Sequence[Object]], unread: Mapping[str, str]
) -> FleetResource:
    """Return a fleet from the answers about it.

    Args:
        identity: its resource ID.
        fleet: the fleet.
        lists: the elements of its lists, by the name of the list; those that were answered.
        unread: why the others were not.
    """

    def each(part: str, read: Callable[[str, Object], T]) -> tuple[T, ...]:
        elements = (one for one in lists.get(part, ()) if isinstance(one, Mapping))
        named = [(_text(one, "name"), _map(one, "properties")) for one in elements]
        return tuple(read(name, properties) for name, properties in sorted(named, key=lambda pair: pair[0]))

    properties = _map(fleet, "properties")
    hub = properties.get("hubProfile")
    return FleetResource(
        id=identity,
        state=_text(properties, "provisioningState"),
        error=_error(_map(properties, "status").get("lastOperationError")),
        has_hub=isinstance(hub, Mapping),
        hub_version=_text(hub, "kubernetesVersion"),
        members=each(MEMBERS, _member),
        runs=each(RUNS, _run),
        strategies=each(STRATEGIES, _strategy),
        profiles=each(PROFILES, _profile),
        unread=dict(sorted(unread.items())),
    )


def _member(name: str, told: Object) -> JoinedCluster:
    return JoinedCluster(
        name,
        cluster=_text(told, "clusterResourceId"),
        group=_text(told, "group"),
        labels={str(key): str(value) for key, value in sorted(_map(told, "labels").items())},
        state=_text(told, "provisioningState"),
        error=_error(_map(told, "status").get("lastOperationError")),
    )


def _run(name: str, told: Object) -> UpgradeRun:
    status = _map(told, "status")
    own = _map(status, "status")
    state = _text(own, "state")
    upgrade = _map(_map(told, "managedClusterUpdate"), "upgrade")
    version = _text(upgrade, "kubernetesVersion")
    return UpgradeRun(
        name,
        state=state,
        upgrade=_text(upgrade, "type") + (f" to {version}" if version else ""),
        strategy=_last(_text(told, "updateStrategyId")),
        profile=_last(_text(told, "autoUpgradeProfileId")),
        started=_text(own, "startTime"),
        completed=_text(own, "completedTime"),
        error=_error(own.get("error")),
        stages=tuple(map(_stage, _maps(status, "stages"))) if is_under_way(state) else (),
    )


def _stage(told: Object) -> UpgradeStage:
    groups = _maps(told, "groups")
    members = (member for group in groups for member in _maps(group, "members"))
    gated = (gate for one in (told, *groups) for side in ("beforeGates", "afterGates") for gate in _maps(one, side))
    return UpgradeStage(
        _text(told, "name"),
        state=_state(told),
        members={_text(one, "name"): _state(one) for one in sorted(members, key=lambda one: _text(one, "name"))},
        gates=tuple(_text(gate, "displayName") or "unnamed" for gate in gated if _state(gate) == "Pending"),
    )


def _strategy(name: str, told: Object) -> UpgradeStrategy:
    stages = _maps(_map(told, "strategy"), "stages")
    return UpgradeStrategy(name, tuple(map(_planned_stage, stages)))


def _planned_stage(told: Object) -> StrategyStage:
    wait = told.get("afterStageWaitInSeconds")
    groups = tuple(_text(group, "name") for group in _maps(told, "groups"))
    return StrategyStage(_text(told, "name"), groups, wait if isinstance(wait, int) else 0)


def _profile(name: str, told: Object) -> UpgradeProfile:
    return UpgradeProfile(
        name,
        channel=_text(told, "channel"),
        disabled=told.get("disabled") is True,
        target=_text(told, "targetKubernetesVersion"),
        strategy=_last(_text(told, "updateStrategyId")),
    )


def _state(told: Object) -> str:
    return _text(_map(told, "status"), "state")


def _error(told: Any) -> str:
    """Return the code and the message of an error, in one line; empty if there is none."""
    parts = filter(None, (_text(told, "code"), _text(told, "message")))
    return visible(": ".join(parts))[:_LONGEST]


def _last(identity: str) -> str:
    return identity.rpartition("/")[2]


def _text(told: Any, field: str) -> str:
    value = told.get(field) if isinstance(told, Mapping) else None
    return value if isinstance(value, str) else ""


def _map(told: Any, field: str) -> Object:
    value = told.get(field) if isinstance(told, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _maps(told: Any, field: str) -> list[Object]:
    value = told.get(field) if isinstance(told, Mapping) else None
    found: Iterable[Any] = value if isinstance(value, list) else ()
    return [one for one in found if isinstance(one, Mapping)]
