"""Kinds of a Karmada control plane that an observation reads."""

from __future__ import annotations

MEMBER_GROUP, WORK_GROUP = "cluster.karmada.io", "work.karmada.io"
MEMBER, WORK, NAMESPACE = "Cluster", "Work", "Namespace"
BINDINGS = ("ResourceBinding", "ClusterResourceBinding")
STEERING = tuple(
    f"{group}.karmada.io"
    for group in ("policy", "apps", "autoscaling", "networking", "config", "remedy")
)
"""Groups of which all kinds steer the control plane."""
