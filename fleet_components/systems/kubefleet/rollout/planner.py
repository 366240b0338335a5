"""Layout of the rollout of a whole update before it begins.

One ``pulumi up`` has no controller loop. Therefore the waves, the held clusters and the removals
must be known in advance, and after a successful update the next one must have nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.rollout.rollout import (
    Change,
    Done,
    Entry,
    Gates,
    Placed,
    Rollout,
    Wanted,
    Wave,
)
from fleet_components.rollout.situation import Layout, Situation, assess
from fleet_components.systems.kubefleet.model.placement import RollingUpdate
from fleet_components.systems.kubefleet.rollout.rolling import roll
from fleet_components.systems.kubefleet.rollout.staged import roll_staged
from fleet_components.systems.kubefleet.rollout.strategy import External


def plan_rollout(
    done: Mapping[str, Done],
    wanted: Wanted,
    strategy: RollingUpdate | External,
    previous: Mapping[str, Placed] | None = None,
    *,
    gates: Gates | None = None,
    untrackable: bool = False,
) -> Rollout:
    """Lay out an update.

    Args:
        done: what really runs, by cluster, according to the bindings.
        wanted: the intended result.
        strategy: the rollout strategy.
        previous: ``placed`` of the last update, whether it succeeded or not.
        gates: approvals and time, for staged updates.
        untrackable: whether the content has objects whose readiness cannot be determined; a rolling
            update then waits ``unavailablePeriodSeconds`` after each wave.
    """
    situation = assess(done, wanted, previous or {})
    if isinstance(strategy, External):
        layout = roll_staged(situation, strategy, gates or Gates())
    else:
        layout = roll(situation, strategy, untrackable=untrackable)
    # Nothing has to be removed from `gone`, but its records go like those of the others.
    removals = (*situation.gone, *layout.removals)
    return Rollout(
        _entries(situation, layout, removals),
        _waves(layout),
        tuple(sorted(removals)),
        tuple(c for c in situation.leaving if c in layout.held),
        layout.failure,
        layout.stages,
        layout.accepted,
        layout.finished,
    )


def _entries(situation: Situation, layout: Layout, removals: tuple[str, ...]) -> dict[str, Entry]:
    entries = {c: Entry(Change.KEEP, _stays(situation, c)) for c in situation.keeps}
    for change, clusters in ((Change.ADD, situation.adds), (Change.UPDATE, situation.updates)):
        entries |= {
            c: Entry(change, _moves(situation, layout, c)) for c in clusters if c in layout.waves
        }
    # A blocked cluster is held for that reason, even behind a closed gate.
    held = {**layout.held, **situation.blocked}
    gates = {**layout.gates, **situation.waiting}
    entries |= {
        c: Entry(Change.HELD, _stays(situation, c), why, gates.get(c)) for c, why in held.items()
    }
    entries |= dict.fromkeys(removals, Entry(Change.REMOVE, None))
    return dict(sorted(entries.items()))


def _rank(situation: Situation, cluster: str) -> int:
    """Return the rank of a cluster; one that is no longer picked keeps its rank, or comes after all
    others.
    """
    ranks, before = situation.wanted.ranks, situation.previous.get(cluster)
    return ranks.get(cluster, before.rank if before else len(ranks))


def _moves(situation: Situation, layout: Layout, cluster: str) -> Placed:
    revision, overrides = situation.wanted.version(cluster)
    return Placed(_rank(situation, cluster), layout.waves[cluster], revision, overrides=overrides)


def _stays(situation: Situation, cluster: str) -> Placed | None:
    """Return the record of what runs there already, with an unchanged wave so that no difference
    shows.
    """
    revision = situation.revision(cluster)
    if revision is None:
        return None
    before = situation.previous.get(cluster)
    wave, overrides = before.wave if before else 1, situation.done[cluster].overrides
    return Placed(_rank(situation, cluster), wave, revision, overrides=overrides)


def _waves(layout: Layout) -> tuple[Wave, ...]:
    """Return the waves that move clusters or have a wait that something follows."""
    clusters: dict[int, list[str]] = {}
    for cluster, number in sorted(layout.waves.items()):
        clusters.setdefault(number, []).append(cluster)
    last = max(clusters, default=0)
    waits = {
        n: seconds
        for n, seconds in layout.waits.items()
        if seconds and (n < last or layout.removals)
    }
    return tuple(
        Wave(number, tuple(clusters.get(number, ())), waits.get(number, 0))
        for number in sorted(clusters.keys() | waits.keys())
    )
