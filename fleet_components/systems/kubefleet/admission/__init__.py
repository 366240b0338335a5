"""Kinds of KubeFleet, as its CustomResourceDefinitions and webhooks declare and check them."""

from __future__ import annotations

from fleet_components.systems.kubefleet.admission.kinds import DECLARED, kinds_in

__all__ = ["DECLARED", "MADE_BY_SYSTEM", "kinds_in"]

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
