"""A plan in words: who moves in which wave, who waits, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet_components.model.text import count, few
from fleet_components.rollout.plan import Change, Plan, Wave

_SHOWN = 10


def describe(plan: Plan) -> tuple[str, ...]:
    """Say what an update will do, a sentence a line, in the order in which it happens."""
    rows = [*_failure(plan), *(_wave(plan, wave) for wave in plan.waves), *_removals(plan), *_held(plan)]
    return tuple(rows) or (f"nothing to do: {count(len(plan.placed), 'cluster')} as wanted",)


def _failure(plan: Plan) -> Sequence[str]:
    return [f"the update run does not begin: {plan.failure}"] if plan.failure else []


def _wave(plan: Plan, wave: Wave) -> str:
    does = []
    for change in (Change.UPDATE, Change.ADD):
        clusters = [c for c in wave.clusters if plan.entries[c].change is change]
        if clusters:
            does.append(f"{change} {few(clusters, _SHOWN)} ({_revisions(plan, clusters)})")
    if wave.wait_seconds:
        does.append(f"wait {wave.wait_seconds} s")
    return f"wave {wave.number}: {', then '.join(does)}"


def _removals(plan: Plan) -> Sequence[str]:
    reasons: dict[str, list[str]] = {}
    for cluster in plan.removals:
        reasons.setdefault(plan.entries[cluster].reason, []).append(cluster)
    return [
        f"at the end: remove {few(clusters, _SHOWN)}" + (f": {why}" if why else "") for why, clusters in reasons.items()
    ]


def _held(plan: Plan) -> Iterable[str]:
    """Clusters that are held for the same reason and keep the same share a line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for cluster, why in plan.held.items():
        groups.setdefault((_keeps(plan, cluster), why), []).append(cluster)
    return (f"held: {few(clusters, _SHOWN)} {keeps}: {why}" for (keeps, why), clusters in groups.items())


def _keeps(plan: Plan, cluster: str) -> str:
    placed = plan.entries[cluster].placed
    if placed is None:
        return "not added"
    return f"not {'removed' if cluster in plan.held_removals else 'updated'} (keep revision {placed.revision})"


def _revisions(plan: Plan, clusters: Iterable[str]) -> str:
    revisions = sorted({placed.revision for c in clusters if (placed := plan.entries[c].placed)})
    return "revision " + ", ".join(map(str, revisions))
