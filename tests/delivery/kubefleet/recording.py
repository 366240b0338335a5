"""Recordings of a running KubeFleet hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Self

import attrs

from tests.delivery import recording
from tests.delivery.recording import NOW, Data, Key, Objects, Step
from tests.delivery.refusals import reasons
from tests.vectors import MEMBERS, Content

_REQUESTS = {
    "ClusterStagedUpdateRun": "ClusterApprovalRequest",
    "StagedUpdateRun": "ApprovalRequest",
}
_API = "cluster.kubernetes-fleet.io/v1beta1"


def key_of(data: Data) -> Key:
    """Kind, namespace and name."""
    metadata = data["metadata"]
    return data["kind"], metadata.get("namespace", ""), metadata["name"]


@attrs.frozen(slots=False)
class Recording(recording.Recording[Step]):
    """One recording.

    Attributes:
        joined: the members as they had joined, by name.
    """

    folder: ClassVar[str] = "kubefleet-live"
    joined: Mapping[str, Data]

    @classmethod
    def of(cls, name: str, content: Content) -> Self:
        """Read it, and the members from the file beside it."""
        members = content(MEMBERS)["memberClusters"]
        return cls(name, content(name), {member["name"]: member for member in members})

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps in order."""
        return tuple(Step(number, data) for number, data in enumerate(self.data["steps"]))

    @property
    def at_first(self) -> Objects:
        """The members, and what was on the hub before: what placements select and nobody writes in the recording."""
        out = set(re.findall(r"(cluster\d) was out of the fleet", self.data["about"]))
        members = [
            self._member({"metadata": {"name": name}}) for name in self.joined if name not in out
        ]
        written = {key_of(data) for step in self.steps for data in step.data.get("apply", ())}
        there = {key: data for key, data in self._selected().items() if key not in written}
        return {**{key_of(member): member for member in members}, **there}

    @cached_property
    def delayed(self) -> dict[Key, str]:
        """The revision that update runs have taken which began before the hub had collected the last change.

        A hub collects changes for some seconds, and a run does not wait for that: it takes what was kept before. What
        is written in a recording does not tell of these seconds.
        """
        found: dict[Key, str] = {}
        for step in self.steps:
            changes = changed_content(item for item in self.steps if item.number <= step.number)
            for data in step.data.get("apply", ()):
                used = self._taken(key_of(data)) if data["kind"] in _REQUESTS else None
                if (
                    used is not None
                    and int(used) < changes
                    and "resourceSnapshotIndex" not in data["spec"]
                ):
                    found[key_of(data)] = used
        return found

    def _taken(self, run: Key) -> str | None:
        """The revision that an update run has taken."""
        seen = (
            item
            for step in self.steps
            for item in step.after.get("hubObjects", ())
            if _key_seen(item) == run
        )
        used = (item.get("status", {}).get("resourceSnapshotIndexUsed") for item in seen)
        return next(filter(None, used), None)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of which it tells what stood on the members."""
        seen = (copies for step in self.steps for copies in step.after["memberObjects"].values())
        return frozenset(copy["kind"] for copies in seen for copy in copies)

    def change(self, objects: Objects, step: Step) -> None:
        """Write what the user wrote in a step."""
        for data in step.data.get("apply", ()):
            whole = self._member(data) if data["kind"] == "MemberCluster" else data
            objects[key_of(data)] = merged(objects.get(key_of(data)), whole)
        for patch in step.data.get("patch", ()):
            key = key_of(patch["object"])
            objects[key] = merged(objects[key], patch["merge"])
        for data in step.data.get("delete", ()):
            self._delete(objects, key_of(data))
        if action := step.data.get("action"):
            self._act(objects, action, step)

    def refused(self, objects: Objects, step: Step) -> dict[Key, tuple[str, ...]]:
        """What the API server refused."""
        keys = {f"{key[0]}/{key[2]}": key for key in objects}
        return {
            keys[error["object"]]: reasons(error["message"])
            for error in step.data.get("errors", ())
        }

    def broken(self, objects: Objects, step: Step) -> dict[Key, tuple[str, ...]]:
        """The placements whose selectors the hub refused later, and the envelopes that it could not open."""
        found = {**_invalid(step), **_clashing(step)}
        return {key: words for key, words in found.items() if key in objects}

    def documents(self, objects: Objects, step: Step) -> list[Data]:
        """What stands on the hub, the members among it."""
        return list(objects.values())

    def _delete(self, objects: Objects, key: Key) -> None:
        """A Namespace goes with all that is in it."""
        gone = [
            data for data in objects if data == key or (key[0] == "Namespace" and data[1] == key[2])
        ]
        for item in gone:
            del objects[item]

    def _act(self, objects: Objects, action: str, step: Step) -> None:
        """What the user did, told in words."""
        if made := re.match(r"delete (?:the )?(Job|Deployment).* (?:image (?P<image>\S+))", action):
            selector = re.search(r"selector app=([^,\s]+)", action)
            for key in [key for key in objects if key[0] == made[1]]:
                objects[key] = _made_anew(objects[key], made["image"], selector and selector[1])
        if state := re.search(r"later: state (\w+)", action):
            for data in step.data["apply"]:
                objects[key_of(data)] = merged(data, {"spec": {"state": state[1]}})
        if "ConfigMap is changed" in action:
            seen = {
                _key_seen(copy): copy
                for copies in step.after["memberObjects"].values()
                for copy in copies
            }
            for key in [key for key in objects if key[0] == "ConfigMap" and key in seen]:
                objects[key] = merged(objects[key], {"data": seen[key]["data"]})
        if silent := re.match(r"agent of (\w+) stopped, waited", action):
            key = "MemberCluster", "", silent[1]
            objects[key] = _heard_of(objects[key], NOW - timedelta(minutes=self._silence))
        if back := re.match(r"agent of (\w+) started again", action):
            key = "MemberCluster", "", back[1]
            objects[key] = _heard_of(objects[key], NOW)
        if approved := re.match(r"approve (\S+)", action):
            approval = _approval(approved[1], objects)
            objects[key_of(approval)] = approval

    def _member(self, data: Data) -> dict[str, Any]:
        """A member as its agent reports it."""
        joined = self.joined[data["metadata"]["name"]]
        metadata = {"labels": joined["labels"], **data["metadata"]}
        spec = {"identity": joined["spec"]["identity"], **data.get("spec", {})}
        data = {
            "apiVersion": _API,
            "kind": "MemberCluster",
            "metadata": metadata,
            "spec": spec,
            "status": joined["status"],
        }
        return _heard_of(data, NOW)

    @property
    def _silence(self) -> float:
        """For how many minutes nothing was heard of a member."""
        told = re.findall(r"last received ([\d.]+) minutes ago", json.dumps(self.data))
        return float(told[0])

    def _selected(self) -> Objects:
        """All that placements selected, as it was first seen on a member."""
        found: Objects = {}
        for step in self.steps:
            seen = {
                _key_seen(copy): copy
                for copies in step.after["memberObjects"].values()
                for copy in copies
            }
            for placement in step.after["placements"]:
                for item in placement.get("status", {}).get("selectedResources", ()):
                    key = _key_seen(item)
                    found.setdefault(key, _as_seen(item, seen.get(key, {})))
        return found


def changed_content(steps: Iterable[Step]) -> int:
    """How often the content of placements was changed in some steps."""
    return sum(
        not _steers(patch["object"]) for step in steps for patch in step.data.get("patch", ())
    )


def _steers(data: Data) -> bool:
    """Whether an object is one of KubeFleet's own, so that no placement brings it to members."""
    return str(data["apiVersion"]).partition("/")[0].endswith("kubernetes-fleet.io")


