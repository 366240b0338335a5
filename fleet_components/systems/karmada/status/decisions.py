"""Decisions about the templates of Karmada's policies, in the form of Karmada's API.

Source: ``ResourceBinding`` and ``ClusterResourceBinding`` of ``work.karmada.io/v1alpha2``. Times,
generations and what only members could report are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.model.codec import encode
from fleet_components.model.manifest import Manifest
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.model.policy import CLUSTER_PROPAGATION
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.status.bindings import (
    API_VERSION,
    binding_metadata,
    scheduling_status,
)

_POLICY, _CLUSTER_POLICY = "propagationpolicy.karmada.io", "clusterpropagationpolicy.karmada.io"


def bindings(templates: Iterable[Decided]) -> list[dict[str, Any]]:
    """Return the bindings of the templates, sorted by key, as they are after the next
    scheduling.
    """
    known = {template.subject.key: template for template in templates}
    manifests = {key: _subject(template).manifest for key, template in known.items()}
    return [binding(known[key], manifests) for key in sorted(known)]


def binding(decided: Decided, manifests: Mapping[str, Manifest] | None = None) -> dict[str, Any]:
    """Return the binding of a template; ``manifests`` holds templates that may require it, by
    key.
    """
    manifest, memory = _subject(decided).manifest, decided.record.memory
    schedule, replicas = (
        memory.schedule,
        memory.replicas if decided.outcome.template.workload else None,
    )
    known = manifests or {}
    required = [
        _required(known[key], clusters)
        for key, clusters in schedule.required_by.items()
        if key in known
    ]
    tasks = [_task(cluster, task) for cluster, task in sorted(schedule.evictions.items())]
    # None instead of an empty list: `_given` leaves it out, as the API does.
    spec = {
        "resource": _resource(manifest),
        "replicas": replicas,
        "clusters": _clusters(schedule.clusters, decided.outcome.template),
        "requiredBy": required or None,
        "gracefulEvictionTasks": tasks or None,
        "suspension": memory.spec.get("suspension"),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceBinding" if manifest.namespace else "ClusterResourceBinding",
        "metadata": {**binding_metadata(manifest), "annotations": _claimed(decided)},
        "spec": _given(spec),
        "status": _settled(decided),
    }


def _subject(decided: Decided) -> TemplateSubject:
    assert isinstance(decided.subject, TemplateSubject)
    return decided.subject


def _settled(decided: Decided) -> dict[str, Any]:
    """Return the status after the next scheduling, which stays the same while nothing changes."""
    decision = decided.subject.decide(decided.record).decision  # type: ignore[attr-defined]
    return scheduling_status(decision, decided.record.memory)


def _claimed(decided: Decided) -> dict[str, str]:
    """Return Karmada's annotations that name the policy of a template; empty if it has none."""
    policy = decided.record.memory.policy
    if policy is None:
        return {}
    if policy.kind == CLUSTER_PROPAGATION:
        return {f"{_CLUSTER_POLICY}/name": policy.name}
    return {f"{_POLICY}/name": policy.name, f"{_POLICY}/namespace": policy.namespace}


def _resource(manifest: Manifest) -> dict[str, Any]:
    fields = {
        "apiVersion": manifest.api_version,
        "kind": manifest.kind,
        "namespace": manifest.namespace or None,
        "name": manifest.name,
    }
    return _given(fields)


def _clusters(clusters: Mapping[str, int], template: Template) -> list[dict[str, Any]]:
    return [
        {"name": name, **({"replicas": replicas} if template.workload else {})}
        for name, replicas in sorted(clusters.items())
    ]


def _required(parent: Manifest, clusters: Iterable[str]) -> dict[str, Any]:
    return {**binding_metadata(parent), "clusters": [{"name": name} for name in sorted(clusters)]}


def _task(cluster: str, task: EvictionTask) -> dict[str, Any]:
    return {
        "fromCluster": cluster,
        # A time, which is left out like all others.
        **{field: value for field, value in encode(task).items() if field != "created"},
    }


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
