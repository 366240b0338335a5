"""Find standing objects that are no longer wanted where they are, objects that move, and objects to
be replaced.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.content.replacement import immutable, refused, replacement
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, by_key
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.past import Past
from fleet_components.plan.record import Objects
from fleet_components.plan.recorded import Recorded
from fleet_components.plan.standing import Standing, read_written
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Placed
from fleet_components.rollout.situation import stopped_at


class Fate(StrEnum):
    """Treatment of an object that its subject no longer brings to a member."""

    DELETED = "deleted"
    KEPT = "kept"
    FORGOTTEN = "forgotten"
    MOVED = "moved"
    SWEPT = "swept"
    UNDONE = "undone"


UNRECORDED = (Fate.SWEPT, Fate.UNDONE)
"""Fates of objects that are in no state, so that the engine does not delete them."""


@attrs.frozen
class Departure:
    """An object that its subject no longer brings to a member.

    Attributes:
        subject: the subject that brought it, as ``Kind/key``; empty for swept objects.
        cluster: the member.
        key: the object's key.
        fate: ``deleted``; ``kept`` on the member, though no longer managed; ``forgotten``, because
            the member is lost; ``moved`` to another subject, while the object stays; ``swept``,
            because it was forgotten on a member that is back; ``undone``, because an interrupted
            update may have made it and no state records it.
        to: the subject that has it now, if it moved.
        fleet: the fleet of that subject, if it is another one of the same program.
        api_version: the apiVersion in which it was sent.
        found: True if it stood on the member before the fleet took it over.
    """

    subject: str
    cluster: str
    key: ObjectKey
    fate: Fate
    to: str = ""
    api_version: str = ""
    found: bool = False
    fleet: str = ""

    @property
    def owner(self) -> str:
        """The subject that has it now, with its fleet if that is another one; empty if it has not
        moved.
        """
        return f"{self.fleet}: {self.to}" if self.fleet else self.to


@attrs.frozen
class Replacement:
    """An object that cannot be updated in place and is deleted and recreated.

    Attributes:
        subject: the subject that brings it.
        cluster: the member.
        key: the object's key.
        fields: the fields that cannot be changed.
        asked: True if the update has to ask the provider to replace it; False if it does so by
            itself.
        refused: those of the fields that an API server refuses to change; the provider does not
            change the others.
    """

    subject: str
    cluster: str
    key: ObjectKey
    fields: tuple[str, ...]
    asked: bool = False
    refused: tuple[str, ...] = ()


Forced = Mapping[ObjectKey, tuple[tuple[str, ...], bool, tuple[str, ...]]]
"""Fields that force a replacement, whether the update has to ask the provider, and which an API
server refuses, by object.
"""


class Coverage:
    """Index of which object is wanted on which member, and by which subject.

    Attributes:
        twice: objects that one subject brings more than once to the same members, as (subject, key,
            members).
    """

    def __init__(self, decided: Iterable[Decided], unseen: Iterable[Standing]) -> None:
        self._wanted: dict[ObjectKey, list[tuple[str, set[str]]]] = defaultdict(list)
        self.twice: list[tuple[str, ObjectKey, list[str]]] = []
        for item in decided:
            for keys, clusters in _alike(item):
                self._add(item.name, keys, clusters)
        for standing in unseen:
            self._wanted[standing.key].append((standing.subject, {standing.cluster}))

    def _add(self, subject: str, keys: list[ObjectKey], clusters: set[str]) -> None:
        # Each key once, in order; a repeated one is a problem of its own.
        for key in dict.fromkeys(keys):
            self._wanted[key].append((subject, clusters))
        repeated = [key for key, number in Counter(keys).items() if number > 1]
        self.twice += [(subject, key, sorted(clusters)) for key in repeated if clusters]

    def owner(self, cluster: str, key: ObjectKey) -> str:
        """Return the subject that wants an object on a member; empty if none does."""
        for subject, clusters in self._wanted.get(key, ()):
            if cluster in clusters:
                return subject
        return ""

    def wants(self, subject: str, cluster: str, key: ObjectKey) -> bool:
        """Return whether a subject wants an object on a member, alone or with others."""
        return any(
            text == subject and cluster in clusters for text, clusters in self._wanted.get(key, ())
        )

    def clashes(self) -> Iterator[tuple[ObjectKey, tuple[str, ...], list[str]]]:
        """Yield the objects that several subjects bring to one member, with the subjects and the
        members.
        """
        for key, wanted in self._wanted.items():
            if len(wanted) < 2:
                continue
            # Members on which the same subjects clash share one problem.
            by_owners: dict[tuple[str, ...], list[str]] = defaultdict(list)
            for cluster in sorted(set().union(*(clusters for _, clusters in wanted))):
                owners = tuple(
                    sorted({subject for subject, clusters in wanted if cluster in clusters})
                )
                if len(owners) > 1:
                    by_owners[owners].append(cluster)
            yield from ((key, owners, clusters) for owners, clusters in by_owners.items())


def departures(past: Past, coverage: Coverage, members: Mapping[str, str]) -> Iterator[Departure]:
    """Yield the standing objects that leave, sorted by subject, member and object.

    Args:
        past: what stands.
        coverage: what is wanted.
        members: the state of each member: ``member`` or ``lost``.
    """
    owned = (
        (item, coverage.owner(item.cluster, item.key)) for item in past.standing if not item.gone
    )
    # owner() returns the first of several subjects: another one may want the object as well.
    leaving = [
        (item, owner)
        for item, owner in owned
        if not coverage.wants(item.subject, item.cluster, item.key)
    ]
    for standing, owner in sorted(
        leaving, key=lambda leaves: (leaves[0].subject, leaves[0].cluster, leaves[0].key)
    ):
        fate = Fate.MOVED if owner else _fate(standing, past, members)
        yield Departure(
            standing.subject, standing.cluster, standing.key, fate, owner, found=standing.found
        )


def swept(past: Past, coverage: Coverage, reached: Iterable[str]) -> Iterator[Departure]:
    """Yield unwanted objects that were forgotten on members that are back.

    After an update that broke, the state may still have some of them: those are departures of their
    subject.
    """
    stood = {(standing.cluster, standing.key) for standing in past.standing}
    for member in reached:
        known = past.members.get(member)
        for text in known.forgotten if known else ():
            version, key = read_written(text)
            if (member, key) not in stood and not coverage.owner(member, key):
                yield Departure("", member, key, Fate.SWEPT, api_version=version)


def undone(
    past: Past, coverage: Coverage, inventory: Inventory, *, keep: bool, reporting: Collection[str]
) -> Iterator[Departure]:
    """Yield unwanted objects that an interrupted update may have created, and of which the engine
    has no record.

    Args:
        past: what was decided and what stands.
        coverage: what is wanted.
        inventory: the members.
        keep: True if cluster-scoped objects always stay.
        reporting: subjects whose objects are compared only, so that nothing of them is ever
            deleted.
    """
    stood = {(standing.cluster, standing.key) for standing in past.standing}
    for name, record in sorted(past.records.items()):
        if name in reporting:
            continue
        done = past.done.get(name, {})
        for cluster in sorted(stopped_at(done, record.decisions)):
            position = inventory.position(cluster)
            # Without the member, what it was sent cannot be made again.
            if position is None:
                continue
            sent = record.objects(record.decisions[cluster], inventory.clusters[position])
            for manifest in map(Manifest, sent):
                kept = keep and not manifest.namespace
                if (
                    not kept
                    and (cluster, manifest.key) not in stood
                    and not coverage.owner(cluster, manifest.key)
                ):
                    yield Departure(
                        name, cluster, manifest.key, Fate.UNDONE, api_version=manifest.api_version
                    )


def replacements(decided: Iterable[Decided], past: Past) -> Iterator[Replacement]:
    """Yield the objects that the provider has to delete and recreate because of this update."""
    stood = {(item.cluster, item.key): item for item in past.standing if not item.gone}
    seen: dict[tuple[int, int], tuple[Objects, Forced]] = {}
    for item in decided:
        for cluster, delivery in item.deliveries.items():
            # First what the state records one by one, then what only bindings tell of.
            pairs = [(cluster, key) for key in item.keys(cluster)]
            there = [stood[pair] for pair in pairs if pair in stood]
            recorded = {standing.key: standing.recorded for standing in there if standing.recorded}
            for key, forced in forced_of(recorded, delivery.written).items():
                yield Replacement(item.name, cluster, key, *forced)
            owners = {standing.key: standing.subject for standing in there if not standing.recorded}
            for owner in sorted(set(owners.values())):
                before = old_objects(past, item, owner, cluster)
                if before is delivery.objects:
                    continue
                # By identity: members share their content, so it is compared once. The value keeps
                # ``before`` alive, and the delivery its objects, so that no id is used twice.
                pair = (id(before), id(delivery.objects))
                if pair not in seen:
                    seen[pair] = before, _forced(before, delivery.objects)
                for key, forced in seen[pair][1].items():
                    if owners.get(key) == owner:
                        yield Replacement(item.name, cluster, key, *forced)


def perhaps_gone(past: Past, clusters: Mapping[str, Cluster]) -> Iterator[Standing]:
    """Yield the objects that the last update was to replace, and that are recorded as before.

    They may have been deleted, and not created again: a running program does not see that in the
    state. Where that update stopped, the same holds for each object that it was to write, as
    ``--replace`` has the engine delete any object first.
    """
    # Both are kept, because many objects share a subject and a member.
    sent: dict[tuple[str, str], Mapping[ObjectKey, Mapping[str, Any]]] = {}
    stopped: dict[str, Collection[str]] = {}
    for standing in past.standing:
        record, cluster = past.records.get(standing.subject), clusters.get(standing.cluster)
        placed = record.decisions.get(standing.cluster) if record else None
        if (
            record is None
            or placed is None
            or cluster is None
            or standing.recorded is None
            or standing.gone
        ):
            continue
        if (standing.subject, standing.cluster) not in sent:
            objects = record.objects(placed, cluster)
            sent[standing.subject, standing.cluster] = by_key(objects)
        if standing.subject not in stopped:
            stopped[standing.subject] = stopped_at(
                past.done.get(standing.subject, {}), record.decisions
            )
        data = sent[standing.subject, standing.cluster].get(standing.key)
        if data is None:
            continue
        # beside() returns the very object if it stands as it is wanted.
        unwritten = (
            standing.cluster in stopped[standing.subject]
            and standing.recorded.beside(data) is not data
        )
        if unwritten or forced_of({standing.key: standing.recorded}, (data,)):
            yield standing


def sent_before(decided: Decided, past: Past) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what the last update has sent of a subject, object by object, each with its member.

    Members on which that update broke are left out, as are contents that are not known.
    """
    for cluster, here in past.done.get(decided.name, {}).items():
        sent, position = (
            decided.before.decisions.get(cluster),
            decided.subject.inventory.position(cluster),
        )
        # Another version than the binding has: the last update did not get there.
        if here.broken or sent is None or sent.version != here.version or position is None:
            continue
        found = decided.before.objects(sent, decided.subject.inventory.clusters[position])
        # objects() returns nothing for a content that the state hides.
        yield from ((cluster, data) for data in found or _repeated(decided, cluster, sent))


