"""Outcome of a hub on members: its last forecast, and decisions where an object fails, or will
fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.secret import SecretPatch, secret_patches
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.plan.departures import Replacement
from fleet_components.plan.own_outputs import ALL
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record, particulars
from fleet_components.plan.standing import Standing
from fleet_components.plan.subject import Decided
from fleet_components.plan.unapplied import Unapplied
from fleet_components.rollout.rollout import Change, Done, Entry

_STANDING = (Change.KEEP, Change.UPDATE)


def with_unapplied(decided: Decided, replaced: Sequence[Replacement]) -> Decided:
    """Return a decision that a hub carries out, with the members on which it cannot.

    Args:
        decided: the decision.
        replaced: those of its objects that would have to be recreated, which a hub does not do.
    """
    entries = decided.entries
    found = {
        name: unapplied
        for name, unapplied in _unapplied(decided, replaced)
        if entries[name].change in _STANDING
    }
    if not found:
        return decided
    updated = {
        name: _unapplied_entry(entry, found[name]) if name in found else entry
        for name, entry in entries.items()
    }
    outcome = decided.outcome
    rollout = attrs.evolve(outcome.rollout, entries=updated)
    return attrs.evolve(decided, outcome=attrs.evolve(outcome, rollout=rollout, unapplied=found))


def _unapplied(
    decided: Decided, replaced: Sequence[Replacement]
) -> Iterator[tuple[str, Unapplied]]:
    """Yield the members; what was observed of one comes last, as nothing is known of what stands
    there.
    """
    fields = {
        (replacement.cluster, replacement.key): replacement.refused
        for replacement in replaced
        if replacement.refused
    }
    for cluster in sorted({cluster for cluster, _ in fields} & decided.entries.keys()):
        mine = [
            f"{', '.join(names)} of {key}"
            for (where, key), names in sorted(fields.items())
            if where == cluster
        ]
        yield cluster, Unapplied(True, f"{' and '.join(mine)} cannot be changed in place")
    for cluster in decided.entries:
        here = decided.done(cluster)
        if (here.broken or here.trouble) and not here.lost:
            yield cluster, Unapplied(False, here.trouble)


def _unapplied_entry(entry: Entry, why: Unapplied) -> Entry:
    changed = entry.change is Change.UPDATE and not why.foreseen
    return attrs.evolve(entry, reason=why.retried if changed else why.on("there"))


def as_carried_out(past: Past, members: Mapping[str, Cluster]) -> Past:
    """Return the past in which a hub has carried out the last forecast of each subject that goes
    through it.

    Args:
        members: the members by name: what stands on one depends on its labels.
    """
    # What was observed of a hub is known better than by its forecast.
    names_of_hub = [
        name for name in past.forecast if name in past.records and name not in past.observed
    ]
    done, standing = dict(past.done), list(past.standing)
    for name in names_of_hub:
        record, shown = past.records[name], past.shown[name]
        # The bindings of a direct run before this one say what it has left there.
        done[name] = {
            **{
                cluster: Done(placed.revision, **particulars(placed))
                for cluster, placed in record.decisions.items()
            },
            **past.done.get(name, {}),
        }
        for cluster, placed in record.decisions.items() if not shown.get("reports") else ():
            # Of a member that is not declared any more, only the name is known.
            objects = record.objects(placed, members.get(cluster) or Cluster(cluster))
            standing += (
                Standing(
                    name,
                    cluster,
                    manifest.key,
                    manifest.api_version,
                    kept=shown.get("keeps") == ALL,
                    hub=True,
                )
                for manifest in map(Manifest, objects)
            )
    return attrs.evolve(past, done=done, standing=tuple(standing)) if names_of_hub else past


# Values of override rules that reach a Secret somewhere in the fleet are secret in every object
# that gets them.


def sealed(subjects: tuple[Decided, ...], past: Past) -> tuple[tuple[Decided, ...], Past]:
    """Return the subjects and the past with the secret patches in each of their records."""
    records = [
        record
        for decided in subjects
        for record in (decided.before, decided.record, decided.outcome.goal)
    ]
    # Of the whole fleet: a rule for a Secret in one subject may reach others as well.
    secret = frozenset(_secret((*records, *past.records.values())))
    if not secret:
        return subjects, past
    known = {name: attrs.evolve(record, secret=secret) for name, record in past.records.items()}
    past = attrs.evolve(past, records=known)
    return tuple(_sealed(decided, secret) for decided in subjects), past


def _secret(records: Iterable[Record[Any, Any]]) -> Iterator[SecretPatch]:
    for record in records:
        for rules in record.overrides.values():
            for rule in rules:
                yield from secret_patches(rule)


def _sealed(decided: Decided, secret: frozenset[SecretPatch]) -> Decided:
    outcome = attrs.evolve(
        decided.outcome,
        record=attrs.evolve(decided.record, secret=secret),
        goal=attrs.evolve(decided.outcome.goal, secret=secret),
    )
    return attrs.evolve(
        decided, outcome=outcome, before=attrs.evolve(decided.before, secret=secret)
    )
