"""A stack that remembers something of everything: both systems, waves, holds, evictions, overrides, a lost member."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from tests.cli.fleets import export
from tests.delivery.driver import InProcess
from tests.delivery.karmada.test_failover import settings, unhealthy
from tests.delivery.karmada.world import POLICY, deployment, on, policy, weights
from tests.delivery.test_staged import GROUP
from tests.delivery.world import IDENTITY, MEMBER

PROJECT, STACK, FLEET = "project", "stack", "dev"
STORE = "a-store"
CUSTOM = {"apiVersion": "example.com/v1", "kind": "Widget", "replicas": "spec.size"}


@attrs.define
class Rich:
    """What the user has written.

    Attributes:
        image: the image of all workloads.
        later: what comes with the second update.
        config: the ``fleet:`` configuration.
    """

    image: str = "web:1"
    later: bool = False
    config: dict[str, Any] = attrs.field(factory=dict)

    @property
    def members(self) -> list[str]:
        """The names of the members."""
        return ["a", "b", "c", "d"]

    def objects(self) -> list[dict[str, Any]]:
        """All documents."""
        members: list[dict[str, Any]] = [
            {
                **MEMBER,
                "metadata": {
                    "name": name,
                    "labels": {"zone": f"z{number % 2}", "stage": "one" if number else "two"},
                },
                "spec": {"identity": IDENTITY},
            }
            for number, name in enumerate(self.members)
        ]
        if self.later:
            members[1]["spec"]["taints"] = [{"key": "old", "effect": "NoSchedule"}]
        return [*members, *self._kubefleet(), *self._karmada()]

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own."""
        folder.mkdir(exist_ok=True)
        (folder / "fleet.yaml").write_text("\n---\n".join(map(json.dumps, self.objects())))

    def _kubefleet(self) -> list[dict[str, Any]]:
        zone = {"labelSelector": {"matchLabels": {"zone": "z0"}}}
        spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        preferred = {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 20, "preference": zone}]
        }
        picked = {
            "placementType": "PickN",
            "numberOfClusters": 3,
            "affinity": {"clusterAffinity": preferred},
            "topologySpreadConstraints": [spread],
            "tolerations": [{"key": "old", "operator": "Exists"}],
        }
        rolling = {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 0 if self.later else 1, "maxSurge": 0},
        }
        stages = [
            {
                "name": name,
                "labelSelector": {"matchLabels": {"stage": name}},
                "afterStageTasks": [{"type": "Approval"}],
            }
            for name in ("two", "one")
        ]
        run = {"placementName": "staged", "stagedRolloutStrategyName": "calm", "state": "Run"}
        return [
            _placement("shop", "store", picked, rolling),
            _placement("staged", "desk", {"placementType": "PickFixed", "clusterNames": ["a", "c"]}, {"type": "External"}),
            {"apiVersion": GROUP, "kind": "ClusterStagedUpdateStrategy", "metadata": {"name": "calm"}, "spec": {"stages": stages}},
            {"apiVersion": GROUP, "kind": "ClusterStagedUpdateRun", "metadata": {"name": "go"}, "spec": run},
            *(_namespace(name) for name in ("store", "desk")),
            *(_config(name, self.image) for name in ("store", "desk")),
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "store"}, "stringData": {"k": "v"}},
        ]  # fmt: skip

    def _karmada(self) -> list[dict[str, Any]]:
        override = {
            "apiVersion": POLICY,
            "kind": "OverridePolicy",
            "metadata": {"name": "mirror", "namespace": "shop"},
            "spec": {
                "overrideRules": [
                    {
                        "targetCluster": {"clusterNames": ["b"]},
                        "overriders": {
                            "labelsOverrider": [{"operator": "add", "value": {"mirror": "b"}}],
                            "imageOverrider": [
                                {"component": "Registry", "operator": "add", "value": "mirror.io"}
                            ],
                        },
                    }
                ]
            },
        }
        widget = {**CUSTOM, "metadata": {"name": "w", "namespace": "shop"}, "spec": {"size": 3}}
        del widget["replicas"]
        of_widgets: dict[str, Any] = {
            "resourceSelectors": [{key: CUSTOM[key] for key in ("apiVersion", "kind")}]
        }
        failover = {
            "application": {
                "decisionConditions": {"tolerationSeconds": 30},
                "purgeMode": "Gracefully",
            }
        }
        spread = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]
        return [
            _namespace("shop"),
            settings(workloads=[CUSTOM]),
            override,
            deployment(5, self.image, volumes=[{"name": "s", "secret": {"secretName": "pay"}}]),
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pay", "namespace": "shop"}, "stringData": {"k": "v"}},
            policy(placement={**on("a", "b", "c"), **weights(a=3, b=1, c=1)}, propagateDeps=True, failover=failover),
            widget,
            policy("widgets", **of_widgets, placement={**on("b", "c"), **weights(b=1, c=1), "spreadConstraints": spread}),
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "waits", "namespace": "shop"}, "data": {}},
            *([unhealthy("c", since="2026-11-21T09:00:00Z")] if self.later else []),
        ]  # fmt: skip


@cache
def history() -> InProcess[Rich]:
    """The stack after two updates: the second one holds some members, evicts from one, and has lost another."""
    driver: InProcess[Rich] = InProcess(Rich())
    assert driver.up().ok
    driver.world.image, driver.world.later = "web:2", True
    driver.world.config = {"lost": "d", "asOf": "2026-11-21T10:00:00Z"}
    done = driver.up()
    assert done.ok, done.text
    return driver


def exported(*, encrypted: bool = False) -> dict[str, Any]:
    """What ``pulumi stack export`` prints of it, in plain or encrypted."""
    driver = history()
    whole: dict[str, Any] = json.loads(
        json.dumps(export(driver.run(preview=False), encrypted=encrypted))
    )
    return whole


def _placement(
    name: str, space: str, spec: Mapping[str, Any], strategy: Mapping[str, Any]
) -> dict[str, Any]:
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": space}
    whole = {"resourceSelectors": [selector], "policy": spec, "strategy": strategy}
    return {
        "apiVersion": GROUP,
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": name},
        "spec": whole,
    }


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _config(space: str, text: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": space},
        "data": {"image": text},
    }
