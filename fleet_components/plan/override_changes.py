"""Changes of an update on a member where other override rules are in force than before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.difference import Difference, shown_differences
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, ObjectKey, by_key
from fleet_components.model.problem import FieldPath
from fleet_components.model.text import few
from fleet_components.plan.deviation import Deviation
from fleet_components.plan.record import Record
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Placed

_Emitted = Mapping[ObjectKey, Mapping[str, Any] | None]


@attrs.frozen
class OverrideChange:
    """One object that changes on a member.

    Attributes:
        key: its key without overrides.
        verb: what the overrides do from now on.
        overrides: the overrides behind it, as ``Kind namespace/name``.
    """

    key: ObjectKey
    verb: str
    overrides: tuple[str, ...]


def override_changes(decided: Decided, cluster: str) -> tuple[OverrideChange, ...] | None:
    """Return what changes on a member beside its content; None if the state hides what it runs."""
    done, placed = decided.done(cluster), decided.record.decisions[cluster]
    if done.revision is None or done.overrides == placed.overrides:
        return ()
    # Without the mark of writing again, which no override has set.
    was, now = decided.before.standing(done), attrs.evolve(placed, again=None)
    if not (decided.before.knows(was) and decided.record.knows(now)):
        return None
    subject = decided.subject
    member = subject.inventory.clusters[subject.inventory.position(cluster) or 0]
    deviated = [
        {deviation.key: deviation for deviation in subject.deviations(record, cluster, side) or ()}
        for record, side in ((decided.before, was), (decided.record, now))
    ]
    (old, emitted_old), (new, emitted_new) = (
        (_plain(record, side), _emitted(record, side, member))
        for record, side in ((decided.before, was), (decided.record, now))
    )
    found = []
    # Objects that come or go are changes of the content.
    for key in sorted(old.keys() & new.keys()):
        by_content = list(shown_differences(old[key], new[key]))
        changed = _changed(
            key,
            emitted_old[key],
            emitted_new[key],
            by_content,
            [data.get(key) for data in deviated],
        )
        found += [changed] if changed else []
    return tuple(found)


def in_words(changes: Iterable[OverrideChange]) -> Iterator[str]:
    """Yield what overrides do from now on: ``ResourceOverride shop/edge changes Deployment
    shop/web``.
    """
    objects: dict[tuple[str, str], list[str]] = defaultdict(list)
    for change in changes:
        for override in change.overrides:
            objects[override, change.verb].append(str(change.key))
    yield from (f"{override} {verb} {few(keys)}" for (override, verb), keys in objects.items())


def in_force_in_words(deviations: Iterable[Deviation]) -> Iterator[str]:
    """Yield what the overrides in force do: ``ResourceOverride shop/edge changes Deployment
    shop/web``.
    """
    # The keys of a dict: each object once, in order.
    objects: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for deviation in deviations:
        for rule in deviation.rules:
            objects[rule.override, "deletes" if deviation.deleted else "changes"][
                str(deviation.key)
            ] = None
    yield from (
        f"{override} {verb} {few(list(keys))}" for (override, verb), keys in objects.items()
    )


def _plain(record: Record[Any, Any], placed: Placed) -> Mapping[ObjectKey, Mapping[str, Any]]:
    return by_key(record.plain(placed))


def _emitted(record: Record[Any, Any], placed: Placed, member: Cluster) -> _Emitted:
    """Return what a member gets, by the keys that the objects have without overrides; None for what
    is deleted.
    """
    objects = record.plain(placed)
    if placed.overrides is None:
        return by_key(objects)
    results = record.apply(objects, record.rules(placed.overrides), member)
    return {Manifest(data).key: result.data for data, result in zip(objects, results, strict=True)}


def _changed(
    key: ObjectKey,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
    by_content: Sequence[Difference],
    deviated: Sequence[Deviation | None],
) -> OverrideChange | None:
    """Return the change of one object; None if there is none beside that of its content."""
    before, after = deviated
    if old is None and new is None:
        return None
    if new is None:
        return OverrideChange(key, "deletes", _names(after))
    if old is None:
        return OverrideChange(key, "no longer deletes", _names(before))
    # What the content changes by itself is not the overrides' doing.
    paths = [
        difference.path
        for difference in shown_differences(old, new)
        if difference not in by_content
    ]
    if not paths:
        return None
    names = _names(after, paths)
    if names:
        return OverrideChange(key, "changes", names)
    return OverrideChange(key, "no longer changes", _names(before, paths))


def _names(
    deviation: Deviation | None, paths: Sequence[FieldPath] | None = None
) -> tuple[str, ...]:
    """Return the overrides behind a deviation; with paths, those behind fields at, above or below
    one of them.
    """
    if deviation is None:
        return ()
    if paths is None or deviation.deleted:
        return tuple(dict.fromkeys(rule.override for rule in deviation.rules))
    concerned = (
        field
        for field in deviation.fields
        if any(_overlap(field.difference.path, path) for path in paths)
    )
    return tuple(dict.fromkeys(field.rule.override for field in concerned))


def _overlap(path: FieldPath, other: FieldPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]
