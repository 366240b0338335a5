"""Changes that an earlier decision of a placement may make to the next: KubeFleet keeps what it has
picked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet_components.model import mask as masks
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.text import few
from fleet_components.scheduler.cycle import run_filters
from fleet_components.scheduler.framework import SchedulingError
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
)
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import eligible
from fleet_components.systems.kubefleet.scheduler.profile import PROFILE
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

if TYPE_CHECKING:
    from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
    from fleet_components.systems.kubefleet.plan.subject import PlacementSubject

_EVERYWHERE = PlacementPolicy(PICK_ALL)
_HARD = "DoNotSchedule"


def sticky(request: PlacementSubject, outcome: PlacementOutcome) -> str:
    """Return in words which other members an earlier decision could lead to; empty if it could lead
    to none.
    """
    policy, inventory = request.policy or _EVERYWHERE, request.inventory
    members = inventory.everything & ~inventory.leaving
    if not members:
        return ""  # nothing stays on a member that is leaving, or is none
    others = (
        f"with --state others than {few(sorted(outcome.decision.memory.selected)) or 'none'} may"
        " have it"
    )
    if request.plugins:
        return f"plug-ins may look at what was picked before: {others}"
    if policy.placement_type == PICK_FIXED:
        if not policy.cluster_names:
            return f"PickFixed without names changes nothing: {others}"
        kept = inventory.mask_of_names(policy.cluster_names) & members & ~eligible(inventory)
        return _staying("PickFixed", inventory, kept)
    try:
        passed = _passing(request, policy)
    except SchedulingError:
        return f"it cannot be picked for anew, and stays where it is: {others}"
    if policy.placement_type != PICK_N:
        return _staying("PickAll", inventory, members & ~passed)
    wanted = policy.number_of_clusters or 0
    hard = any(
        constraint.when_unsatisfiable == _HARD for constraint in policy.topology_spread_constraints
    )
    # Nobody, or everybody, is picked then, whoever was picked before.
    if not wanted or (members == passed and wanted >= members.bit_count() and not hard):
        return ""
    return f"PickN {wanted} keeps members that it has picked: {others}"


def _passing(request: PlacementSubject, policy: PlacementPolicy) -> Mask:
    """Return the members that the filters let pass when nothing was picked before."""
    state = KubeFleetState(request.inventory, policy, request.namespace)
    return run_filters(PROFILE, state, request.inventory.everything).passed


def _staying(kind: str, inventory: Inventory, kept: Mask) -> str:
    names = [inventory.names[position] for position in masks.positions(kept)]
    return (
        f"{kind} keeps members that it could not pick now: with --state {few(names)} may have it"
        if names
        else ""
    )
