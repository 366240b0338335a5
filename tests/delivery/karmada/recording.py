"""Recordings of a running Karmada control plane."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import attrs

from tests.delivery import recording
from tests.delivery.recording import Data, Key, Objects, ours
from tests.delivery.refusals import reasons

_NODE = {"cpu": 6, "memory": 64 * 2**30, "pods": 100}
_FREE_NODE = "3"
"""The grade of a free node in Karmada's default resource models."""
_MEMBERS = {
    "member1": (
        {"location": "us", "tier": "private"},
        "huaweicloud",
        "cn-north-1",
        "cn-north-1a",
        1,
    ),
    "member2": (
        {"location": "eu", "tier": "private"},
        "huaweicloud",
        "cn-south-1",
        "cn-south-1a",
        2,
    ),
    "member3": ({"location": "us", "tier": "public"}, "aws", "us-east-1", "us-east-1a", 3),
    "member4": ({"location": "eu", "tier": "public"}, "aws", "us-east-1", "us-east-1b", 4),
}
"""Labels, provider, region, zone and number of nodes of the members in all recordings."""
SERVED = {
    "v1": "ConfigMap Namespace PersistentVolumeClaim Pod ResourceQuota Secret Service ServiceAccount",
    "apps/v1": "DaemonSet Deployment ReplicaSet StatefulSet",
    "batch/v1": "CronJob Job",
    "networking.k8s.io/v1": "Ingress NetworkPolicy",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
}

_WRITTEN = re.compile(
    r"Successfully applied resource\((?P<path>.*?)\) to cluster (?P<member>\S+)"
    r"|Failed to create or update resource\((?P<refused>.*?)\) in member cluster\((?P<by>.*?)\): (?P<error>.*)",
    re.DOTALL,
)
"""What the events say when a member has been sent an object."""
_ADDED = ("propagationpolicy.karmada.io/", "controller-uid", "job-name")
"""Parts of the names of labels and annotations that an object gets on the hub."""


@attrs.frozen(eq=False)
class Step(recording.Step):
    """One step.

    Attributes:
        capacity: what the members had free before it, by member.
        answers: what members have answered last when an object was written, by its kind, its path and the member:
            why they refused it, or nothing.
    """

    capacity: Mapping[str, Data]
    answers: Mapping[Key, str]

    @property
    def pruned(self) -> list[str]:
        """Fields that the API server does not know and dropped with a warning."""
        warnings = [
            answer["warning"] for answer in self.data.get("apiAnswers", ()) if "warning" in answer
        ]
        return [
            match[1]
            for warning in warnings
            for match in re.finditer(r'unknown field \\?"([^"\\]+)', warning)
        ]