def _key_seen(data: Data) -> Key:
    return data["kind"], data.get("namespace", ""), data["name"]


def _invalid(step: Step) -> dict[Key, tuple[str, ...]]:
    return {
        _key_seen(item): (condition["message"].rpartition("client error: ")[2],)
        for item in step.after["placements"]
        for condition in item.get("status", {}).get("conditions", ())
        if condition["reason"] == "InvalidResourceSelectors"
    }


def _clashing(step: Step) -> dict[Key, tuple[str, ...]]:
    messages = {
        condition["message"]
        for binding in step.after["bindings"]
        for condition in binding.get("conditions", ())
        if condition["reason"] == "SyncWorkFailed"
    }
    words = tuple(
        message.removeprefix("Failed to synchronize the work to the latest: ")
        for message in messages
    )
    written = {key_of(data) for data in step.data.get("apply", ())}
    return {key: words for key in written if key[0].endswith("Envelope") and words}


def merged(data: Any, patch: Any) -> Any:
    """A JSON merge patch applied."""
    if not isinstance(patch, Mapping):
        return patch
    kept = dict(data) if isinstance(data, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = merged(kept.get(key), value)
    return kept


def _as_seen(selected: Data, seen: Data) -> dict[str, Any]:
    """An object of the hub, from the part of it that was recorded on a member."""
    group, version = selected.get("group", ""), selected["version"]
    metadata = {part: seen[part] for part in ("labels",) if part in seen}
    names = {part: selected[part] for part in ("name", "namespace") if part in selected}
    data = {"apiVersion": f"{group}/{version}" if group else version, "kind": selected["kind"]}
    pod = {
        "containers": [
            {"name": selected["name"], "image": image} for image in seen.get("images", ())
        ]
    }
    labels = seen.get("labels", {})
    spec = {"replicas": seen.get("replicas"), "selector": {"matchLabels": labels}}
    workload = {"spec": {**spec, "template": {"metadata": {"labels": labels}, "spec": pod}}}
    content = {"data": seen["data"]} if "data" in seen else workload if "images" in seen else {}
    return {**data, "metadata": {**names, **metadata}, **content}


def _approval(name: str, objects: Objects) -> dict[str, Any]:
    """The request of an update run, as somebody has approved it."""
    run, _, stage = re.split("-(before|after)-", name)
    kind, namespace = next(key[:2] for key in objects if key[0] in _REQUESTS and key[2] == run)
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": _REQUESTS[kind],
        "metadata": metadata,
        "spec": {"parentStageRollout": run, "targetStage": stage},
        "status": {
            "conditions": [
                {"type": "Approved", "status": "True", "reason": "approved", "message": ""}
            ]
        },
    }


def _heard_of(member: Data, time: datetime) -> dict[str, Any]:
    """A member whose agent has reported last at some time."""
    (agent,) = member["status"]["agentStatus"]
    conditions = [{**item, "lastTransitionTime": time.isoformat()} for item in agent["conditions"]]
    heard = {**agent, "conditions": conditions, "lastReceivedHeartbeat": time.isoformat()}
    return {**member, "status": {**member["status"], "agentStatus": [heard]}}


def _made_anew(data: Data, image: str, app: str | None) -> Any:
    """A workload with another image, and with other labels of its pods."""
    template = data["spec"]["template"]
    containers = [{**item, "image": image} for item in template["spec"]["containers"]]
    changed = merged(data, {"spec": {"template": {"spec": {"containers": containers}}}})
    labels = {"app": app}
    selector = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    return merged(changed, {"spec": selector}) if app else changed
