"""The vocabulary of Karmada's policies, for policies that are made in a program.

:func:`fleet_components.schedule` decides by them.
"""

from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.systems.karmada.model.policy import (
    ApplicationFailover,
    ClusterAffinity,
    ClusterAffinityTerm,
    ClusterFailover,
    Failover,
    FieldSelector,
    OverflowAffinity,
    Placement,
    PropagationPolicy,
    PropagationSpec,
    ReplicaScheduling,
    ResourceSelector,
    SpreadConstraint,
    StaticWeight,
    SuspendClusters,
    Suspension,
    Toleration,
    WeightPreference,
)

__all__ = [
    "ApplicationFailover",
    "ClusterAffinity",
    "ClusterAffinityTerm",
    "ClusterFailover",
    "Failover",
    "FieldSelector",
    "LabelSelector",
    "OverflowAffinity",
    "Placement",
    "PropagationPolicy",
    "PropagationSpec",
    "ReplicaScheduling",
    "Requirement",
    "ResourceSelector",
    "SpreadConstraint",
    "StaticWeight",
    "SuspendClusters",
    "Suspension",
    "Toleration",
    "WeightPreference",
]
