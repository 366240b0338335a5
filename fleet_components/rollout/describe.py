"""Description of a rollout for readers: which clusters move in which wave, which are held, and
why.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from fleet_components.model.text import count, few
from fleet_components.rollout.rollout import Change, Rollout, StageProgress, Wave

K = TypeVar("K", bound=Hashable)
_SHOWN = 10


def describe(plan: Rollout, reasons: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Describe what an update will do, one sentence per line, in the order in which it happens.

    Args:
        plan: the update.
        reasons: why a cluster gets its content or has to be left, for clusters to which the update
            gives no reason.
    """
    why = {c: str(entry.reason) or (reasons or {}).get(c, "") for c, entry in plan.entries.items()}
    waves = (row for wave in plan.waves for row in _wave(plan, wave, why))
    rows = [*_failure(plan), *waves, *_removals(plan, why), *_held(plan)]
    return tuple(rows) or (f"nothing to do: {count(len(plan.placed), 'cluster')} as wanted",)


def describe_stages(stages: Iterable[StageProgress]) -> Iterator[str]:
    """Yield a line for each stage of an update run: its clusters in order, how far they are, and
    what it waits for.
    """
    for stage in stages:
        if not stage.parts:
            yield (
                f"stage {stage.name}: skipped with its tasks, as none of the picked members is"
                " in it"
            )
            continue
        order = ", then ".join(few(part, _SHOWN) for part in stage.parts)
        clusters = [cluster for part in stage.parts for cluster in part]
        states = ((stage.done, "done"), (stage.moves, "now"))
        state = [
            which if len(part) == len(clusters) else f"{few(part, _SHOWN)} {which}"
            for part, which in states
            if part
        ]
        # A stage whose clusters are all done has passed its gate; only the gate behind it counts.
        before = "" if len(stage.done) == len(clusters) else stage.before
        waits = [f"waits: {before}"] if before else [f"then {stage.after}"] if stage.after else []
        yield f"stage {stage.name}: {'; '.join([order, *state, *waits])}"


def _failure(plan: Rollout) -> Sequence[str]:
    return [f"the update run does not begin: {plan.failure}"] if plan.failure else []


def _wave(plan: Rollout, wave: Wave, why: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of one wave; clusters with the same change and reason share a line."""
    moves = (Change.UPDATE, Change.ADD)
    moving = [cluster for cluster in wave.clusters if plan.entries[cluster].change in moves]
    # Updates before additions. The sort is stable, so each of the two stays in the order of names.
    moving.sort(key=lambda cluster: moves.index(plan.entries[cluster].change))
    for (change, reason), clusters in _alike(moving, lambda c: (plan.entries[c].change, why[c])):
        does = f"{change} {few(clusters, _SHOWN)} ({_revisions(plan, clusters)})"
        yield f"wave {wave.number}: {_because(does, reason)}"
    if wave.wait_seconds:
        yield f"wave {wave.number}: then wait {wave.wait_seconds} s"


def _removals(plan: Rollout, why: Mapping[str, str]) -> Iterator[str]:
    for reason, clusters in _alike(plan.removals, lambda c: why[c]):
        yield f"at the end: {_because(f'remove {few(clusters, _SHOWN)}', reason)}"


def _because(does: str, reason: str) -> str:
    return f"{does}: {reason}" if reason else does


def _alike(clusters: Iterable[str], key: Callable[[str], K]) -> Iterable[tuple[K, list[str]]]:
    """Group the clusters by key; each group is at the position of its first cluster."""
    groups: dict[K, list[str]] = {}
    for cluster in clusters:
        groups.setdefault(key(cluster), []).append(cluster)
    return groups.items()


def _held(plan: Rollout) -> Iterator[str]:
    for (keeps, reason), clusters in _alike(plan.held, lambda c: (_keeps(plan, c), plan.held[c])):
        yield f"held: {few(clusters, _SHOWN)} {keeps}: {reason}"


def _keeps(plan: Rollout, cluster: str) -> str:
    placed = plan.entries[cluster].placed
    if placed is None:
        return "not added"
    return (
        f"not {'removed' if cluster in plan.held_removals else 'updated'} (keep revision"
        f" {placed.revision})"
    )


def _revisions(plan: Rollout, clusters: Iterable[str]) -> str:
    revisions = sorted({placed.revision for c in clusters if (placed := plan.entries[c].placed)})
    return "revision " + ", ".join(map(str, revisions))
