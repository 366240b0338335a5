"""Fields of Karmada's kinds that are not carried out.

Source: Karmada 1.19 with the default settings of a control plane, unless a ``KarmadaSettings`` says
otherwise.
"""

from __future__ import annotations

from fleet_components.plan.effect import Effect, Elsewhere, FieldTable, Unheeded

PROPAGATIONS = ("PropagationPolicy", "ClusterPropagationPolicy")
OVERRIDES = ("OverridePolicy", "ClusterOverridePolicy")
REBALANCER = ("WorkloadRebalancer",)
MEMBER = ("Cluster",)
_DIVIDING = "spec.placement.replicaScheduling"
_REACHED = "a member is reached by its kubeconfig"
_OBSERVED = "what a control plane makes of it stands in the taints"

ELSEWHERE: tuple[Elsewhere, ...] = (
    Elsewhere(
        kinds=PROPAGATIONS,
        field="spec.conflictResolution",
        only=("Abort",),
        argocd="what is there is overwritten; the render warns",
        flux="what is there is overwritten; the render warns",
    ),
)
"""Fields that are carried out, and that other deliveries treat otherwise."""

EFFECTS: tuple[Unheeded, ...] = (
    Unheeded(
        kinds=(*PROPAGATIONS, *OVERRIDES),
        field="spec.resourceSelectors[].labelSelector",
        beside=("name", "?*"),
        effect=Effect.NONE,
        reason="a selector with a name selects by the name alone",
        hint="take one of the two out",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.association",
        effect=Effect.NONE,
        reason="Karmada does not read it any more",
        hint="write propagateDeps: true",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.placement.clusterAffinities[].overflowAffinities[].affinityName",
        effect=Effect.NOT_NEEDED,
        reason="the API asks for it; the order counts, as in Karmada",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.placement.clusterTolerations[].value",
        beside=("operator", "Exists"),
        effect=Effect.NONE,
        reason="operator Exists tolerates every value",
        hint="take it out, or write operator: Equal",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.placement.clusterTolerations[].tolerationSeconds",
        unless="no_execute_eviction",
        effect=Effect.NONE,
        on_hub="it counts where NoExecute taints evict",
        reason="no taint drives anything from a member",
        hint="write noExecuteEviction: true in a KarmadaSettings",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field=f"{_DIVIDING}.replicaDivisionPreference",
        beside=("replicaSchedulingType", "Duplicated"),
        effect=Effect.NONE,
        reason="with replicaSchedulingType Duplicated every member gets all replicas",
        hint="take it out, or write replicaSchedulingType: Divided",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field=f"{_DIVIDING}.weightPreference.staticWeightList",
        beside=("dynamicWeight", "?*"),
        effect=Effect.NONE,
        reason="dynamicWeight counts, and no static weight does",
        hint="take one of the two out",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.placement.workloadAffinity",
        effect=Effect.REFUSED,
        on_hub="it has a say with the feature gate WorkloadAffinity",
        reason=(
            "members are chosen without regard to other workloads, as without the feature gate"
            " WorkloadAffinity"
        ),
        hint="take it out, and choose the members by clusterAffinity",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.preemption",
        unless="preemption",
        effect=Effect.NONE,
        on_hub=(
            "the policy takes over what others have, with the feature gate"
            " PropagationPolicyPreemption"
        ),
        reason=(
            "no policy takes over what another one has, as without the feature gate"
            " PropagationPolicyPreemption"
        ),
        hint="write preemption: true in a KarmadaSettings",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.schedulerName",
        effect=Effect.REFUSED,
        on_hub="that scheduler decides instead",
        reason="there is no scheduler but default-scheduler",
        hint="take it out, or write default-scheduler",
        default="default-scheduler",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.failover.application.gracePeriodSeconds",
        unless="exact",
        effect=Effect.NONE,
        on_hub="the old copy goes after that time",
        reason="the old copy stays until the object stands elsewhere, however long that takes",
        hint="write exact: true in a KarmadaSettings to have it go in time",
        default=600,
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.failover.application.statePreservation",
        effect=Effect.REFUSED,
        on_hub="values of the status are handed on with the feature gate StatefulFailoverInjection",
        reason=(
            "the status of the copy that failed is not read, as without the feature gate"
            " StatefulFailoverInjection"
        ),
        hint="take it out, if the new copy may begin without",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.failover.cluster.purgeMode",
        unless="no_execute_eviction",
        effect=Effect.NONE,
        on_hub="it counts where NoExecute taints evict",
        reason="no taint drives anything from a member",
        hint="write noExecuteEviction: true in a KarmadaSettings",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.failover.cluster.statePreservation",
        effect=Effect.REFUSED,
        on_hub="values of the status are handed on with the feature gate StatefulFailoverInjection",
        reason=(
            "the status of the copy that is left is not read, as without the feature gate"
            " StatefulFailoverInjection"
        ),
        hint="take it out, if the new copy may begin without",
    ),
    Unheeded(
        kinds=PROPAGATIONS,
        field="spec.schedulePriority",
        effect=Effect.NONE,
        on_hub=(
            "it orders the queue of the scheduler, with the feature gate PriorityBasedScheduling"
        ),
        reason="it orders the queue of Karmada's scheduler; here each object is decided for itself",
    ),
    Unheeded(
        kinds=REBALANCER,
        field="spec.ttlSecondsAfterFinished",
        effect=Effect.NONE,
        on_hub="the object is deleted after that time",
        reason=(
            "a rebalance is done once by its name, and stays in the source until it is taken out"
        ),
    ),
    Unheeded(
        kinds=REBALANCER,
        field="status",
        effect=Effect.NOT_NEEDED,
        reason="a control plane writes it; what was rebalanced here is in the state",
    ),
    Unheeded(
        kinds=("ClusterTaintPolicy",),
        field="",
        effect=Effect.REFUSED,
        on_hub="members are tainted by their conditions",
        reason="nothing watches the conditions of members",
        hint="write the taints into the Clusters",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.syncMode",
        only=("Pull",),
        effect=Effect.NONE,
        on_hub="the agent of the member fetches what it gets",
        reason="no agent fetches anything: the member has to be reached",
        hint="give a kubeconfig that reaches it",
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.syncMode",
        effect=Effect.NOT_NEEDED,
        reason="the API asks for it; Push is what happens",
    ),
    *(
        Unheeded(kinds=MEMBER, field=f"spec.{field}", effect=Effect.NOT_NEEDED, reason=_REACHED)
        for field in ("apiEndpoint", "secretRef", "impersonatorSecretRef")
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.id",
        effect=Effect.NOT_NEEDED,
        reason="it tells clusters apart on a control plane; here their names do",
    ),
    *(
        Unheeded(
            kinds=MEMBER,
            field=f"spec.{field}",
            effect=Effect.NONE,
            on_hub="the control plane reaches the member that way",
            reason=_REACHED,
            hint=f"write {instead} there",
        )
        for field, instead in (
            ("insecureSkipTLSVerification", "insecure-skip-tls-verify"),
            ("proxyURL", "proxy-url"),
            ("proxyHeader", "proxy-url"),
        )
    ),
    Unheeded(
        kinds=MEMBER,
        field="spec.resourceModels[].ranges[].max",
        effect=Effect.NOT_NEEDED,
        reason="a node of a grade counts as its lower bound, as in Karmada",
    ),
    *(
        Unheeded(kinds=MEMBER, field=f"status.{field}", effect=Effect.NOT_NEEDED, reason=_OBSERVED)
        for field in ("conditions", "remedyActions")
    ),
    *(
        Unheeded(
            kinds=MEMBER,
            field=f"status.{field}",
            effect=Effect.NOT_NEEDED,
            reason="it decides nothing, as in Karmada",
        )
        for field in ("kubernetesVersion", "nodeSummary")
    ),
    Unheeded(
        kinds=MEMBER,
        field="status.apiEnablements[].resources[].name",
        effect=Effect.NOT_NEEDED,
        reason="objects have kinds, and these are asked for",
    ),
    Unheeded(
        kinds=(*PROPAGATIONS, *OVERRIDES, *REBALANCER, *MEMBER),
        field="metadata.labels{}",
        only=("resourcetemplate.karmada.io/deletion-protected",),
        effect=Effect.NONE,
        reason=(
            "it protects objects that policies take; a policy that goes leaves what it has placed"
        ),
        hint="write it on the objects",
    ),
)

FIELDS = FieldTable(
    policies=(*PROPAGATIONS, *OVERRIDES, *REBALANCER),
    members=MEMBER,
    effects=EFFECTS,
    elsewhere=ELSEWHERE,
)
"""The table of Karmada."""
