"""The KubeFleet profile: its plug-ins and their order.

Source of the plug-ins: KubeFleet v0.3.1, ``pkg/scheduler/framework/plugins``.
"""

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
"""Filters whose result does not depend on bindings."""


def filter_members(state: CycleState) -> Filtered[CycleState]:
    """Run all filters over the whole fleet.

    Members that are already selected are removed, without a reason, before the spread filter: this is all that
    SamePlacementAffinity does as a filter. Its score is part of the order in which members are picked.
    """
    steady = steady_filters(state)
    spread = run_filters((SPREAD,), state, steady.passed & ~state.present)
    return Filtered(spread.passed, steady.stopped + spread.stopped)


def steady_filters(state: CycleState) -> Filtered[CycleState]:
    """Run the filters that do not depend on bindings; the result is the same in every cycle of a run."""
    return state.once("steady filters", lambda: run_filters(STEADY, state, state.inventory.everything))
