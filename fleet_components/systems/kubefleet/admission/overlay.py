"""Notes on the fields of KubeFleet's kinds: what its definitions do not say.

The data files are of the newest release that is known; what older ones have instead is here, by
rule.

Source of the Go types and of the order of their fields: KubeFleet v0.3.1, ``apis/placement`` and
``apis/cluster``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from fleet_components.admission.definitions import Overlay, without
from fleet_components.model.release import Release
from fleet_components.systems.kubefleet.admission.rules import (
    HINTS,
    RULES,
    SCHEMA_RULES,
    SINGLE_SELECTOR_RULES,
)
from fleet_components.systems.kubefleet.model.release import Rule

_CLUSTER_LABELS = {"matchLabels": {"env": "prod"}}
_PATCH = {"op": "add", "path": "/metadata/labels/tier", "value": "gold"}

_EXAMPLES = {
    # Selectors
    "labelSelector": _CLUSTER_LABELS,
    "labelSelector.matchLabels": {"env": "prod"},
    "labelSelector.matchExpressions[].key": "env",
    "labelSelector.matchExpressions[].operator": "In",
    "labelSelector.matchExpressions[].values": ["prod"],
    "propertySelector.matchExpressions[].name": "kubernetes-fleet.io/node-count",
    "propertySelector.matchExpressions[].operator": "Ge",
    "propertySelector.matchExpressions[].values": ["5"],
    "propertySorter.name": "kubernetes-fleet.io/node-count",
    "clusterSelectorTerms[]": {"labelSelector": _CLUSTER_LABELS},
    "preference": {"labelSelector": _CLUSTER_LABELS},
    "preferredDuringSchedulingIgnoredDuringExecution[].weight": 20,
    # Placements
    "ResourcePlacement.spec.policy": {"placementType": "PickAll"},
    "policy.clusterNames": ["member-1"],
    "policy.numberOfClusters": 3,
    "topologySpreadConstraints[]": {"topologyKey": "region", "maxSkew": 1},
    "topologySpreadConstraints[].topologyKey": "region",
    "tolerations[]": {
        "key": "dedicated",
        "operator": "Equal",
        "value": "gpu",
        "effect": "NoSchedule",
    },
    "tolerations[].key": "dedicated",
    "tolerations[].value": "gpu",
    # Selected objects
    "ResourcePlacement.spec.resourceSelectors[]": {
        "group": "",
        "version": "v1",
        "kind": "Namespace",
        "name": "my-app",
    },
    "clusterResourceSelectors[]": {
        "group": "",
        "version": "v1",
        "kind": "Namespace",
        "name": "my-app",
    },
    **{
        f"{selectors}[].{field}": example
        for selectors in ("resourceSelectors", "clusterResourceSelectors")
        for field, example in {
            "group": "",
            "version": "v1",
            "kind": "Namespace",
            "name": "my-app",
        }.items()
    },
    "ResourceEnvelope.data": {
        "quota.yaml": {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota"}}
    },
    # Overrides
    "ResourceOverride.spec.placement.name": "my-placement",
    "overrideRules[]": {
        "clusterSelector": {"clusterSelectorTerms": []},
        "jsonPatchOverrides": [_PATCH],
    },
    "jsonPatchOverrides[]": _PATCH,
    "jsonPatchOverrides[].path": _PATCH["path"],
    # Disruption
    "spec.placementName": "my-placement",
    "ResourcePlacementEviction.spec.clusterName": "member-1",
    "spec.maxUnavailable": 1,
    "spec.minAvailable": 1,
    # Staged updates
    "spec.stagedRolloutStrategyName": "my-strategy",
    "spec.resourceSnapshotIndex": "0",
    "spec.parentStageRollout": "my-run",
    "spec.targetStage": "canary",
    "stages[]": {"name": "canary", "labelSelector": {"matchLabels": {"env": "canary"}}},
    "stages[].name": "canary",
    **{
        f"{tasks}[]{field}": example
        for tasks in ("afterStageTasks", "beforeStageTasks")
        for field, example in {
            "": {"type": "Approval"},
            ".type": "Approval",
            ".waitTime": "1h",
        }.items()
    },
    # Members
    "spec.identity": {"kind": "ServiceAccount", "name": "member-1", "namespace": "fleet-system"},
    "identity.kind": "ServiceAccount",
    "identity.name": "member-1",
    "identity.namespace": "fleet-system",
    "spec.taints[]": {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    "spec.taints[].key": "dedicated",
    "spec.taints[].value": "gpu",
}

_TYPES = {
    "labelSelector": "v1.LabelSelector",
    "labelSelector.matchLabels": "map[string]string",
    "labelSelector.matchExpressions[]": "v1.LabelSelectorRequirement",
    "labelSelector.matchExpressions[].operator": "v1.LabelSelectorOperator",
    "tolerations[].operator": "v1.TolerationOperator",
    "tolerations[].effect": "v1.TaintEffect",
    **{
        field: f"v1beta1.{name}"
        for field, name in {
            "ResourcePlacement.spec": "PlacementSpec",
            "spec.statusReportingScope": "StatusReportingScope",
            "ResourcePlacement.spec.policy": "PlacementPolicy",
            "policy.placementType": "PlacementType",
            "policy.affinity": "Affinity",
            "clusterAffinity": "ClusterAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution": "ClusterSelector",
            "preferredDuringSchedulingIgnoredDuringExecution[]": "PreferredClusterSelector",
            "clusterSelector": "ClusterSelector",
            "clusterSelectorTerms[]": "ClusterSelectorTerm",
            "preference": "ClusterSelectorTerm",
            "propertySelector": "PropertySelector",
            "propertySelector.matchExpressions[]": "PropertySelectorRequirement",
            "propertySelector.matchExpressions[].operator": "PropertySelectorOperator",
            "propertySorter": "PropertySorter",
            "propertySorter.sortOrder": "PropertySortOrder",
            "tolerations[]": "Toleration",
            "topologySpreadConstraints[]": "TopologySpreadConstraint",
            "topologySpreadConstraints[].whenUnsatisfiable": "UnsatisfiableConstraintAction",
            "ResourcePlacement.spec.resourceSelectors[]": "ResourceSelectorTerm",
            "clusterResourceSelectors[]": "ResourceSelectorTerm",
            "selectionScope": "SelectionScope",
            "spec.strategy": "RolloutStrategy",
            "strategy.type": "RolloutStrategyType",
            "rollingUpdate": "RollingUpdateConfig",
            "applyStrategy": "ApplyStrategy",
            "applyStrategy.type": "ApplyStrategyType",
            "applyStrategy.comparisonOption": "ComparisonOptionType",
            "applyStrategy.whenToApply": "WhenToApplyType",
            "applyStrategy.whenToTakeOver": "WhenToTakeOverType",
            "serverSideApplyConfig": "ServerSideApplyConfig",
            "reportBackStrategy": "ReportBackStrategy",
            "reportBackStrategy.type": "ReportBackStrategyType",
            "reportBackStrategy.destination": "ReportBackDestination",
            "deleteStrategy": "DeleteStrategy",
            "deleteStrategy.propagationPolicy": "DeletePropagationPolicy",
            "ResourcePlacementDisruptionBudget.spec": "PlacementDisruptionBudgetSpec",
        }.items()
    },
}

_ORDER = {
    "labelSelector": "matchLabels matchExpressions",
    "ResourcePlacement.spec": (
        "resourceSelectors policy strategy revisionHistoryLimit statusReportingScope"
    ),
    "ResourcePlacement.spec.policy": (
        "placementType clusterNames numberOfClusters affinity topologySpreadConstraints tolerations"
    ),
    "clusterAffinity": (
        "requiredDuringSchedulingIgnoredDuringExecution"
        " preferredDuringSchedulingIgnoredDuringExecution"
    ),
    "tolerations[]": "key operator value effect",
    "resourceSelectors[]": "group version kind name labelSelector selectionScope",
    "clusterResourceSelectors[]": "group version kind name labelSelector selectionScope",
    "spec.strategy": "type rollingUpdate applyStrategy deleteStrategy reportBackStrategy",
    "rollingUpdate": "maxUnavailable maxSurge unavailablePeriodSeconds",
    "applyStrategy": (
        "comparisonOption whenToApply type allowCoOwnership serverSideApplyConfig whenToTakeOver"
    ),
    "reportBackStrategy": "type destination",
    "ResourceOverride.spec": "placement clusterResourceSelectors resourceSelectors policy",
    "overrideRules[]": "clusterSelector overrideType jsonPatchOverrides",
    "ResourcePlacementEviction.spec": "placementName clusterName",
    "StagedUpdateRun.spec": "placementName stagedRolloutStrategyName resourceSnapshotIndex state",
    "stages[]": (
        "name labelSelector sortingLabelKey maxConcurrency afterStageTasks beforeStageTasks"
    ),
    "MemberCluster.spec": "identity heartbeatPeriodSeconds taints deleteOptions",
    "agentStatus[]": "type conditions lastReceivedHeartbeat",
    "conditions[]": "type status reason message lastTransitionTime observedGeneration",
    "properties{}": "value observationTime",
    "resourceUsage": "capacity allocatable available observationTime",
}

_EARLIER: Mapping[Rule, Mapping[str, Mapping[str, Any]]] = {
    Rule.WAIT_TIMES_STRICT: {"waitTime": {"pattern": r"^0|([0-9]+(\.[0-9]+)?(s|m|h))+$"}},
    Rule.SELECTORS_OF_NAMESPACE_IN_V1: {
        f"v1.{selectors}[].selectionScope": {"enum": ("NamespaceOnly", "NamespaceWithResources")}
        for selectors in (
            "ResourcePlacement.spec.resourceSelectors",
            "ResourceOverride.spec.clusterResourceSelectors",
        )
    },
    Rule.PLACEMENTS_CHECKED_BY_SCHEMA: {
        "propertySorter.sortOrder": {"enum": None},
        "topologySpreadConstraints[].whenUnsatisfiable": {"enum": None, "default": None},
        "unavailablePeriodSeconds": {"minimum": None},
    },
}
"""Attributes of fields in releases without a rule."""
_LACKING: Mapping[Rule, Mapping[str, str]] = {
    Rule.SELECTORS_OF_NAMESPACE_IN_V1: dict.fromkeys(SINGLE_SELECTOR_RULES, "v1"),
    Rule.PLACEMENTS_CHECKED_BY_SCHEMA: dict.fromkeys(SCHEMA_RULES, ""),
}
"""Rules of definitions that releases without a rule lack, by message, with the version that lacks
them.
"""


@cache
def overlay_of(release: Release) -> Overlay:
    """Return what the definitions of a release do not say."""
    return Overlay(
        package="v1beta1",
        types=_TYPES,
        order=_ORDER,
        examples=_EXAMPLES,
        pointers={"reportBackStrategy.destination": True},
        rules=RULES,
        hints=HINTS,
        required=("conditions[].type", "conditions[].status", "agentStatus[].type"),
        loose=(
            "properties{}.value",
            "resourceUsage.capacity{}",
            "resourceUsage.allocatable{}",
            "resourceUsage.available{}",
        ),
        earlier=without(release, _EARLIER),
        lacking=without(release, _LACKING),
    )
