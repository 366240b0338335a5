"""Builders of small fleets for tests: members, placements and objects with only the fields that
matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fleet_components.components.member import Member
from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.manifest import Manifest


def member(
    name: str, labels: Mapping[str, str] | None = None, *, taints: tuple[Taint, ...] = ()
) -> Member:
    """Return a declared member whose kubeconfig leads to no cluster."""
    return Member(Cluster(name, labels=labels or {}, taints=taints), kubeconfig(name))


def kubeconfig(name: str) -> str:
    """Return a well-formed kubeconfig; nothing answers at its address."""
    # JSON is YAML in which a name such as "y" stays a text.
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "users": [],
            "clusters": [{"name": name, "cluster": {"server": "http://127.0.0.1:9"}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }
    )


def placement(
    namespace: str, policy: Mapping[str, Any] | None = None, *, name: str = ""
) -> Manifest:
    """Return a ``ClusterResourcePlacement`` of a namespace with everything in it.

    Args:
        namespace: name of the namespace.
        policy: ``spec.policy``; PickAll without one.
        name: name of the placement; empty for that of the namespace.
    """
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": namespace}
    spec = {"resourceSelectors": [selector], **({"policy": dict(policy)} if policy else {})}
    kind = {"apiVersion": "placement.kubernetes-fleet.io/v1", "kind": "ClusterResourcePlacement"}
    return Manifest({**kind, "metadata": {"name": name or namespace}, "spec": spec})


def config_map(
    namespace: str, name: str, data: Mapping[str, str] | None = None
) -> tuple[Manifest, Manifest]:
    """Return a namespace and a ``ConfigMap`` in it: the smallest set of objects that can be
    placed.
    """
    metadata = {"name": name, "namespace": namespace}
    return (
        Manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        Manifest(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": metadata,
                "data": dict(data or {}),
            }
        ),
    )
