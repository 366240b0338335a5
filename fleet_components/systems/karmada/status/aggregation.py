"""The status of a template, as Karmada makes it of those of its copies.

Source: ``pkg/resourceinterpreter/default/native/aggregatestatus.go`` and ``pkg/util/helper`` of
Karmada 1.19. Times of the control plane and the generation of the template are left out: there is
no control plane that had them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fleet_components.model.manifest import Manifest, value_at

Items = Sequence[Mapping[str, Any]]
"""Entries of ``aggregatedStatus``, sorted by cluster."""

_SUMS = {
    (
        "apps/v1",
        "Deployment",
    ): "replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas",
    ("apps/v1", "ReplicaSet"): "replicas readyReplicas availableReplicas",
    (
        "apps/v1",
        "StatefulSet",
    ): "replicas readyReplicas currentReplicas updatedReplicas availableReplicas",
    ("apps/v1", "DaemonSet"): (
        "currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady"
        " updatedNumberScheduled numberAvailable numberUnavailable"
    ),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "currentReplicas desiredReplicas",
}
_POD_PHASES = ("Failed", "Pending", "Running", "Succeeded")
_VOLUME_PHASES = ("Failed", "Pending", "Available", "Bound", "Released")
"""Phases from that which counts most."""


def aggregated(manifest: Manifest, items: Items) -> Status:
    """Return the status of a template; empty if Karmada writes none, or by a script of another
    project.

    Args:
        manifest: the template.
        items: the entries of ``aggregatedStatus`` in its binding.
    """
    kind = (manifest.api_version, manifest.kind)
    if not items:
        return {}
    if kind in _SUMS:
        return written(manifest, {name: _sum(items, name) for name in _SUMS[kind].split()})
    aggregate = _KINDS.get(kind)
    return aggregate(manifest, items) if aggregate else {}


def _statuses(items: Items) -> list[Status]:
    """Return the statuses that were collected."""
    return [item["status"] for item in items if item.get("status") is not None]


def _sum(items: Items, name: str) -> int:
    return sum(status.get(name) or 0 for status in _statuses(items))


def _budget(manifest: Manifest, items: Items) -> Status:
    counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    # With the member before the name, since Pods of several members may have the same name.
    disrupted = {
        f"{item['clusterName']}/{pod}": time
        for item in items
        for pod, time in ((item.get("status") or {}).get("disruptedPods") or {}).items()
    }
    return written(
        manifest, {"disruptedPods": disrupted, **{name: _sum(items, name) for name in counts}}
    )


def _cron_job(_: Manifest, items: Items) -> Status:
    statuses = _statuses(items)
    active = [job for status in statuses for job in status.get("active") or ()]
    times = {
        name: _latest(status.get(name) for status in statuses)
        for name in ("lastScheduleTime", "lastSuccessfulTime")
    }
    return _filled({"active": active, **times})


def _job(_: Manifest, items: Items) -> Status:
    statuses = _statuses(items)
    started = [status["startTime"] for status in statuses if status.get("startTime")]
    completed = [status["completionTime"] for status in statuses if status.get("completionTime")]
    return _filled(
        {
            **{name: _sum(items, name) for name in ("active", "succeeded", "failed")},
            "conditions": _job_conditions(items),
            # Karmada sets a time only once every member reports it.
            "startTime": min(started) if len(started) == len(items) else None,
            "completionTime": max(completed) if len(completed) == len(items) else None,
        }
    )


def _job_conditions(items: Items) -> list[Status]:
    """Return the conditions: failed if it failed anywhere, complete once it is everywhere."""
    ended = {item["clusterName"]: _end(item.get("status") or {}) for item in items}
    failed = [cluster for cluster, end in ended.items() if end == "Failed"]
    conditions = []
    if failed:
        words = f"Job executed failed in member clusters {','.join(failed)}"
        conditions.append(_condition("Failed", "JobFailed", words))
    # Never of nothing: `aggregated` returns early without items.
    if all(end == "Complete" for end in ended.values()):
        conditions.append(_condition("Complete", "Completed", "Job completed"))
        # Every item has a status here: without one its Job would not be complete.
        if all(_is_met(item["status"]) for item in items):
            words = "All member clusters have met success criteria"
            conditions.append(_condition("SuccessCriteriaMet", "CompletionsReached", words))
    return conditions


def _condition(kind: str, reason: str, message: str) -> Status:
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def _true(status: Status) -> list[str]:
    """Return the types of the conditions that are true, in order."""
    return [
        condition["type"]
        for condition in status.get("conditions") or ()
        if condition.get("status") == "True"
    ]


def _end(status: Status) -> str:
    """Return how a Job has ended; empty if it has not."""
    return next((kind for kind in _true(status) if kind in ("Complete", "Failed")), "")


def _is_met(status: Status) -> bool:
    return "SuccessCriteriaMet" in _true(status)


def _service(manifest: Manifest, items: Items) -> Status:
    if value_at(manifest.data, ("spec", "type")) != "LoadBalancer":
        return {}
    return _balanced(items, ("hostname", "ip", "ipMode"))


def _ingress(_: Manifest, items: Items) -> Status:
    return _balanced(items, ("hostname", "ip"))


def _balanced(items: Items, names: Sequence[str]) -> Status:
    """Return the addresses of all members, each once and with all its ports."""
    ports: dict[tuple[str, ...], list[Any]] = {}
    points: dict[tuple[str, ...], Status] = {}
    for status in _statuses(items):
        for point in (status.get("loadBalancer") or {}).get("ingress") or ():
            key = tuple(point.get(name) or "" for name in names)
            # The last one stands for all of the same address; their ports are collected apart.
            points[key] = point
            here = ports.setdefault(key, [])
            here += point.get("ports") or ()
    ingress = [
        _filled({**points[key], "ports": _each_once(ports[key])})
        for key in sorted(points, key=_place)
    ]
    return {"loadBalancer": _filled({"ingress": ingress})}


def _place(key: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the place of an address: without a host name after all that have one, without a mode
    likewise.
    """
    host, ip, *mode = key
    return not host, host, ip, [(not text, text) for text in mode]


