"""Fields of KubeFleet's kinds that are not carried out.

Source: KubeFleet v0.3.1. There is no hub and there are no agents, so nothing is reported back; the Kubernetes provider
writes the objects by server-side apply.
"""

from __future__ import annotations

from fleet_components.model.kubefleet.eviction import BUDGET, EVICTION
from fleet_components.model.kubefleet.override import CLUSTER_OVERRIDE, OVERRIDE
from fleet_components.plan.effect import Effect, Unheeded

PLACEMENTS = ("ClusterResourcePlacement", "ResourcePlacement")
RUNS = ("ClusterStagedUpdateRun", "StagedUpdateRun")
STRATEGIES = ("ClusterStagedUpdateStrategy", "StagedUpdateStrategy")
APPROVALS = ("ClusterApprovalRequest", "ApprovalRequest")
EVICTIONS = (EVICTION, BUDGET)
OVERRIDES = (CLUSTER_OVERRIDE, OVERRIDE)
ENVELOPES = ("ClusterResourceEnvelope", "ResourceEnvelope")
MEMBER = ("MemberCluster",)
_APPLY = "spec.strategy.applyStrategy"
_OBSERVED = "times and texts of an observation decide nothing"

EFFECTS: tuple[Unheeded, ...] = (
    Unheeded(
        kinds=("ResourcePlacement",),
        field="spec.resourceSelectors[].selectionScope",
        effect=Effect.NONE,
        reason="a ResourcePlacement selects in its own namespace",
        hint="take it out",
    ),
    Unheeded(
        kinds=("ClusterResourcePlacement",),
        field="spec.resourceSelectors[].selectionScope",
        beside=("kind", "!Namespace"),
        effect=Effect.NONE,
        reason="only a Namespace has anything in it",
        hint="take it out",
    ),
    Unheeded(
        kinds=(CLUSTER_OVERRIDE,),
        field="spec.clusterResourceSelectors[].selectionScope",
        effect=Effect.NONE,
        reason="an override of a Namespace reaches everything in it",
        hint="take it out",
    ),
    Unheeded(
        kinds=(CLUSTER_OVERRIDE,),
        field="spec.placement.scope",
        effect=Effect.NOT_NEEDED,
        reason="the API server takes Cluster alone, which is the default",
    ),
    Unheeded(
        kinds=(CLUSTER_OVERRIDE,),
        field="metadata.name",
        effect=Effect.NOT_NEEDED,
        reason="no object has two of them, so that none is applied before another",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.type",
        only=("ReportDiff",),
        effect=Effect.REFUSED,
        reason="the objects would be written to the members",
        hint="take the placement out: nothing here compares without writing",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.type",
        only=("ServerSideApply",),
        effect=Effect.NONE,
        reason="objects are always written by server-side apply, which overwrites fields that others have set",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.serverSideApplyConfig.force",
        effect=Effect.NOT_NEEDED,
        reason="fields that others have set are always overwritten",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.whenToTakeOver",
        effect=Effect.REFUSED,
        reason="an object that is on a member already is taken over",
        hint="take it out; what another placement or another stack has brought is never taken over",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.whenToApply",
        effect=Effect.NONE,
        reason="drift is not looked for, and stays until the object changes in the source, whatever is written here",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.comparisonOption",
        effect=Effect.NONE,
        reason="objects are not compared with those on the members",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field=f"{_APPLY}.allowCoOwnership",
        effect=Effect.NOT_NEEDED,
        reason="an object that has owners on a member is written all the same",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field="spec.strategy.deleteStrategy.propagationPolicy",
        effect=Effect.REFUSED,
        reason="the objects of a placement that goes are deleted, as by KubeFleet v0.3.1, which does not read it",
        hint="take it out; cluster-scoped objects stay unless fleet:keepClusterResources is false",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field="spec.strategy.reportBackStrategy",
        effect=Effect.NONE,
        reason="nothing reports from the members",
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field="spec.statusReportingScope",
        effect=Effect.NONE,
        reason="no status is written anywhere: plans and outputs have it",
    ),
    Unheeded(
        kinds=APPROVALS,
        field="spec",
        effect=Effect.NOT_NEEDED,
        reason="its name says which run and stage it approves",
    ),
    *(
        Unheeded(
            kinds=APPROVALS,
            field=f"status.conditions[].{field}",
            effect=Effect.NOT_NEEDED,
            reason="it is for people: an approval counts whoever gave it, and when",
        )
        for field in ("reason", "message", "lastTransitionTime", "observedGeneration")
    ),
    Unheeded(
        kinds=(*PLACEMENTS, *RUNS, EVICTION),
        field="status",
        effect=Effect.NOT_NEEDED,
        reason="a hub writes it; what was decided here is in the state",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.identity",
        effect=Effect.NOT_NEEDED,
        reason="the API asks for it; no agent of the member needs to reach a hub",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.heartbeatPeriodSeconds",
        effect=Effect.NONE,
        reason="no agent runs on a member",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.deleteOptions",
        effect=Effect.NONE,
        reason="a member that goes is not looked at for service exports",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.taints[].effect",
        effect=Effect.NOT_NEEDED,
        reason="NoSchedule is its only value",
    ),
    *(
        Unheeded(
            kinds=MEMBER,
            field=f"status.conditions[].{field}",
            effect=Effect.NOT_NEEDED,
            reason="that NamespaceCollectionSucceeded is there decides, as in KubeFleet, and nothing that it says",
        )
        for field in ("status", "reason", "message", "lastTransitionTime", "observedGeneration")
    ),
    *(
        Unheeded(kinds=MEMBER, field=field, effect=Effect.NOT_NEEDED, reason=_OBSERVED)
        for field in (
            "status.agentStatus[].conditions[].reason",
            "status.agentStatus[].conditions[].message",
            "status.agentStatus[].conditions[].observedGeneration",
            "status.properties{}.observationTime",
            "status.resourceUsage.observationTime",
        )
    ),
)
