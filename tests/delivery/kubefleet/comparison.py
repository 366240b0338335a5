"""What a hub shows and what stands on its members, in one form for recordings and for our own runs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from fleet_components.model.decision import Decision
from fleet_components.model.observed import ObservedMember
from fleet_components.plan.state import reveal
from fleet_components.plan.subject import Decided
from fleet_components.rollout.situation import stopped_at
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.status.placements import accessible_status, placement_status
from fleet_components.systems.kubefleet.status.update_runs import (
    eviction_statuses,
    update_run_statuses,
)
from fleet_components.testing import StackState
from tests.delivery.driver import FLEET, cluster_of
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
_STAMPS = (
    "kubernetes-fleet.io/last-applied",
    "kubernetes-fleet.io/spec-hash",
    "fleet-components/",
    "pulumi.com/",
)
_STAMPS_OF_JOBS = ("controller-uid", "job-name")
"""Parts of the names of annotations and labels that are no user's."""
_DEFAULTS = {"parallelism": 1, "completions": 1, "suspend": False, "clusterIP": "<assigned>"}
"""What a member sets in a spec that says nothing."""
_SUMMED = (
    "Scheduled",
    "StatusSynced",
    "RolloutStarted",
    "Overridden",
    "WorkSynchronized",
    "Applied",
    "Available",
    "DiffReported",
)
"""The conditions of placements, and of members."""
_FAILING = ("failedPlacements", "driftedPlacements", "diffedPlacements")
_EVICTION = "ClusterResourcePlacementEviction"
_OTHERS = ("ClusterStagedUpdateRun", "StagedUpdateRun", _EVICTION, "ClusterResourcePlacementStatus")
_COPIED = ("stagedUpdateStrategySnapshot", "appliedStrategy")
_NAMING = ("group", "version", "kind", "namespace", "name")
Entry = tuple[str, str, str]
"""A member, the reason of its condition, and its message."""


def placements_there(step: Step) -> Seen:
    """The recorded placements, and each of their members."""
    found = [
        item for item in step.after["placements"] if not item.get("absent") and not _refused(item)
    ]
    return dict(
        pair for item in found for pair in _placement(item["kind"], item.get("namespace", ""), item)
    )


def placement_here(
    decided: Decided, shown: Decision[PlacementMemory], observed: Mapping[str, ObservedMember]
) -> Seen:
    """A placement as a hub would show it, from what was decided, what was sent and what is known of the members."""
    namespace, _, name = decided.subject.key.rpartition("/")
    status = placement_status(decided, shown.status, observed)
    return dict(_placement(decided.subject.kind, namespace, {"name": name, "status": status}))


def others_there(step: Step) -> Seen:
    """The recorded statuses of update runs and evictions, and those that a namespace can read."""
    found = {
        _name(item["kind"], item.get("namespace", ""), item["name"]): (
            item["kind"],
            item.get("status") or item.get("sourceStatus"),
        )
        for item in step.after.get("hubObjects", ())
        if not item.get("absent")
    }
    return {
        name: _other(status) for name, (kind, status) in found.items() if kind in _OTHERS and status
    }


def others_here(
    decided: Decided, shown: Decision[PlacementMemory], observed: Mapping[str, ObservedMember]
) -> Seen:
    """The statuses of the update runs and evictions of a placement, and that which a namespace can read."""
    subject: Any = decided.subject
    kind, namespace = (
        ("StagedUpdateRun", subject.namespace)
        if subject.namespace
        else ("ClusterStagedUpdateRun", "")
    )
    found = {
        _name(kind, namespace, name): (kind, status)
        for name, status in update_run_statuses(decided).items()
    }
    for name, status in eviction_statuses(decided).items():
        found[_name(_EVICTION, "", name)] = _EVICTION, status
    for item in accessible_status(subject, placement_status(decided, shown.status, observed)):
        metadata = item["metadata"]
        found[_name(item["kind"], metadata["namespace"], metadata["name"])] = (
            item["kind"],
            item["sourceStatus"],
        )
    return {name: _other(status) for name, (_, status) in found.items()}


