"""Small fleets for the tests of rules: the same services under either system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

REGIONS = {"a": "north", "b": "north", "c": "south", "d": "south"}
IDENTITY = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}


def member(name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """A member of KubeFleet."""
    kind = {"apiVersion": "cluster.kubernetes-fleet.io/v1", "kind": "MemberCluster"}
    return {
        **kind,
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"identity": IDENTITY},
    }


def members(regions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Members by region, as the label that Karmada derives its region from."""
    return [
        member(name, {"topology.kubernetes.io/region": region}) for name, region in regions.items()
    ]


def deployment(name: str, replicas: int = 2, **labels: str) -> dict[str, Any]:
    """A workload in the namespace of its name."""
    app = {"app": name}
    pod = {"metadata": {"labels": app}, "spec": {"containers": [{"name": "it", "image": "it:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": name, "labels": {**app, **labels}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": app}, "template": pod},
    }


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def by_kubefleet(name: str, policy: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    """A placement of the namespace of its name."""
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": name}
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1",
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": name, "labels": {"policy": name}},
        "spec": {"resourceSelectors": [selector], "policy": dict(policy), **spec},
    }


def by_karmada(name: str, placement: Mapping[str, Any]) -> dict[str, Any]:
    """A policy for the Deployment of its name."""
    selector = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": name, "labels": {"policy": name}},
        "spec": {"resourceSelectors": [selector], "placement": dict(placement)},
    }


def service(name: str, system: str, on: Iterable[str], replicas: int = 2) -> list[dict[str, Any]]:
    """A service of tier 0 on the named members."""
    if system == "karmada":
        policy = by_karmada(name, {"clusterAffinity": {"clusterNames": sorted(on)}})
    else:
        policy = by_kubefleet(name, {"placementType": "PickFixed", "clusterNames": sorted(on)})
    return [policy, namespace(name), deployment(name, replicas, tier="0")]


def write(folder: Path, documents: Iterable[Mapping[str, Any]]) -> Path:
    """A directory with the fleet, every document at a known line."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fleet.yaml").write_text(yaml.safe_dump_all(list(documents), sort_keys=False))
    return folder
