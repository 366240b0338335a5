"""Kinds of KubeFleet with their webhooks.

No webhook checks staged updates; the contents of envelopes are checked when they are unpacked.
"""

from __future__ import annotations

from functools import cache, partial

from fleet_components.admission.declared import Declared, kinds_of
from fleet_components.admission.registry import Kind
from fleet_components.model.release import Release
from fleet_components.systems.kubefleet.admission.overlay import overlay_of
from fleet_components.systems.kubefleet.admission.webhook.defaults import default_placement
from fleet_components.systems.kubefleet.admission.webhook.disruption import validate_budget, validate_eviction
from fleet_components.systems.kubefleet.admission.webhook.overrides import validate_cluster_override, validate_override
from fleet_components.systems.kubefleet.admission.webhook.placement import validate_placement
from fleet_components.systems.kubefleet.admission.webhook.taints import validate_member_cluster

_GROUP = "placement.kubernetes-fleet.io"
_TOLERATIONS = (("spec", "policy", "tolerations"),)
_READ = "v1beta1"

DECLARED = (
    Declared(
        _GROUP,
        "ClusterResourcePlacement",
        mutate=default_placement,
        validate=partial(validate_placement, cluster_scoped=True),
        held=_TOLERATIONS,
    ),
    Declared(
        _GROUP, "ResourcePlacement", validate=partial(validate_placement, cluster_scoped=False), held=_TOLERATIONS
    ),
    Declared(_GROUP, "ClusterResourceOverride", validate=validate_cluster_override),
    Declared(_GROUP, "ResourceOverride", validate=validate_override),
    Declared("cluster.kubernetes-fleet.io", "MemberCluster", validate=validate_member_cluster, status=_READ),
    Declared(_GROUP, "ClusterResourcePlacementEviction", validate=validate_eviction),
    Declared(_GROUP, "ClusterResourcePlacementDisruptionBudget", validate=validate_budget),
    Declared(_GROUP, "ClusterStagedUpdateStrategy"),
    Declared(_GROUP, "StagedUpdateStrategy"),
    Declared(_GROUP, "ClusterStagedUpdateRun"),
    Declared(_GROUP, "StagedUpdateRun"),
    Declared(_GROUP, "ClusterApprovalRequest", status=_READ),
    Declared(_GROUP, "ApprovalRequest", status=_READ),
    Declared(_GROUP, "ClusterResourceEnvelope"),
    Declared(_GROUP, "ResourceEnvelope"),
)
"""Checked kinds, in the order in which they are listed."""


@cache
def kinds_in(release: Release) -> tuple[Kind, ...]:
    """Return the checked kinds of a release, in all their versions."""
    return kinds_of(DECLARED, overlay_of(release))
