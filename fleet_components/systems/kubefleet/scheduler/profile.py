"""The KubeFleet profile: its plug-ins and their order.

Source of the plug-ins: KubeFleet v0.3.1, ``pkg/scheduler/framework/plugins``; of their order,
``pkg/scheduler/profile/profile.go``; of the parts of a score, ``pkg/scheduler/framework/score.go``.
"""

from __future__ import annotations

from fleet_components.scheduler.framework import AFFINITY, KUBEFLEET, Profile
from fleet_components.systems.kubefleet.scheduler.cluster_affinity import ClusterAffinity
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import (
    SPREAD,
    ClusterEligibility,
    TopologySpread,
)
from fleet_components.systems.kubefleet.scheduler.state import (
    OBSOLETE,
    NamespaceAffinity,
    SamePlacementAffinity,
    TaintToleration,
)

PROFILE = Profile(
    name=KUBEFLEET,
    system="KubeFleet v0.3.1",
    plugins=(
        ClusterAffinity(),
        ClusterEligibility(),
        NamespaceAffinity(),
        TaintToleration(),
        # Behind the filters above: a member that is picked already and fails one of them counts as
        # filtered, as in KubeFleet, and takes a slot of the decisions.
        SamePlacementAffinity(),
        TopologySpread(),
    ),
    parts=(SPREAD, AFFINITY, OBSOLETE),
)
