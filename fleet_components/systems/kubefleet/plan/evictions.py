"""Carry out the evictions of a placement: each is checked once, by name, and is then over, as on a
hub.

A hub deletes the binding of an evicted cluster at once, then schedules, and what is picked again is
created again. Here an eviction is part of the decision: a cluster that is picked again keeps what
it has, and one that is left is emptied at the end of the update, as all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from fleet_components.model.cluster import DRAINED
from fleet_components.model.inventory import Inventory
from fleet_components.model.text import few
from fleet_components.rollout.rollout import Change, Done, Placed, Rollout
from fleet_components.rollout.situation import broken_of
from fleet_components.systems.kubefleet.model.eviction import (
    BLOCKED,
    EXECUTED,
    DisruptionBudget,
    Eviction,
    Handled,
)
from fleet_components.systems.kubefleet.model.memory import UNSCHEDULED, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PICK_N, PlacementPolicy
from fleet_components.systems.kubefleet.rollout.eviction import (
    EvictableCluster,
    allowed,
    check_eviction,
)
from fleet_components.systems.kubefleet.scheduler.state import tolerated

_ONCE = "an eviction is checked once, as on a hub: under another name it is checked again"


@attrs.frozen
class EvictionCheck:
    """An eviction that this update has checked, with the state of the placement at that moment.

    Attributes:
        eviction: the eviction.
        handled: what came of it.
        held: the clusters that the placement had.
    """

    eviction: Eviction
    handled: Handled
    held: tuple[EvictableCluster, ...]


def carried_out(
    evictions: Iterable[Eviction],
    policy: PlacementPolicy | None,
    budget: DisruptionBudget | None,
    memory: PlacementMemory,
    held: Sequence[EvictableCluster],
) -> tuple[PlacementMemory, tuple[EvictionCheck, ...]]:
    """Return the memory without the bindings that are evicted, and the evictions that were checked.

    They are checked in the order of their names, and each counts what those before it have taken.
    What is no longer in the source is forgotten.

    Args:
        evictions: the evictions of the placement in the source.
        policy: its policy; None means PickAll.
        budget: its disruption budget; None if there is none.
        memory: what is remembered of it.
        held: the clusters that it has.
    """
    checks: list[EvictionCheck] = []
    handled: dict[str, Handled] = {}
    for eviction in sorted(evictions, key=lambda item: item.name):
        known = memory.evictions.get(eviction.name)
        # The same name for another cluster is another eviction.
        if known is None or known.cluster != eviction.cluster:
            known = check_eviction(eviction.cluster, policy, held, budget)
            checks.append(EvictionCheck(eviction, known, tuple(held)))
            if known.result == EXECUTED:
                memory = memory.evict(eviction.cluster)
                held = [
                    _deleted(item) if item.cluster == eviction.cluster else item for item in held
                ]
        handled[eviction.name] = known
    return attrs.evolve(memory, evictions=handled), tuple(checks)


def held_clusters(
    memory: PlacementMemory,
    done: Mapping[str, Done],
    previous: Mapping[str, Placed],
    inventory: Inventory,
    failing: Collection[str] = (),
) -> list[EvictableCluster]:
    """Return the clusters of a placement as an eviction finds them.

    Args:
        memory: what is remembered of the placement.
        done: what really runs, by cluster.
        previous: what the last update was to send.
        inventory: the members; a cluster that leaves the fleet counts as being left.
        failing: the clusters on which an override fails.
    """
    broken = broken_of(done, previous)
    runs = {cluster for cluster, here in done.items() if here.revision is not None}
    # What the last update did not get to remove is still there, though no longer remembered.
    left = runs - memory.bindings.keys()
    left |= {
        name
        for name, binding in memory.bindings.items()
        if binding.evicted or _leaves(name, inventory)
    }
    return [
        EvictableCluster(
            cluster,
            sent=cluster in runs or cluster in broken,
            available=cluster in runs and cluster not in broken and cluster not in left,
            failed=cluster in broken or cluster in failing,
            deleting=cluster in left,
        )
        for cluster in sorted(runs | memory.bindings.keys())
    ]


def outcomes_of(
    checks: Iterable[EvictionCheck],
    policy: PlacementPolicy | None,
    budget: DisruptionBudget | None,
    memory: PlacementMemory,
    rollout: Rollout,
) -> Iterator[tuple[EvictionCheck, str]]:
    """Yield the evictions that were checked, each with what comes of it, in words.

    Args:
        checks: the evictions.
        policy: the policy of the placement.
        budget: its disruption budget.
        memory: what the scheduler has decided.
        rollout: the update.
    """
    for check in checks:
        cluster, message = check.eviction.cluster, check.handled.message
        if check.handled.result != EXECUTED:
            words = f"is not evicted: {message}; {_lets_through(check, policy, budget)}{_ONCE}"
        else:
            binding = memory.bindings.get(cluster)
            again = binding is not None and binding.state != UNSCHEDULED
            words = (
                f"is evicted, {_again(policy) if again else _left(cluster, rollout)} ({message})"
            )
        yield check, f"eviction {check.eviction.name}: {cluster} {words}"


def guards_only_evictions(
    budget: DisruptionBudget, rollout: Rollout, checks: Iterable[EvictionCheck]
) -> str:
    """Return the sentence about clusters that an update takes without regard to the budget; empty
    if there are none.
    """
    evicted = {check.eviction.cluster for check in checks}
    taken = [
        cluster
        for cluster, entry in rollout.entries.items()
        if entry.change in (Change.UPDATE, Change.REMOVE) and cluster not in evicted
    ]
    if not taken:
        return ""
    return (
        f"the disruption budget ({budget}) does not count for {few(taken)}: it guards against"
        " evictions only"
    )


def _deleted(held: EvictableCluster) -> EvictableCluster:
    return attrs.evolve(held, available=False, deleting=True)


def _leaves(cluster: str, inventory: Inventory) -> bool:
    position = inventory.position(cluster)
    return position is None or inventory.clusters[position].leaving


def _again(policy: PlacementPolicy | None) -> str:
    stays = "picked again, and keeps what it has"
    if tolerated(DRAINED, policy.tolerations if policy else ()):
        return f"{stays}; no taint {DRAINED.key} keeps the placement away, which tolerates it"
    return f"{stays}; a taint on that member keeps it away: {DRAINED.written}"


def _left(cluster: str, rollout: Rollout) -> str:
    entry = rollout.entries.get(cluster)
    if entry is None or entry.change is Change.REMOVE:
        return "and left at the end of the update"
    return f"and stays for now: {entry.reason}"


def _lets_through(
    check: EvictionCheck, policy: PlacementPolicy | None, budget: DisruptionBudget | None
) -> str:
    """Return what would let the eviction through, with a separator; empty if nothing would."""
    if check.handled.result == BLOCKED:
        # Present: an eviction from a cluster that the placement does not have is invalid, not
        # blocked.
        here = next(held for held in check.held if held.cluster == check.eviction.cluster)
        if not here.sent:
            return "it can be evicted once it was delivered; "
        return f"{_room(check.held, policy, budget)}; " if budget else ""
    others = [held.cluster for held in check.held]
    return f"it is on {few(others)}; " if others else "it is nowhere yet; "


def _room(
    held: Sequence[EvictableCluster], policy: PlacementPolicy | None, budget: DisruptionBudget
) -> str:
    """Return what would make room in a budget."""
    picks_n = policy is not None and policy.placement_type == PICK_N
    if not picks_n and (
        budget.max_unavailable is not None or isinstance(budget.min_available, str)
    ):
        return "write minAvailable as a number"
    if budget.max_unavailable is None and budget.min_available is None:
        return "a budget without maxUnavailable and minAvailable lets none go"
    # How many more must be available before one may go; 0 or less if one may go already.
    available, lacking = sum(item.available for item in held), 1 - allowed(policy, held, budget)
    if budget.min_available is not None:
        return f"minAvailable: {available - 1} lets it go"
    unavailable = len(held) - available
    waits = f"; or wait until {lacking} more are available" if 0 < lacking <= unavailable else ""
    return f"maxUnavailable: {unavailable + 1} lets it go{waits}"