def _repeated(decided: Decided, cluster: str, sent: Placed) -> Objects:
    """Return what a member gets, if that is what it was sent before; it does not take the content
    to know that.
    """
    now = decided.record.decisions.get(cluster)
    # Wave and rank say when a member gets it, and not what it gets.
    same = now is not None and encode(now) | {"wave": 0, "rank": 0} == encode(sent) | {
        "wave": 0,
        "rank": 0,
    }
    return decided.deliveries[cluster].objects if same else ()


def old_objects(past: Past, decided: Decided, owner: str, cluster: str) -> Objects:
    """Return what a subject has on a member now; empty if unknown."""
    record = decided.before if owner == decided.name else past.records.get(owner)
    here = past.done.get(owner, {}).get(cluster)
    position = decided.subject.inventory.position(cluster)
    if record is None or here is None or here.revision is None or position is None:
        return ()
    now = decided.record.decisions.get(cluster)
    if (
        now
        and owner == decided.name
        and (record.revision, here.overrides) == now.version == here.version
    ):
        return decided.deliveries[
            cluster
        ].objects  # at one version only values set for each member can differ
    sent = record.standing(here)
    return record.objects(sent, decided.subject.inventory.clusters[position])


def _forced(before: Objects, now: Objects) -> Forced:
    old = by_key(before)
    pairs = [(old.get(Manifest(data).key), data) for data in now]
    # Nothing else is known of what stands there than what was sent.
    found = {Manifest(data).key: _fixed(was, was, data) for was, data in pairs if was is not None}
    return {key: forced for key, forced in found.items() if forced[0]}


