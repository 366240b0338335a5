"""Fields of KubeFleet's kinds that are not carried out.

Source: KubeFleet v0.3.1. There is no hub and there are no agents, so nothing is reported back; the
Kubernetes provider writes the objects by server-side apply.
"""

from __future__ import annotations

from fleet_components.plan.effect import Effect, Elsewhere, FieldTable, Unheeded
from fleet_components.systems.kubefleet.model.eviction import BUDGET, EVICTION
from fleet_components.systems.kubefleet.model.override import CLUSTER_OVERRIDE, OVERRIDE

PLACEMENTS = ("ClusterResourcePlacement", "ResourcePlacement")
RUNS = ("ClusterStagedUpdateRun", "StagedUpdateRun")
STRATEGIES = ("ClusterStagedUpdateStrategy", "StagedUpdateStrategy")
APPROVALS = ("ClusterApprovalRequest", "ApprovalRequest")
EVICTIONS = (EVICTION, BUDGET)
OVERRIDES = (CLUSTER_OVERRIDE, OVERRIDE)
ENVELOPES = ("ClusterResourceEnvelope", "ResourceEnvelope")
MEMBER = ("MemberCluster",)
_OBSERVED = "times and texts of an observation decide nothing"
_OVERWRITTEN = "what is there is overwritten; the render warns"
_STEPS = (
    "one commit keeps the waves with --topology hub, with pull a commit for each does: --wave N"
)
_LATER = "is not waited: --wave N says how long to wait before the next is merged"
_APPLYING = "spec.strategy.applyStrategy"

ELSEWHERE: tuple[Elsewhere, ...] = (
    *(
        Elsewhere(
            kinds=PLACEMENTS,
            field=f"spec.strategy.rollingUpdate.{field}",
            argocd=_STEPS,
            flux=_STEPS,
        )
        for field in ("maxUnavailable", "maxSurge")
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field="spec.strategy.rollingUpdate.unavailablePeriodSeconds",
        argocd=_LATER,
        flux=_LATER,
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field=f"{_APPLYING}.type",
        only=("ReportDiff",),
        argocd="nothing of it is rendered, so that nothing is compared",
        flux="nothing of it is rendered, so that nothing is compared",
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field=f"{_APPLYING}.whenToTakeOver",
        only=("IfNoDiff", "Never"),
        argocd=_OVERWRITTEN,
        flux=_OVERWRITTEN,
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field=f"{_APPLYING}.whenToApply",
        only=("IfNotDrifted",),
        argocd="drift is undone, with --topology hub by the next sync; the render warns",
        flux="drift is undone; the render warns",
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field=f"{_APPLYING}.comparisonOption",
        argocd="what is rendered is compared, by field",
        flux="what is rendered is compared, by field",
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field=f"{_APPLYING}.serverSideApplyConfig.force",
        only=("false",),
        argocd=_OVERWRITTEN,
        flux=_OVERWRITTEN,
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field=f"{_APPLYING}.allowCoOwnership",
        only=("false",),
        argocd="owners of an object are not looked at",
        flux="owners of an object are not looked at",
    ),
    Elsewhere(
        kinds=PLACEMENTS,
        field="spec.strategy.deleteStrategy.propagationPolicy",
        only=("Abandon",),
        on_hub="v0.3.1 does not read it: what goes is deleted",
    ),
    Elsewhere(
        kinds=RUNS,
        field="spec.resourceSnapshotIndex",
        on_hub="a snapshot of the hub, which counts them itself",
    ),
    *(
        Elsewhere(kinds=STRATEGIES, field=f"spec.stages[].{field}", argocd=_STEPS, flux=_STEPS)
        for field in ("labelSelector", "sortingLabelKey", "maxConcurrency")
    ),
    *(
        Elsewhere(
            kinds=STRATEGIES,
            field=f"spec.stages[].{field}[].type",
            only=("Approval",),
            on_hub="the hub asks for it by a request of its own: fleet approve --hub",
            argocd="the render ends before it; the next one goes on once it is given",
            flux="the render ends before it; the next one goes on once it is given",
        )
        for field in ("beforeStageTasks", "afterStageTasks")
    ),
    Elsewhere(
        kinds=STRATEGIES,
        field="spec.stages[].afterStageTasks[].waitTime",
        argocd=_LATER,
        flux=_LATER,
    ),
)
"""Fields that are carried out, and that other deliveries treat otherwise."""

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
        field="spec.strategy.reportBackStrategy",
        effect=Effect.NONE,
        on_hub="statuses of objects are copied to the originals",
        reason=(
            "statuses of objects stay on the members: nothing copies them to the originals or"
            " elsewhere"
        ),
    ),
    Unheeded(
        kinds=PLACEMENTS,
        field="spec.statusReportingScope",
        effect=Effect.NONE,
        on_hub="a ClusterResourcePlacementStatus is kept in the namespace",
        reason=(
            "no status is written to a cluster: fleet status -o yaml prints the"
            " ClusterResourcePlacementStatus"
        ),
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
        on_hub="the agent of the member reports that often",
        reason="no agent runs on a member",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.deleteOptions",
        effect=Effect.NONE,
        on_hub="a member with service exports may be kept from leaving",
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
            reason=(
                "that NamespaceCollectionSucceeded is there decides, as in KubeFleet, and nothing"
                " that it says"
            ),
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

FIELDS = FieldTable(
    policies=(*PLACEMENTS, *RUNS, *STRATEGIES, *APPROVALS, *EVICTIONS, *OVERRIDES),
    protected=PLACEMENTS,
    envelopes=ENVELOPES,
    members=MEMBER,
    effects=EFFECTS,
    elsewhere=ELSEWHERE,
)
"""The table of KubeFleet."""
