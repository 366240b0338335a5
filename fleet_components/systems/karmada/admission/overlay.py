"""Notes on the fields of Karmada's kinds: what its definitions do not say.

Source of the Go types and of the order of their fields: Karmada 1.19, ``pkg/apis/policy`` and
``pkg/apis/apps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from fleet_components.admission.definitions import Overlay, without
from fleet_components.model.release import Release
from fleet_components.systems.karmada.model.release import Rule

_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}
_SINGLE_MEMBER = {"clusterNames": ["member1"]}
_OVERRIDERS = {"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 1}]}
_AFFINITY = "labelSelector fieldSelector clusterNames exclude"
_LISTS = (
    "plaintext",
    "imageOverrider",
    "commandOverrider",
    "argsOverrider",
    "labelsOverrider",
    "annotationsOverrider",
)
_TARGETS = ("targetCluster", "targetClusters", "placement.clusterAffinity")
"""Fields with a selector of members."""

_EXAMPLES = {
    # Selectors
    "labelSelector": {"matchLabels": {"env": "prod"}},
    "labelSelector.matchLabels": {"env": "prod"},
    "labelSelector.matchExpressions[].key": "env",
    "labelSelector.matchExpressions[].operator": "In",
    "labelSelector.matchExpressions[].values": ["prod"],
    "fieldSelector.matchExpressions[].key": "region",
    "fieldSelector.matchExpressions[].operator": "In",
    "fieldSelector.matchExpressions[].values": ["eu-west-1"],
    "clusterNames": ["member1"],
    "exclude": ["member1"],
    "targetCluster": _SINGLE_MEMBER,
    "targetClusters": _SINGLE_MEMBER,
    "resourceSelectors": [_DEPLOYMENT],
    "resourceSelectors[].apiVersion": "apps/v1",
    "resourceSelectors[].kind": "Deployment",
    "resourceSelectors[].name": "nginx",
    # Propagation
    "dependentOverrides": ["my-override"],
    "schedulePriority.priorityClassName": "high-priority",
    "spec.suspension": {"dispatching": True},
    "failover.application": {"decisionConditions": {"tolerationSeconds": 300}},
    "failover.application.gracePeriodSeconds": 600,
    "failover.cluster": {"purgeMode": "Gracefully"},
    "statePreservation.rules[].aliasLabelName": "job-id",
    "statePreservation.rules[].jsonPath": "{.jobId}",
    "spec.placement": {"clusterAffinity": _SINGLE_MEMBER},
    "placement.clusterAffinity": _SINGLE_MEMBER,
    "placement.clusterAffinities": [{"affinityName": "primary", **_SINGLE_MEMBER}],
    "affinityName": "primary",
    "clusterTolerations[].key": "dedicated",
    "clusterTolerations[].operator": "Exists",
    "clusterTolerations[].effect": "NoSchedule",
    "clusterTolerations[].tolerationSeconds": 300,
    "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}],
    "spreadConstraints[].maxGroups": 2,
    "spreadConstraints[].minGroups": 1,
    "staticWeightList[].weight": 1,
    "groupByLabelKey": "app.group",
    # Overrides
    "overrideRules": [{"overriders": _OVERRIDERS}],
    "overriders": _OVERRIDERS,
    "plaintext[].path": "/spec/replicas",
    "plaintext[].value": 1,
    "imageOverrider[].predicate.path": "/spec/template/spec/containers/0/image",
    "imageOverrider[].value": "registry.example.com",
    "commandOverrider[].containerName": "nginx",
    "commandOverrider[].value": ["--verbose"],
    "argsOverrider[].containerName": "nginx",
    "argsOverrider[].value": ["--verbose"],
    "labelsOverrider[].value": {"env": "prod"},
    "annotationsOverrider[].value": {"env": "prod"},
    "fieldOverrider[].fieldPath": "/data/config.yaml",
    "json[].subPath": "/level",
    "json[].value": 1,
    "yaml[].subPath": "/level",
    "yaml[].value": 1,
    # Rebalancing
    "spec.ttlSecondsAfterFinished": 3600,
    "workloads": [{**_DEPLOYMENT, "namespace": "default"}],
    "workloads[].apiVersion": "apps/v1",
    "workloads[].kind": "Deployment",
    "workloads[].name": "nginx",
    "workloads[].namespace": "default",
    # Taints
    "addOnConditions[].conditionType": "Ready",
    "addOnConditions[].operator": "NotIn",
    "addOnConditions[].statusValues": ["True"],
    "removeOnConditions[].conditionType": "Ready",
    "removeOnConditions[].operator": "NotIn",
    "removeOnConditions[].statusValues": ["True"],
    "TaintPolicy.spec.taints": [{"key": "not-ready", "effect": "NoSchedule"}],
    "taints[].key": "not-ready",
    "taints[].effect": "NoSchedule",
}

_TYPES = {
    "labelSelector": "v1.LabelSelector",
    "labelSelector.matchLabels": "map[string]string",
    "labelSelector.matchExpressions[]": "v1.LabelSelectorRequirement",
    "labelSelector.matchExpressions[].operator": "v1.LabelSelectorOperator",
    "fieldSelector.matchExpressions[]": "v1.NodeSelectorRequirement",
    "clusterTolerations[]": "v1.Toleration",
    "clusterTolerations[].operator": "v1.TolerationOperator",
    "clusterTolerations[].effect": "v1.TaintEffect",
    "taints[].effect": "v1.TaintEffect",
    **{
        field: f"v1alpha1.{name}"
        for field, name in {
            "PropagationPolicy.spec": "PropagationSpec",
            "OverridePolicy.spec": "OverrideSpec",
            "WorkloadRebalancer.spec": "WorkloadRebalancerSpec",
            "TaintPolicy.spec": "ClusterTaintPolicySpec",
            **dict.fromkeys(_TARGETS, "ClusterAffinity"),
            "fieldSelector": "FieldSelector",
            "resourceSelectors[]": "ResourceSelector",
            "spec.preemption": "PreemptionBehavior",
            "spec.conflictResolution": "ConflictResolution",
            "spec.activationPreference": "ActivationPreference",
            "spec.schedulePriority": "SchedulePriority",
            "schedulePriority.priorityClassSource": "PriorityClassSource",
            "spec.suspension": "Suspension",
            "suspension.dispatchingOnClusters": "SuspendClusters",
            "spec.failover": "FailoverBehavior",
            "failover.application": "ApplicationFailoverBehavior",
            "failover.cluster": "ClusterFailoverBehavior",
            "application.decisionConditions": "DecisionConditions",
            "purgeMode": "PurgeMode",
            "statePreservation": "StatePreservation",
            "statePreservation.rules[]": "StatePreservationRule",
            "spec.placement": "Placement",
            "placement.clusterAffinities[]": "ClusterAffinityTerm",
            "overflowAffinities[]": "OverflowClusterAffinity",
            "spreadConstraints[]": "SpreadConstraint",
            "spreadConstraints[].spreadByField": "SpreadFieldValue",
            "replicaScheduling": "ReplicaSchedulingStrategy",
            "replicaScheduling.replicaSchedulingType": "ReplicaSchedulingType",
            "replicaScheduling.replicaDivisionPreference": "ReplicaDivisionPreference",
            "weightPreference": "ClusterPreferences",
            "weightPreference.dynamicWeight": "DynamicWeightFactor",
            "weightPreference.staticWeightList[]": "StaticClusterWeight",
            "workloadAffinity": "WorkloadAffinity",
            "workloadAffinity.affinity": "WorkloadAffinityTerm",
            "workloadAffinity.antiAffinity": "WorkloadAntiAffinityTerm",
            "overrideRules[]": "RuleWithCluster",
            "overriders": "Overriders",
            "plaintext[]": "PlaintextOverrider",
            "imageOverrider[]": "ImageOverrider",
            "imageOverrider[].predicate": "ImagePredicate",
            "imageOverrider[].component": "ImageComponent",
            "commandOverrider[]": "CommandArgsOverrider",
            "argsOverrider[]": "CommandArgsOverrider",
            "labelsOverrider[]": "LabelAnnotationOverrider",
            "annotationsOverrider[]": "LabelAnnotationOverrider",
            "fieldOverrider[]": "FieldOverrider",
            "json[]": "JSONPatchOperation",
            "yaml[]": "YAMLPatchOperation",
            **dict.fromkeys(
                (f"{changes}[].operator" for changes in (*_LISTS, "json", "yaml")),
                "OverriderOperator",
            ),
            "workloads[]": "ObjectReference",
            "addOnConditions[]": "MatchCondition",
            "removeOnConditions[]": "MatchCondition",
            "taints[]": "Taint",
        }.items()
    },
}

_ORDER = {
    "labelSelector": "matchLabels matchExpressions",
    "resourceSelectors[]": "apiVersion kind namespace name labelSelector",
    "PropagationPolicy.spec": (
        "resourceSelectors association propagateDeps placement priority preemption"
        " dependentOverrides schedulerName failover conflictResolution activationPreference"
        " suspension preserveResourcesOnDeletion schedulePriority"
    ),
    "schedulePriority": "priorityClassSource priorityClassName",
    "failover.application": "decisionConditions purgeMode gracePeriodSeconds statePreservation",
    "spec.placement": (
        "clusterAffinity clusterAffinities clusterTolerations spreadConstraints replicaScheduling"
        " workloadAffinity"
    ),
    **dict.fromkeys(_TARGETS, _AFFINITY),
    "clusterAffinities[]": f"affinityName {_AFFINITY} overflowAffinities",
    "overflowAffinities[]": f"affinityName {_AFFINITY}",
    "clusterTolerations[]": "key operator value effect tolerationSeconds",
    "spreadConstraints[]": "spreadByField spreadByLabel maxGroups minGroups",
    "replicaScheduling": "replicaSchedulingType replicaDivisionPreference weightPreference",
    "weightPreference": "staticWeightList dynamicWeight",
    "OverridePolicy.spec": "resourceSelectors overrideRules targetCluster overriders",
    "overrideRules[]": "targetCluster overriders",
    "overriders": " ".join((*_LISTS, "fieldOverrider")),
    "plaintext[]": "path operator value",
    "imageOverrider[]": "predicate component operator value",
    "fieldOverrider[]": "fieldPath json yaml",
    "json[]": "subPath operator value",
    "yaml[]": "subPath operator value",
    "TaintPolicy.spec": "targetClusters addOnConditions removeOnConditions taints",
    "taints[]": "key effect value",
    "WorkloadRebalancer.spec": "workloads ttlSecondsAfterFinished",
}

_OLD_PURGE_MODES = {"enum": ("Directly", "Gracefully", "Never", "Immediately", "Graciously")}
_EARLIER: Mapping[Rule, Mapping[str, Mapping[str, Any]]] = {
    Rule.PURGE_MODES_RENAMED: {"purgeMode": _OLD_PURGE_MODES},
}
"""Attributes of fields in releases without a rule."""
_ABSENT: Mapping[Rule, Mapping[str, None]] = {
    Rule.OVERFLOW: {"clusterAffinities[].overflowAffinities": None}
}
"""Fields that releases without a rule lack."""


@cache
def overlay_of(release: Release) -> Overlay:
    """Return what the definitions of a release do not say."""
    return Overlay(
        package="v1alpha1",
        types=_TYPES,
        order=_ORDER,
        examples=_EXAMPLES,
        pointers={
            "suspension.dispatching": True,
            "spec.preserveResourcesOnDeletion": True,
            "spreadConstraints[].maxGroups": False,
            "spreadConstraints[].minGroups": False,
        },
        earlier=without(release, _EARLIER),
        absent=without(release, _ABSENT),
    )
