"""A small fleet that tests change from run to run, as its users would: by editing YAML and configuration."""

from __future__ import annotations

from typing import Any

import attrs

from tests.world import World

MEMBER = {"apiVersion": "cluster.kubernetes-fleet.io/v1", "kind": "MemberCluster"}
IDENTITY = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}


@attrs.define
class KubeFleetWorld(World):
    """What the user has written: members, and one placement with what it selects.

    Attributes:
        members: labels by member name.
        policy: the policy of the placement ``shop``.
        rolling: its rolling update.
        image: the image of its Deployment: the content that changes.
        extra: further objects.
        selectors: further resource selectors of the placement.
        strategy: the whole strategy, where it is not a rolling update.
        tainted: the members that have a taint.
        spec: further fields of the placement's spec.
    """

    members: dict[str, dict[str, str]] = attrs.field(
        factory=lambda: {n: {} for n in ("a", "b", "c", "d")}
    )
    policy: dict[str, Any] = attrs.field(factory=lambda: {"placementType": "PickAll"})
    rolling: dict[str, Any] = attrs.field(factory=lambda: {"maxUnavailable": 1, "maxSurge": 1})
    image: str = "web:1"
    extra: list[dict[str, Any]] = attrs.field(factory=list)
    selectors: list[dict[str, Any]] = attrs.field(factory=list)
    strategy: dict[str, Any] | None = None
    tainted: set[str] = attrs.field(factory=set)
    spec: dict[str, Any] = attrs.field(factory=dict)

    def documents(self) -> list[dict[str, Any]]:
        """All YAML documents."""
        members = [
            {
                **MEMBER,
                "metadata": {"name": name, "labels": labels},
                "spec": {"identity": IDENTITY, **self._taints(name)},
            }
            for name, labels in self.members.items()
        ]
        more = (*self.extra, *self.objects.values())
        return [*members, self._placement(), *self._workload(), *more]

    def _taints(self, member: str) -> dict[str, Any]:
        return (
            {"taints": [{"key": "drained", "effect": "NoSchedule"}]}
            if member in self.tainted
            else {}
        )

    def _placement(self) -> dict[str, Any]:
        return {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": "shop"},
            "spec": {
                "resourceSelectors": [
                    {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"},
                    *self.selectors,
                ],
                "policy": self.policy,
                "strategy": self.strategy
                or {"type": "RollingUpdate", "rollingUpdate": self.rolling},
                **self.spec,
            },
        }

    def _workload(self) -> list[dict[str, Any]]:
        labels = {"app": "web"}
        pod = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": self.image}]},
        }
        deployment = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod},
        }
        return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}, deployment]
