"""The KubeFleet profile: which plug-ins, in which order."""

from __future__ import annotations

from fleet_components.scheduler.cycle import Filtered, run_filters
from fleet_components.scheduler.kubefleet.cluster_affinity import ClusterAffinity
from fleet_components.scheduler.kubefleet.cluster_eligibility import ClusterEligibility
from fleet_components.scheduler.kubefleet.namespace_affinity import NamespaceAffinity
from fleet_components.scheduler.kubefleet.state import CycleState
from fleet_components.scheduler.kubefleet.taint_toleration import TaintToleration
from fleet_components.scheduler.kubefleet.topology_spread import TopologySpread

AFFINITY = ClusterAffinity()
SPREAD = TopologySpread()
STEADY = (AFFINITY, ClusterEligibility(), NamespaceAffinity(), TaintToleration())
"""Filters whose answer no binding changes."""


def filter_members(state: CycleState) -> Filtered[CycleState]:
    """Run all filters over the whole fleet.

    Members that are selected already are left out before spread is looked at, and nothing is said of them: all that
    SamePlacementAffinity does as a filter. Its score is part of the order in which members are picked.
    """
    steady = steady_filters(state)
    spread = run_filters((SPREAD,), state, steady.passed & ~state.present)
    return Filtered(spread.passed, steady.stopped + spread.stopped)


def steady_filters(state: CycleState) -> Filtered[CycleState]:
    """The first half of the filters: the same in every cycle of a run."""
    return state.once("steady filters", lambda: run_filters(STEADY, state, state.inventory.everything))
