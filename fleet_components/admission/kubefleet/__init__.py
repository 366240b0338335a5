"""Kinds of KubeFleet v0.3.1, as its CustomResourceDefinitions and webhooks declare and check them."""

from __future__ import annotations

from fleet_components.admission.kubefleet.kinds import DECLARED, KINDS

__all__ = ["DECLARED", "KINDS", "MADE_BY_SYSTEM"]

MADE_BY_SYSTEM = {
    "placement.kubernetes-fleet.io": (
        "AppliedWork",
        "ClusterResourceBinding",
        "ClusterResourceOverrideSnapshot",
        "ClusterResourcePlacementStatus",
        "ClusterResourceSnapshot",
        "ClusterSchedulingPolicySnapshot",
        "ResourceBinding",
        "ResourceOverrideSnapshot",
        "ResourceSnapshot",
        "SchedulingPolicySnapshot",
        "Work",
    ),
    "cluster.kubernetes-fleet.io": ("InternalMemberCluster",),
}
"""Kinds that KubeFleet itself writes, by group; they are known and admitted unchanged."""
