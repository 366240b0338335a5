"""One run of the KubeFleet scheduler for one placement."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.model.typed import TRUSTED
from fleet_components.scheduler.framework import Plugin, SchedulingError
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PICK_ALL, PlacementPolicy
from fleet_components.systems.kubefleet.scheduler.pick import pick
from fleet_components.systems.kubefleet.scheduler.profile import PROFILE
from fleet_components.systems.kubefleet.scheduler.state import Bindings, KubeFleetState

_EVERYWHERE = PlacementPolicy(PICK_ALL)


def schedule(
    inventory: Inventory,
    policy: PlacementPolicy | None,
    memory: PlacementMemory = PlacementMemory(),
    *,
    namespace: str = "",
    plugins: Iterable[Plugin] = (),
) -> Decision[PlacementMemory]:
    """Decide which members a placement goes to, exactly as KubeFleet v0.3.1 does.

    Args:
        inventory: the fleet.
        policy: the policy; None means PickAll.
        memory: the past decision; the default is that of a new placement.
        namespace: the namespace of a ResourcePlacement; empty for a ClusterResourcePlacement.
        plugins: plug-ins after those of KubeFleet. With any, the decision is no longer KubeFleet's.

    Returns:
        The decision. If a cycle fails, its ``error`` is set. The bindings are then as before that
        cycle, except that those of members that have left are unscheduled; the status is empty.
    """
    profile = PROFILE.extended(plugins)
    if not namespace:
        policy = policy or _EVERYWHERE  # the mutating webhook does this for cluster-scoped ones
    # Only with the last policy: going back to an earlier one makes a new snapshot in KubeFleet too.
    new_snapshot = memory.snapshot < 0 or without_number(policy) != without_number(memory.policy)
    snapshot = memory.snapshot + 1 if new_snapshot else memory.snapshot
    bindings = Bindings(memory.bindings, snapshot, inventory)
    error, status = "", None
    try:
        status = pick(
            profile, KubeFleetState(inventory, policy or _EVERYWHERE, namespace), bindings
        )
    except SchedulingError as failure:
        error = str(failure)
    remembered = attrs.evolve(
        memory, snapshot=snapshot, policy=policy, bindings=dict(sorted(bindings.by_name.items()))
    )
    return Decision(remembered, status or Status(), error)


@TRUSTED
def without_number(policy: PlacementPolicy | None) -> PlacementPolicy | None:
    """Return what makes a new policy snapshot: KubeFleet updates the existing one if only the
    number changes.
    """
    return policy and attrs.evolve(policy, number_of_clusters=None)
