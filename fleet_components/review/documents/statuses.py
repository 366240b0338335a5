"""The statuses of a fleet as a document for people: what broke, what stands, and what the next
update will do.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.observed import FieldDifference, ObservedObject
from fleet_components.model.problem import FleetError
from fleet_components.model.text import count, few
from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.ways import Way
from fleet_components.review.documents.form import find, fleet_to_name, unknown
from fleet_components.review.planning.statuses import Statuses, SubjectStatus
from fleet_components.rollout.rollout import Change
from fleet_components.status import last as last_decided
from fleet_components.status.on_hub import OnHub, Stand, stand_of, stand_on

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


@attrs.frozen
class StatusOfObject:
    """An object on a member: how it stands, and the messages about it."""

    object: str
    state: str
    broken: bool
    words: Sequence[str]
    differences: Sequence[FieldDifference]


@attrs.frozen(kw_only=True)
class StatusOfMember:
    """A placement or template on a member.

    ``parts`` says whether some of what was sent last stands there beside what runs.
    """

    name: str
    state: str
    broken: bool
    settled: bool
    runs: int | None
    sent: int | None
    wave: int | None
    parts: bool
    why: str | None
    objects: Sequence[StatusOfObject]


@attrs.frozen
class Trouble:
    """Failure of an object on some members; without an object, of the members themselves."""

    members: Sequence[str]
    object: str | None
    state: str
    words: Sequence[str]
    wave: int | None


@attrs.frozen(kw_only=True)
class StatusOfSubject:
    """The status of a placement or template: what stands, what comes, and how to go on or back."""

    of_fleet: str | None
    kind: str
    key: str
    delivery: str
    on_hub: OnHub | None
    undelivered: bool
    changed: bool
    revision: int | None
    unfulfilled: str
    conditions: Sequence[Mapping[str, Any]]
    members: Sequence[StatusOfMember]
    wave: int | None
    broken: Sequence[Trouble]
    stands: Sequence[str]
    next: Sequence[str]
    mend: Sequence[str]
    back: str


@attrs.frozen(kw_only=True)
class StatusesDocument:
    """The statuses of a fleet."""

    events: bool
    live: bool
    interrupted: bool
    settled: bool
    gone: Sequence[str]
    refused: Sequence[str]
    subjects: Sequence[StatusOfSubject]


def statuses_document(
    found: Statuses, placement: str | None = None, member: str | None = None
) -> StatusesDocument:
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
    settled = all(row.settled for subject in subjects for row in subject.members)
    # They are no longer in the source, so that no subject could be unsettled for them.
    half_removed = placement is None and found.half_removed
    return StatusesDocument(
        events=found.events,
        live=found.live,
        interrupted=found.interrupted,
        settled=settled and all(map(_settled, subjects)) and not half_removed,
        gone=list(found.gone) if placement is None else [],
        refused=[str(problem) for problem in found.survey.refused],
        subjects=subjects,
    )


def api_list(found: Statuses, placement: str | None = None) -> dict[str, Any]:
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
        # A ClusterResourcePlacementStatus of KubeFleet has it in sourceStatus.
        if any(map(item.get, _STATUS_FIELDS))
    ]
    return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}


def _on_hub(status: SubjectStatus, member: str | None) -> OnHub | None:
    found = status.on_hub
    if found is None or member is None:
        return found
    return attrs.evolve(found, rows=tuple(row for row in found.rows if row.member == member))


def _settled(subject: StatusOfSubject) -> bool:
    hub = subject.on_hub
    unsettled = hub and (hub.missing or any(row.differs or not row.fine for row in hub.rows))
    return not (subject.undelivered or unsettled)


def _api_objects(status: SubjectStatus) -> Iterator[dict[str, Any]]:
    if status.last is None:
        return
    if status.last.hub:
        # The status that the hub has written counts, instead of one that is derived.
        yield from [dict(status.on_hub.shown)] if status.on_hub and status.on_hub.shown else []
        return
    yield from status.next.subject.system.statuses(status.last, status.observed)


def _subject(found: Statuses, status: SubjectStatus, member: str | None) -> StatusOfSubject:
    members = [row for row in _members(status) if member in (None, row.name)]
    last, troubles = status.last, _broken(members)
    return StatusOfSubject(
        of_fleet=fleet_to_name(found.survey.plans, status.plan),
        kind=status.next.subject.kind,
        key=status.next.subject.key,
        delivery=(last or status.next).hub or Way.DIRECT.value,
        on_hub=_on_hub(status, member),
        undelivered=last is None,
        changed=status.changed,
        revision=last.record.revision if last else None,
        unfulfilled=last.outcome.unfulfilled if last else status.next.outcome.unfulfilled,
        conditions=_conditions(status),
        members=members,
        # Wave 0 stands for removals.
        wave=min((row.wave for row in members if row.broken and row.wave), default=None),
        broken=troubles,
        stands=list(_stands(members)),
        next=list(_next(found, status)),
        mend=list(_mend(troubles)),
        back=_back(found, status),
    )


def _conditions(status: SubjectStatus) -> list[Mapping[str, Any]]:
    """Return the conditions of a placement, or of the binding of a template."""
    found: list[Mapping[str, Any]] = next(
        (data["status"].get("conditions", []) for data in _api_objects(status)), []
    )
    return found


def _members(status: SubjectStatus) -> Iterator[StatusOfMember]:
    last = status.last
    for name, observed in status.observed.items():
        entry = last.entries.get(name) if last else None
        placed = entry.placed if entry else None
        stand = stand_on(observed, entry)
        done = last.done(name) if last else None
        comes = last_decided.comes(last, name) if last and stand.broken else ()
        there = [observed.objects[key] for key in comes if key in observed.objects]
        yield StatusOfMember(
            name=name,
            state=str(stand),
            broken=stand.broken,
            settled=stand.settled,
            runs=done.revision if done else None,
            sent=placed.revision if placed else None,
            wave=placed.wave if placed and entry and entry.change in _MOVES else None,
            parts=any(item.applied == "Applied" for item in there),
            why=observed.unreached or (str(entry.reason) if entry else "") or _WHYS.get(stand),
            objects=[_object(item) for item in observed.objects.values()],
        )


def _object(found: ObservedObject) -> StatusOfObject:
    stand = stand_of(found)
    return StatusOfObject(
        str(found.key),
        str(stand),
        stand.broken,
        [*filter(None, [found.error]), *found.causes],
        found.differences,
    )


def _broken(members: Sequence[StatusOfMember]) -> list[Trouble]:
    """Return what went wrong: members on which the same is wrong with one object share an entry."""
    alike: dict[tuple[str | None, str, Sequence[str], int | None], list[str]] = defaultdict(list)
    for row in members:
        if not row.broken:
            continue
        if row.state == Stand.UNREACHED:
            alike[None, row.state, (row.why or "",), None].append(row.name)
            continue
        wrong = [item for item in row.objects if item.broken and item.words]
        # What has a message explains the rest, which may only be waiting for it.
        wrong = wrong or [item for item in row.objects if item.broken]
        for item in wrong:
            # Missing without a message: the state of the whole member says more.
            unknown_yet = item.state == Stand.MISSING and not item.words
            state = row.state if unknown_yet else item.state
            alike[item.object, state, tuple(item.words), row.wave].append(row.name)
        if not wrong:
            alike[None, row.state, (), row.wave].append(row.name)
    return [
        Trouble(names, key, state, words, wave)
        for (key, state, words, wave), names in alike.items()
    ]


def _stands(members: Sequence[StatusOfMember]) -> Iterator[str]:
    """Yield which revision which members run, the newest first, and which have parts of what was
    sent last.
    """
    running: dict[str, list[str]] = defaultdict(list)
    # Members on which nothing runs come last.
    for row in sorted(members, key=lambda row: -1 if row.runs is None else row.runs, reverse=True):
        # All objects stand as sent; only the binding is missing.
        whole = row.state == Stand.UNRECORDED
        words = [f"{'' if whole else 'parts of '}revision {row.sent}"] if row.parts or whole else []
        words += [] if whole or row.runs is None else [f"revision {row.runs}"]
        # Parts of the new revision over the old one: what the member really has.
        running[" over ".join(words) or "nothing"].append(row.name)
    yield from (f"{words} on {few(names, _SHOWN)}" for words, names in running.items())


def _next(found: Statuses, status: SubjectStatus) -> Iterator[str]:
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


def _deleted(status: SubjectStatus) -> list[str]:
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


def _mend(troubles: Sequence[Trouble]) -> Iterator[str]:
    # One hint for each kind of failure, in their order.
    states = dict.fromkeys(Stand(trouble.state) for trouble in troubles)
    yield from (_MENDS[state] for state in states if state in _MENDS)


def _back(found: Statuses, status: SubjectStatus) -> str:
    """Return how to go back to what stands elsewhere."""
    last, subject = status.last, status.next.subject
    if last is None or not subject.KEEPS_REVISIONS:
        return "revert the source, then pulumi up"
    runs = Counter(last.done(name).revision for name in last.record.decisions)
    older = [
        # Most members first: that is what stands elsewhere.
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
