"""Hubs as they must have been after the steps of a recording, as far as it tells.

A recording shows bindings, Works and statuses in part. The rest follows: snapshots hold what was selected when their
index was first seen, policies are as written and defaulted, and all that an API server adds is made up.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import attrs

from fleet_components.admission import Existing, admit
from fleet_components.hub.listing import Listing, Object, Query, ServedResource
from fleet_components.hub.reading import missing
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.given import Given
from fleet_components.plan.source import gathered
from fleet_components.systems.kubefleet.plan.selection import Placements
from fleet_components.systems.registry import SYSTEMS
from tests.delivery.kubefleet.recording import Recording, key_of
from tests.delivery.recording import NOW, Data, Key, Step

GROUP = "placement.kubernetes-fleet.io"
_PREFIX = "kubernetes-fleet.io/"
_BEFORE = NOW - timedelta(days=1)
_STEERING = {
    "ClusterResourcePlacement": (
        "ClusterResourceBinding",
        "ClusterSchedulingPolicySnapshot",
        "ClusterResourceSnapshot",
    ),
    "ResourcePlacement": ("ResourceBinding", "SchedulingPolicySnapshot", "ResourceSnapshot"),
}
_KINDS = (
    *_STEERING,
    *(kind for kinds in _STEERING.values() for kind in kinds),
    *(
        f"{cluster}{kind}"
        for cluster in ("Cluster", "")
        for kind in ("StagedUpdateRun", "StagedUpdateStrategy")
    ),
    *("ClusterApprovalRequest", "ApprovalRequest", "ClusterResourceOverride", "ResourceOverride"),
    *("ClusterResourceOverrideSnapshot", "ResourceOverrideSnapshot", "Work"),
    *("ClusterResourcePlacementEviction", "ClusterResourcePlacementDisruptionBudget"),
    *("ClusterResourceEnvelope", "ResourceEnvelope"),
)
_NAMESPACED = (
    "ResourcePlacement",
    "ResourceBinding",
    "SchedulingPolicySnapshot",
    "ResourceSnapshot",
    "Work",
)
_UNTRACKABLE = "NotAllWorkAreAvailabilityTrackable"
Snapshots = dict[tuple[str, str, str], dict[int, Any]]
"""What was kept, by kind, namespace and name of its owner, and by index."""


@attrs.define
class RecordedHub:
    """A hub that goes through a recording.

    Attributes:
        recording: the recording.
        objects: what users have written, by kind and name.
        contents: the objects of each revision of each placement.
        policies: the policies of each placement.
        overrides: the specs of overrides.
        made: the step in which something was written first.
    """

    recording: Recording
    objects: dict[Key, dict[str, Any]] = attrs.field(factory=dict)
    contents: Snapshots = attrs.field(factory=dict)
    policies: Snapshots = attrs.field(factory=dict)
    overrides: Snapshots = attrs.field(factory=dict)
    made: dict[Key, int] = attrs.field(factory=dict)

    def listings(self) -> Iterator[tuple[Step, Listing]]:
        """Go through all steps; yield what the hub answers after each."""
        self.objects = dict(self.recording.at_first)
        for step in self.recording.steps:
            before = dict(self.objects)
            self.recording.change(self.objects, step)
            for key in self.recording.refused(self.objects, step):
                self.objects = {
                    **{item: data for item, data in self.objects.items() if item != key}
                }
                self.objects |= {key: before[key]} if key in before else {}
            for key in self.objects:
                self.made.setdefault(key, step.number)
            yield step, self.listing(step)

    def listing(self, step: Step) -> Listing:
        """What the hub answers after a step."""
        self._remember(step)
        there = {Manifest(item).key: item for item in self._all(step)}
        kinds = served(there.values())
        listing = Listing(
            SYSTEMS["kubefleet"], NOW, kinds, release=self.recording.releases.kubefleet.name
        )
        while queries := missing(listing):
            listing = listing.with_answers(
                {query: tuple(answer(query, there.values())) for query in queries}, {}
            )
        return listing

    def _all(self, step: Step) -> Iterator[Data]:
        """All that is on the hub."""
        seen = {_seen_key(item): item for item in step.after.get("hubObjects", ())}
        for key, data in self.objects.items():
            if key[0] == "ClusterApprovalRequest" or key[0] == "ApprovalRequest":
                continue
            yield self._stored(data, seen.get(key, {}), step)
        for item in seen.values():
            if item["kind"].endswith("ApprovalRequest") and not item.get("absent"):
                yield _made(item, self._version(item["kind"]))
        yield from self._decided(step)

    def _stored(self, data: Data, seen: Data, step: Step) -> dict[str, Any]:
        """An object as an API server has it, with the status that was seen."""
        key = key_of(data)
        kept = self._defaulted(data)
        made = (_BEFORE + timedelta(minutes=self.made.get(key, 0))).isoformat()
        noise = {"uid": "9e0f", "resourceVersion": "7", "creationTimestamp": made, "generation": 1}
        kept = {
            **kept,
            "metadata": {**kept["metadata"], **noise, "managedFields": [{"manager": "somebody"}]},
        }
        if key[0] in _STEERING:
            status: Data = next(
                (item for item in step.after["placements"] if _seen_key(item) == key), {}
            )
            kept["status"] = status.get("status", {})
        elif "status" in seen and key[0] != "MemberCluster":
            kept["status"] = seen["status"]
        return json.loads(json.dumps(kept).replace('"<time>"', json.dumps(NOW.isoformat())))  # type: ignore[no-any-return]

    def _defaulted(self, data: Data) -> dict[str, Any]:
        if Manifest(data).group != GROUP or data["kind"].endswith("Envelope"):
            return dict(data)
        admission = admit(Manifest(data), context=Existing((), self.recording.releases))
        return dict(admission.defaulted.data if not admission.problems else data)

    def _version(self, kind: str) -> str:
        return f"{GROUP}/v1beta1"

    def _remember(self, step: Step) -> None:
        """Take down what is selected, and the policies, under the indexes that are new."""
        given = Given(tuple(map(Manifest, self.objects.values())), releases=self.recording.releases)
        selections, _ = Placements(gathered(given)).selections()
        selected = {
            (
                selection.placement.kind,
                selection.placement.namespace,
                selection.placement.name,
            ): selection.objects
            for selection in selections
        }
        for key, data in self.objects.items():
            if key[0] not in _STEERING:
                continue
            placement = key[0], key[1], key[2]
            contents = self.contents.setdefault(placement, {})
            for index in _indexes(step, placement):
                contents.setdefault(index, selected.get(placement, ()))
            policy = (self._defaulted(data)["spec"] or {}).get("policy")
            policies = self.policies.setdefault(placement, {})
            for index in _policy_indexes(step, placement, policies, policy):
                policies.setdefault(index, policy)
            if policies:
                # A change of the number alone goes into the newest.
                policies[max(policies)] = policy
        for kind, namespace, name, index in _overrides(step):
            written = self.objects.get((kind, namespace, name))
            if written:
                self.overrides.setdefault((kind, namespace, name), {}).setdefault(
                    index, self._defaulted(written)["spec"]
                )

    def _decided(self, step: Step) -> Iterator[Data]:
        """What the hub keeps of its decisions."""
        for key in self.objects:
            if key[0] in _STEERING:
                yield from self._snapshots((key[0], key[1], key[2]), step)
        blocked = {
            (item.get("namespace", ""), item["placement"])
            for item in step.after["bindings"]
            if any(
                each["type"] == "RolloutStarted" and each["status"] == "False"
                for each in item.get("conditions", ())
            )
        }
        for item in step.after["bindings"]:
            yield _binding(item, waits=(item.get("namespace", ""), item["placement"]) in blocked)
        for item in step.after["works"]:
            namespace, labels = f"fleet-member-{item['cluster']}", dict(item["labels"])
            labels[f"{_PREFIX}parent-resource-binding"] = _named(
                labels[f"{_PREFIX}parent-CRP"], item["cluster"]
            )
            yield _made(
                {**item, "kind": "Work", "namespace": namespace, "labels": labels},
                self._version("Work"),
            )
        for (kind, namespace, name), specs in self.overrides.items():
            for index, spec in specs.items():
                labels = {
                    f"{_PREFIX}parent-resource-override": name,
                    f"{_PREFIX}override-index": str(index),
                }
                made = {
                    "kind": f"{kind}Snapshot",
                    "namespace": namespace,
                    "name": f"{name}-{index}",
                    "labels": labels,
                }
                yield _made({**made, "spec": {"overrideSpec": spec}}, self._version(kind))

    def _snapshots(self, placement: tuple[str, str, str], step: Step) -> Iterator[Data]:
        kind, namespace, name = placement
        _, policy_kind, content_kind = _STEERING[kind]
        standing = _standing(step, content_kind, name)
        for index, objects in self.contents.get(placement, {}).items():
            if standing and index not in standing:
                continue
            labels = {f"{_PREFIX}parent-CRP": name, f"{_PREFIX}resource-index": str(index)}
            # The first object stands in the first part, all others in the second.
            parts = [
                ("snapshot", {}, objects[:1]),
                ("0", {f"{_PREFIX}subindex-of-resource-snapshot": "0"}, objects[1:]),
            ]
            for part, marks, content in parts:
                made = {
                    "kind": content_kind,
                    "namespace": namespace,
                    "name": f"{name}-{index}-{part}",
                    "labels": labels,
                }
                spec = {"selectedResources": list(content)}
                yield _made({**made, "annotations": marks, "spec": spec}, self._version(kind))
        for index, policy in self.policies.get(placement, {}).items():
            labels = {f"{_PREFIX}parent-CRP": name, f"{_PREFIX}policy-index": str(index)}
            count = (policy or {}).get("numberOfClusters")
            annotations = {} if count is None else {f"{_PREFIX}number-of-clusters": str(count)}
            made = {
                "kind": policy_kind,
                "namespace": namespace,
                "name": f"{name}-{index}",
                "labels": labels,
            }
            spec = {"policy": policy} if policy else {}
            conditions = [{"type": "Scheduled", "status": "True", "observedGeneration": 1}]
            status = {"conditions": conditions if _scheduled(step, placement) else []}
            yield _made(
                {**made, "annotations": annotations, "spec": spec, "status": status},
                self._version(kind),
            )


def _scheduled(step: Step, placement: tuple[str, str, str]) -> bool:
    """Whether the scheduler has decided about a placement."""
    seen: Data = next(
        (item for item in step.after["placements"] if _seen_key(item) == placement), {}
    )
    conditions = seen.get("status", {}).get("conditions", ())
    return any(
        condition["type"].endswith("Scheduled") and condition["status"] != "Unknown"
        for condition in conditions
    )


def _made(data: Mapping[str, Any], version: str) -> dict[str, Any]:
    """An object of the hub, from what was seen of it."""
    parts = ("name", "namespace", "labels", "annotations")
    metadata = {part: data[part] for part in parts if data.get(part)} | {
        "generation": 1,
        "uid": "4711",
    }
    if data.get("deleting"):
        metadata["deletionTimestamp"] = NOW.isoformat()
    rest = {part: data[part] for part in ("spec", "status") if part in data}
    return json.loads(  # type: ignore[no-any-return]
        json.dumps(
            {"apiVersion": version, "kind": data["kind"], "metadata": metadata, **rest}
        ).replace("<time>", NOW.isoformat())
    )


def _named(placement: str, cluster: str) -> str:
    """The name of a binding, the end of which is random on a hub."""
    return f"{placement[:26]}-{cluster[:27]}-{hashlib.sha256(placement.encode()).hexdigest()[:8]}"


def _binding(seen: Data, *, waits: bool) -> dict[str, Any]:
    """A binding; one whose objects nobody can judge has become available just now if others wait for it."""
    namespace, name, cluster = seen.get("namespace", ""), seen["placement"], seen["targetCluster"]
    kind = "ResourceBinding" if namespace else "ClusterResourceBinding"
    parts = (
        "state",
        "resourceSnapshotName",
        "schedulingPolicySnapshotName",
        "targetCluster",
        "clusterDecision",
    )
    lists = ("clusterResourceOverrideSnapshots", "resourceOverrideSnapshots")
    spec = {part: seen[part] for part in (*parts, *lists) if part in seen}
    conditions = [
        {
            **item,
            "lastTransitionTime": (
                NOW if waits and item["reason"] == _UNTRACKABLE else _BEFORE
            ).isoformat(),
        }
        for item in seen.get("conditions", ())
    ]
    suffix = "-9z" if seen.get("deleting") else ""
    made = {
        "kind": kind,
        "namespace": namespace,
        "name": _named(name, cluster) + suffix,
        "labels": {f"{_PREFIX}parent-CRP": name},
        "annotations": seen.get("annotations", {}),
        "deleting": seen.get("deleting"),
        "spec": spec,
        "status": {"conditions": conditions},
    }
    data = _made(made, f"{GROUP}/v1beta1")
    data["metadata"]["generation"] = seen["generation"]
    return data


def _seen_key(data: Mapping[str, Any]) -> Key:
    return data["kind"], data.get("namespace", ""), data["name"]


def _indexes(step: Step, placement: tuple[str, str, str]) -> list[int]:
    """Indexes of the resource snapshots that were seen of a placement."""
    kind, namespace, name = placement
    found = _standing(step, _STEERING[kind][2], name)
    for item in step.after["bindings"]:
        if (item["placement"], item.get("namespace", "")) == (name, namespace):
            found |= {
                int(index)
                for index in re.findall(r"-(\d+)-snapshot$", str(item["resourceSnapshotName"]))
            }
    for item in step.after["placements"]:
        if _seen_key(item) == placement and (
            index := item.get("status", {}).get("observedResourceIndex")
        ):
            found.add(int(index))
    return sorted(found)


def _standing(step: Step, kind: str, name: str) -> set[int]:
    """Indexes of the resource snapshots that stood; none if the recording does not tell."""
    return {
        int(item["labels"][f"{_PREFIX}resource-index"])
        for item in step.after.get("hubObjects", ())
        if item["kind"] == kind
        and not item.get("absent")
        and item["labels"][f"{_PREFIX}parent-CRP"] == name
    }


def _policy_indexes(
    step: Step, placement: tuple[str, str, str], known: Mapping[int, Any], policy: Data | None
) -> list[int]:
    """Indexes of the policy snapshots that were seen of a placement, or that must have been there."""
    kind, namespace, name = placement
    found = {
        int(item["labels"][f"{_PREFIX}policy-index"])
        for item in step.after.get("hubObjects", ())
        if item["kind"] == _STEERING[kind][1] and item["labels"][f"{_PREFIX}parent-CRP"] == name
    }
    for item in step.after["bindings"]:
        if (item["placement"], item.get("namespace", "")) == (name, namespace):
            found.add(int(item["schedulingPolicySnapshotName"].rpartition("-")[2]))
    if not found:
        last = max(known, default=-1)
        same = last >= 0 and _without_number(known[last]) == _without_number(policy)
        found.add(last if same else last + 1)
    return sorted(found)


def _without_number(policy: Data | None) -> Data | None:
    return policy and {
        field: value for field, value in policy.items() if field != "numberOfClusters"
    }


def _overrides(step: Step) -> Iterator[tuple[str, str, str, int]]:
    """Kind, namespace, name and index of the override snapshots that bindings list."""
    for item in step.after["bindings"]:
        for name in item.get("clusterResourceOverrideSnapshots", ()):
            yield (
                "ClusterResourceOverride",
                "",
                name.rpartition("-")[0],
                int(name.rpartition("-")[2]),
            )
        for each in item.get("resourceOverrideSnapshots", ()):
            name, _, index = each["name"].rpartition("-")
            yield "ResourceOverride", each["namespace"], name, int(index)


def served(objects: Any) -> dict[tuple[str, str], ServedResource]:
    """The kinds that the hub serves."""
    found = {
        key: ServedResource(_version_of(kind), key[1], kind.plural, kind.namespaced)
        for key, kind in BUILT_IN.items()
        if not key[0].endswith(".karmada.io")
    }
    for kind in _KINDS:
        namespaced = kind in _NAMESPACED or not kind.startswith("Cluster")
        found[GROUP, kind] = ServedResource(
            f"{GROUP}/v1beta1", kind, kind.lower() + "s", namespaced
        )
    members = "cluster.kubernetes-fleet.io"
    found[members, "MemberCluster"] = ServedResource(
        f"{members}/v1beta1", "MemberCluster", "memberclusters", False
    )
    for data in objects:
        manifest = Manifest(data)
        namespaced = bool(manifest.namespace)
        resource = ServedResource(
            manifest.api_version, manifest.kind, manifest.kind.lower() + "s", namespaced
        )
        found.setdefault((manifest.group, manifest.kind), resource)
    return found


def _version_of(kind: Any) -> str:
    version = "v1" if "v1" in kind.versions else min(kind.versions)
    return f"{kind.group}/{version}" if kind.group else version


def answer(query: Query, objects: Any) -> Iterator[Object]:
    for item in objects:
        manifest = Manifest(item)
        if (manifest.group, manifest.kind) != (query.group, query.kind):
            continue
        if query.namespace and manifest.namespace != query.namespace:
            continue
        data = {**item, "apiVersion": query.api_version}
        if query.metadata_only:
            data = {field: data[field] for field in ("apiVersion", "kind", "metadata")}
        yield data


def object_key(data: Data) -> ObjectKey:
    """The key of an object."""
    return Manifest(data).key
