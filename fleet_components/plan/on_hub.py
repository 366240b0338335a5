"""Decisions as a hub carries them out on members where what it has sent has failed, or where a change of it will."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from fleet_components.plan.departures import Replacement
from fleet_components.plan.subject import Decided
from fleet_components.plan.unapplied import Unapplied
from fleet_components.rollout.rollout import Change, Entry

_STANDING = (Change.KEEP, Change.UPDATE)


def with_unapplied(decided: Decided, replaced: Sequence[Replacement]) -> Decided:
    """Return a decision that a hub carries out, with the members on which it cannot.

    Args:
        decided: the decision.
        replaced: those of its objects that would have to be made anew, which a hub does not do.
    """
    entries = decided.entries
    found = {name: one for name, one in _unapplied(decided, replaced) if entries[name].change in _STANDING}
    if not found:
        return decided
    told = {name: _told(entry, found[name]) if name in found else entry for name, entry in entries.items()}
    outcome = decided.outcome
    rollout = attrs.evolve(outcome.rollout, entries=told)
    return attrs.evolve(decided, outcome=attrs.evolve(outcome, rollout=rollout, unapplied=found))


def _unapplied(decided: Decided, replaced: Sequence[Replacement]) -> Iterator[tuple[str, Unapplied]]:
    """Yield the members; what was observed of one comes last, as nothing is known of what stands there."""
    fields = {(one.cluster, one.key): one.refused for one in replaced if one.refused}
    for cluster in sorted({cluster for cluster, _ in fields} & decided.entries.keys()):
        mine = [f"{', '.join(names)} of {key}" for (where, key), names in sorted(fields.items()) if where == cluster]
        yield cluster, Unapplied(True, f"{' and '.join(mine)} cannot be changed in place")
    for cluster in decided.entries:
        here = decided.done(cluster)
        if (here.broken or here.trouble) and not here.lost:
            yield cluster, Unapplied(False, here.trouble)


def _told(entry: Entry, why: Unapplied) -> Entry:
    changed = entry.change is Change.UPDATE and not why.foreseen
    return attrs.evolve(entry, reason=why.retried if changed else why.on("there"))
