"""What stands on the members and what is decided, in one form for recordings and for our own runs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.testing import StackState
from tests.delivery.driver import cluster_of
from tests.delivery.karmada.members import RECORDED
from tests.delivery.karmada.recording import Step
from tests.delivery.recording import Data, Seen

_TEMPLATE = ("spec", "template")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "labels": ("metadata", "labels"),
    "annotations": ("metadata", "annotations"),
    "replicas": ("spec", "replicas"),
    "podLabels": (*_TEMPLATE, "metadata", "labels"),
    "containers": (*_TEMPLATE, "spec", "containers"),
    "nodeSelector": (*_TEMPLATE, "spec", "nodeSelector"),
    **{
        name: ("spec", name)
        for name in ("parallelism", "completions", "suspend", "backoffLimit", "completionMode")
    },
    **{name: ("spec", name) for name in ("type", "ports")},
    **{name: (name,) for name in ("data", "secrets")},
}
"""Where the fields are of which the recordings tell."""
_STAMPS = (
    "karmada.io/",
    "fleet-components/",
    "pulumi.com/",
    "deployment.kubernetes.io/",
    "controller-uid",
    "job-name",
)
"""Parts of the names of labels and annotations that are no user's."""
_DEFAULTS = {
    "suspend": False,
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "type": "ClusterIP",
    "protocol": "TCP",
}
"""What an API server sets where an object says nothing."""
_POLICIES = {
    "PropagationPolicy": "propagationpolicy",
    "ClusterPropagationPolicy": "clusterpropagationpolicy",
}


def copies_there(step: Step) -> Seen:
    """The recorded objects on the members."""
    return {
        f"{member} {copy['kind']} {copy['name'].rpartition('/')[2]}": {
            **{field: _plain(field, value) for field, value in copy.items() if field in _FIELDS},
            "overwrites": (copy.get("annotations") or {}).get("work.karmada.io/conflict-resolution")
            == "overwrite",
        }
        for member, copies in step.after["memberObjects"].items()
        for copy in copies
    }


def copies_here(state: StackState) -> Seen:
    """The objects of a stack, of the kinds that are recorded on members."""
    found = [
        r for r in state.resources.values() if r.type.startswith("kubernetes:") and "@" in r.name
    ]
    return {
        f"{cluster_of(r.name)} {r.inputs['kind']} {r.inputs['metadata']['name']}": fields(r.inputs)
        for r in found
        if r.inputs["kind"] in RECORDED
    }


def bindings_there(step: Step) -> Seen:
    """The recorded bindings; one that was attached to others, and is no more, stays empty on the hub and counts for nothing
    (``pkg/dependenciesdistributor`` of Karmada 1.19 takes the requirement away and leaves the binding).
    """
    claims = {(data["kind"], data["name"]): _policy(data) for data in step.after["templates"]}
    return {
        f"{b['resource']['kind']} {b['resource']['name']}": _binding_there(b, claims)
        for b in step.after["bindings"]
        if counts(b)
    }


def bindings_here(outcomes: Mapping[str, TemplateOutcome]) -> Seen:
    """What was decided, of the templates that Karmada has bindings for: that it has claimed, or that go along."""
    named = {_kind_and_name(key): outcome for key, outcome in outcomes.items()}
    return {name: _binding_here(outcome) for name, outcome in named.items() if is_bound(outcome)}


def is_bound(outcome: TemplateOutcome) -> bool:
    """Whether Karmada has a binding for a template."""
    memory = outcome.record.memory
    return bool(memory.claim.bound or memory.schedule.required_by)


def counts(binding: Data) -> bool:
    """Whether a binding is for anything."""
    return any(binding.get(part) for part in ("placement", "clusters", "requiredBy")) or bool(
        _policy(binding)
    )


