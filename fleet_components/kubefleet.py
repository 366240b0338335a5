"""The vocabulary of KubeFleet's policies, for policies that are made in a program.

:func:`fleet_components.schedule` decides by them.
"""

from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.systems.kubefleet.model.placement import (
    Affinity,
    ClusterAffinity,
    ClusterSelector,
    ClusterSelectorTerm,
    PlacementPolicy,
    Preference,
    PreferredClusterSelector,
    PropertyRequirement,
    PropertySelector,
    PropertySorter,
    ResourceSelector,
    RollingUpdate,
    Toleration,
    TopologySpreadConstraint,
)

__all__ = [
    "Affinity",
    "ClusterAffinity",
    "ClusterSelector",
    "ClusterSelectorTerm",
    "LabelSelector",
    "PlacementPolicy",
    "Preference",
    "PreferredClusterSelector",
    "PropertyRequirement",
    "PropertySelector",
    "PropertySorter",
    "Requirement",
    "ResourceSelector",
    "RollingUpdate",
    "Toleration",
    "TopologySpreadConstraint",
]
