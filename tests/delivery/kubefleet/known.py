"""What is known to differ from the recordings of KubeFleet, and why: rules, each for all recordings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.delivery.kubefleet.recording import Recording, key_of
from tests.delivery.recording import Data, Differing, Step
from tests.delivery.replay import Difference, Known, When


def _steps(difference: Difference) -> Iterator[Step]:
    """The steps up to the one of the difference."""
    return (step for step in difference.recording.steps if step.number <= difference.step.number)


def _strategies(difference: Difference) -> Iterator[Data]:
    """The strategies of placements as they were written or changed, up to the step."""
    for step in _steps(difference):
        for data in (*step.data.get("apply", ()), *(patch["merge"] for patch in step.data.get("patch", ()))):
            strategy = data.get("spec", {}).get("strategy")
            yield from [strategy] if isinstance(strategy, dict) else []


def _applies(**fields: Any) -> When:
    """A placement has an apply strategy with these fields."""

    def holds(difference: Difference) -> bool:
        return any(fields.items() <= one.get("applyStrategy", {}).items() for one in _strategies(difference))

    return holds


def _did(words: str) -> When:
    """The user did something that is told in words, in this step or before."""
    return lambda difference: any(re.search(words, step.data.get("action", "")) for step in _steps(difference))


def _by_hand(difference: Difference) -> bool:
    """Somebody changed this object on this member."""
    cluster, kind, name = difference.words.split(": ")[0].split()
    touched = {
        (action["cluster"], key_of(data))
        for step in _steps(difference)
        for action in step.data.get("memberAction", ())
        for data in (action[verb] for verb in ("apply", "object", "delete") if verb in action)
    }
    namespace, _, plain = name.rpartition("/")
    return (cluster, (kind, namespace, plain)) in touched


def _drifted(difference: Difference) -> bool:
    """A placement stops where a member has drifted, and one has."""
    touched = any(step.data.get("memberAction") for step in _steps(difference))
    return touched and _applies(whenToApply="IfNotDrifted")(difference)


def _fails(difference: Difference) -> bool:
    """An override fails on a member."""
    return any(one["reason"] == "OverriddenFailed" for one in _conditions(difference.step))


def _taken_over(difference: Difference) -> bool:
    """Another update run came after this one."""
    seen = difference.step.after.get("hubObjects", ())
    runs = [one["name"] for one in seen if one["kind"].endswith("StagedUpdateRun") and not one.get("absent")]
    return any(f" {name}: " in difference.words for name in runs[:-1])


def _of_nothing(difference: Difference) -> bool:
    """An eviction names a placement that is not there."""
    there = {one["name"] for one in difference.step.after["placements"] if not one.get("absent")}
    seen = (one for one in difference.step.after["hubObjects"] if f" {one['name']}: " in difference.words)
    return all(one["spec"]["placementName"] not in there for one in seen)


def _unopened(difference: Difference) -> bool:
    """An envelope cannot be opened."""
    return any(one["reason"] == "SyncWorkFailed" for one in _conditions(difference.step))


def _left(difference: Difference) -> bool:
    """A member has left the fleet."""
    gone = [
        data for step in _steps(difference) for data in step.data.get("delete", ()) if data["kind"] == "MemberCluster"
    ]
    return any(data["metadata"]["name"] in difference.words for data in gone)


def _silent(difference: Difference) -> bool:
    """The agent of a member is stopped."""
    actions = [step.data.get("action", "") for step in _steps(difference)]
    told = [re.match(r"agent of \w+ (stopped|started)", action) for action in actions]
    return [match[1] for match in told if match][-1:] == ["stopped"]


def _ahead(difference: Difference) -> bool:
    """The hub has counted something that stood there only for a while, or that no member could take."""
    there, here = (re.findall(r"\b\d+", part.rpartition(": ")[2]) for part in difference.words.rsplit(", here "))
    return _in_between(difference) and list(map(int, there)) > list(map(int, here))


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
    return (condition for binding in step.after["bindings"] for condition in binding.get("conditions", ()))


def _on_its_way(difference: Difference) -> bool:
    """A rolling update had not come to its end when the recording went on."""
    external = any(one.get("type") == "External" for one in _strategies(difference))
    return not external and any(
        one.get("deleting") or one["state"] != "Bound" for one in difference.step.after["bindings"]
    )


def _waits(difference: Difference) -> bool:
    """Members wait until the time is over in which nobody can tell whether objects of another are ready."""
    return any(one["reason"] == "NotAllWorkAreAvailabilityTrackable" for one in _conditions(difference.step))


def _nothing_selected(difference: Difference) -> bool:
    """The hub had none of the content, as the namespace of an earlier recording was still going."""
    return all(one.get("manifests") in ([], None) for one in difference.step.after["works"])


def _index_written(difference: Difference) -> bool:
    """Two texts say the same beside the index of a run that took what was kept before a change."""
    found, recording = difference.found, difference.recording
    assert isinstance(found, Differing)
    assert isinstance(recording, Recording)
    return any(
        _replaced(
            found.here,
            f"resourceSnapshotIndex: {index}, updateRun: {run[-1]}",
            f"resourceSnapshotIndex: , updateRun: {run[-1]}",
        )
        == found.there
        for run, index in recording.delayed.items()
    )


def _replaced(condition: Any, old: str, new: str) -> Any:
    return condition and (*condition[:2], condition[2].replace(old, new))


def _moves(difference: Difference) -> bool:
    """The policy asks for other members."""
    patches = (patch["merge"].get("spec", {}) for patch in difference.step.data.get("patch", ()))
    return any("affinity" in (spec.get("policy") or {}) for spec in patches)


def _namespace_goes(difference: Difference) -> bool:
    """The placement that had brought the namespace of an object is gone."""
    gone = {key_of(data) for step in _steps(difference) for data in step.data.get("delete", ())}
    written = [
        data for step in difference.recording.steps for data in step.data.get("apply", ()) if key_of(data) in gone
    ]
    brought = {one.get("name") for data in written for one in data.get("spec", {}).get("resourceSelectors", ())}
    return any(f" {name}/" in difference.words for name in brought)


INDEX = r"(\S+ \S+: index(es)?|binding \S+ \S+: resources) "
BLOCKED = r"\S+ \S+( on cluster\d)?: (order |condition \S+ (\('False', 'RolloutNotStartedYet'|None, here ))"
"""What a hub shows of members that wait, and of their placement, where they do not wait here."""
STATUS = (
    r"\S+ \S+( on cluster\d)?: "
    r"(order|condition \S+|failedPlacements|driftedPlacements|diffedPlacements|overrides) "
)
RUN = r"\S*StagedUpdateRun \S+: "
COPY = r"cluster\d \S+ [^\s:]+: "
KNOWN: tuple[Known, ...] = (
    Known(COPY, "what others made or changed on a member is not seen", "", _by_hand),
    Known(
        rf"({COPY}|{BLOCKED}|binding \S+ \S+: resources)",
        "an object that has drifted is left alone by itself: its member gets everything else, and others do not wait",
        "",
        _drifted,
    ),
    Known(
        rf"({COPY}|{BLOCKED}|binding \S+ \S+: resources)",
        "what others have set on a member is not seen in process; an update is refused because of that conflict",
        "",
        _applies(type="ServerSideApply"),
    ),
    Known(
        r"\S+ \S+ on cluster\d: failedPlacements .*work-api-agent",
        "an agent of KubeFleet conflicts with what it wrote itself, as it wrote it first in another way",
        "",
        _applies(type="ServerSideApply"),
    ),
    Known(
        "refused: .*is brought to cluster1 by .* and .*FailedToTakeOver",
        "two placements of one object are refused, where a hub fails to take over",
        "",
        lambda _: True,
    ),
    Known(
        "refused: .*the whole scheduling cycle fails on it",
        "a failing cycle refuses the update, where a hub says that scheduling is pending",
        "",
        lambda _: True,
    ),
    Known(
        INDEX,
        "an update ends when all stands, and what cannot stand is refused: nothing in between gets an index",
        "",
        _ahead,
    ),
    Known(
        rf"({COPY}|{BLOCKED}|\S+ \S+ on cluster\d: overrides \[\]|binding \S+ \S+: resources)",
        "an override that fails holds its member alone, and others do not wait behind the budget for it",
        "",
        _fails,
    ),
    Known(
        rf"({COPY}|{STATUS}|binding )",
        "a member whose agent is silent is reached all the same, and others do not wait for it",
        "",
        _silent,
    ),
    Known(
        rf"({COPY}|binding \S+ cluster\d: )only there",
        "a member that leaves the fleet is emptied, unless it is marked as lost",
        "",
        _left,
    ),
    Known(
        "takes another update",
        "an update leaves members at its end, so that what needs their room comes with the next one",
        "",
        _moves,
    ),
    Known(
        rf"({COPY}|{STATUS}|binding |\S+ \S+: entries )",
        "the recording went on while a rolling update was on its way; here each update comes to its end",
        "",
        _on_its_way,
    ),
    Known(
        rf"({COPY}only here|{BLOCKED})",
        "the recording went on while members waited for what nobody can tell; here each update comes to its end",
        "",
        _waits,
    ),
    Known(
        rf"({COPY}only here|\S+ \S+: selected \[\])",
        "the namespace of an earlier recording was still being deleted on the hub, with what was written into it",
        "",
        _nothing_selected,
    ),
    Known(
        r"\S+ \S+ on cluster\d: condition RolloutStarted .*, updateRun: \S+'\), here .* started the rollout process'\)",
        "an update run that is taken out is forgotten, with what it has brought",
        "",
        lambda _: True,
    ),
    Known(
        r"\S+ \S+ on cluster\d: condition RolloutStarted ",
        "an update run that begins before a hub has collected a change is written with the revision that it takes",
        "",
        _index_written,
    ),
    Known(
        rf"({COPY}images|{STATUS})",
        "a field that an API server does not change is changed by a replacement",
        "",
        _did("selector app="),
    ),
    Known(
        r"binding \S+ \S+: resources",
        "a field that an API server does not change is changed by a replacement, for which no member waits",
        "",
        _did("selector app="),
    ),
    Known(
        r"\S+ \S+ on cluster\d: condition Overridden \('False', 'OverriddenFailed'.*, here \('False', 'OverriddenFailed'",
        "an override that fails is told in other words",
        "",
        _fails,
    ),
    Known(
        rf"{RUN}resourceSnapshotIndexUsed ",
        "the recording tells of a change in words only",
        "",
        lambda one: any("image changed 1 s before" in step.data.get("note", "") for step in _steps(one)),
    ),
    Known(
        rf"{RUN}(conditions |stagesStatus )",
        "a run fails as soon as another one takes its clusters over, and how far it had come is not kept",
        "",
        _taken_over,
    ),
    Known(
        rf"{RUN}conditions .*'UpdateRunProgressing'.*, here .*'UpdateRunStuck'",
        "a run is stuck as soon as an update has failed, and on a hub after five minutes",
        "",
        lambda _: True,
    ),
    Known(
        r"ClusterResourcePlacementEviction \S+: only there",
        "an eviction that names no placement is refused, and has no status",
        "",
        _of_nothing,
    ),
    Known(
        rf"({BLOCKED}|\S+ \S+ on cluster\d: condition WorkSynchronized \('False', 'SyncWorkFailed')",
        "an envelope that cannot be opened is refused before anything is sent",
        "",
        _unopened,
    ),
    Known(
        rf"{COPY}only here",
        "what a namespace takes along when it goes is not seen",
        "",
        _namespace_goes,
    ),
)
