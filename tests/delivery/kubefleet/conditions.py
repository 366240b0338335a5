"""Conditions under which a recording of KubeFleet may differ from what we do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from operator import gt
from typing import Any

from tests.delivery.kubefleet.behind import about, before, is_there, seen
from tests.delivery.kubefleet.comparison import fields
from tests.delivery.kubefleet.recording import changed_content, key_of
from tests.delivery.recording import Data, Step, mixed
from tests.delivery.replay import Difference, When


def _steps(difference: Difference) -> Iterator[Step]:
    """The steps up to the one of the difference."""
    return (step for step in difference.recording.steps if step.number <= difference.step.number)


def _strategies(difference: Difference) -> Iterator[Data]:
    """The strategies of placements as they were written or changed, up to the step."""
    for step in _steps(difference):
        for data in (
            *step.data.get("apply", ()),
            *(patch["merge"] for patch in step.data.get("patch", ())),
        ):
            strategy = data.get("spec", {}).get("strategy")
            yield from [strategy] if isinstance(strategy, dict) else []


def applies(**fields: Any) -> When:
    """A placement has an apply strategy with these fields."""

    def holds(difference: Difference) -> bool:
        return any(
            fields.items() <= strategy.get("applyStrategy", {}).items()
            for strategy in _strategies(difference)
        )

    return holds


def by_hand(difference: Difference) -> bool:
    """Somebody has written this object on this member: it is as it was written, as we send it, or as it was before."""
    found, written = about(difference), _written(difference)
    if written is None:
        return False
    if not found.field and found.there is None:
        return not is_there(difference)
    hand = fields(written)
    if not found.field:
        return all(
            value == hand.get(name)
            for name, value in found.there.items()
            if value or hand.get(name)
        )
    entries = [
        seen(step).get(found.name)
        for step in _steps(difference)
        if step.number < difference.step.number
    ]
    kept = [entry[found.field] for entry in entries if entry and found.field in entry]
    return mixed(found.there, found.here, hand.get(found.field), *kept)


def _was_there(difference: Difference) -> bool:
    """Whether a binding was seen before, or an object on any member."""
    binding = about(difference).name.startswith("binding ")
    earlier = (step for step in _steps(difference) if step.number < difference.step.number)
    names = {name for step in earlier for name in seen(step)}
    if binding:
        return about(difference).name in names
    return about(difference).name.partition(" ")[2] in {name.partition(" ")[2] for name in names}


def _written(difference: Difference) -> Data | None:
    """What somebody has written on a member of an object; None if nobody has touched it."""
    cluster, kind, name = about(difference).name.split()
    namespace, _, plain = name.rpartition("/")
    written: Data | None = None
    for step in _steps(difference):
        for action in step.data.get("memberAction", ()):
            data = action.get("apply") or action.get("object") or action.get("delete")
            if data and (action["cluster"], key_of(data)) == (cluster, (kind, namespace, plain)):
                written = _laid_over(
                    written or {}, action.get("apply") or action.get("merge") or {}
                )
    return written


def _laid_over(data: Any, patch: Any) -> Any:
    """A merge patch laid over another one: what it takes away stays None."""
    if not isinstance(data, Mapping) or not isinstance(patch, Mapping):
        return patch
    return {**data, **{name: _laid_over(data.get(name), value) for name, value in patch.items()}}


def drifted(difference: Difference) -> bool:
    """A placement stops where a member has drifted, and one has."""
    touched = any(step.data.get("memberAction") for step in _steps(difference))
    return touched and applies(whenToApply="IfNotDrifted")(difference)


def fails(difference: Difference) -> bool:
    """An override fails on a member."""
    return any(
        condition["reason"] == "OverriddenFailed" for condition in _conditions(difference.step)
    )


def taken_over(difference: Difference) -> bool:
    """Another update run came after this one, which fails for that here, and there a moment later."""
    shown = difference.step.after.get("hubObjects", ())
    runs = [
        item["name"]
        for item in shown
        if item["kind"].endswith("StagedUpdateRun") and not item.get("absent")
    ]
    found = about(difference)
    if found.name.rpartition(" ")[2] not in runs[:-1]:
        return False
    if found.field == "stagesStatus":
        return bool(found.there == list(map(_going_on, found.here)))
    failed = any(item["reason"] == "UpdateRunFailed" for item in found.here)
    run = seen(difference.step).get(found.name, {})
    return failed and found.there in [
        [found.here[0], item] for item in (_PROGRESSING, *_stuck(run))
    ]


def _stuck(run: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the condition of a run that has been updating the same clusters for five minutes."""
    for stage in _maps(run.get("stagesStatus")):
        clusters = [
            str(item.get("clusterName"))
            for item in _maps(stage.get("clusters"))
            if [it.get("type") for it in _maps(item.get("conditions"))] == ["Started"]
        ]
        what = f"The updateRun is stuck waiting for {', '.join(clusters)} cluster(s) in stage {stage.get('stageName')}"
        hint = "to finish updating, please check placement status for potential errors"
        yield {
            **_PROGRESSING,
            "status": "False",
            "reason": "UpdateRunStuck",
            "message": f"{what} {hint}",
        }