def _other(status: Data) -> Data:
    """A status without what update runs copy, and in one order of conditions."""
    return {name: _plainly(value) for name, value in status.items() if name not in _COPIED}


def _plainly(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _plainly(item)
            for name, item in value.items()
            if name != "observedGeneration" and item != []
        }
    if isinstance(value, list):
        plain = [_plainly(item) for item in value]
        return (
            sorted(plain, key=lambda item: item["type"])
            if plain and "reason" in plain[0]
            else plain
        )
    return value


def bindings_there(step: Step) -> Seen:
    """The recorded bindings; those that are being deleted are gone already."""
    return {
        f"{_name('binding', item.get('namespace', ''), item['placement'])} {item['targetCluster']}": {
            "state": item["state"],
            "policy": int(item["schedulingPolicySnapshotName"].rpartition("-")[2]),
            "resources": _index_of(item["resourceSnapshotName"]),
            "scores": tuple((item["clusterDecision"].get("clusterScore") or {}).values()),
        }
        for item in step.after["bindings"]
        if not item.get("deleting")
    }


def bindings_here(decided: Decided) -> Iterator[tuple[str, Data]]:
    """What a placement holds of its members."""
    subject = decided.subject
    sent = {
        cluster for cluster in decided.record.memory.bindings if _sent(decided, cluster) is not None
    }
    namespace, _, name = subject.key.rpartition("/")
    for cluster, binding in decided.record.memory.delivered(sent).bindings.items():
        scores = (
            ()
            if binding.affinity_score is None
            else (binding.affinity_score, binding.topology_spread_score)
        )
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
    began = (
        _began(step) if [item["name"] for item in step.after["placements"]] == [placement] else {}
    )
    for earlier, later in pairwise(waves):
        hurried = [
            (a, b)
            for a in sorted(earlier & began.keys())
            for b in sorted(later & began.keys())
            if began[b] < began[a]
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
    works = tuple(f"AppliedWork/{_work(item)}-" for item in step.after["placements"])
    return {
        f"{member} {_name(copy['kind'], copy.get('namespace', ''), copy['name'])}": {
            **{field: _plain(field, value) for field, value in copy.items() if field in _FIELDS},
            **{
                f"spec.{field}": _plain(field, value)
                for field, value in copy.get("spec", {}).items()
            },
            **({"images": copy["images"]} if "images" in copy else {}),
        }
        for member, copies in step.after["memberObjects"].items()
        for copy in copies
        if not copy.get("deleting")
        and any(owner.startswith(works) for owner in copy.get("owners", ()))
    }


def sent(state: StackState) -> dict[tuple[str, str], list[Data]]:
    """The objects of a stack, by the key of the placement and the member."""
    found: dict[tuple[str, str], list[Data]] = {}
    for resource in state.resources.values():
        if resource.type.startswith("kubernetes:"):
            placement = resource.name.partition("@")[0].removeprefix(f"{FLEET}/")
            found.setdefault((placement, cluster_of(resource.name)), []).append(
                reveal(resource.inputs)
            )
    return found


def copies_here(state: StackState, kinds: Collection[str]) -> Seen:
    """The objects of a stack, of these kinds."""
    found = [
        r
        for r in state.resources.values()
        if r.type.startswith("kubernetes:") and r.inputs.get("kind") in kinds
    ]
    return {f"{cluster_of(r.name)} {_name(*key_of(r.inputs))}": fields(r.inputs) for r in found}


def _placement(kind: str, namespace: str, data: Data) -> Iterator[tuple[str, Data]]:
    """A placement with its status, and each of its members."""
    name, status = _name(kind, namespace, data["name"]), data.get("status") or {}
    entries = status.get("placementStatuses") or []
    found = [(entry, _condition(entry, "Scheduled")) for entry in entries]
    yield (
        name,
        {
            **{
                _field(kind): _condition(status, kind)
                for kind in (f"{kind}{part}" for part in _SUMMED)
            },
            "order": [item["type"].removeprefix(kind) for item in status.get("conditions") or ()],
            "entries": _in_order(
                [(item.get("clusterName", ""), *words[1:]) for item, words in found if words]
            ),
            "index": _number(status.get("observedResourceIndex")),
            "indexes": {
                entry["clusterName"]: _number(entry.get("observedResourceIndex"))
                for entry in entries
                if "clusterName" in entry
            },
            "selected": [_identity(item) for item in status.get("selectedResources") or ()],
        },
    )
    yield from (
        (f"{name} on {entry['clusterName']}", _member(entry))
        for entry in entries
        if "clusterName" in entry
    )


def _member(entry: Data) -> Data:
    """The entry of a member."""
    return {
        **{_field(part): _condition(entry, part) for part in _SUMMED if part != "StatusSynced"},
        **{part: sorted(map(_failing, entry.get(part) or ())) for part in _FAILING},
        "overrides": [
            *map(_without_number, entry.get("applicableClusterResourceOverrides") or ()),
            *(
                f"{item['namespace']}/{_without_number(item['name'])}"
                for item in entry.get("applicableResourceOverrides") or ()
            ),
        ],
    }


def _failing(data: Data) -> tuple[str, str]:
    """An object that has failed, drifted or differs, and all that is said of it."""
    rest = {name: value for name, value in data.items() if name not in _NAMING}
    return _identity(data), json.dumps(rest, sort_keys=True)


def _identity(data: Data) -> str:
    version = f"{data.get('group', '')}/{data['version']}".lstrip("/")
    return identity((data["kind"], data.get("namespace", ""), data["name"]), version)


def _without_number(snapshot: str) -> str:
    """The name of an override: of overrides there are no snapshots here, which a hub counts."""
    return re.sub(r"-\d+$", "", snapshot)


def _field(condition: str) -> str:
    return f"condition {condition}"


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
    return any(condition["reason"] == "InvalidResourceSelectors" for condition in conditions)


def _work(placement: Data) -> str:
    return ".".join(filter(None, (placement.get("namespace"), placement["name"])))


def _condition(status: Data, kind: str) -> tuple[str, str, str] | None:
    found = (item for item in status.get("conditions", ()) if item["type"] == kind)
    return next(((item["status"], item["reason"], item["message"]) for item in found), None)


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _index_of(snapshot: str) -> int | None:
    return int(snapshot.removesuffix("-snapshot").rpartition("-")[2]) if snapshot else None


def _name(kind: str, namespace: str, name: str) -> str:
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def identity(key: Key, version: str) -> str:
    """How an object is named among those that are selected."""
    return f"{version} {_name(*key)}"


def fields(data: Data) -> Data:
    """An object of a stack, or one that somebody has written on a member, as recordings tell of it."""
    found = {field: _plain(field, _at(data, path)) for field, path in _FIELDS.items()}
    pod = _at(data, ("spec", "template", "spec", "containers"))
    spec = {
        field: _plain(field, value)
        for field, value in {**_DEFAULTS, **(data.get("spec") or {})}.items()
    }
    return {
        **found,
        **{f"spec.{field}": value for field, value in spec.items()},
        "images": [item["image"] for item in pod or ()],
    }


def _plain(field: str, value: Any) -> Any:
    """A field without what either system adds to it; of some annotations the recordings tell no value."""
    if field == "labels":
        return {
            key: text for key, text in (value or {}).items() if not key.endswith(_STAMPS_OF_JOBS)
        }
    if field == "ports":
        return [{"protocol": "TCP", "targetPort": port["port"], **port} for port in value or ()]
    if field == "annotations":
        shown = {
            key: text
            for key, text in (value or {}).items()
            if not any(part in key for part in _STAMPS)
        }
        return {
            key: "<present>" if "kubernetes-fleet.io/" in key else text
            for key, text in shown.items()
        }
    return value


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data
