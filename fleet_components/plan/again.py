"""Write objects again: those that an interrupted update may have changed, and those that are
missing.

If the engine is stopped while it writes an object, the state keeps the old inputs although the
member may have the new object. When the source then goes back to the old content, old and new
inputs are equal and the engine would send nothing. An annotation with a revision makes the inputs
differ.

An object that the state does not have any more, as after a refresh, is created by the engine
whatever is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, TypeVar

import attrs

from fleet_components.content.stamp import WRITTEN_AGAIN
from fleet_components.model.manifest import Manifest, ObjectKey, by_key
from fleet_components.model.text import few
from fleet_components.plan.departures import old_objects
from fleet_components.plan.guard import Pair
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.recorded import Recorded
from fleet_components.plan.standing import Standing, annotation_in
from fleet_components.plan.subject import Decided, Subject
from fleet_components.rollout.rollout import Change, Entry, Placed, Rollout

Data = Mapping[str, Any]
R = TypeVar("R", bound=Record[Any, Any])
_MISSING = "{objects} {are} missing there"
_INTERRUPTED = "the last update was killed while it wrote {objects}"


def written_where_interrupted(
    rollout: Rollout,
    stopped: Collection[str],
    record: R,
    before: R,
    request: Subject[R],
) -> Rollout:
    """Return the plan with marks on the members where the last update stopped and that go back to
    what stands there.

    Args:
        rollout: the plan.
        stopped: the members at which the last update stopped.
        record: what is decided now.
        before: what was decided by that update.
        request: what the decision depends on.
    """
    undone, inventory = [], request.inventory
    # Only members that have the subject before and after can go back.
    for cluster in sorted({*stopped}.intersection(request.done, record.decisions)):
        position, here = inventory.position(cluster), request.done[cluster]
        # Nothing stands there to which it could go back.
        if position is None or here.revision is None:
            continue
        member = inventory.clusters[position]
        # Without its own mark, which would make every object differ.
        sent = attrs.evolve(before.decisions[cluster], again=None)
        wanted = record.objects(attrs.evolve(record.decisions[cluster], again=None), member)
        keys, last = by_key(wanted), by_key(before.objects(sent, member))
        stood = by_key(before.objects(before.standing(here), member))
        # What the binding says, and what the state has of each object since: both may stand.
        recorded = _recorded(request.standing_on(cluster), keys)
        known = stood | {key: found.beside(keys[key]) for key, found in recorded}
        if _goes_back(last, stood, keys) or _goes_back(last, known, keys):
            undone.append(cluster)
    return _mark(rollout, stopped, before.decisions, undone)


def _recorded(
    standing: Iterable[Standing], wanted: Container[ObjectKey]
) -> Iterator[tuple[ObjectKey, Recorded]]:
    """Yield the objects that the state records one by one, as far as they are wanted."""
    for item in standing:
        if item.recorded and item.key in wanted:
            yield item.key, item.recorded


def _mark(
    rollout: Rollout,
    interrupted: Collection[str],
    before: Mapping[str, Placed],
    undone: Collection[str],
) -> Rollout:
    """Return the plan with marks on the members that have to be written again.

    A mark of an earlier update is kept until the member changes: removing it would be a change of
    its own.

    Args:
        rollout: the plan.
        interrupted: the members at which the last update stopped.
        before: what each member was sent by that update.
        undone: those of the interrupted members whose objects may differ from both old and new
            inputs.
    """
    entries = {
        cluster: _marked(cluster, entry, interrupted, before, undone)
        for cluster, entry in rollout.entries.items()
    }
    return attrs.evolve(rollout, entries=entries)


def _goes_back(
    sent: Mapping[ObjectKey, Data],
    stands: Mapping[ObjectKey, Data],
    wanted: Mapping[ObjectKey, Data],
) -> bool:
    """Return whether an object is wanted as it stood before an update that was about to change it.

    Args:
        sent: the objects that the last update sent.
        stands: the objects as they stand, according to the state.
        wanted: the objects that are wanted now.
    """
    return any(
        stands.get(key) == data and sent.get(key, data) != data for key, data in wanted.items()
    )


def perhaps_written(decided: Decided, cluster: str) -> Iterator[tuple[ObjectKey, Data]]:
    """Yield the objects that are written again, each in a form that a killed update may have given
    it.

    The state has them as they are wanted. That the last update was killed there is known only until
    another one begins: that drops the operations under way (pulumi/pulumi v3.260.0,
    pkg/backend/journal.go). So each form counts that was decided since the member was as decided.
    """
    placed, record = decided.record.decisions[cluster], decided.before
    position = decided.subject.inventory.position(cluster)
    if placed.again is None or position is None or cluster not in record.decisions:
        return
    member, sent = decided.subject.inventory.clusters[position], record.decisions[cluster]
    plain = attrs.evolve(placed, again=None)
    wanted = by_key(decided.record.objects(plain, member))
    # What the state has as it is wanted, though without the mark: not written since the mark.
    alike = {
        key
        for key, recorded in _recorded(decided.subject.standing_on(cluster), wanted)
        if recorded.beside(wanted[key]) is wanted[key]
        and annotation_in(recorded.sent, WRITTEN_AGAIN) != str(placed.again)
    }
    # Those that were sent last, and those that ran before.
    rules = {sent.overrides, decided.done(cluster).overrides}
    for revision, number in product(sorted(record.contents), rules):
        form = attrs.evolve(sent, again=None, revision=revision, overrides=number)
        for key, data in by_key(record.objects(form, member)).items():
            if key in alike and data != wanted[key]:
                yield key, data


def _marked(
    cluster: str,
    entry: Entry,
    interrupted: Collection[str],
    before: Mapping[str, Placed],
    undone: Collection[str],
) -> Entry:
    if entry.placed is None:
        return entry
    known = before[cluster].again if cluster in before else None
    if entry.change in (Change.ADD, Change.UPDATE):
        # A member that changes anyway needs its mark only if the last update stopped there.
        kept = known if cluster in interrupted else None
        again = _unused(known, entry.placed.revision) if cluster in undone else kept
    else:
        again = known
    if again == entry.placed.again:
        return entry
    return attrs.evolve(entry, placed=attrs.evolve(entry.placed, again=again))


def _unused(known: int | None, revision: int) -> int:
    """Return a mark that no object has: those of an earlier one may have been written with it."""
    return revision if known is None else max(revision, known + 1)


def mended(decided: Decided, past: Past, standing: Mapping[Pair, Standing]) -> Decided:
    """Return a decision that names the objects that are missing on members, and updates these
    members.

    A member that runs what it should, and one that is held, keep their place in the decision: the
    engine creates what the state does not have, and writes what it was writing when it was killed,
    in the wave of the member.

    Args:
        decided: a decision that is carried out without a hub.
        past: what was decided and what stands.
        standing: the standing objects, by member and object.
    """
    missing, broken = dict[str, tuple[ObjectKey, ...]](), dict[str, str]()
    for cluster in decided.deliveries:
        here, keys = decided.done(cluster), decided.keys(cluster)
        # Nothing was sent there yet, or nothing can be sent.
        if here.revision is None or here.lost:
            continue
        gone = _missing(decided, past, standing, cluster)
        stands = {key: standing[cluster, key] for key in keys if (cluster, key) in standing}
        absent = [*gone, *(key for key, found in stands.items() if found.gone)]
        midway = [key for key, found in stands.items() if found.interrupted]
        missing |= {cluster: gone} if gone else {}
        broken |= {cluster: _why(absent, midway)} if absent or midway else {}
    if not broken:
        return decided
    return attrs.evolve(decided, missing=missing, mends=broken).mended()


def _missing(
    decided: Decided,
    past: Past,
    standing: Mapping[Pair, Standing],
    cluster: str,
) -> tuple[ObjectKey, ...]:
    """Return the objects that a member was sent, that are wanted, and that the state does not
    have.
    """
    absent = tuple(key for key in decided.keys(cluster) if (cluster, key) not in standing)
    if not absent:
        return ()
    # What was never sent is missing for another reason: it comes with this update.
    sent = {Manifest(data).key for data in old_objects(past, decided, decided.name, cluster)}
    return tuple(key for key in absent if key in sent)


def _why(absent: Collection[ObjectKey], midway: Collection[ObjectKey]) -> str:
    objects, written = (few(sorted(map(str, keys))) for keys in (absent, midway))
    are = "is" if len(absent) == 1 else "are"
    words = [_MISSING.format(objects=objects, are=are)] if absent else []
    return "; ".join([*words, *([_INTERRUPTED.format(objects=written)] if midway else [])])
