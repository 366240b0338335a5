"""What a hub shows and what stands on its members, in one form for recordings and for our own runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from fleet_components.model.decision import Condition, Decision
from fleet_components.model.kubefleet.memory import PlacementMemory
from fleet_components.plan.subject import Decided
from fleet_components.rollout.situation import stopped_at
from fleet_components.rollout.strategy import External, target_of
from fleet_components.testing import StackState
from tests.delivery.driver import cluster_of
from tests.delivery.kubefleet.recording import key_of
from tests.delivery.recording import Data, Key, Seen, Step

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "labels": ("metadata", "labels"),
    "annotations": ("metadata", "annotations"),
    "finalizers": ("metadata", "finalizers"),
    "replicas": ("spec", "replicas"),
    "nodeSelector": ("spec", "template", "spec", "nodeSelector"),
    **{name: (name,) for name in ("data", "rules")},
}
"""Where the fields are of which the recordings tell."""
_KINDS = (
    "Namespace",
    "ConfigMap",
    "Deployment",
    "ClusterRole",
    "ResourceQuota",
    "Job",
    "Service",
    "Widget",
    "CustomResourceDefinition",
)
"""The kinds of which the recordings tell, where they have the fields above."""
_STAMPS = ("kubernetes-fleet.io/last-applied", "kubernetes-fleet.io/spec-hash", "fleet-components/", "pulumi.com/")
_STAMPS_OF_JOBS = ("controller-uid", "job-name")
"""Parts of the names of annotations and labels that are no user's."""
_DEFAULTS = {"parallelism": 1, "completions": 1, "suspend": False, "clusterIP": "<assigned>"}
"""What a member sets in a spec that says nothing."""
Entry = tuple[str, str, str]
"""A member, the reason of its condition, and its message."""


def placements_there(step: Step) -> Seen:
    """The recorded placements."""
    found = [one for one in step.after["placements"] if not one.get("absent") and not _refused(one)]
    return {_name(one["kind"], one.get("namespace", ""), one["name"]): _placement_there(one) for one in found}


def placement_here(decided: Decided, shown: Decision[PlacementMemory], selected: Sequence[str]) -> Data:
    """The status of a placement as a hub would show it, from what was decided, what stands and what is selected."""
    subject: Any = decided.subject
    status = shown.status
    condition = status.placement_condition(subject.kind)
    if condition.reason == "SchedulePending":
        return {"scheduled": _words(condition), "entries": [], "indexes": {}}
    picked = [one for one in status.decisions if one.selected]
    wanted, external = target_of(subject.policy), isinstance(subject.strategy, External)
    failed = [] if wanted is None else [one for one in status.decisions if not one.selected][: wanted - len(picked)]
    entries = [
        *((one.cluster_name, "Scheduled", one.reason) for one in picked),
        *(("", "ScheduleFailed", one.reason) for one in failed),
    ]
    clusters = [one.cluster_name for one in picked]
    index, indexes = _indexes_of_runs(decided, clusters) if external else _indexes(decided, clusters)
    return {
        "scheduled": _words(condition),
        "entries": _in_order(entries),
        "index": index,
        "indexes": indexes,
        "selected": [] if index is None else selected,
    }


def bindings_there(step: Step) -> Seen:
    """The recorded bindings; those that are being deleted are gone already."""
    return {
        f"{_name('binding', one.get('namespace', ''), one['placement'])} {one['targetCluster']}": {
            "state": one["state"],
            "policy": int(one["schedulingPolicySnapshotName"].rpartition("-")[2]),
            "resources": _index_of(one["resourceSnapshotName"]),
            "scores": tuple((one["clusterDecision"].get("clusterScore") or {}).values()),
        }
        for one in step.after["bindings"]
        if not one.get("deleting")
    }


def bindings_here(decided: Decided) -> Iterator[tuple[str, Data]]:
    """What a placement holds of its members."""
    subject = decided.subject
    sent = {cluster for cluster in decided.record.memory.bindings if _sent(decided, cluster) is not None}
    namespace, _, name = subject.key.rpartition("/")
    for cluster, binding in decided.record.memory.delivered(sent).bindings.items():
        scores = () if binding.affinity_score is None else (binding.affinity_score, binding.topology_spread_score)
        yield (
            f"{_name('binding', namespace, name)} {cluster}",
            {
                "state": binding.state,
                "policy": binding.snapshot,
                "resources": _sent(decided, cluster),
                "scores": scores,
            },
        )


def out_of_order(step: Step, placement: str, waves: Sequence[set[str]]) -> Iterator[str]:
    """Members that began before others of an earlier wave: the waves go one after the other, as the timeline tells."""
    began = _began(step) if [one["name"] for one in step.after["placements"]] == [placement] else {}
    for earlier, later in pairwise(waves):
        hurried = [
            (a, b) for a in sorted(earlier & began.keys()) for b in sorted(later & began.keys()) if began[b] < began[a]
        ]
        yield from (f"{placement}: {b} began before {a}, here in a later wave" for a, b in hurried)


def _began(step: Step) -> dict[str, float]:
    """When each member got what it has at the end, in seconds."""
    snapshots: dict[str, str] = {}
    began: dict[str, float] = {}
    for moment in step.after.get("timeline", ()):
        for name, seen in moment["change"].items():
            if (
                re.fullmatch(r"cluster\d", name)
                and isinstance(seen, Mapping)
                and seen["snapshot"]
                and seen["snapshot"] != snapshots.get(name)
            ):
                snapshots[name] = seen["snapshot"]
                began |= {name: moment["t"]} if moment["t"] else {}
    return began