def _maps(values: Any) -> list[Mapping[str, Any]]:
    return (
        [value for value in values if isinstance(value, Mapping)]
        if isinstance(values, list)
        else []
    )


def _going_on(stage: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stage as it was before another run took the clusters that it was updating."""
    if "StageUpdatingFailed" not in (item["reason"] for item in stage.get("conditions", ())):
        return stage
    started = (
        "Progressing",
        "True",
        "StageUpdatingStarted",
        "Clusters in the stage started updating",
    )
    clusters = [
        {
            **item,
            "conditions": [
                it for it in item["conditions"] if it["reason"] != "ClusterUpdatingFailed"
            ],
        }
        if "conditions" in item
        else item
        for item in stage["clusters"]
    ]
    names = ("type", "status", "reason", "message")
    return {**stage, "clusters": clusters, "conditions": [dict(zip(names, started, strict=True))]}


def unnamed_binding(difference: Difference) -> bool:
    """A run fails for the binding of a cluster, whose name is random on a hub."""
    found = about(difference)
    named = json.dumps(found.there, sort_keys=True)
    return re.sub("check the status of binding `[^`]*` and ", "", named) == json.dumps(
        found.here, sort_keys=True
    )


def of_nothing(difference: Difference) -> bool:
    """An eviction names a placement that is not there."""
    there = {item["name"] for item in difference.step.after["placements"] if not item.get("absent")}
    seen = [
        item
        for item in difference.step.after["hubObjects"]
        if f" {item['name']}: " in difference.words
    ]
    return bool(seen) and all(item["spec"]["placementName"] not in there for item in seen)


def unopened(difference: Difference) -> bool:
    """An envelope cannot be opened."""
    return any(
        condition["reason"] == "SyncWorkFailed" for condition in _conditions(difference.step)
    )


def left(difference: Difference) -> bool:
    """A member has left the fleet."""
    gone = [
        data
        for step in _steps(difference)
        for data in step.data.get("delete", ())
        if data["kind"] == "MemberCluster"
    ]
    return any(data["metadata"]["name"] in difference.words for data in gone) and _was_there(
        difference
    )


def silent(difference: Difference) -> bool:
    """The agent of a member is stopped."""
    actions = [step.data.get("action", "") for step in _steps(difference)]
    told = [re.match(r"agent of \w+ (stopped|started)", action) for action in actions]
    return [match[1] for match in told if match][-1:] == ["stopped"]


def ahead(difference: Difference) -> bool:
    """The hub has counted something that stood there only for a while, or that no member could take.

    All that is told of the placement has the same count, and a binding none that is higher.
    """
    found = about(difference)
    kind, *names = found.name.split(" ")
    shown = [
        entry
        for name, entry in seen(difference.step).items()
        if "index" in entry and name.split(" ")[1:] == names[: 1 if kind == "binding" else None]
    ]
    counts = {
        _count(item) for entry in shown for item in (entry["index"], *entry["indexes"].values())
    }
    there, here = ([*map(_count, _listed(value))] for value in (found.there, found.here))
    alike = counts == {*there} or (
        kind == "binding" and len(counts) == 1 and max(there) <= max(counts)
    )
    return (
        _in_between(difference) and alike and len(there) == len(here) and all(map(gt, there, here))
    )


def _listed(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else [value]


def _count(value: Any) -> int:
    return value if isinstance(value, int) else -1


def _in_between(difference: Difference) -> bool:
    return any(
        re.search("create (it )?again|create it at once", step.data.get("action", ""))
        or any(data["kind"] == "Namespace" for data in step.data.get("delete", ()))
        or "were created before" in step.data.get("note", "")
        or any(data["kind"] == "CustomResourceDefinition" for data in step.data.get("apply", ()))
        or any(condition["reason"] == "SyncWorkFailed" for condition in _conditions(step))
        for step in _steps(difference)
    )


def _conditions(step: Step) -> Iterator[Data]:
    return (
        condition
        for binding in step.after["bindings"]
        for condition in binding.get("conditions", ())
    )


def on_its_way(difference: Difference) -> bool:
    """A rolling update had not come to its end when the recording went on."""
    external = any(strategy.get("type") == "External" for strategy in _strategies(difference))
    return not external and any(
        item.get("deleting") or item["state"] != "Bound"
        for item in difference.step.after["bindings"]
    )


def untold(difference: Difference) -> bool:
    """Members wait until the time is over in which nobody can tell whether objects of another are ready."""
    return any(
        condition["reason"] == "NotAllWorkAreAvailabilityTrackable"
        for condition in _conditions(difference.step)
    )


def nothing_selected(difference: Difference) -> bool:
    """The hub had none of the content, as the namespace of an earlier recording was still going."""
    return all(item.get("manifests") in ([], None) for item in difference.step.after["works"])


def moves(difference: Difference) -> bool:
    """The policy asks for other members."""
    patches = (patch["merge"].get("spec", {}) for patch in difference.step.data.get("patch", ()))
    return any("affinity" in (spec.get("policy") or {}) for spec in patches)


def namespace_goes(difference: Difference) -> bool:
    """The placement that had brought the namespace of an object is gone."""
    gone = {key_of(data) for step in _steps(difference) for data in step.data.get("delete", ())}
    written = [
        data
        for step in difference.recording.steps
        for data in step.data.get("apply", ())
        if key_of(data) in gone
    ]
    brought = {
        item.get("name")
        for data in written
        for item in data.get("spec", {}).get("resourceSelectors", ())
    }
    return any(f" {name}/" in difference.words for name in brought) and not is_there(difference)


def owned_twice(difference: Difference) -> bool:
    """A hub says of a member that an object there belongs to another placement."""
    failing = (
        failed["condition"]["message"]
        for placement in difference.step.after["placements"]
        for member in (placement.get("status") or {}).get("placementStatuses") or ()
        for failed in member.get("failedPlacements") or ()
    )
    return any(
        "already owned by some other sources" in item or "owned by another Fleet" in item
        for item in failing
    )


def pending(difference: Difference) -> bool:
    """A hub says of a placement that it is not scheduled yet."""
    conditions = (
        condition
        for placement in difference.step.after["placements"]
        for condition in (placement.get("status") or {}).get("conditions", ())
    )
    return any(
        item["type"].endswith("Scheduled") and item["reason"] == "SchedulePending"
        for item in conditions
    )


def entries_in_any_order(difference: Difference) -> bool:
    """The same members are listed, in another order."""
    found = about(difference)
    return found.field == "entries" and sorted(map(repr, found.there)) == sorted(
        map(repr, found.here)
    )


def forgotten(difference: Difference) -> bool:
    """The condition names a run that is not there any more, and says the same beside that."""
    found = about(difference)
    run = re.search(r", resourceSnapshotIndex: \d*, updateRun: (\S+)$", found.there[2])
    runs = [
        item["name"]
        for item in difference.step.after.get("hubObjects", ())
        if not item.get("absent")
    ]
    if run is None or run[1] in runs:
        return False
    return bool(found.here == (*found.there[:2], found.there[2].removesuffix(run[0])))


def conflicts_with_itself(difference: Difference) -> bool:
    """The same object has failed here, or none; there the agent is in conflict with itself, too."""
    found = about(difference)
    there, here = ([name for name, _ in failed or ()] for failed in (found.there, found.here))
    return there == here or not here


def field_left(difference: Difference) -> bool:
    """A field that has gone from the source stays on the member, and all others are as they are here."""
    found = about(difference)
    kept = before(difference).get(found.name, {}).get(found.field)
    if not (
        isinstance(found.there, Mapping)
        and isinstance(found.here, Mapping)
        and isinstance(kept, Mapping)
    ):
        return False
    gone = {key: value for key, value in kept.items() if key not in found.here}
    return bool(found.there == {**gone, **found.here})


def moving(difference: Difference) -> bool:
    """A binding is to go, or has just been made, and so is what it has brought to its member."""
    found = about(difference)
    cluster = found.name.split(" ")[-1 if found.name.startswith("binding ") else 0]
    bindings = [
        item for item in difference.step.after["bindings"] if item["targetCluster"] == cluster
    ]
    goes = any(
        binding.get("deleting") or binding["state"] == "Unscheduled" for binding in bindings
    ) and _was_there(difference)
    comes = any(
        binding["state"] == "Scheduled" for binding in bindings
    ) and not found.name.startswith("binding ")
    return not found.field and ((found.here is None and goes) or (found.there is None and comes))


def immutable(difference: Difference) -> bool:
    """A member has refused to change a field that cannot be changed."""
    return "field is immutable" in json.dumps(difference.step.after["placements"])


def only_immutable(difference: Difference) -> bool:
    """All that has failed on a member is a change of a field that cannot be changed."""
    found = about(difference)
    return (
        found.field == "failedPlacements"
        and not found.here
        and all("immutable" in item[1] for item in found.there)
    )


def same_failure(difference: Difference) -> bool:
    """Two texts tell of the same error of the same override and object."""
    found = about(difference)
    pattern = r"Snapshot \"(?P<override>.*)-\d+\" failed to apply on (?P<kind>\S+) \"(?P<name>.*?)\": (?P<error>.*)"
    told = re.search(pattern, found.there[2])
    return told is not None and all(part in found.here[2] for part in told.groups())


def change_untold(difference: Difference) -> bool:
    """A run has taken a revision that nothing in the recording has made."""
    found, changes = about(difference), changed_content(_steps(difference))
    return str(found.there).isdigit() and int(found.there) > changes == int(found.here)


def stuck_at_once(difference: Difference) -> bool:
    """Beside the condition Progressing all is as it was seen."""
    found = about(difference)
    return _alike(found.there, found.here) and _PROGRESSING in found.there


def _alike(there: list[Any], here: list[Any]) -> bool:
    """Whether two lists of conditions are alike beside Progressing."""
    item, other = (
        [condition for condition in conditions if not _progresses(condition)]
        for conditions in (there, here)
    )
    return item == other and len(there) == len(here)


def _progresses(condition: Any) -> bool:
    return isinstance(condition, Mapping) and condition.get("type") == "Progressing"


def moves_nothing(difference: Difference) -> bool:
    """A run is not over, and its clusters had its revision before it began."""
    found, shown = about(difference), seen(difference.step)
    run = shown.get(found.name, {})
    began = next((step.number for step in _steps(difference) if found.name in seen(step)), 0)
    had = next((seen(step) for step in _steps(difference) if step.number == began - 1), {})
    revisions = {
        str(entry["resources"]) for name, entry in had.items() if name.startswith("binding ")
    }
    over = any(item["type"] == "Succeeded" for item in run["conditions"])
    if over or revisions != {run["resourceSnapshotIndexUsed"]}:
        return False
    return (
        _alike(found.there, found.here)
        if found.field == "conditions"
        else _less(found.there, found.here)
    )


def _less(there: Any, here: Any) -> bool:
    """Whether all that is told of a run is told here, beside how far it has come."""
    if isinstance(there, Mapping):
        return all(
            _less(value, here.get(name)) for name, value in there.items() if name != "conditions"
        )
    if isinstance(there, list) and there and "reason" not in there[0]:
        return len(there) == len(here) and all(map(_less, there, here))
    return isinstance(there, list) or there == here


def not_synchronized(difference: Difference) -> bool:
    """A member says that an envelope could not be opened, and why."""
    found = about(difference)
    texts = [
        condition["message"]
        for condition in _conditions(difference.step)
        if condition["reason"] == "SyncWorkFailed"
    ]
    failing = [("False", "SyncWorkFailed", text) for text in texts]
    if found.field == "condition WorkSynchronized":
        return found.there in failing
    entry = seen(difference.step).get(found.name, {})
    later = found.field in ("condition Applied", "condition Available")
    return later and found.there is None and entry["condition WorkSynchronized"] in failing


_PROGRESSING = {
    "type": "Progressing",
    "status": "True",
    "reason": "UpdateRunProgressing",
    "message": "The update run is making progress",
}
