"""What a Karmada control plane says of a template, against what a plan would have it say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.model.policy import PolicyKey
from fleet_components.systems.karmada.plan.record import TemplateState
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.status.bindings import (
    API_VERSION,
    binding_metadata,
    scheduling_status,
)
from tests.hubs.objects import Objects

_PARTS = ("type", "status", "reason", "message")
_MARKS = {
    "PropagationPolicy": "propagationpolicy.karmada.io",
    "ClusterPropagationPolicy": "clusterpropagationpolicy.karmada.io",
}


def binding_words(decided: Decided, hub: Objects) -> Iterator[str]:
    """Yield what the binding of a template says otherwise: its policy, condition, members, and evictions."""
    assert isinstance(decided.subject, TemplateSubject)
    manifest, state = decided.subject.manifest, decided.record.memory
    kind = "ResourceBinding" if manifest.namespace else "ClusterResourceBinding"
    header = {"apiVersion": API_VERSION, "kind": kind, "metadata": binding_metadata(manifest)}
    found = hub.get(hub.judge.path(header))
    if found is None:
        if state.claim.bound or state.targets:
            yield "there is no binding"
        return
    said, planned = _said(found), _planned(decided, state)
    for what in planned:
        if said[what] != planned[what]:
            yield f"{what}: {said[what]}, not {planned[what]}"


def _planned(decided: Decided, state: TemplateState) -> dict[str, Any]:
    bound, schedule = state.claim.bound, state.schedule
    status = scheduling_status(decided.outcome.decision, state)
    return {
        "policy": _path(bound.policy) if bound else "",
        "condition": [_plain(item) for item in status["conditions"]],
        "group": status.get("schedulerObservingAffinityName", ""),
        "members": dict(sorted(schedule.clusters.items())),
        "evictions": {
            name: (task.purge_mode, task.reason, task.producer)
            for name, task in sorted(schedule.evictions.items())
        },
        "needed on": sorted(
            {name for members in schedule.required_by.values() for name in members}
        ),
    }


def _said(binding: Mapping[str, Any]) -> dict[str, Any]:
    spec, status = binding["spec"], binding.get("status") or {}
    marks = binding["metadata"].get("annotations") or {}
    policies = (
        f"{kind}/{marks.get(f'{prefix}/namespace', '')}/{marks[f'{prefix}/name']}"
        for kind, prefix in _MARKS.items()
        if f"{prefix}/name" in marks
    )
    tasks = sorted(
        spec.get("gracefulEvictionTasks") or (), key=lambda task: str(task["fromCluster"])
    )
    return {
        "policy": next(policies, ""),
        "condition": [
            _plain(item) for item in status.get("conditions") or () if item["type"] == "Scheduled"
        ],
        "group": status.get("schedulerObservingAffinityName", ""),
        "members": dict(
            sorted((item["name"], item.get("replicas") or 0) for item in spec.get("clusters") or ())
        ),
        "evictions": {
            task["fromCluster"]: (task["purgeMode"], task["reason"], task["producer"])
            for task in tasks
        },
        "needed on": sorted(
            {
                item["name"]
                for parent in spec.get("requiredBy") or ()
                for item in parent.get("clusters") or ()
            }
        ),
    }


def _path(policy: PolicyKey | None) -> str:
    return policy.path if policy else ""


def _plain(condition: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(condition.get(part) for part in _PARTS)
