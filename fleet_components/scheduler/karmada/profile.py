"""The Karmada profile: which plug-ins, in which order."""

from __future__ import annotations

from fleet_components.scheduler.cycle import Filtered, run_filters
from fleet_components.scheduler.karmada.api_enablement import APIEnablement
from fleet_components.scheduler.karmada.cluster_affinity import ClusterAffinity
from fleet_components.scheduler.karmada.cluster_eviction import ClusterEviction
from fleet_components.scheduler.karmada.cluster_locality import ClusterLocality
from fleet_components.scheduler.karmada.spread_constraint import SpreadConstraint
from fleet_components.scheduler.karmada.state import CycleState
from fleet_components.scheduler.karmada.taint_toleration import TaintToleration

FILTERS = (APIEnablement(), TaintToleration(), ClusterAffinity(), SpreadConstraint(), ClusterEviction())
"""In the order of Karmada's registry. A real scheduler starts at any of them, so its counts of reasons may differ."""
LOCALITY = ClusterLocality()


def filter_members(state: CycleState) -> Filtered[CycleState]:
    """Run all filters over the fleet; members that are leaving it are no candidates and get no reason."""
    return run_filters(FILTERS, state, state.inventory.everything & ~state.inventory.leaving)
