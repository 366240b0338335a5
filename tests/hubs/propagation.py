"""Small policies of Karmada to tell stories with."""

from __future__ import annotations

from typing import Any

from tests.clusters.documents import Document
from tests.hubs.placements import made

POLICY = "policy.karmada.io/v1alpha1"


def propagation(name: str, space: str, placement: Document | None = None, **spec: Any) -> Document:
    """A policy of its namespace, for its Deployments by default; cluster-wide where it has no namespace."""
    selectors = spec.pop("resourceSelectors", [{"apiVersion": "apps/v1", "kind": "Deployment"}])
    kind = "PropagationPolicy" if space else "ClusterPropagationPolicy"
    return made(POLICY, kind, name, space) | {
        "spec": {"resourceSelectors": selectors, "placement": placement or {}, **spec}
    }


def overriding(name: str, space: str, overriders: Document, *members: str, **spec: Any) -> Document:
    """An override policy with one rule, for all members or some; cluster-wide where it has no namespace."""
    target = {"targetCluster": {"clusterNames": list(members)}} if members else {}
    kind = "OverridePolicy" if space else "ClusterOverridePolicy"
    return made(POLICY, kind, name, space) | {
        "spec": {"overrideRules": [{**target, "overriders": overriders}], **spec}
    }


def rebalancer(name: str, *names: tuple[str, str]) -> Document:
    """A WorkloadRebalancer of Deployments, each by namespace and name."""
    workloads = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": space, "name": item}
        for space, item in names
    ]
    return made("apps.karmada.io/v1alpha1", "WorkloadRebalancer", name) | {
        "spec": {"workloads": workloads}
    }


def named(*members: str) -> Document:
    """A placement on members by name."""
    return {"clusterAffinity": {"clusterNames": list(members)}}


def weighted(**weights: int) -> Document:
    """A placement that divides replicas by static weights."""
    shares = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in weights.items()
    ]
    return divided("Weighted", weightPreference={"staticWeightList": shares})


def dynamic(*members: str) -> Document:
    """A placement that divides replicas by what is free."""
    affinity = named(*members) if members else {}
    return {
        **affinity,
        **divided("Weighted", weightPreference={"dynamicWeight": "AvailableReplicas"}),
    }


def divided(preference: str, **preferences: Any) -> Document:
    """A placement that divides replicas."""
    scheduling = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": preference,
        **preferences,
    }
    return {"replicaScheduling": scheduling}


def taint(effect: str = "NoSchedule", key: str = "lab") -> list[Document]:
    """The taints of a member that has one."""
    return [{"key": key, "value": "yes", "effect": effect}]


def tolerating(key: str = "lab", **toleration: Any) -> Document:
    """The part of a placement that tolerates a taint."""
    return {"clusterTolerations": [{"key": key, "operator": "Exists", **toleration}]}