def copies_there(step: Step) -> Seen:
    """The recorded objects on the members that the placements of the recording have brought."""
    works = tuple(f"AppliedWork/{_work(one)}-" for one in step.after["placements"])
    return {
        f"{member} {_name(copy['kind'], copy.get('namespace', ''), copy['name'])}": {
            **{field: _plain(field, value) for field, value in copy.items() if field in _FIELDS},
            **{f"spec.{field}": _plain(field, value) for field, value in copy.get("spec", {}).items()},
            **({"images": copy["images"]} if "images" in copy else {}),
        }
        for member, copies in step.after["memberObjects"].items()
        for copy in copies
        if not copy.get("deleting") and any(owner.startswith(works) for owner in copy.get("owners", ()))
    }


def copies_here(state: StackState) -> Seen:
    """The objects of a stack."""
    found = [r for r in state.resources.values() if r.type.startswith("kubernetes:") and r.inputs.get("kind") in _KINDS]
    return {f"{cluster_of(r.name)} {_name(*key_of(r.inputs))}": _fields(r.inputs) for r in found}


def _placement_there(data: Data) -> Data:
    status = data.get("status") or {}
    entries = status.get("placementStatuses") or []
    found = [(one, _condition(one, "Scheduled")) for one in entries]
    return {
        "scheduled": _condition(status, f"{data['kind']}Scheduled"),
        "entries": _in_order([(one.get("clusterName", ""), *words[1:]) for one, words in found if words]),
        "index": _number(status.get("observedResourceIndex")),
        "indexes": {
            one["clusterName"]: _number(one.get("observedResourceIndex")) for one in entries if "clusterName" in one
        },
        "selected": [
            identity(
                (one["kind"], one.get("namespace", ""), one["name"]),
                f"{one.get('group', '')}/{one['version']}".lstrip("/"),
            )
            for one in status.get("selectedResources") or ()
        ],
    }


_Indexes = tuple[int | None, dict[str, int | None]]


def _indexes(decided: Decided, picked: Sequence[str]) -> _Indexes:
    """Under a rolling update: the latest one, also of a member that is held."""
    return decided.record.revision, dict.fromkeys(picked, decided.record.revision)


def _indexes_of_runs(decided: Decided, picked: Sequence[str]) -> _Indexes:
    """Under update runs: that of each member; that of the placement if it is one."""
    indexes = {cluster: _sent(decided, cluster) for cluster in picked}
    return (indexes[picked[0]] if len(set(indexes.values())) == 1 else None), indexes


def _sent(decided: Decided, cluster: str) -> int | None:
    """The revision that a member was sent, whether it became ready or not; None if it has none."""
    before = decided.before.decisions
    sent = cluster in stopped_at(decided.subject.done, before)
    revision: int | None = before[cluster].revision if sent else decided.done(cluster).revision
    return revision


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    """The entries; of a policy that is not fulfilled a hub sorts them anew with every cycle, so that no order is kept."""
    return sorted(entries) if any(not cluster for cluster, _, _ in entries) else list(entries)


def _refused(placement: Data) -> bool:
    """Whether its selectors are refused, so that nothing was decided."""
    conditions = placement.get("status", {}).get("conditions", ())
    return any(one["reason"] == "InvalidResourceSelectors" for one in conditions)


def _work(placement: Data) -> str:
    return ".".join(filter(None, (placement.get("namespace"), placement["name"])))


def _condition(status: Data, kind: str) -> tuple[str, str, str] | None:
    found = (one for one in status.get("conditions", ()) if one["type"] == kind)
    return next(((one["status"], one["reason"], one["message"]) for one in found), None)


def _words(condition: Condition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _index_of(snapshot: str) -> int | None:
    return int(snapshot.removesuffix("-snapshot").rpartition("-")[2]) if snapshot else None


def _name(kind: str, namespace: str, name: str) -> str:
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def identity(key: Key, version: str) -> str:
    """How an object is named among those that are selected."""
    return f"{version} {_name(*key)}"


def _fields(data: Data) -> Data:
    found = {field: _plain(field, _at(data, path)) for field, path in _FIELDS.items()}
    pod = _at(data, ("spec", "template", "spec", "containers"))
    spec = {field: _plain(field, value) for field, value in {**_DEFAULTS, **(data.get("spec") or {})}.items()}
    return {
        **found,
        **{f"spec.{field}": value for field, value in spec.items()},
        "images": [one["image"] for one in pod or ()],
    }


def _plain(field: str, value: Any) -> Any:
    """A field without what either system adds to it; of some annotations the recordings tell no value."""
    if field == "labels":
        return {key: text for key, text in (value or {}).items() if not key.endswith(_STAMPS_OF_JOBS)}
    if field == "ports":
        return [{"protocol": "TCP", "targetPort": port["port"], **port} for port in value or ()]
    if field == "annotations":
        shown = {key: text for key, text in (value or {}).items() if not any(part in key for part in _STAMPS)}
        return {key: "<present>" if "kubernetes-fleet.io/" in key else text for key, text in shown.items()}
    return value


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data
