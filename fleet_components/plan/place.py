"""One placement, decided: who is picked, which revision goes where, in which wave."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.model.memory import UNSCHEDULED, PlacementMemory
from fleet_components.model.placement import PlacementPolicy, RollingUpdate
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.record import Objects, Record
from fleet_components.rollout.plan import Done, Gates, Plan, Wanted
from fleet_components.rollout.planner import plan
from fleet_components.rollout.read import target_of
from fleet_components.rollout.strategy import External
from fleet_components.scheduler.kubefleet import schedule


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
    revision = before.next_revision(request.objects)
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
    contents = before.in_use(revision, request.objects, rollout.placed, request.done.values())
    record = Record(revision, rollout.placed, memory, *contents)
    return Outcome(record, decision, rollout)


_FAILED_HINT = "the whole scheduling cycle fails on it, here as on a hub, and nothing is decided"


def _plain(error: str) -> str:
    """The error without the frame that KubeFleet puts around it."""
    return error.partition("returned an error InternalError, ")[2] or error


def _wanted(request: Request, decision: Decision[PlacementMemory], revision: int) -> Wanted:
    live = {n: b for n, b in decision.memory.bindings.items() if b.state != UNSCHEDULED}
    clusters = request.inventory.clusters
    positions = {name: request.inventory.position(name) for name in live}
    return Wanted(
        ranks={name: binding.rank for name, binding in live.items()},
        revision=revision,
        target=target_of(request.policy),
        labels={name: clusters[p].labels for name, p in positions.items() if p is not None},
        unscheduled=_unscheduled(decision.status, request.key, decision.memory.snapshot),
    )


def _unscheduled(status: Status, key: str, snapshot: int) -> str:
    fulfilled = status.condition and status.condition.status == "True"
    return "" if fulfilled else f"{key.rpartition('/')[2]}-{snapshot}"
