"""Names that KubeFleet gives to what it keeps on a hub.

Source: ``apis/placement/v1beta1`` of KubeFleet v0.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

GROUP, MEMBERS = "placement.kubernetes-fleet.io", "cluster.kubernetes-fleet.io"
PREFIX = "kubernetes-fleet.io/"
PLACEMENT, INDEX, POLICY_INDEX = f"{PREFIX}parent-CRP", f"{PREFIX}resource-index", f"{PREFIX}policy-index"
OVERRIDE, BINDING = f"{PREFIX}parent-resource-override", f"{PREFIX}parent-resource-binding"
PART, WORK_INDEX = f"{PREFIX}subindex-of-resource-snapshot", f"{PREFIX}parent-resource-snapshot-index"
COUNT, PREVIOUS_STATE = f"{PREFIX}number-of-clusters", f"{PREFIX}previous-binding-state"


@attrs.frozen
class Scoped:
    """Kinds that belong to one kind of placement.

    Attributes:
        binding: the kind of its bindings.
        policy: the kind of its policy snapshots.
        content: the kind of its resource snapshots.
        run: the kind of its update runs.
        strategy: the kind of their strategies.
        approval: the kind of their requests for approvals.
    """

    binding: str
    policy: str
    content: str
    run: str
    strategy: str
    approval: str


PLACEMENTS: Mapping[str, Scoped] = {
    "ClusterResourcePlacement": Scoped(
        "ClusterResourceBinding",
        "ClusterSchedulingPolicySnapshot",
        "ClusterResourceSnapshot",
        "ClusterStagedUpdateRun",
        "ClusterStagedUpdateStrategy",
        "ClusterApprovalRequest",
    ),
    "ResourcePlacement": Scoped(
        "ResourceBinding",
        "SchedulingPolicySnapshot",
        "ResourceSnapshot",
        "StagedUpdateRun",
        "StagedUpdateStrategy",
        "ApprovalRequest",
    ),
}
"""The kinds that belong to each kind of placement."""
OVERRIDES = {
    "ClusterResourceOverride": "ClusterResourceOverrideSnapshot",
    "ResourceOverride": "ResourceOverrideSnapshot",
}
"""Kind of the snapshots of each kind of override."""
WORK = "Work"
EVICTION, BUDGET = "ClusterResourcePlacementEviction", "ClusterResourcePlacementDisruptionBudget"
ENVELOPES = ("ClusterResourceEnvelope", "ResourceEnvelope")
WRITTEN = (
    *PLACEMENTS,
    *OVERRIDES,
    *(kind for placement in PLACEMENTS.values() for kind in (placement.run, placement.strategy)),
    EVICTION,
    BUDGET,
)
"""Kinds of policies that users write."""
KEPT = (
    *(
        kind
        for placement in PLACEMENTS.values()
        for kind in (placement.binding, placement.policy, placement.content, placement.approval)
    ),
    *OVERRIDES.values(),
    WORK,
)
"""Kinds in which a hub remembers what it has decided."""
