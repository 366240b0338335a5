"""Placements and templates as the last update has decided them, whatever the source has become
since.
"""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.model.manifest import ObjectKey, by_key
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.record import Record
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Entry, Rollout
from fleet_components.rollout.situation import broken_of

NOT_BEGUN = "the last update ended before its wave"


def last(plan: FleetPlan, decided: Decided) -> Decided | None:
    """Return a subject as the last update has decided it; None if no update has decided about it
    yet.

    Args:
        plan: the plan that starts from the state.
        decided: the subject in the plan.
    """
    # A record starts at -1; the first decision is revision 0.
    if decided.before.revision < 0:
        return None
    record = _completed(decided.before, decided.record)
    # Members that only wait are not in the last record: they are added from the new plan.
    entries = {**_entries(decided), **_waiting(plan, decided)}
    # How far each stage has come is read off the members, whatever the plan does next.
    rollout = Rollout(entries, stages=decided.outcome.rollout.stages)
    outcome = attrs.evolve(decided.outcome, record=record, rollout=rollout)
    shown = plan.past.shown.get(decided.name, {})
    subject, outcome = decided.subject.last_decided(outcome, record, shown)
    return Decided(subject, decided.before, outcome, decided.first, decided.hub)


def comes(decided: Decided, cluster: str) -> frozenset[ObjectKey]:
    """Return the objects of which a member is to get something else than what its binding says."""
    placed, done = decided.record.decisions.get(cluster), decided.done(cluster)
    position = decided.subject.inventory.position(cluster)
    if placed is None or position is None:
        return frozenset()
    member = decided.subject.inventory.clusters[position]
    standing = None if done.revision is None else decided.record.standing(done)
    # The state hides what this member has, so nothing can be compared.
    if standing and not decided.record.knows(standing):
        return frozenset()
    before = decided.record.objects(standing, member) if standing else ()
    old = by_key(before)
    new = by_key(decided.deliveries[cluster].objects)
    return frozenset(key for key, data in new.items() if old.get(key) != data)


def changed_since(plan: FleetPlan, decided: Decided) -> bool:
    """Return whether the source asks for something else than the last update has decided about."""
    before, record = decided.before, decided.record
    if before.revision < 0:
        return True
    # Sets of rules have a number each: a number that the last record lacks is a new set.
    rules = record.override_digests.keys() - before.override_digests.keys()
    return (
        bool(rules)
        # Revisions count up: the largest is the newest.
        or not before.holds(max(before.digests), _content(decided))
        or plan.asks_otherwise(decided)
    )


def _content(decided: Decided) -> Any:
    """Return the newest content in the form in which the record keeps it."""
    record = decided.record
    return record.contents.get(max(record.digests), decided.subject.content)


def _completed(before: Record[Any, Any], record: Record[Any, Any]) -> Record[Any, Any]:
    """Return the last record with what the state hides of it, as far as the new one has the
    same.
    """
    contents = {
        n: kept for n, kept in record.contents.items() if record.digests[n] == before.digests.get(n)
    }
    rules = {
        n: kept
        for n, kept in record.overrides.items()
        if record.override_digests[n] == before.override_digests.get(n)
    }
    # What the last record knows itself wins over what is derived.
    return attrs.evolve(
        before, contents={**contents, **before.contents}, overrides={**rules, **before.overrides}
    )


def _entries(decided: Decided) -> dict[str, Entry]:
    """Return what the last update did, or was to do, to each member."""
    before, done = decided.before, decided.subject.done
    broken = broken_of(done, before.decisions)
    entries = {}
    for cluster, placed in before.decisions.items():
        here = decided.done(cluster)
        if here.lost:
            entries[cluster] = Entry(
                Change.HELD, placed, "the member is marked lost, nothing is sent to it"
            )
        elif here.version == placed.version and cluster not in broken:
            now = decided.entries.get(cluster)
            # Without an update run that takes it, a member is to stay on its revision.
            waits = not decided.subject.timed or (now is not None and now.change is Change.HELD)
            held = placed.revision != before.revision and waits
            reason = now.reason if held and now else ""
            entries[cluster] = Entry(Change.HELD if held else Change.KEEP, placed, reason)
        elif cluster in broken:
            entries[cluster] = Entry(Change.ADD if here.revision is None else Change.UPDATE, placed)
        else:
            entries[cluster] = Entry(Change.HELD, placed, NOT_BEGUN)
    leaving = (
        c for c, here in done.items() if here.revision is not None and c not in before.decisions
    )
    return {**entries, **{cluster: Entry(Change.REMOVE, None) for cluster in leaving}}


def _waiting(plan: FleetPlan, decided: Decided) -> dict[str, Entry]:
    """Return the members that are held and have nothing of a subject yet: an approval is
    missing.
    """
    if changed_since(plan, decided):
        return {}
    # Members that the stack knew at the last update, and for which it decided nothing.
    known = plan.past.members.keys() - decided.before.decisions.keys()
    return {
        name: entry
        for name, entry in decided.entries.items()
        if name in known and entry.change is Change.HELD and entry.placed is None
    }