def _each_once(ports: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [port for _, port in sorted({_port(port): port for port in ports}.items())]


def _port(port: Mapping[str, Any]) -> tuple[int, str, str]:
    return port.get("port") or 0, port.get("protocol") or "", port.get("error") or ""


def _pod(_: Manifest, items: Items) -> Status:
    containers = {
        name: [_container(item) for status in _statuses(items) for item in status.get(name) or ()]
        for name in ("containerStatuses", "initContainerStatuses")
    }
    return _filled({"phase": _phase(items, _POD_PHASES), **containers})


def _container(status: Status) -> Status:
    """Return the status of a container: whether it is ready, and its state; everything else that
    the API requires is empty.
    """
    empty = {"name": "", "image": "", "imageID": "", "restartCount": 0, "lastState": {}}
    return {**empty, "ready": bool(status.get("ready")), "state": status.get("state") or {}}


def _volume(_: Manifest, items: Items) -> Status:
    return _filled({"phase": _phase(items, _VOLUME_PHASES)})


def _phase(items: Items, phases: Sequence[str]) -> str:
    """Return the phase that counts most; a copy whose status is not known yet is pending."""
    seen = {(item.get("status") or {"phase": "Pending"}).get("phase") for item in items}
    return next((phase for phase in phases if phase in seen), "")


def _claim(_: Manifest, items: Items) -> Status:
    """Return the phase ``Lost`` if it is lost anywhere, else that of the last copy that is not
    bound.
    """
    phases = [status.get("phase") or "" for status in _statuses(items)]
    unbound = [phase for phase in phases if phase != "Bound"]
    return _filled({"phase": "Lost" if "Lost" in phases else unbound[-1] if unbound else "Bound"})


def _latest(times: Iterable[str | None]) -> str | None:
    return max(filter(None, times), default=None)


def _filled(fields: Mapping[str, Any]) -> Status:
    return {name: value for name, value in fields.items() if value}


_KINDS: Mapping[tuple[str, str], Callable[[Manifest, Items], Status]] = {
    ("policy/v1", "PodDisruptionBudget"): _budget,
    ("batch/v1", "CronJob"): _cron_job,
    ("batch/v1", "Job"): _job,
    ("v1", "Service"): _service,
    ("networking.k8s.io/v1", "Ingress"): _ingress,
    ("v1", "Pod"): _pod,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
}


# Statuses of objects on members, as Karmada collects them.
#
# Source: ``pkg/resourceinterpreter/default/native/reflectstatus.go`` of Karmada 1.19. The
# generation of the template is left out: without a control plane there is none.


Status = Mapping[str, Any]

_FIELDS = {
    ("apps/v1", "Deployment"): (
        "replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas"
        " observedGeneration"
    ),
    ("apps/v1", "ReplicaSet"): "replicas readyReplicas availableReplicas observedGeneration",
    (
        "apps/v1",
        "StatefulSet",
    ): "availableReplicas currentReplicas readyReplicas replicas updatedReplicas",
    ("apps/v1", "DaemonSet"): (
        "currentNumberScheduled desiredNumberScheduled numberAvailable numberMisscheduled"
        " numberReady updatedNumberScheduled numberUnavailable observedGeneration"
    ),
    ("batch/v1", "Job"): "active succeeded failed conditions startTime completionTime",
    (
        "policy/v1",
        "PodDisruptionBudget",
    ): "disruptionsAllowed expectedPods desiredHealthy currentHealthy disruptedPods",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "currentReplicas desiredReplicas",
}
"""The fields that are collected; of other kinds the whole status."""
_REQUIRED = {
    ("apps/v1", "ReplicaSet"): "replicas",
    ("apps/v1", "StatefulSet"): "availableReplicas replicas",
    (
        "apps/v1",
        "DaemonSet",
    ): "currentNumberScheduled desiredNumberScheduled numberMisscheduled numberReady",
    (
        "policy/v1",
        "PodDisruptionBudget",
    ): "disruptionsAllowed expectedPods desiredHealthy currentHealthy",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "desiredReplicas",
}
"""Those of them that the API writes when they are 0."""
_GENERATED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
"""The kinds of ``apps/v1`` whose generation on the member is collected too."""


def reflected(manifest: Manifest, status: Status, generation: int = 0) -> Status | None:
    """Return what Karmada collects of the status of an object; None if that is nothing.

    Args:
        manifest: the object as it is delivered.
        status: its status on the member.
        generation: its generation there; 0 if that is unknown.
    """
    kind = (manifest.api_version, manifest.kind)
    if kind == ("v1", "Service"):
        is_balancer = value_at(manifest.data, ("spec", "type")) == "LoadBalancer"
        return {"loadBalancer": status.get("loadBalancer") or {}} if is_balancer else None
    if kind not in _FIELDS:
        return status
    first = {"generation": generation} if manifest.kind in _GENERATED and generation else {}
    return {
        **first,
        **written(manifest, {name: status.get(name) for name in _FIELDS[kind].split()}),
    } or None


def written(manifest: Manifest, fields: Status) -> Status:
    """Return the fields that the API writes: those that are not empty, and some that are."""
    required = _REQUIRED.get((manifest.api_version, manifest.kind), "").split()
    return {name: value or 0 for name, value in fields.items() if value or name in required}
