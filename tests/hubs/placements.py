"""Small objects and placements of KubeFleet to tell stories with."""

from __future__ import annotations

from typing import Any

from tests.clusters.documents import Document

PLACING = "placement.kubernetes-fleet.io/v1beta1"


def namespace(name: str) -> Document:
    """A namespace that the tests may delete again."""
    return made("v1", "Namespace", name, labels={"told": "story"})


def config(name: str, space: str, **data: str) -> Document:
    """A ConfigMap."""
    return made("v1", "ConfigMap", name, space) | {"data": data}


def web(space: str, image: str = "web:1", replicas: int = 1) -> Document:
    """A Deployment whose Pods get ready on any node."""
    labels = {"app": "web"}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod}
    return made("apps/v1", "Deployment", "web", space) | {"spec": spec}


def placement(
    name: str, policy: Document | None = None, strategy: Document | None = None, **spec: Any
) -> Document:
    """A ClusterResourcePlacement of the namespace of its name, whose rollouts look again every second."""
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": spec.pop("space", name)}
    body = {
        "resourceSelectors": [selector],
        "policy": policy,
        "strategy": strategy or rolling(),
        **spec,
    }
    kept = {key: value for key, value in body.items() if value is not None}
    return made(PLACING, "ClusterResourcePlacement", name) | {"spec": kept}


def resource_placement(
    name: str,
    space: str,
    selected: Document,
    policy: Document | None = None,
    strategy: Document | None = None,
) -> Document:
    """A ResourcePlacement of one object."""
    group, _, version = selected["apiVersion"].rpartition("/")
    selector = {
        "group": group,
        "version": version,
        "kind": selected["kind"],
        "name": selected["metadata"]["name"],
    }
    spec = {"resourceSelectors": [selector], "policy": policy or {"placementType": "PickAll"}}
    return made(PLACING, "ResourcePlacement", name, space) | {
        "spec": {**spec, "strategy": strategy or rolling()}
    }


def rolling(unavailable: int | str = "100%", apply: Document | None = None) -> Document:
    """A rolling update that does not wait for what nobody can judge."""
    wanted = {"maxUnavailable": unavailable, "maxSurge": 1, "unavailablePeriodSeconds": 1}
    return {
        "type": "RollingUpdate",
        "rollingUpdate": wanted,
        **({"applyStrategy": apply} if apply else {}),
    }


def pick(number: int, **policy: Any) -> Document:
    """A policy that picks so many members."""
    return {"placementType": "PickN", "numberOfClusters": number, **policy}


def labelled(**labels: str) -> Document:
    """A term of an affinity that asks for labels."""
    return {"labelSelector": {"matchLabels": labels}}


def made(api_version: str, kind: str, name: str, space: str = "", **metadata: Any) -> Document:
    """An object with nothing but its header."""
    scope = {"namespace": space} if space else {}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **scope, **metadata},
    }
