"""The Karmada profile: its plug-ins and their order.

Source of the plug-ins: Karmada 1.19, ``pkg/scheduler/framework/plugins``.
"""

from __future__ import annotations

from fleet_components.scheduler.framework import KARMADA, Profile
from fleet_components.systems.karmada.scheduler.cluster_affinity import (
    ClusterAffinity,
    ClusterEviction,
    ClusterLocality,
)
from fleet_components.systems.karmada.scheduler.state import (
    APIEnablement,
    SpreadConstraint,
    TaintToleration,
)

PROFILE = Profile(
    name=KARMADA,
    system="Karmada 1.19",
    # Karmada iterates over a Go map, so a real scheduler may start at any filter and count the
    # reasons differently; this is the order of its registry.
    plugins=(
        APIEnablement(),
        TaintToleration(),
        ClusterAffinity(),
        SpreadConstraint(),
        ClusterEviction(),
        ClusterLocality(),
    ),
)