def _binding_there(binding: Data, claims: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    resource = binding["resource"]
    path = "/".join(filter(None, (resource.get("namespace"), resource["name"])))
    claim = {"claim": claims[resource["kind"], path]} if (resource["kind"], path) in claims else {}
    requests = (binding.get("replicaRequirements") or {}).get("resourceRequest")
    return {
        "clusters": _targets(binding),
        "replicas": binding.get("replicas", 0),
        "requests": _amounts(requests or {}),
        "group": binding.get("schedulerObservingAffinityName", ""),
        "evictions": [_task_there(task) for task in binding.get("gracefulEvictionTasks") or ()],
        "policy": _policy(binding),
        "requiredBy": {
            item["name"]: sorted(dict(_targets(item))) for item in binding.get("requiredBy") or ()
        },
        **claim,
    }


def _binding_here(outcome: TemplateOutcome) -> dict[str, Any]:
    memory = outcome.record.memory
    return {
        "clusters": list(memory.schedule.clusters.items()),
        "replicas": outcome.template.replicas,
        "requests": _amounts(outcome.template.requests or {}),
        "group": memory.schedule.observed_group,
        "evictions": [
            _task_here(cluster, task) for cluster, task in memory.schedule.evictions.items()
        ],
        "policy": f"{memory.policy.kind} {memory.policy.name}" if memory.policy else "",
        "requiredBy": {
            _binding_name(key): sorted(members)
            for key, members in memory.schedule.required_by.items()
        },
        "claim": f"{claim.kind} {claim.name}" if (claim := memory.claim.policy) else "",
    }


def _amounts(requests: Mapping[str, str]) -> dict[str, Fraction]:
    return {name: Fraction(parse_quantity(amount).nano, 10**9) for name, amount in requests.items()}


def _task_there(task: Data) -> tuple[Any, ...]:
    parts = ("fromCluster", "replicas", "purgeMode", "reason", "producer", "suppressDeletion")
    return tuple(task.get(part) for part in parts)


def _task_here(cluster: str, task: EvictionTask) -> tuple[Any, ...]:
    return (
        cluster,
        task.replicas,
        task.purge_mode,
        task.reason,
        task.producer,
        task.suppress_deletion,
    )


def _targets(binding: Data) -> list[tuple[str, int]]:
    return [(target["name"], target.get("replicas", 0)) for target in binding.get("clusters") or ()]


def _policy(data: Data) -> str:
    """The policy that a template or a binding is marked with."""
    marks = data.get("annotations") or {}
    found = (
        f"{kind} {marks[f'{mark}.karmada.io/name']}"
        for kind, mark in _POLICIES.items()
        if f"{mark}.karmada.io/name" in marks
    )
    return next(found, "")


def fields(data: Data) -> dict[str, Any]:
    """An object of a stack, or one that somebody has written on a member, as recordings tell of it."""
    found = {field: _at(data, path) for field, path in _FIELDS.items()}
    plain = {
        field: _plain(field, _DEFAULTS.get(field) if value is None else value)
        for field, value in found.items()
    }
    return {
        **plain,
        "overwrites": "pulumi.com/patchForce" in (_at(data, _FIELDS["annotations"]) or {}),
    }


def _plain(field: str, value: Any) -> Any:
    """A field without what API servers and either system add to it."""
    if field in ("labels", "annotations", "podLabels"):
        return {
            key: text
            for key, text in (value or {}).items()
            if not any(part in key for part in _STAMPS)
        }
    if field == "ports":
        return [{"protocol": "TCP", "targetPort": port["port"], **port} for port in value or ()]
    return value


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def _binding_name(key: str) -> str:
    """``namespace/Kind.group/name`` as ``name-kind``, which is the name of its binding."""
    kind, _, name = _kind_and_name(key).partition(" ")
    return f"{name}-{kind.lower()}"


def _kind_and_name(key: str) -> str:
    """``namespace/Kind.group/name`` as ``Kind name``."""
    kind, name = key.split("/")[-2:]
    return f"{kind.partition('.')[0]} {name}"