def forced_of(recorded: Mapping[ObjectKey, Recorded], now: Objects) -> Forced:
    """Return the same for objects that the state records one by one."""
    found = {}
    for data in now if recorded else ():
        key = Manifest(data).key
        item = recorded.get(key)
        if item:
            found[key] = _fixed(item.as_compared(data), item.beside(data), data)
    return {key: forced for key, forced in found.items() if forced[0]}


def _fixed(
    sent: Mapping[str, Any], stands: Mapping[str, Any], data: Mapping[str, Any]
) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """Return the changed fields that cannot be changed, as :data:`Forced` has them.

    Args:
        sent: the object as it was sent, which the provider compares.
        stands: the object as it stands, which the API server compares.
        data: the object as it is wanted.
    """
    # The provider decides first: it replaces before an API server could refuse.
    by_itself = replacement(sent, data)
    return by_itself or immutable(stands, data), not by_itself, refused(stands, data)


def _fate(standing: Standing, past: Past, members: Mapping[str, str]) -> Fate:
    if members.get(standing.cluster) == LOST:
        return Fate.FORGOTTEN
    # As a hub of KubeFleet, which leaves objects on a member that leaves the fleet.
    left_alone = past.stays_on_leaving and standing.cluster not in members
    return Fate.KEPT if standing.kept or left_alone else Fate.DELETED


def unseen(subjects: Iterable[Decided], past: Past) -> Iterator[Standing]:
    """Yield the standing objects on members that stay on a revision whose content is not known."""
    hidden = {
        (decided.name, cluster)
        for decided in subjects
        if decided.record.hidden() and not decided.subject.reports
        for cluster, placed in decided.record.decisions.items()
        if not decided.record.knows(placed)
    }
    return (
        standing for standing in past.standing if (standing.subject, standing.cluster) in hidden
    )


def _alike(decided: Decided) -> Iterator[tuple[list[ObjectKey], set[str]]]:
    """Yield the object keys of each distinct delivery, with the members that get it."""
    groups: Mapping[tuple[ObjectKey, ...], set[str]] = defaultdict(set)
    for cluster in decided.deliveries:
        groups[decided.keys(cluster)].add(cluster)
    yield from ((list(keys), clusters) for keys, clusters in groups.items())