@attrs.frozen(slots=False)
class Recording(recording.Recording[Step]):
    """One recording.

    Attributes:
        without: kinds that are left out, as we refuse them.
    """

    folder: ClassVar[str] = "karmada-live"
    without: frozenset[str] = frozenset()

    @property
    def namespace(self) -> str:
        """Where everything is that names no other place."""
        return str(self.data["namespace"])

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps in order."""
        return tuple(self._read())

    def _read(self) -> Iterator[Step]:
        capacity, answers = self._at_first(), dict[Key, str]()
        for number, data in enumerate(self.data["steps"]):
            answers |= _answers(data["after"].get("events", ()))
            yield Step(number, data, capacity, dict(answers))
            capacity = data["after"].get("clusterCapacityAfter", capacity)

    @property
    def settings(self) -> dict[str, Any]:
        """The gates and flags of the control plane, as our settings have them."""
        setup = self.data["setup"]
        preemption = "PropagationPolicyPreemption=true" in setup
        eviction = "Failover=true" in setup and "--enable-no-execute-taint-eviction=true" in setup
        timeout = re.search(r"--graceful-eviction-timeout=(\d+)(s|m)", setup)
        seconds = (
            {"gracefulEvictionTimeout": int(timeout[1]) * (60 if timeout[2] == "m" else 1)}
            if timeout
            else {}
        )
        return {"exact": True, "preemption": preemption, "noExecuteEviction": eviction, **seconds}

    @cached_property
    def unhealthy(self) -> dict[Key, list[str]]:
        """The members that workloads were evicted from because they did not work there, by kind and name."""
        found: dict[Key, list[str]] = {}
        if not self._fails_over:
            return found
        for step in self.data["steps"]:
            bound = {
                item["name"].rpartition("/")[2]: item["resource"]
                for item in step["after"]["bindings"]
            }
            for _, _, _, kind, name, state in step["after"]["timeline"]:
                members = [
                    item
                    for item in state.get("evicting", ())
                    if state["agg"].get(item) == "applied Unhealthy"
                ]
                if members and kind.endswith("Binding") and name in bound:
                    key = bound[name]["kind"], bound[name]["name"]
                    found[key] = sorted({*found.get(key, ()), *members})
        return found

    @property
    def _fails_over(self) -> bool:
        """Whether a policy has workloads evicted that do not work."""
        written = (data for step in self.data["steps"] for data in step.get("apply", ()))
        return any(
            "application" in (data.get("spec", {}).get("failover") or {}) for data in written
        )

    @property
    def odd(self) -> dict[tuple[str, str], bool]:
        """The direction of ties of the templates for which it was seen: the FNV-1a hash of their uid is odd."""
        bindings = (binding for step in self.data["steps"] for binding in step["after"]["bindings"])
        return {
            (binding["resource"]["kind"], binding["resource"]["name"]): binding["tieBreak"][
                "fnv1a32OfTemplateUidIsOdd"
            ]
            for binding in bindings
            if "tieBreak" in binding
        }

    def change(self, objects: Objects, step: Step) -> None:
        """Write what the user wrote in a step."""
        for data in step.data.get("apply", ()):
            self._write(objects, _as_it_was(data, step))
        for action in step.data.get("do", ()):
            for data in (action[verb] for verb in ("apply", "create") if verb in action):
                self._write(objects, _as_it_was(data, step))
            if "delete" in action and _deleted(action) not in _refusals(step):
                objects.pop(_deleted(action), None)

    def refused(self, objects: Objects, step: Step) -> dict[Key, tuple[str, ...]]:
        """What was refused, with the reasons."""
        deleted = {_deleted(action) for action in step.data.get("do", ()) if "delete" in action}
        return {
            key: words
            for key, words in _refusals(step).items()
            if key in objects and key not in deleted
        }

    def documents(self, objects: Objects, step: Step) -> list[Data]:
        """The settings, the members as they were seen after a step with what was free before it, and the objects."""
        seen = step.after.get("clusters") or [{"name": name} for name in _MEMBERS]
        members = [self._member(member, step, objects) for member in seen]
        return [ours("KarmadaSettings", self.settings), *members, *objects.values()]

    def _write(self, objects: Objects, data: Data) -> None:
        metadata = {"namespace": self.namespace, **data["metadata"]}
        if data["kind"] not in self.without:
            objects[data["kind"], metadata["name"]] = {**data, "metadata": metadata}

    def _member(self, seen: Data, step: Step, objects: Objects) -> dict[str, Any]:
        labels, provider, region, zone, _ = _MEMBERS[seen["name"]]
        leaving = {"deletionTimestamp": "2026-11-20T12:00:00Z"} if seen.get("deleting") else {}
        taints = [
            {key: value for key, value in t.items() if key != "timeAdded"}
            for t in seen.get("taints") or ()
        ]
        return {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": seen["name"], "labels": seen.get("labels") or labels, **leaving},
            "spec": {
                "syncMode": "Push",
                "provider": provider,
                "region": region,
                "zones": [zone],
                "taints": taints,
            },
            "status": {
                "apiEnablements": _enablements({**SERVED, **_custom(seen["name"], step, objects)}),
                "resourceSummary": self._summary(step.capacity[seen["name"]]),
            },
        }

    def _summary(self, capacity: Data) -> dict[str, Any]:
        amounts = {
            part: capacity.get(part) or {} for part in ("allocatable", "allocated", "allocating")
        }
        if "CustomizedClusterResourceModeling=false" in self.data["setup"]:
            return amounts
        grades = {str(grade): 0 for grade in range(9)} | capacity["nodesByModelGrade"]
        return {
            **amounts,
            "allocatableModelings": [{"grade": int(g), "count": n} for g, n in grades.items()],
        }

    def _at_first(self) -> dict[str, Data]:
        """All nodes free, with what the recording says of their number and kind."""
        recorded = self.data["steps"][0]["after"].get("clusterCapacityAfter", {})
        return {
            name: {
                "allocatable": recorded.get(name, {}).get("allocatable")
                or {k: str(n * v) for k, v in _NODE.items()},
                "nodesByModelGrade": {_FREE_NODE: n},
            }
            for name, (*_, n) in _MEMBERS.items()
        }


def _answers(events: Iterable[Data]) -> Iterator[tuple[Key, str]]:
    """What members have answered when objects were written."""
    for event in events:
        if found := _WRITTEN.match(event["message"]):
            kind = event["on"].partition(" ")[0]
            yield (
                (kind, found["path"] or found["refused"], found["member"] or found["by"]),
                found["error"] or "",
            )


def _as_it_was(data: Data, step: Step) -> Data:
    """The object with the metadata, replicas and ports that it had on the hub: some recordings name those of a later step."""
    hub = {
        (template["kind"], template["name"].rpartition("/")[2]): template
        for template in step.after["templates"]
    }
    template = hub.get((data["kind"], data["metadata"]["name"]))
    if template is None:
        return data
    marks = {part: _of_users(template.get(part)) for part in ("labels", "annotations")}
    spec = {part: template[part] for part in ("replicas", "ports") if part in template}
    whole = {"spec": {**data["spec"], **spec}} if spec else {}
    return {**data, "metadata": {**data["metadata"], **marks}, **whole}


def _of_users(marks: Data | None) -> dict[str, Any]:
    return {
        key: text for key, text in (marks or {}).items() if not any(part in key for part in _ADDED)
    }


def _custom(member: str, step: Step, objects: Objects) -> dict[str, str]:
    """The custom kinds whose definitions have reached a member, by ``apiVersion``."""
    reached = {
        binding["resource"]["name"]
        for binding in step.after["bindings"]
        if binding["resource"]["kind"] == "CustomResourceDefinition"
        if any(target["name"] == member for target in binding.get("clusters") or ())
    }
    specs = [
        data["spec"]
        for (kind, name), data in objects.items()
        if kind == "CustomResourceDefinition" and name in reached
    ]
    return {
        f"{spec['group']}/{spec['versions'][0]['name']}": spec["names"]["kind"] for spec in specs
    }


def _enablements(served: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "groupVersion": version,
            "resources": [{"name": kind.lower(), "kind": kind} for kind in kinds.split()],
        }
        for version, kinds in served.items()
    ]


def _refusals(step: Step) -> dict[Key, tuple[str, ...]]:
    """The reasons of all that was refused in a step, by kind and name."""
    answers = [
        answer for answer in step.data.get("apiAnswers", ()) if answer.get("status", 200) >= 400
    ]
    return {_named(item["on"]): reasons(item["message"]) for item in answers}


def _deleted(action: Data) -> Key:
    return action["delete"]["kind"], action["delete"]["name"]


def _named(text: str) -> tuple[str, str]:
    kind, _, name = text.partition(" ")
    return kind, name
