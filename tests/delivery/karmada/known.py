"""What is known to differ from recordings of Karmada, and why: rules, each for all recordings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import attrs

from tests.delivery.karmada.comparison import bindings_there, copies_there, fields
from tests.delivery.karmada.members import TOLD
from tests.delivery.karmada.recording import Recording, Step
from tests.delivery.karmada.statuses import statuses_there
from tests.delivery.kubefleet.recording import merged
from tests.delivery.recording import Data, Differing, Seen, mixed
from tests.delivery.replay import Difference, Known

NOT_READY = "cluster.karmada.io/not-ready"
"""The taint of a member that does not answer."""


@attrs.frozen
class Of:
    """What a difference is about: ``member1 Deployment nginx``, ``member1 of Deployment nginx``, ``template ...``."""

    kind: str
    name: str
    member: str = ""
    part: str = ""

    @classmethod
    def read(cls, name: str) -> Of:
        """Read it from the name of what was seen."""
        *head, kind, plain = name.split(" ")
        parts = {"template": "template", "binding of": "status", "": "binding"}
        lead = " ".join(head)
        if lead in parts:
            return cls(kind, plain, part=parts[lead])
        return cls(kind, plain, head[0], "item" if len(head) > 1 else "copy")


@cache
def seen(step: Step) -> Seen:
    """All that was seen after a step."""
    return {**copies_there(step), **bindings_there(step), **statuses_there(step)}


def _found(difference: Difference) -> tuple[Differing, Of]:
    assert isinstance(difference.found, Differing)
    return difference.found, Of.read(difference.found.name)


def _steps(difference: Difference) -> list[Step]:
    """The steps up to the one of the difference."""
    recording = difference.recording
    assert isinstance(recording, Recording)
    return [step for step in recording.steps if step.number <= difference.step.number]


def _stayed(difference: Difference) -> bool:
    """What was seen is what was seen one step before."""
    found, _ = _found(difference)
    before = [seen(step) for step in _steps(difference)[:-1][-1:]]
    old = [item[found.name] for item in before if found.name in item]
    return found.there in ([item.get(found.field) for item in old] if found.field else old)


def _by_hand(difference: Difference) -> bool:
    """What was seen on a member is what somebody has written there, or what we send."""
    found, of = _found(difference)
    hand = _written(difference, of)
    if hand is None or found.there is None:
        return False
    written = fields(hand)
    if not found.field:
        return all(
            value == written.get(field)
            for field, value in found.there.items()
            if value or written.get(field)
        )
    there, here, own = found.there, found.here, written.get(found.field)
    if found.field == "overwrites" and not _refused(difference, of):
        return False
    return mixed(there, here, own)


def _written(difference: Difference, of: Of) -> Data | None:
    """The object that somebody has written on a member, or the part of it."""
    data: Data | None = None
    for step in _steps(difference):
        for action in (
            item["memberAction"] for item in step.data.get("do", ()) if "memberAction" in item
        ):
            if action["member"] != of.member:
                continue
            if "apply" in action and _is(action["apply"], of):
                data = action["apply"]
            if "patch" in action and _is(action["patch"], of):
                data = merged(data or {}, action["patch"]["patch"])
            if "delete" in action and _is(action["delete"], of):
                data = None
    return data


def _refused(difference: Difference, of: Of) -> bool:
    """Whether a member has refused what was written to it."""
    step = difference.step
    assert isinstance(step, Step)
    return any(
        error
        for (kind, path, member), error in step.answers.items()
        if Of(kind, path.rpartition("/")[2], member, "copy") == of
    )


def _is(data: Data, of: Of) -> bool:
    name = data["name"] if "name" in data else data["metadata"]["name"]
    return (data["kind"], name) == (of.kind, of.name)


def _away(step: Step) -> set[str]:
    """The members that do not answer after a step."""
    members = step.after.get("clusters") or ()
    return {
        member["name"]
        for member in members
        if any(taint["key"] == NOT_READY for taint in member.get("taints") or ())
    }


def _unreachable(difference: Difference) -> bool:
    """A member does not answer, or did not lately: what was seen of it has stayed."""
    _, of = _found(difference)
    return any(of.member in _away(step) for step in _steps(difference)) and _stayed(difference)


def _uncollected(difference: Difference) -> bool:
    """A member that was away has got an object when it was back, and nothing is told of it."""
    found, of = _found(difference)
    blank = {"health": "Unknown", "status": {"conditions": []}}
    return found.field in blank and found.there == blank[found.field] and _new(difference, of)


def _new(difference: Difference, of: Of) -> bool:
    """A member has got an object only after it had been away."""
    steps = _steps(difference)
    away = [step.number for step in steps if of.member in _away(step)]
    there = [step.number for step in steps if f"{of.member} of {of.kind} {of.name}" in seen(step)]
    return bool(away) and bool(there) and away[-1] < there[0]


def _sum_without_uncollected(difference: Difference) -> bool:
    """The status of a template misses what is not collected on members that were away."""
    found, of = _found(difference)
    blank = [
        _copy(difference.step, attrs.evolve(of, member=member))
        for member in _members(difference.step)
        if _new(difference, attrs.evolve(of, member=member))
    ]
    return bool(blank) and _differs_by(found, of.kind, blank, -1)


def _members(step: Any) -> Iterator[str]:
    yield from step.after["memberObjects"]


def _copy(step: Any, of: Of) -> Data:
    """The status of a copy on a member as it was seen there."""
    copies = step.after["memberObjects"][of.member]
    named = (
        copy
        for copy in copies
        if (copy["kind"], copy["name"].rpartition("/")[2]) == (of.kind, of.name)
    )
    return next((item.get("status") or {} for item in named), {})


def _differs_by(found: Differing, kind: str, statuses: list[Data], sign: int) -> bool:
    """Whether the counts of two statuses differ by those of some copies, and nothing else does."""
    told = {**found.here}
    for status in statuses:
        for field in TOLD[kind]:
            if field in status:
                told[field] = told.get(field, 0) + sign * status[field]
    return bool(found.there == told)


def _flaps(difference: Difference) -> bool:
    """A Duplicated workload was evicted from a member, and is back there."""
    found, of = _found(difference)
    back = [
        member
        for member in _evicted(difference.step, of)
        if member in _targets(difference.step, of)
    ]
    if not back or not _duplicated(difference.step, of):
        return False
    if of.part == "binding":
        there, here = dict(found.there), dict(found.here)
        return (
            there == here | {member: there[member] for member in back}
            and len({*there.values()}) == 1
        )
    if of.part == "template":
        return _differs_by(
            found, of.kind, [_copy(difference.step, attrs.evolve(of, member=m)) for m in back], 1
        )
    return (
        of.member in back
        and not found.field
        and found.here is None
        and _plain(difference, of, found.there)
    )


def _plain(difference: Difference, of: Of, there: Data) -> bool:
    """What was seen is an unhealthy copy like all others, beside what an override makes of it."""
    if of.part == "item":
        return (there["applied"], there["health"]) == (True, "Unhealthy")
    assert isinstance(difference.step, Step)
    copies = copies_there(difference.step)
    others = [copy for name, copy in copies.items() if name.endswith(f" {of.kind} {of.name}")]
    same = ("labels", "annotations", "replicas", "podLabels", "containers", "overwrites")
    return all(there.get(field) == other.get(field) for other in others for field in same)


def _evicted(step: Any, of: Of) -> set[str]:
    """The members that a workload was evicted from in a step."""
    name = f"{of.name}-{of.kind.lower()}"
    states = (
        moment[5]
        for moment in step.after["timeline"]
        if moment[3].endswith("Binding") and moment[4] == name
    )
    return {member for state in states for member in state.get("evicting", ())}


def _binding(step: Any, of: Of) -> Data:
    found = (item for item in step.after["bindings"] if _is(item["resource"], of))
    return next(found, {})


def _targets(step: Any, of: Of) -> set[str]:
    return {item["name"] for item in _binding(step, of).get("clusters") or ()}


def _duplicated(step: Any, of: Of) -> bool:
    scheduling = (_binding(step, of).get("placement") or {}).get("replicaScheduling") or {}
    return bool(scheduling.get("replicaSchedulingType", "Duplicated") == "Duplicated")


def _directly(difference: Difference) -> bool:
    """A policy asks for the purge mode Directly, and all that the next update does is of what was evicted."""
    _, _, told = difference.words.partition(": ")
    named = re.findall(r"^(?:\S+) [^/\s]+/(\w+)/([^@/\s]+)", told.replace(", ", "\n"), re.MULTILINE)
    evicted = [Of(kind, name) for kind, name in named if _evicted(difference.step, Of(kind, name))]
    return bool(evicted) and len(evicted) == len(named) and _asks_directly(difference)


def _asks_directly(difference: Difference) -> bool:
    policies: dict[tuple[str, str], Data] = {}
    for step in _steps(difference):
        for data in step.data.get("apply", ()):
            policies[data["kind"], data["metadata"]["name"]] = data.get("spec", {})
    applications = [
        policy["failover"]["application"] for policy in policies.values() if "failover" in policy
    ]
    return any(application.get("purgeMode") == "Directly" for application in applications)


def _undiscovered(difference: Difference) -> bool:
    """A kind is new, and what is of it gets its binding only in a later step."""
    found, of = _found(difference)
    steps = _steps(difference)
    defined = [
        data
        for step in steps
        for data in step.data.get("apply", ())
        if data["kind"].endswith("Definition")
    ]
    new = any(data["spec"]["names"]["kind"] == of.kind for data in defined)
    later = (step for step in difference.recording.steps if step.number > difference.step.number)
    return (
        new
        and found.there is None
        and not any(_binding(step, of) for step in steps)
        and any(_binding(step, of) for step in later)
    )


def _renamed(difference: Difference) -> bool:
    """An override has given an object another name, and what was seen of either name has stayed."""
    _, of = _found(difference)
    patches = [
        (override, patch)
        for step in _steps(difference)
        for override in step.data.get("apply", ())
        if override["kind"].endswith("OverridePolicy")
        for rule in override["spec"].get("overrideRules", ())
        for patch in rule["overriders"].get("plaintext", ())
        if patch["path"] == "/metadata/name"
    ]
    names = {patch["value"] for _, patch in patches}
    names |= {
        item.get("name", "")
        for override, _ in patches
        for item in override["spec"]["resourceSelectors"]
    }
    return of.name in names and _stayed(difference)


COPY = r"member\d \S+ \S+: "
ITEM = r"member\d of \S+ \S+: "
KNOWN: tuple[Known, ...] = (
    Known(
        COPY,
        "what others have made or changed on a member is not seen in process",
        "docs/delivery.md#what-stood-before",
        _by_hand,
    ),
    Known(
        rf"({COPY}|{ITEM}health )",
        "a member that cannot be reached fails the update; in process all are reached",
        "docs/delivery.md#after-a-failure",
        _unreachable,
    ),
    Known(
        f"{ITEM}(health|status) ",
        "on a member that was away statuses of new objects are not collected at once",
        "pkg/controllers/status/work_status_controller.go (Karmada 1.19)",
        _uncollected,
    ),
    Known(
        r"template \S+ \S+: status ",
        "the status of a template sums up what is collected",
        "pkg/resourceinterpreter/default/native/aggregatestatus.go (Karmada 1.19)",
        _sum_without_uncollected,
    ),
    Known(
        rf"({COPY}|{ITEM}|\S+ \S+: clusters |template \S+ \S+: status )",
        "no flapping: an evicted Duplicated copy does not come back to be evicted again",
        "docs/kubefleet-and-karmada.md#where-we-do-better",
        _flaps,
    ),
    Known(
        "takes another update: ",
        "Directly: an update deletes at its end, so the next one makes the new copy",
        "docs/kubefleet-and-karmada.md#failover",
        _directly,
    ),
    Known(
        r"((binding of|template) )?\S+ \S+: only here",
        "the control plane had not discovered the new kind yet",
        "pkg/detector/detector.go (Karmada 1.19)",
        _undiscovered,
    ),
    Known(
        rf"({COPY}only there|binding of \S+ \S+: FullyApplied |{ITEM}(applied|appliedMessage|health) )",
        "renames leave nothing: Karmada keeps the object of the old name, and the status that it had",
        "docs/kubefleet-and-karmada.md#where-we-do-better",
        _renamed,
    ),
)
REFUSED = {"ClusterTaintPolicy": "ClusterTaintPolicy is not carried out by this version"}
"""Kinds that we refuse, and how; recordings are replayed without them, with the taints that came of them."""
