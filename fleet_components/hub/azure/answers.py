"""Answers of the resource API, read. Source: ``Microsoft.ContainerService/fleets``, version
2026-06-01.
"""

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

MEMBERS, RUNS, STRATEGIES, PROFILES = (
    "members",
    "updateRuns",
    "updateStrategies",
    "autoUpgradeProfiles",
)
PARTS = (MEMBERS, RUNS, STRATEGIES, PROFILES)
"""The lists of a fleet, as they are called in paths."""
# Characters of an error that are kept.
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
        elements = (data for data in lists.get(part, ()) if isinstance(data, Mapping))
        named = [(_text(element, "name"), _map(element, "properties")) for element in elements]
        # By name alone, so that an unchanged fleet is written alike: two maps cannot be compared.
        return tuple(
            read(name, properties) for name, properties in sorted(named, key=lambda pair: pair[0])
        )

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


def _member(name: str, answer: Object) -> JoinedCluster:
    return JoinedCluster(
        name,
        cluster=_text(answer, "clusterResourceId"),
        group=_text(answer, "group"),
        labels={str(key): str(value) for key, value in sorted(_map(answer, "labels").items())},
        state=_text(answer, "provisioningState"),
        error=_error(_map(answer, "status").get("lastOperationError")),
    )


def _run(name: str, answer: Object) -> UpgradeRun:
    # Beside the status of each stage, the status of a run contains a status of its own.
    status = _map(answer, "status")
    own = _map(status, "status")
    state = _text(own, "state")
    upgrade = _map(_map(answer, "managedClusterUpdate"), "upgrade")
    version = _text(upgrade, "kubernetesVersion")
    return UpgradeRun(
        name,
        state=state,
        upgrade=_text(upgrade, "type") + (f" to {version}" if version else ""),
        strategy=_last(_text(answer, "updateStrategyId")),
        profile=_last(_text(answer, "autoUpgradeProfileId")),
        started=_text(own, "startTime"),
        completed=_text(own, "completedTime"),
        error=_error(own.get("error")),
        stages=tuple(map(_stage, _maps(status, "stages"))) if is_under_way(state) else (),
    )


def _stage(answer: Object) -> UpgradeStage:
    groups = _maps(answer, "groups")
    members = (member for group in groups for member in _maps(group, "members"))
    gated = (
        gate
        for data in (answer, *groups)
        for side in ("beforeGates", "afterGates")
        for gate in _maps(data, side)
    )
    return UpgradeStage(
        _text(answer, "name"),
        state=_state(answer),
        members={
            _text(data, "name"): _state(data)
            for data in sorted(members, key=lambda data: _text(data, "name"))
        },
        gates=tuple(
            _text(gate, "displayName") or "unnamed" for gate in gated if _state(gate) == "Pending"
        ),
    )


def _strategy(name: str, answer: Object) -> UpgradeStrategy:
    stages = _maps(_map(answer, "strategy"), "stages")
    return UpgradeStrategy(name, tuple(map(_planned_stage, stages)))


def _planned_stage(answer: Object) -> StrategyStage:
    wait = answer.get("afterStageWaitInSeconds")
    groups = tuple(_text(group, "name") for group in _maps(answer, "groups"))
    return StrategyStage(_text(answer, "name"), groups, wait if isinstance(wait, int) else 0)


def _profile(name: str, answer: Object) -> UpgradeProfile:
    return UpgradeProfile(
        name,
        channel=_text(answer, "channel"),
        disabled=answer.get("disabled") is True,
        target=_text(answer, "targetKubernetesVersion"),
        strategy=_last(_text(answer, "updateStrategyId")),
    )


def _state(answer: Object) -> str:
    return _text(_map(answer, "status"), "state")


def _error(answer: Any) -> str:
    """Return the code and the message of an error, in one line; empty if there is none."""
    parts = filter(None, (_text(answer, "code"), _text(answer, "message")))
    return visible(": ".join(parts))[:_LONGEST]


def _last(identity: str) -> str:
    # A resource ID ends with the name of the resource.
    return identity.rpartition("/")[2]


# An answer of another form gives an empty value, and no error.
def _text(answer: Any, field: str) -> str:
    value = answer.get(field) if isinstance(answer, Mapping) else None
    return value if isinstance(value, str) else ""


def _map(answer: Any, field: str) -> Object:
    value = answer.get(field) if isinstance(answer, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _maps(answer: Any, field: str) -> list[Object]:
    value = answer.get(field) if isinstance(answer, Mapping) else None
    found: Iterable[Any] = value if isinstance(value, list) else ()
    return [data for data in found if isinstance(data, Mapping)]
