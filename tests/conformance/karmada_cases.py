"""Turns one case of a Karmada vector file into inputs, and what came out into the form of the vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet_components.admission import KINDS, admit
from fleet_components.admission.registry import AdmissionRequest
from fleet_components.model.cluster import Taint
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.content.override import override
from fleet_components.systems.karmada.model.cluster import read_karmada_cluster
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_OVERRIDE,
    OVERRIDE,
    Failover,
    Placement,
)
from fleet_components.systems.karmada.scheduler.failover import EvictionSettings, evict
from fleet_components.systems.karmada.scheduler.graceful import Surroundings, unfinished
from tests.scheduler.karmada.control_plane import ControlPlane

NOW = datetime(2026, 1, 1, tzinfo=UTC)

Case = Mapping[str, Any]


def override_outcome(case: Case) -> dict[str, Any]:
    """``override.json``: the policies applied, and the object or the error."""
    policies = [OverridePolicy.from_manifest(Manifest(policy)) for policy in case["policies"]]
    done = override(Manifest(case["resource"]), read_karmada_cluster(case["cluster"]), policies)
    result = {"error": done.logged} if done.problem else {"result": done.data}
    return {
        "appliedClusterOverridePolicies": list(done.applied_of(CLUSTER_OVERRIDE)),
        "appliedOverridePolicies": list(done.applied_of(OVERRIDE)),
        "events": [str(event) for event in done.events] or None,
        **result,
    }


def matching_outcomes(case: Case) -> list[dict[str, Any]]:
    """``matching.json``: who claims what after each event."""
    control_plane = ControlPlane(case["featureGates"]["PropagationPolicyPreemption"])
    return [control_plane.after(*event) for entry in case["events"] for event in entry.items()]


def eviction_outcome(case: Case) -> dict[str, Any]:
    """``eviction.json``: whether and when the object leaves the member."""
    settings = EvictionSettings(
        case["enableNoExecuteTaintEviction"], case["noExecuteTaintEvictionPurgeMode"]
    )
    failover = decode(Failover, case["failover"]) if "failover" in case else None
    outcome: dict[str, Any] = {"evictNow": False, "purgeMode": settings.purge_mode_for(failover)}
    placement = None if case.get("noAppliedPlacement") else decode(Placement, case["placement"])
    try:
        eviction = evict(map(_aged, case["taints"]), placement, NOW, settings)
    except ValueError as error:
        return {**outcome, "evictAfterSeconds": None, "error": str(error)}
    if eviction.now:
        return {**outcome, "evictNow": True}
    return {
        **outcome,
        "evictAfterSeconds": (eviction.due - NOW).total_seconds() if eviction.due else None,
    }


def _aged(taint: Mapping[str, Any]) -> Taint:
    return Taint(taint["key"], taint.get("value", ""), taint["effect"], _ago(taint["ageSeconds"]))


def _ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def graceful_outcome(case: Case) -> dict[str, Any]:
    """``graceful.json``: the members whose eviction tasks go on, and those whose have ended."""
    status = reversed(
        case["aggregatedStatus"]
    )  # of several items for one member the first one counts
    health = {item["clusterName"]: item.get("health") for item in status}
    around = Surroundings(
        targets=[cluster["name"] for cluster in case["clusters"] or ()],
        healthy={name for name, state in health.items() if state == "Healthy"},
        observed=case["latestGenerationScheduled"],
        as_of=NOW,
        timeout=timedelta(seconds=case["timeoutSeconds"]),
    )
    tasks = {task["fromCluster"]: _task(task) for task in case["tasks"]}
    kept = unfinished(tasks, around)
    return {"kept": list(kept), "removed": [cluster for cluster in tasks if cluster not in kept]}


def _task(task: Mapping[str, Any]) -> EvictionTask:
    created = _ago(task["ageSeconds"]).isoformat() if "ageSeconds" in task else ""
    return decode(EvictionTask, {**task, "created": created})


def validation_outcome(case: Case) -> dict[str, Any]:
    """``validation.json``: the verdict, the webhook's message, and the policy as the mutating webhook leaves it."""
    manifest, old = (
        Manifest(case["policy"]),
        Manifest(case["oldPolicy"]) if "oldPolicy" in case else None,
    )
    admission = admit(manifest, old=old)
    data = admission.defaulted.data
    before = admit(old).defaulted.data if old else None
    kind = KINDS[manifest.api_version, manifest.kind]
    denial = kind.validate(AdmissionRequest(data, before)) if kind.validate else None
    spec = _with_nulls(data["spec"]) if kind.mutate else data["spec"]
    outcome = {"allowed": not admission.refusals, "mutatedSpec": spec}
    return {**outcome, **({"message": denial.text} if denial else {})}


def _with_nulls(spec: Any) -> Any:
    """The spec as the webhook writes it, before the API server drops the null that stands for an absent value."""
    if isinstance(spec, dict):
        changed = {key: _with_nulls(part) for key, part in spec.items()}
        patches = {"operator", "path"} <= changed.keys() or {
            "operator",
            "subPath",
        } <= changed.keys()
        return {"value": None, **changed} if patches else changed
    return [_with_nulls(part) for part in spec] if isinstance(spec, list) else spec


def _whole(
    run: Callable[[Case], Any], key: str = "outcome"
) -> Callable[[Case], Iterator[tuple[Any, Any]]]:
    return lambda case: iter([(case[key], run(case))])


def _validation(case: Case) -> Iterator[tuple[Any, Any]]:
    """What is to be compared: the verdict, the message, and the policy where it is allowed."""
    compared = (
        ("allowed", "message", "mutatedSpec")
        if case["outcome"]["allowed"]
        else ("allowed", "message")
    )
    expected, found = case["outcome"], validation_outcome(case)
    yield _only(expected, compared), _only(found, compared)


def _only(outcome: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: outcome[key] for key in keys if key in outcome}


SUBJECTS = {
    "karmada/eviction": _whole(eviction_outcome),
    "karmada/graceful": _whole(graceful_outcome),
    "karmada/matching": _whole(matching_outcomes, "outcomes"),
    "karmada/override": _whole(override_outcome),
    "karmada/validation": _validation,
}
"""What runs the cases of each vector file: pairs of what was recorded and what came out, for the conformance runner."""
