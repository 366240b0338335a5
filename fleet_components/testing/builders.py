"""Small fleets for tests: members, placements and objects with nothing in them but what matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.components.member import Member
from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.manifest import Manifest


def member(name: str, labels: Mapping[str, str] | None = None, *, taints: tuple[Taint, ...] = ()) -> Member:
    """A declared member, with a kubeconfig that reaches nothing."""
    return Member(Cluster(name, labels=labels or {}, taints=taints), kubeconfig(name))


def kubeconfig(name: str) -> str:
    """A kubeconfig in due form; nothing answers there."""
    return (
        f"apiVersion: v1\nkind: Config\ncurrent-context: {name}\nusers: []\n"
        f"clusters: [{{name: {name}, cluster: {{server: 'http://127.0.0.1:9'}}}}]\n"
        f"contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}}}}}]\n"
    )


def placement(namespace: str, policy: Mapping[str, Any] | None = None, *, name: str = "") -> Manifest:
    """A ``ClusterResourcePlacement`` of a namespace with all that is in it.

    Args:
        namespace: the namespace, which gives the placement its name unless there is another.
        policy: ``spec.policy``; PickAll without one.
        name: the name.
    """
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": namespace}
    spec = {"resourceSelectors": [selector], **({"policy": dict(policy)} if policy else {})}
    kind = {"apiVersion": "placement.kubernetes-fleet.io/v1", "kind": "ClusterResourcePlacement"}
    return Manifest({**kind, "metadata": {"name": name or namespace}, "spec": spec})


def config_map(namespace: str, name: str, data: Mapping[str, str] | None = None) -> tuple[Manifest, Manifest]:
    """A namespace with a ``ConfigMap`` in it: the least that can be placed."""
    metadata = {"name": name, "namespace": namespace}
    return (
        Manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        Manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data or {})}),
    )
