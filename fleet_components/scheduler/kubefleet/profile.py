"""The KubeFleet profile: which plug-ins, in which order."""

from __future__ import annotations

from fleet_components.model.mask import Mask
from fleet_components.scheduler.cycle import Filtered, run_filters
from fleet_components.scheduler.kubefleet.cluster_affinity import ClusterAffinity
from fleet_components.scheduler.kubefleet.cluster_eligibility import ClusterEligibility
from fleet_components.scheduler.kubefleet.namespace_affinity import NamespaceAffinity
from fleet_components.scheduler.kubefleet.same_placement import SamePlacementAffinity
from fleet_components.scheduler.kubefleet.state import CycleState
from fleet_components.scheduler.kubefleet.taint_toleration import TaintToleration
from fleet_components.scheduler.kubefleet.topology_spread import TopologySpread

AFFINITY = ClusterAffinity()
SPREAD = TopologySpread()
STEADY = (AFFINITY, ClusterEligibility(), NamespaceAffinity(), TaintToleration())
"""Filters whose answer no binding changes."""
BINDING_AWARE = (SamePlacementAffinity(), SPREAD)
"""Filters that look at the bindings of this cycle."""
SILENT = SamePlacementAffinity.name
"""Members that this filter stops are neither scored nor explained by the real scheduler."""


def filter_members(state: CycleState) -> Filtered[CycleState]:
    """Run all filters over the whole fleet."""
    steady = steady_filters(state)
    aware = run_filters(BINDING_AWARE, state, steady.passed)
    return Filtered(aware.passed, steady.stopped + aware.stopped)


def steady_filters(state: CycleState) -> Filtered[CycleState]:
    """The first half of the filters: the same in every cycle of a run."""
    return state.once("steady filters", lambda: run_filters(STEADY, state, state.inventory.everything))


def explained_filters(filtered: Filtered[CycleState]) -> Mask:
    """The members that a filter stopped with a reason."""
    stopped = 0
    for plugin, mask in filtered.stopped:
        if plugin.name != SILENT:
            stopped |= mask
    return stopped
