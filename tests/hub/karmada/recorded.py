"""A control plane as it must have been after a step of a recording.

Recordings leave out uids, times and resource versions, templates beside a few fields, and the manifests of Works. What
they leave out is filled in: templates from what the user had written, uids so that ties fall as they were seen to fall.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import attrs

from tests.delivery.karmada.recording import Recording, Step
from tests.delivery.recording import Data, Objects

BEGAN, TRIGGERED, SCHEDULED = "2026-11-23T10:00:00Z", "2026-11-23T11:00:00Z", "2026-11-23T11:00:01Z"
_POLICY = "policy.karmada.io/v1alpha1"
_STEERING = {"WorkloadRebalancer": "apps.karmada.io/v1alpha1"}
_BINDING_SPEC = (
    "resource",
    "replicas",
    "replicaRequirements",
    "clusters",
    "conflictResolution",
    "schedulerName",
    "placement",
    "propagateDeps",
    "failover",
    "suspension",
    "preserveResourcesOnDeletion",
    "requiredBy",
)
_CLUSTER_SCOPED = (
    "ClusterPropagationPolicy",
    "ClusterOverridePolicy",
    "WorkloadRebalancer",
    "CustomResourceDefinition",
)


@attrs.define
class ControlPlane:
    """A control plane on its way through a recording.

    Attributes:
        recording: the recording.
        written: what the user has written by now.
        scheduled: names of the bindings that were ever scheduled.
        delivered: the templates as a policy has followed them last.
    """

    recording: Recording
    written: Objects = attrs.field(factory=dict)
    scheduled: set[str] = attrs.field(factory=set)
    delivered: Objects = attrs.field(factory=dict)

    def objects(self, step: Step) -> list[Data]:
        """All objects after a step; to be called step by step."""
        self.recording.change(self.written, step)
        bindings = step.after["bindings"]
        self.scheduled |= {binding["name"] for binding in bindings if binding.get("clusters")}
        return [
            *self._members(step),
            *(self._policy(item) for item in step.after["policies"]),
            *self._works(step),
            *self._templates(step),
            *(self._binding(binding) for binding in bindings),
        ]

    def _members(self, step: Step) -> Iterator[Data]:
        seen = attrs.evolve(step, capacity=step.after.get("clusterCapacityAfter", step.capacity))
        for document in self.recording.documents(self.written, seen):
            if document["kind"] == "Cluster":
                spec = {
                    **document["spec"],
                    "apiEndpoint": "https://127.0.0.1:1",
                    "secretRef": _secret("member"),
                }
                spec["taints"] = [{**taint, "timeAdded": BEGAN} for taint in spec["taints"]]
                yield _stored({**document, "spec": spec}, generation=2)

    def _policy(self, seen: Data) -> Data:
        metadata = {
            **_named(seen["name"]),
            "labels": seen.get("labels") or {},
            "annotations": seen.get("annotations") or {},
        }
        metadata["finalizers"] = seen.get("finalizers") or []
        version = _STEERING.get(seen["kind"], _POLICY)
        head = {"apiVersion": version, "kind": seen["kind"], "metadata": metadata}
        return _stored(
            {
                **head,
                "spec": seen["spec"],
                **({"status": seen["status"]} if "status" in seen else {}),
            }
        )

    def _templates(self, step: Step) -> Iterator[Data]:
        seen = {
            (item["kind"], item["name"].rpartition("/")[2]): item
            for item in step.after["templates"]
        }
        bound = {
            (item["resource"]["kind"], item["resource"]["name"]): item
            for item in step.after["bindings"]
        }
        for (kind, name), data in self.written.items():
            if data["apiVersion"].partition("/")[0].endswith("karmada.io"):
                continue
            there, binding = seen.get((kind, name), {}), bound.get((kind, name), {})
            marks = {
                part: there.get(part) or _marks_of(binding, part) or {}
                for part in ("labels", "annotations")
            }
            metadata = {**data["metadata"], "uid": self._uid(kind, name)}
            metadata |= {part: {**(metadata.get(part) or {}), **marks[part]} for part in marks}
            yield _stored(_scoped({**data, "metadata": metadata}), generation=_generation(binding))

    def _works(self, step: Step) -> Iterator[Data]:
        """The Works, with what stands on the members of what recordings tell of these."""
        for binding in step.after["bindings"]:
            resource = binding["resource"]
            key = resource["kind"], resource["name"]
            if key not in self.delivered or _followed(binding):
                self.delivered[key] = self.written.get(key, {})
            path = "/".join(filter(None, (resource.get("namespace"), resource["name"])))
            for member, works in step.after["works"].items():
                stands: Data = next(
                    (
                        c
                        for c in step.after["memberObjects"][member]
                        if (c["kind"], c["name"]) == (key[0], path)
                    ),
                    {},
                )
                if any(
                    (item["kind"], item["name"]) == (key[0], path)
                    for work in works
                    for item in work["manifests"]
                ):
                    manifest = _made(self.delivered[key], stands)
                    mark = f"{_mark(binding)}={_identity(binding)}"
                    yield _work(member, binding["name"].replace("/", "-"), mark, manifest)

    def _binding(self, seen: Data) -> Data:
        name = seen["name"]
        marks = dict(seen["labels"])
        marks[_mark(seen)] = _identity(seen)
        resource = {
            **seen["resource"],
            "uid": self._uid(seen["resource"]["kind"], seen["resource"]["name"]),
        }
        spec = {part: seen[part] for part in _BINDING_SPEC if seen.get(part) is not None} | {
            "resource": resource
        }
        if seen.get("rescheduleTriggeredAt"):
            spec["rescheduleTriggeredAt"] = TRIGGERED
        tasks = [
            {**task, "creationTimestamp": SCHEDULED}
            for task in seen.get("gracefulEvictionTasks") or ()
        ]
        spec |= {"gracefulEvictionTasks": tasks} if tasks else {}
        status = {
            part: seen[part]
            for part in ("conditions", "aggregatedStatus", "schedulerObservingAffinityName")
            if part in seen
        }
        status |= {"lastScheduledTime": SCHEDULED} if name in self.scheduled else {}
        metadata = {**_named(name), "labels": marks, "annotations": seen["annotations"]}
        head = {
            "apiVersion": "work.karmada.io/v1alpha2",
            "kind": seen["kind"],
            "metadata": metadata,
        }
        return _stored({**head, "spec": spec, "status": status})

    def _uid(self, kind: str, name: str) -> str:
        """A uid by which ties go as they were seen to go."""
        odd = self.recording.odd.get((kind, name))
        uids = (f"{kind}-{name}-{number}".lower() for number in count())
        return next(uid for uid in uids if odd is None or (sum(uid.encode()) % 2 == 0) == odd)


def _marks_of(binding: Data, part: str) -> Mapping[str, Any]:
    """The marks of the policy on a binding: a template of which nothing is recorded has them too."""
    return {
        key: text for key, text in (binding.get(part) or {}).items() if "propagationpolicy" in key
    }


def _generation(binding: Data) -> int:
    items = binding.get("aggregatedStatus") or ()
    return max(
        (item.get("status", {}).get("resourceTemplateGeneration", 1) for item in items), default=1
    )


def _stored(data: Data, generation: int = 1) -> dict[str, Any]:
    """The object with what an API server adds."""
    added = {
        "uid": f"uid-of-{data['metadata']['name']}",
        "resourceVersion": "7",
        "generation": generation,
        "creationTimestamp": TRIGGERED,
        "managedFields": [{"manager": "user", "operation": "Apply", "time": BEGAN}],
    }
    return json.loads(json.dumps({**data, "metadata": {**added, **data["metadata"]}}))  # type: ignore[no-any-return]


def _scoped(data: Data) -> dict[str, Any]:
    metadata = {
        k: v
        for k, v in data["metadata"].items()
        if k != "namespace" or data["kind"] not in _CLUSTER_SCOPED
    }
    return {**data, "metadata": metadata}


def _named(path: str) -> dict[str, Any]:
    namespace, _, name = path.rpartition("/")
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _secret(name: str) -> dict[str, str]:
    return {"namespace": "karmada-cluster", "name": name}


def _followed(binding: Data) -> bool:
    """Whether a policy has the binding."""
    return any("propagationpolicy" in key for key in binding["annotations"])


def _mark(binding: Data) -> str:
    scope = "clusterresourcebinding" if binding["kind"].startswith("Cluster") else "resourcebinding"
    return f"{scope}.karmada.io/permanent-id"


def _identity(binding: Data) -> str:
    return f"id-of-{binding['name'].replace('/', '-')}"


def _made(data: Data, stands: Data) -> dict[str, Any]:
    """The object with what is recorded of it on a member."""
    made = json.loads(json.dumps(data))
    made["metadata"] |= {
        part: stands[part] for part in ("labels", "annotations") if stands.get(part)
    }
    if "containers" in stands:
        made["spec"]["template"]["spec"]["containers"] = stands["containers"]
    for part in ("replicas", "parallelism", "completions"):
        if part in stands:
            made["spec"][part] = stands[part]
    return made  # type: ignore[no-any-return]


def _work(member: str, name: str, mark: str, manifest: Data) -> dict[str, Any]:
    key, _, value = mark.partition("=")
    metadata = {"namespace": f"karmada-es-{member}", "name": name, "labels": {key: value}}
    head = {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": metadata}
    return _stored({**head, "spec": {"workload": {"manifests": [manifest]}}})
