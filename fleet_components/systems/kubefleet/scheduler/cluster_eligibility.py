"""ClusterEligibility: the member must be in the fleet, connected, joined, and not unhealthy for
long.

Source: KubeFleet v0.3.1, ``pkg/scheduler/clustereligibilitychecker/checker.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

_PATIENCE = 5
_NEVER = (2**63 - 1) / 6e10
"""Largest duration that Go can represent, in minutes: what KubeFleet computes for a time that is
missing.
"""
_UNCONNECTED = "cluster is not connected to the fleet: "


class ClusterEligibility(Filter[KubeFleetState]):
    """Filter that rejects members that cannot take objects at the inventory's ``as_of``."""

    name = "ClusterEligibility"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the eligible candidates."""
        return candidates & eligible(state.inventory)

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return why the member is not eligible."""
        return ineligibility(state.inventory.clusters[position], state.inventory.as_of)

    def remedy(self, state: KubeFleetState, position: int) -> str:
        """Return what would make the member eligible."""
        cluster = state.inventory.clusters[position]
        return (
            "it is leaving the fleet for good"
            if cluster.leaving
            else "its member agent reports again, healthy"
        )


def eligible(inventory: Inventory) -> Mask:
    """Return the members that are eligible for resource placement."""
    return inventory.column("kubefleet eligible", lambda: _eligible(inventory))


def _eligible(inventory: Inventory) -> Mask:
    as_of = inventory.as_of
    return masks.from_flags(
        bytes(not ineligibility(cluster, as_of) for cluster in inventory.clusters)
    )


def ineligibility(cluster: Cluster, as_of: datetime | None) -> str:
    """Return why a member is not eligible, in KubeFleet's words; empty if it is. Without ``as_of``
    nothing expires.
    """
    if cluster.leaving:
        return "cluster has left the fleet"
    agent = cluster.agent
    if agent is None:
        return _UNCONNECTED + "member agent not online yet"
    # A declared member has no agent that could send heartbeats, and must not count as silent.
    awaits = cluster.observed and not agent.timeless
    if as_of and awaits and (ago := _minutes(agent.heartbeat, as_of)) > _PATIENCE:
        return _UNCONNECTED + f"no recent heartbeat signals (last received {ago:.2f} minutes ago)"
    if not agent.joined:
        return _UNCONNECTED + "member agent not joined yet"
    if agent.healthy is None:
        return _UNCONNECTED + "health condition from member agent is not available"
    if as_of and not agent.healthy and (ago := _minutes(agent.health_since, as_of)) > _PATIENCE:
        return (
            _UNCONNECTED
            + f"unhealthy for a prolonged period of time (last transitioned {ago:.2f} minutes ago)"
        )
    return ""


def _minutes(since: datetime | None, as_of: datetime) -> float:
    return _NEVER if since is None else min((as_of - since) / timedelta(minutes=1), _NEVER)
