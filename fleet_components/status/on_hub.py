"""Compares the forecast of a subject with what its hub has made of it, with the causes that the hub
names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.hub.listing import Listing, Object
from fleet_components.hub.observation import HubObservation, ObservedSubject
from fleet_components.model.cluster import Cluster
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Done, Entry, Placed
from fleet_components.status.last import NOT_BEGUN

NOWHERE, NEWEST, OLDER = "not there", "newest", "older"


@attrs.frozen
class HubRow:
    """A member of a subject, as it was forecast and as the hub has it.

    Attributes:
        member: its name.
        forecast: what it was to have: ``newest`` or ``older`` content, with its replicas if they
            are divided, or ``not there``.
        hub: what the hub has sent it, in the same words.
        causes: what the hub says of the member, and what else explains a difference.
        fine: True if the hub says that what it has sent is applied and available.
    """

    member: str
    forecast: str
    hub: str
    causes: tuple[str, ...] = ()
    fine: bool = True

    @property
    def differs(self) -> bool:
        """True if the hub has made something else of it."""
        return self.forecast != self.hub


@attrs.frozen
class OnHub:
    """A subject as its hub has it.

    Attributes:
        rows: the members that were forecast, or that the hub has, by name.
        conditions: conditions of the whole, as the hub writes them.
        shown: the placement, or the binding of the template, with nothing but the status that the
            hub has written; empty if there is none yet.
        missing: True if the hub does not have it at all.
    """

    rows: tuple[HubRow, ...] = ()
    conditions: tuple[Mapping[str, Any], ...] = ()
    shown: Mapping[str, Any] = attrs.field(factory=dict)
    missing: bool = False


def on_hub(decided: Decided, listing: Listing, observation: HubObservation) -> OnHub:
    """Return a subject as its hub has it.

    Args:
        decided: the subject, as the last update has decided it.
        listing: the answers of the hub.
        observation: what they amount to.
    """
    found = next(
        (subject for subject in observation.subjects if subject.name == decided.name), None
    )
    system = listing.system
    # A hub of the other system has nothing of it.
    ours = decided.subject.PROFILE.name == system.NAME
    holder = (system.status_holder(decided.subject, listing) if ours else None) or {}
    status = holder.get("status") or {}
    if found is None and not status:
        return OnHub(missing=True)
    described = dict(system.complaints(status))
    version, kind = system.MEMBER
    members = listing.all(kind, version.partition("/")[0])
    declared = {data["metadata"]["name"]: data for data in members}
    rows = []
    for name in sorted({*decided.record.decisions, *_standing(found)}):
        placed, done = decided.record.decisions.get(name), found.done.get(name) if found else None
        forecast = _in_words(placed, decided.record.revision, decided.replicas_after(name, placed))
        # Revisions are compared within each side: the hub numbers its snapshots itself.
        hub = _in_words(done, found.record.revision if found else 0, _replicas(decided, name, done))
        stated = described.get(name, [])
        causes = (
            [*stated, *_of_member(decided, name, declared.get(name))]
            if forecast != hub or stated
            else []
        )
        # A difference is never shown without a line below it.
        if forecast != hub and not causes:
            causes = [_UNTOLD]
        rows.append(HubRow(name, forecast, hub, tuple(dict.fromkeys(causes)), fine=not stated))
    return OnHub(tuple(rows), tuple(status.get("conditions") or ()), _shown(holder))


_UNTOLD = (
    "the hub does not say why: it may be under way still, or somebody has changed something there"
    " since"
)


def _standing(found: ObservedSubject | None) -> Iterable[str]:
    return (name for name, done in found.done.items() if done.revision is not None) if found else ()


def _replicas(decided: Decided, name: str, done: Done | None) -> int | None:
    """Return the replicas that a member has on a hub, with the overrides that are in force now."""
    placed = decided.record.decisions.get(name)
    if done is None or done.replicas is None or placed is None:
        return done.replicas if done else None
    return decided.replicas_after(name, attrs.evolve(placed, replicas=done.replicas))


def _in_words(placed: Placed | Done | None, newest: int, replicas: int | None) -> str:
    if placed is None or placed.revision is None:
        return NOWHERE
    words = NEWEST if placed.revision == newest else OLDER
    return words if replicas is None else f"{words}, {replicas} replicas"


def _shown(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    if not holder.get("status"):
        return {}
    metadata = {
        key: holder["metadata"][key] for key in ("name", "namespace") if holder["metadata"].get(key)
    }
    return {
        **{key: holder[key] for key in ("apiVersion", "kind")},
        "metadata": metadata,
        "status": holder["status"],
    }


def _of_member(decided: Decided, name: str, live: Object | None) -> Iterator[str]:
    """Yield how a member differs from what the forecast assumed."""
    position = decided.subject.inventory.position(name)
    if live is None:
        yield "the hub has no such member"
        return
    if position is None:
        yield "the forecast knew no such member"
        return
    known: Cluster = decided.subject.inventory.clusters[position]
    # Labels that the system itself puts on a member are not in its object.
    always = decided.subject.system.labels_of_member(name)
    labels = {**always, **(live["metadata"].get("labels") or {})}
    # Only labels that the forecast knew: others may come from agents of the hub.
    changed = sorted(key for key, text in known.labels.items() if labels.get(key) != text)
    if changed:
        yield f"its labels are otherwise on the hub: {', '.join(changed)}"
    taints = {
        (taint.get("key"), taint.get("effect"))
        for taint in (live.get("spec") or {}).get("taints") or ()
    }
    expected = {(taint.key, taint.effect) for taint in known.taints}
    added = sorted(f"{key}:{effect}" for key, effect in taints - expected)
    if added:
        yield f"tainted on the hub since: {', '.join(added)}"
    removed = sorted(f"{key}:{effect}" for key, effect in expected - taints)
    if removed:
        yield f"a taint is gone from the hub since: {', '.join(removed)}"
    status = live.get("status") or {}
    # A MemberCluster of KubeFleet has conditions of each of its agents as well.
    agents = (
        condition
        for agent in status.get("agentStatus") or ()
        for condition in agent.get("conditions") or ()
    )
    for item in (*(status.get("conditions") or ()), *agents):
        if item.get("type") in ("Ready", "Joined") and item.get("status") != "True":
            yield f"the hub does not reach it: {item.get('reason')}: {item.get('message')}"


# States of objects and members in one word, for people: what of a status has to be looked at
# first.


class Stand(StrEnum):
    """State of an object on a member, or of all objects of a placement there: the worst comes
    first.
    """

    REFUSED = "refused"
    NOT_TAKEN_OVER = "not taken over"
    NOT_COMPARED = "not compared"
    UNREACHED = "not reached"
    UNFINISHED = "unfinished"
    UNREADY = "not ready"
    UNDELETED = "not deleted"
    MISSING = "missing"
    UNRECORDED = "not recorded"
    NOT_BEGUN = "not begun"
    HELD = "held"
    LEAVING = "leaving"
    DRIFTED = "drifted"
    DIFFERENT = "differs"
    STANDS = "available"

    @property
    def broken(self) -> bool:
        """True if something went wrong."""
        return self in _BROKEN

    @property
    def settled(self) -> bool:
        """True if nothing more is to be done or to be waited for."""
        return self in _SETTLED


_BROKEN = (
    Stand.REFUSED,
    Stand.NOT_TAKEN_OVER,
    Stand.NOT_COMPARED,
    Stand.UNREACHED,
    Stand.UNFINISHED,
    Stand.UNREADY,
    Stand.UNDELETED,
    Stand.MISSING,
)
_SETTLED = (Stand.DRIFTED, Stand.DIFFERENT, Stand.STANDS)
# The members of the enum are declared from worst to best.
_WORST_FIRST = list(Stand)
_FAILED: Mapping[str, Stand] = {
    "ManifestApplyFailed": Stand.REFUSED,
    "FailedToTakeOver": Stand.NOT_TAKEN_OVER,
    "NotTakenOver": Stand.NOT_TAKEN_OVER,
    "FoundDrifts": Stand.DRIFTED,
    "FoundDriftsInDegradedMode": Stand.DRIFTED,
    "FailedToRunDriftDetection": Stand.NOT_COMPARED,
}
_COMPARED: Mapping[str, Stand] = {
    "NoDiffFound": Stand.STANDS,
    "FoundDiff": Stand.DIFFERENT,
    "FoundDiffInDegradedMode": Stand.DIFFERENT,
    "FailedToReportDiff": Stand.NOT_COMPARED,
}


def stand_of(found: ObservedObject) -> Stand:
    """Return the state of an object."""
    # Before all else: what was wrong with an object that goes no longer matters.
    if found.leaving:
        return Stand.UNDELETED if found.error or found.causes else Stand.LEAVING
    if found.compared:
        return _COMPARED[found.compared]
    if found.applied in _FAILED:
        return _FAILED[found.applied]
    if found.applied == "Applied":
        if found.available == "ManifestNotAvailableYet":
            return Stand.UNREADY
        return Stand.DRIFTED if found.differences else Stand.STANDS
    if found.absent:
        return Stand.MISSING
    return Stand.UNREACHED if found.error else Stand.UNFINISHED if found.causes else Stand.MISSING


def stand_on(member: ObservedMember, entry: Entry | None) -> Stand:
    """Return the state of a placement or template on a member.

    Args:
        member: what is known of its objects there.
        entry: what the last update did, or was to do, there.
    """
    if member.unreached:
        return Stand.UNREACHED
    worst = min(
        map(stand_of, member.objects.values()), key=_WORST_FIRST.index, default=Stand.STANDS
    )
    # An object that is missing may be one that the update was still to create: the entry tells.
    if entry is None or (worst.broken and worst is not Stand.MISSING):
        return worst
    # The member keeps the placement, but an object that left the source is still being deleted.
    if worst is Stand.LEAVING and entry.change is Change.KEEP:
        return worst
    match entry.change:
        case Change.REMOVE:
            return Stand.LEAVING
        case Change.HELD:
            return Stand.NOT_BEGUN if entry.reason == NOT_BEGUN else Stand.HELD
        case Change.ADD | Change.UPDATE:
            # The binding comes last, once all objects stand.
            return Stand.UNRECORDED if worst.settled else Stand.UNFINISHED
    return worst
