"""Differences between the objects that stand on members and those that a plan delivers, or will
deliver later.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.difference import shown_differences, shown_sides
from fleet_components.content.replacement import immutable, replacement
from fleet_components.content.secret import redacted
from fleet_components.content.yaml_diff import yaml_diff
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, ObjectKey, by_key, value_at
from fleet_components.plan.again import perhaps_written
from fleet_components.plan.departures import Fate, old_objects
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.record import Objects, Record, particulars
from fleet_components.plan.standing import Standing
from fleet_components.plan.subject import Decided, Subject
from fleet_components.review.documents.schema import ContentDocument, FieldDocument
from fleet_components.review.documents.wire import as_data
from fleet_components.rollout.rollout import Change, Done, Placed

_ORDER = ("delete", "replace", "update", "create")
Data = Mapping[str, Any]


class _HiddenError(Exception):
    """The state hides what stands on a member."""


@attrs.frozen
class _DifferenceStep:
    """Objects of some members, before and after a change.

    Attributes:
        members: the members.
        old: the objects that stand there.
        new: the objects that they get.
        taken: objects that other subjects have brought there and that this one takes over, as they
            stand.
        remembered: objects that members that are back may still have, as they were sent last; None
            if that is unknown.
        later: whether they get that only after this update.
        left_alone: fields that keep their values on a member once the object exists.
        by_hub: whether a hub carries it out, which recreates nothing.
        fixed: the fields for which this update recreates objects; None for what comes later.
        unknown: objects in the middle of which an update was killed, in the other form that they
            may have by now; None
            if they may be gone.
    """

    members: Sequence[str]
    old: Objects
    new: Objects
    taken: Mapping[ObjectKey, Data]
    remembered: Mapping[ObjectKey, Data | None]
    later: bool
    left_alone: tuple[str, ...]
    by_hub: bool
    fixed: Mapping[ObjectKey, tuple[str, ...]] | None
    unknown: Mapping[ObjectKey, Data | None] = attrs.field(factory=dict)


def differences(plan: FleetPlan, decided: Decided) -> list[ContentDocument] | None:
    """Return how the objects of members change; those of equal changes share an entry. None if the
    state hides some.

    What the fleet itself writes on objects on their way to a member is no part of it.
    """
    try:
        return _documents(plan, decided)
    # One hidden object is enough: a list with gaps would look complete.
    except _HiddenError:
        return None


def _documents(plan: FleetPlan, decided: Decided) -> list[ContentDocument]:
    found = [(change, step.members) for step in _steps(plan, decided) for change in _changes(step)]
    for (key, fate, later), clusters in _gone(plan, decided).items():
        change = ContentDocument(object=str(key), change="delete", later=later, fate=str(fate))
        found.append((change, clusters))
    places = _envelopes(decided.subject) if found else {}
    alike: dict[str, tuple[ContentDocument, list[str]]] = {}
    for change, members in found:
        # JSON makes equal changes equal keys, whatever they hold.
        alike.setdefault(json.dumps(as_data(change)), (change, []))[1].extend(members)
    documents = [
        attrs.evolve(change, members=sorted(members), envelope=places.get(change.object))
        for change, members in alike.values()
    ]
    return sorted(
        documents,
        key=lambda change: (
            change.later,
            _ORDER.index(change.change),
            change.object,
            change.members,
        ),
    )


def _steps(plan: FleetPlan, decided: Decided) -> Iterator[_DifferenceStep]:
    """Yield what the members get that change, held ones included; nothing for those that are
    left.
    """
    alike: dict[tuple[bool, Hashable, Hashable, str], list[str]] = defaultdict(list)
    # What only compares delivers nothing, so that nothing changes on its members.
    for cluster, entry in decided.entries.items() if not decided.subject.reports else ():
        later = entry.change is Change.HELD
        if _is_mixed(plan, decided, cluster):
            yield from _mixed(plan, decided, cluster)
            if not later:
                continue
        placed = _aimed(decided, later=later).decisions.get(cluster)
        if placed is not None and entry.change is not Change.KEEP:
            # Members of equal numbers have equal objects, so that these are compared once.
            back = cluster if cluster in plan.returned else ""
            alike[later, _numbers(decided.done(cluster)), _numbers(placed), back].append(cluster)
    for (later, old, new, _), members in alike.items():
        # Equal numbers mean equal objects: there is nothing to compare.
        yield from _step(plan, decided, members, later=later) if old != new else ()


def _step(
    plan: FleetPlan, decided: Decided, members: Sequence[str], *, later: bool
) -> Iterator[_DifferenceStep]:
    """Yield what changes on members of equal numbers, apart for those where another subject has
    objects until now.
    """
    # Members of equal numbers have equal objects: the first one stands for all.
    first, record = members[0], _aimed(decided, later=later)
    member, placed = _member(decided, first), record.decisions[first]
    old = _standing(decided, decided.done(first), member)
    new = _objects(record, placed, member)
    # Until a held member moves, others have left it: what they do not want there any more goes with
    # this update.
    stood = {Manifest(data).key for data in old}
    coming = {key: data for key, data in by_key(new).items() if not later and key not in stood}
    apart: dict[Hashable, tuple[list[str], Mapping[ObjectKey, Data]]] = {}
    for cluster in members:
        taken = dict(_taken(plan, decided, cluster, coming)) if coming else {}
        # By identity: records share objects, and comparing them by content is slow.
        apart.setdefault(tuple((key, id(data)) for key, data in taken.items()), ([], taken))[
            0
        ].append(cluster)
    for clusters, stands in apart.values():
        left_alone, by_hub = record.left_alone(placed.revision), plan.is_by_hub(decided)
        fixed = None if later else _fixed(plan, clusters[0])
        yield _DifferenceStep(
            clusters, old, new, stands, plan.taken_up(first), later, left_alone, by_hub, fixed
        )


def _fixed(plan: FleetPlan, cluster: str) -> Mapping[ObjectKey, tuple[str, ...]]:
    """Return the fields for which objects on a member are recreated, as the whole plan has them."""
    return {key: item.fields for (member, key), item in plan.replaced.items() if member == cluster}


def _is_mixed(plan: FleetPlan, decided: Decided, cluster: str) -> bool:
    """Return whether objects of a member may be of another version than its binding, or missing."""
    here = plan.past.standing_on(decided.name, cluster)
    broken = any(found.recorded or found.gone or found.interrupted for found in here)
    return broken or cluster in decided.missing


def _mixed(plan: FleetPlan, decided: Decided, cluster: str) -> Iterator[_DifferenceStep]:
    """Yield what this update changes on a member where the last one broke, or objects are
    missing.
    """
    placed, member = decided.record.decisions.get(cluster), _member(decided, cluster)
    if placed is None:
        return
    new = _objects(decided.record, placed, member)
    here = plan.past.standing_on(decided.name, cluster)
    recorded = {standing.key: standing.recorded for standing in here if not standing.gone}
    # None stands for an object that is as the content of its binding says.
    stood = _standing(decided, decided.done(cluster), member) if None in recorded.values() else ()
    known, wanted = by_key(stood), by_key(new)
    old = tuple(
        item.beside(wanted[key]) if item else known[key]
        for key, item in recorded.items()
        if key in wanted and (item or key in known)
    )
    coming = {key: data for key, data in wanted.items() if key not in recorded}
    taken = dict(_taken(plan, decided, cluster, coming))
    left_alone = decided.record.left_alone(placed.revision)
    fixed, by_hub = _fixed(plan, cluster), plan.is_by_hub(decided)
    unknown = dict(_unknown(decided, cluster, here))
    yield _DifferenceStep([cluster], old, new, taken, {}, False, left_alone, by_hub, fixed, unknown)


def _unknown(
    decided: Decided, cluster: str, here: Sequence[Standing]
) -> Iterator[tuple[ObjectKey, Data | None]]:
    """Yield the objects at which the last update was killed, as it wrote them; None if absent."""
    placed = decided.before.decisions.get(cluster)
    sent = {}
    if placed is not None and decided.before.knows(placed):
        sent = by_key(_objects(decided.before, placed, _member(decided, cluster)))
    yield from perhaps_written(decided, cluster)
    for standing in here:
        if standing.interrupted:
            yield (
                standing.key,
                None if standing.interrupted == "deleting" else sent.get(standing.key),
            )


def _aimed(decided: Decided, *, later: bool) -> Record[Any, Any]:
    """Return the record that has what members get with this update, or later."""
    goal: Record[Any, Any] = decided.outcome.goal
    return goal if later else decided.record


def _numbers(placed: Placed | Done) -> tuple[Any, ...]:
    """Return what the objects of a member depend on."""
    return (placed.version, *particulars(placed).items())


def _member(decided: Decided, cluster: str) -> Cluster:
    position = decided.subject.inventory.position(cluster)
    return Cluster(cluster) if position is None else decided.subject.inventory.clusters[position]


def _standing(decided: Decided, done: Done, member: Cluster) -> Objects:
    """Return what a member has, from the first record that knows it: that of this plan shares its
    objects.
    """
    if done.revision is None:
        return ()
    record = (
        decided.record if decided.record.knows(decided.record.standing(done)) else decided.before
    )
    return _objects(record, record.standing(done), member)


def _objects(record: Record[Any, Any], placed: Placed, member: Cluster) -> Objects:
    """Return the objects of a decision.

    Raises:
        _HiddenError: the state hides them.
    """
    if not record.knows(placed):
        raise _HiddenError
    # Not marked as what is written again: that is nothing that a reviewer has to know.
    objects: Objects = record.objects(attrs.evolve(placed, again=None), member)
    return objects


def _taken(
    plan: FleetPlan, decided: Decided, cluster: str, coming: Mapping[ObjectKey, Data]
) -> Iterator[tuple[ObjectKey, Data]]:
    """Yield those objects that come and that other subjects have on a member, as they stand.

    Raises:
        _HiddenError: the state hides them.
    """
    for key in sorted(coming):
        standing = plan.standing.get((cluster, key))
        if standing is None or standing.subject == decided.name:
            continue
        if standing.gone:
            continue
        if standing.recorded:
            yield key, standing.recorded.beside(coming[key])
            continue
        objects = old_objects(plan.past, decided, standing.subject, cluster)
        # Nothing is known either of what an interrupted update has made, which is new.
        record, here = (
            plan.past.records.get(standing.subject),
            plan.past.done.get(standing.subject, {}).get(cluster),
        )
        if (
            record
            and here
            and here.revision is not None
            and not record.knows(record.standing(here))
        ):
            raise _HiddenError
        yield from ((key, data) for data in objects if Manifest(data).key == key)


def _changes(step: _DifferenceStep) -> Iterator[ContentDocument]:
    """Yield the change of every object that a member gets; those that go come from
    :func:`_gone`.
    """
    old = by_key(step.old) | dict(step.taken)
    known = {
        key: data for key, data in step.remembered.items() if data is not None and key not in old
    }
    for data in step.new:
        key = Manifest(data).key
        was, unknown = old.get(key, known.get(key)), key in step.unknown
        # It stands as recorded, or as the interrupted update wrote it: compare with the latter.
        if was is data and unknown:
            was = step.unknown[key]
        # By identity: members of one version share their objects.
        if was is data:
            continue
        taken_up = key in step.remembered and key not in old
        if was is None and taken_up:
            yield ContentDocument(object=str(key), change="update", later=step.later, taken_up=True)
            continue
        if was is None:
            # The whole object: a reviewer wants to read what is new, and nobody else has shown it.
            diff = yaml_diff({}, redacted(data))
            yield ContentDocument(
                object=str(key), change="create", later=step.later, diff=diff, unknown=unknown
            )
            continue
        forced = () if step.by_hub else _made_anew(step, key, was, data)
        now = data if forced else _with_values(was, data, step.left_alone)
        fields = [FieldDocument(**each.to_wire()) for each in shown_differences(was, now)]
        if fields:
            yield ContentDocument(
                object=str(key),
                change="replace" if forced else "update",
                later=step.later,
                taken_up=taken_up,
                fields=fields,
                immutable=sorted(forced),
                diff=yaml_diff(*shown_sides(was, now)),
                unknown=unknown,
            )


def _made_anew(step: _DifferenceStep, key: ObjectKey, was: Data, data: Data) -> tuple[str, ...]:
    if step.fixed is None:
        return replacement(was, data) or immutable(was, data)
    return step.fixed.get(key, ())


def _gone(plan: FleetPlan, decided: Decided) -> Mapping[tuple[ObjectKey, Fate, bool], list[str]]:
    """Return the members that lose an object, by the object, its fate, and whether it goes only
    after this update.

    Such objects are only named: what is in them can be read in the source as it was, and that they
    go is what matters. One that moves to another subject stays, and is among the differences of
    that one.
    """
    found: dict[tuple[ObjectKey, Fate, bool], list[str]] = defaultdict(list)
    for departure in plan.leaving.get(decided.name, ()):
        if departure.fate is not Fate.MOVED:
            found[departure.key, departure.fate, False].append(departure.cluster)
    held = (cluster for cluster, entry in decided.entries.items() if entry.change is Change.HELD)
    for cluster in held if not decided.subject.reports else ():
        stays = _staying(decided, cluster)
        for standing in plan.past.standing_on(decided.name, cluster):
            key = standing.key
            if stays is not None and key not in stays:
                fate = Fate.KEPT if plan.outlives(decided, cluster, key) else Fate.DELETED
                found[key, fate, True].append(cluster)
    return found


def _staying(decided: Decided, cluster: str) -> Collection[ObjectKey] | None:
    """Return the objects that a held member has once it has moved; None if it stays as it is."""
    goal = decided.outcome.goal
    placed = goal.decisions.get(cluster)
    if placed is None:
        return () if cluster in decided.record.decisions else None
    if _numbers(placed) == _numbers(decided.done(cluster)):
        return None
    return {Manifest(data).key for data in _objects(goal, placed, _member(decided, cluster))}


def _with_values(old: Data, new: Data, fields: tuple[str, ...]) -> Data:
    """Return an object in which some fields have the values of another one, as a member keeps those
    it has.
    """
    for field in fields:
        path = tuple(field.split("."))
        new = _with(new, path, value_at(old, path))
    return new


def _with(data: Any, path: tuple[str, ...], value: Any) -> Any:
    first, *rest = path
    inner = data.get(first) if isinstance(data, Mapping) else None
    if rest and not isinstance(inner, Mapping):
        return data
    return {**data, first: _with(inner, tuple(rest), value) if rest else value}


def _envelopes(subject: Subject[Any]) -> dict[str, str]:
    """Return where the objects in envelopes are written."""
    return {
        str(key): found[0].place
        for key, found in subject.origins.items()
        if found and found[0].envelope
    }
