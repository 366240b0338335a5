"""The statuses of a fleet as a document for people: what broke, what stands, and what the next
update will do.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleet_components.hub.folder.header import time_text
from fleet_components.model.observed import ObservedObject
from fleet_components.model.problem import FleetError
from fleet_components.model.text import count, few
from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.ways import Way
from fleet_components.review.documents.form import VERSION, Document, find, fleet_to_name, unknown
from fleet_components.review.planning.statuses import Status, Statuses
from fleet_components.rollout.rollout import Change
from fleet_components.status import last as last_decided
from fleet_components.status import update_runs
from fleet_components.status.stand import Stand, stand_of, stand_on
from fleet_components.systems.karmada import status as karmada
from fleet_components.systems.kubefleet import status as kubefleet
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject

_SHOWN = 5
_STATUS_FIELDS = ("status", "sourceStatus")
_MOVES = (Change.ADD, Change.UPDATE)
_MENDS: Mapping[Stand, str] = {
    Stand.REFUSED: "change the object, or what refuses it",
    Stand.NOT_TAKEN_OVER: (
        "take the object off the member, or let the placement take it over: whenToTakeOver"
    ),
    Stand.NOT_COMPARED: "see that the member answers, and that its account may read the object",
    Stand.UNREACHED: (
        "see that it answers; one that is gone for good: pulumi config set fleet:lost NAME"
    ),
    Stand.UNREADY: (
        "mend the workload, or give it more time: pulumi config set fleet:readyTimeout SECONDS"
    ),
    Stand.UNDELETED: "see what keeps it: a finalizer, a webhook, an admission policy",
    Stand.MISSING: "pulumi up --refresh brings back what somebody has deleted",
}


_WHYS = {
    Stand.UNRECORDED: "its objects stand; the update ended before it was recorded",
    Stand.LEAVING: "some of its objects are not wanted any more; the next update deletes them",
}


def statuses_document(
    found: Statuses, placement: str | None = None, member: str | None = None
) -> Document:
    """Return the document.

    Args:
        found: the statuses.
        placement: key of one placement or template, or ``Kind/key``; None for all.
        member: name of one member; None for all.

    Raises:
        FleetError: the placement, template or member is unknown.
    """
    wanted = find([status.next for status in found.of], placement)
    names = {name for plan in found.survey.plans for name in plan.members}
    if member is not None and member not in names:
        raise FleetError([unknown("member", member, names)])
    of = [status for status in found.of if status.next in wanted]
    subjects = [_subject(found, status, member) for status in of]
    return {
        "version": VERSION,
        "fleet": found.survey.subject,
        "state": found.survey.file or None,
        "events": found.events,
        "live": found.live,
        "hub": (
            {"system": found.hub.system.value, "asOf": time_text(found.hub.as_of)}
            if found.hub
            else None
        ),
        "interrupted": found.interrupted,
        "settled": (
            all(row["settled"] for subject in subjects for row in subject["members"])
            and not any(
                subject["undelivered"] or _unsettled_on_hub(subject) for subject in subjects
            )
            and not (placement is None and found.half_removed)
        ),
        "gone": list(found.gone) if placement is None else [],
        "refused": [str(problem) for problem in found.survey.refused],
        "subjects": subjects,
    }


def api_list(found: Statuses, placement: str | None = None) -> Document:
    """Return the placements, templates and bindings with nothing but their status, as a list of the
    Kubernetes API.

    Raises:
        FleetError: the placement or template is unknown.
    """
    wanted = find([status.next for status in found.of], placement)
    items = [
        item
        for status in found.of
        if status.next in wanted
        for item in _api_objects(status)
        if any(map(item.get, _STATUS_FIELDS))
    ]
    return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}


def _unsettled_on_hub(subject: Document) -> bool:
    hub = subject["onHub"]
    return bool(hub) and (
        hub["missing"] or any(row["differs"] or not row["fine"] for row in hub["members"])
    )


def _on_hub(status: Status, member: str | None) -> Document | None:
    found = status.on_hub
    if found is None:
        return None
    rows = [
        {
            "name": row.member,
            "forecast": row.forecast,
            "hub": row.hub,
            "differs": row.differs,
            "fine": row.fine,
            "causes": list(row.causes),
        }
        for row in found.rows
        if member in (None, row.member)
    ]
    return {
        "missing": found.missing,
        "conditions": [dict(condition) for condition in found.conditions],
        "members": rows,
    }


def _api_objects(status: Status) -> Iterator[Document]:
    if status.last is None:
        return
    if status.last.hub:
        # What the hub itself says stands in the place of what would be said.
        yield from [dict(status.on_hub.shown)] if status.on_hub and status.on_hub.shown else []
        return
    if isinstance(status.next.subject, PlacementSubject):
        yield from kubefleet.api_objects(status.last, status.observed)
        yield from update_runs.api_objects(status.last)
    else:
        yield from karmada.api_objects(status.last, status.observed)


def _subject(found: Statuses, status: Status, member: str | None) -> Document:
    members = [row for row in _members(status) if member in (None, row["name"])]
    last = status.last
    return {
        "name": status.next.name,
        "fleet": status.plan.options.fleet,
        "ofFleet": fleet_to_name(found.survey.plans, status.plan),
        "kind": status.next.subject.kind,
        "key": status.next.subject.key,
        "delivery": (last or status.next).hub or Way.DIRECT.value,
        "onHub": _on_hub(status, member),
        "undelivered": last is None,
        "changed": status.changed,
        "revision": last.record.revision if last else None,
        "unfulfilled": last.outcome.unfulfilled if last else status.next.outcome.unfulfilled,
        "conditions": _conditions(status),
        "members": members,
        "wave": min(
            (row["wave"] for row in members if row["broken"] and row["wave"]), default=None
        ),
        "broken": _broken(members),
        "stands": list(_stands(status, members)),
        "next": list(_next(found, status)),
        "mend": list(_mend(found, members)),
        "back": _back(found, status),
    }


def _conditions(status: Status) -> list[Document]:
    """Return the conditions of a placement, or of the binding of a template."""
    found: list[Document] = next(
        (data["status"].get("conditions", []) for data in _api_objects(status)), []
    )
    return found


def _members(status: Status) -> Iterator[Document]:
    last = status.last
    for name, observed in status.observed.items():
        entry = last.entries.get(name) if last else None
        stand = stand_on(observed, entry)
        objects = [_object(item) for item in observed.objects.values()]
        done = last.done(name) if last else None
        comes = last_decided.comes(last, name) if last and stand.broken else ()
        yield {
            "name": name,
            "state": str(stand),
            "broken": stand.broken,
            "settled": stand.settled,
            "runs": done.revision if done else None,
            "sent": entry.placed.revision if entry and entry.placed else None,
            "wave": (
                entry.placed.wave
                if entry and entry.placed and entry.change in (Change.ADD, Change.UPDATE)
                else None
            ),
            "parts": any(
                observed.objects[key].applied == "Applied"
                for key in comes
                if key in observed.objects
            ),
            "why": observed.unreached or (str(entry.reason) if entry else "") or _WHYS.get(stand),
            "objects": objects,
        }


def _object(found: ObservedObject) -> Document:
    stand = stand_of(found)
    return {
        "object": str(found.key),
        "state": str(stand),
        "broken": stand.broken,
        "words": [*filter(None, [found.error]), *found.causes],
        "differences": [
            {"path": difference.path, "wanted": difference.wanted, "there": difference.there}
            for difference in found.differences
        ],
    }


def _broken(members: Sequence[Document]) -> list[Document]:
    """Return what went wrong: members on which the same is wrong with one object share an entry."""
    alike: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for row in members:
        if not row["broken"]:
            continue
        wrong = [item for item in row["objects"] if item["broken"] and item["words"]]
        wrong = wrong or [item for item in row["objects"] if item["broken"]]
        if row["state"] == Stand.UNREACHED:
            alike["", str(Stand.UNREACHED), (row["why"],), None].append(row["name"])
            continue
        for each in wrong or [{"object": "", "state": row["state"], "words": ()}]:
            unknown_yet = each["state"] == Stand.MISSING and not each["words"]
            state = row["state"] if unknown_yet else each["state"]
            alike[each["object"], state, tuple(each["words"]), row["wave"]].append(row["name"])
    return [
        {
            "members": names,
            "object": key or None,
            "state": state,
            "words": list(words),
            "wave": wave,
        }
        for (key, state, words, wave), names in alike.items()
    ]


def _stands(status: Status, members: Sequence[Document]) -> Iterator[str]:
    """Yield which revision which members run, the newest first, and which have parts of what was
    sent last.
    """
    running: dict[str, list[str]] = defaultdict(list)
    for row in sorted(
        members, key=lambda row: -1 if row["runs"] is None else row["runs"], reverse=True
    ):
        whole = row["state"] == Stand.UNRECORDED
        words = (
            [f"{'' if whole else 'parts of '}revision {row['sent']}"]
            if row["parts"] or whole
            else []
        )
        words += [] if whole or row["runs"] is None else [f"revision {row['runs']}"]
        running[" over ".join(words) or "nothing"].append(row["name"])
    yield from (f"{words} on {few(names, _SHOWN)}" for words, names in running.items())


def _next(found: Statuses, status: Status) -> Iterator[str]:
    """Yield what the next update will do with a placement."""
    if found.survey.refused:
        yield f"the next pulumi up is refused: {found.survey.refused[0].what}"
        return
    decided, rollout = status.next, status.next.outcome.rollout
    waves = [few(wave.clusters, _SHOWN) for wave in rollout.waves if wave.clusters]
    if waves:
        begins = f"pulumi up begins with {waves[0]}"
        then = f", then {', then '.join(waves[1:_SHOWN])}" if waves[1:] else ""
        yield (
            begins
            + then
            + (f" and {count(more, 'more wave')}" if (more := len(waves[_SHOWN:])) else "")
        )
    if rollout.removals:
        yield (
            f"{'it' if waves else 'pulumi up'} leaves {few(list(rollout.removals), _SHOWN)} at"
            " its end"
        )
    begun = bool(waves or rollout.removals)
    deleted = _deleted(status)
    if deleted:
        yield f"{'it' if begun else 'pulumi up'} deletes {few(deleted, _SHOWN)} at its end"
    left = status.plan.remainders[decided.name].words
    if left:
        yield f"left to later ones: {left}"
    if not (begun or deleted or left):
        changes = decided.changes or status.changed
        yield "pulumi up records it" if changes else "pulumi up has nothing to do here"


def _deleted(status: Status) -> list[str]:
    """Return the objects that the next update deletes from members that keep the placement."""
    removals = status.next.outcome.rollout.removals
    leaving = status.plan.leaving.get(status.next.name, ())
    lost = (Fate.DELETED, *UNRECORDED)
    found = [
        departure
        for departure in leaving
        if departure.fate in lost and departure.cluster not in removals
    ]
    return [f"{item.key} on {item.cluster}" for item in found]


def _mend(found: Statuses, members: Sequence[Document]) -> Iterator[str]:
    states = dict.fromkeys(Stand(data["state"]) for data in _broken(members))
    yield from (_MENDS[state] for state in states if state in _MENDS)


def _back(found: Statuses, status: Status) -> str:
    """Return how to go back to what stands elsewhere."""
    last, subject = status.last, status.next.subject
    if last is None or not isinstance(subject, PlacementSubject):
        return "revert the source, then pulumi up"
    runs = Counter(last.done(name).revision for name in last.record.decisions)
    older = [
        revision
        for revision, _ in runs.most_common()
        if revision not in (None, last.record.revision)
    ]
    if not older:
        return "revert the source, then pulumi up"
    of_project = found.survey.of_project
    stack = f" --stack {found.stack}" if of_project else ""
    paths = " ".join(map(shlex.quote, found.paths))
    rollback = f"fleet rollback {subject.key} {paths}{stack} --to {older[0]} --state FILE"
    return f"{rollback}, or revert the source; then pulumi up"
