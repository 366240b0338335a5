"""The Karmada profile: its plug-ins and their order.

Source of the plug-ins: Karmada 1.19, ``pkg/scheduler/framework/plugins``.
"""

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
"""Filters in the order of Karmada's registry.

Karmada iterates over a Go map, so a real scheduler may start at any of them and count the reasons differently.
"""
LOCALITY = ClusterLocality()


def filter_members(state: CycleState) -> Filtered[CycleState]:
    """Run all filters over the fleet; members that are leaving it are not candidates and get no reason."""
    return run_filters(FILTERS, state, state.inventory.everything & ~state.inventory.leaving)
