"""One placement, decided: who is picked, which revision goes where, in which wave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import attrs

from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.model.memory import UNSCHEDULED, PlacementMemory
from fleet_components.model.placement import PICK_FIXED, PICK_N, PlacementPolicy
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.record import Objects, Record, digest
from fleet_components.rollout.plan import Done, Gates, Plan, Wanted
from fleet_components.rollout.planner import plan
from fleet_components.rollout.strategy import External, RollingUpdate
from fleet_components.scheduler.kubefleet import schedule

T = TypeVar("T")


@attrs.frozen
class Request:
    """All that a decision depends on, apart from what was decided before.

    Attributes:
        key: the placement, as ``namespace/name`` or name.
        policy: its policy; None means PickAll.
        strategy: how it rolls out.
        inventory: the fleet.
        objects: the objects that it selects, as they are to be emitted.
        namespace: the namespace of a ResourcePlacement.
        done: what really runs, by cluster.
        gates: approvals and time for staged updates.
        untrackable: the content has objects whose readiness cannot be told.
    """

    key: str
    policy: PlacementPolicy | None
    strategy: RollingUpdate | External
    inventory: Inventory
    objects: Objects
    namespace: str = ""
    done: Mapping[str, Done] = attrs.field(factory=dict)
    gates: Gates = Gates()
    untrackable: bool = False


@attrs.frozen
class Outcome:
    """What was decided.

    Attributes:
        record: what to keep.
        decision: the scheduler's decision, with the status that the real one would show.
        rollout: who moves when, and who is held.
    """

    record: Record
    decision: Decision[PlacementMemory]
    rollout: Plan


def place(request: Request, before: Record) -> Outcome:
    """Decide one placement.

    Args:
        request: what it depends on.
        before: what was decided before; the default record for a new placement.

    Raises:
        FleetError: the scheduling cycle fails, as the real one would.
    """
    decision = schedule(request.inventory, request.policy, before.memory, namespace=request.namespace)
    if decision.error:
        raise FleetError([Problem(_plain(decision.error), subject=request.key, hint=_FAILED_HINT)])
    revision = _revision(request.objects, before)
    wanted = _wanted(request, decision, revision)
    rollout = plan(
        request.done,
        wanted,
        request.strategy,
        before.decisions,
        gates=request.gates,
        untrackable=request.untrackable,
    )
    memory = decision.memory.settled(rollout.held_removals)
    record = Record(revision, rollout.placed, memory, *_kept(request, before, revision, rollout))
    return Outcome(record, decision, rollout)


_FAILED_HINT = "the whole scheduling cycle fails on it, here as on a hub, and nothing is decided"


def _plain(error: str) -> str:
    """The error without the frame that KubeFleet puts around it."""
    return error.partition("returned an error InternalError, ")[2] or error


def _revision(objects: Objects, before: Record) -> int:
    """The current revision while the content stays the same, else a new one, as KubeFleet's snapshot index."""
    return before.revision if before.holds(before.revision, objects) else max([before.revision, *before.digests]) + 1


def _kept(
    request: Request, before: Record, revision: int, rollout: Plan
) -> tuple[Mapping[int, Objects], Mapping[int, str]]:
    """The contents, and their digests, of what is sent, and of what runs and may yet be held."""
    if revision == before.revision and rollout.placed == before.decisions:
        return before.contents, before.digests  # else a run that changes nothing would still drop some
    sent = {placed.revision for placed in rollout.placed.values()}
    runs = {done.revision for done in request.done.values() if done.revision is not None}
    contents = {**before.contents, revision: request.objects}
    digests = {**before.digests, revision: digest(request.objects)}
    in_use = {revision, *sent, *runs}
    return _only(in_use, contents), _only(in_use, digests)


def _only(revisions: set[int], kept: Mapping[int, T]) -> dict[int, T]:
    return {revision: value for revision, value in kept.items() if revision in revisions}


def _wanted(request: Request, decision: Decision[PlacementMemory], revision: int) -> Wanted:
    live = {n: b for n, b in decision.memory.bindings.items() if b.state != UNSCHEDULED}
    clusters = request.inventory.clusters
    positions = {name: request.inventory.position(name) for name in live}
    return Wanted(
        ranks={name: binding.rank for name, binding in live.items()},
        revision=revision,
        target=_target(request.policy),
        labels={name: clusters[p].labels for name, p in positions.items() if p is not None},
        unscheduled=_unscheduled(decision.status, request.key, decision.memory.snapshot),
    )


def _target(policy: PlacementPolicy | None) -> int | None:
    if policy and policy.placement_type == PICK_N:
        return policy.number_of_clusters
    return len(policy.cluster_names) if policy and policy.placement_type == PICK_FIXED else None


def _unscheduled(status: Status, key: str, snapshot: int) -> str:
    fulfilled = status.condition and status.condition.status == "True"
    return "" if fulfilled else f"{key.rpartition('/')[2]}-{snapshot}"
