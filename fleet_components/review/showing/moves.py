"""The members that move in an update, in lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.model.text import few
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change

_MOST = 20


def moves(decided: Decided) -> Iterator[str]:
    """Yield which members get which revision, by wave, and which are held with the reason."""
    entries = decided.entries
    for wave in decided.outcome.rollout.waves:
        placed = {name: entries[name].placed for name in wave.clusters}
        sent = {name: item.revision for name, item in placed.items() if item}
        for revision in sorted(set(sent.values())):
            names = few([name for name, at in sent.items() if at == revision], _MOST)
            yield f"{decided.name}: wave {wave.number}: {names} to revision {revision}"
    held: dict[str, list[str]] = {}
    for name, entry in entries.items():
        if entry.change is Change.HELD:
            held.setdefault(entry.reason, []).append(name)
    for why, names_held in held.items():
        yield f"{decided.name}: held: {few(names_held, _MOST)}: {why}"
