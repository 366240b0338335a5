"""A small Karmada fleet that tests change from run to run, as its users would: by editing YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from tests.delivery import driver as delivery
from tests.world import World

POLICY = "policy.karmada.io/v1alpha1"
WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
WIDGETS: Mapping[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
"""The definition of a custom kind."""


def member(name: str, **spec: Any) -> dict[str, Any]:
    """A member as Karmada declares it."""
    labels = spec.pop("labels", {})
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"syncMode": "Push", **spec},
    }


def deployment(
    replicas: int | None = 2, image: str = "web:1", name: str = "web", **pod: Any
) -> dict[str, Any]:
    """A Deployment in the namespace ``shop``."""
    labels = {"app": name}
    spec = {"containers": [{"name": name, "image": image}], **pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {
            **({} if replicas is None else {"replicas": replicas}),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def policy(name: str = "web", kind: str = "PropagationPolicy", **spec: Any) -> dict[str, Any]:
    """A policy for the Deployment ``web``."""
    metadata = {"name": name} if kind.startswith("Cluster") else {"name": name, "namespace": "shop"}
    whole = {"resourceSelectors": [WEB], **spec}
    return {"apiVersion": POLICY, "kind": kind, "metadata": metadata, "spec": whole}


def weights(**by_member: int) -> dict[str, Any]:
    """A placement that divides replicas by static weights."""
    rules = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in by_member.items()
    ]
    return {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": rules},
        }
    }


def on(*members: str) -> dict[str, Any]:
    """A placement that takes these members."""
    return {"clusterAffinity": {"clusterNames": list(members)}}


@attrs.define
class KarmadaWorld(World):
    """What the user has written: three members, and whatever a test adds."""

    members: dict[str, dict[str, Any]] = attrs.field(
        factory=lambda: {n: member(n) for n in ("a", "b", "c")}
    )


Driver = delivery.Driver[KarmadaWorld]


def delivered(
    driver: Driver, placement: dict[str, Any], count: int | None = 4, **spec: Any
) -> None:
    """Deliver the Deployment ``web`` as a policy says."""
    driver.world.objects |= {
        "web": deployment(count),
        "policy": policy(placement=placement, **spec),
    }
    assert driver.up().ok


def carried_out(driver: Driver) -> delivery.Outcome:
    """Update: it does what its preview showed, and leaves nothing to be done. The preview is returned."""
    seen, done = driver.preview(), driver.up()
    assert done.ok, done.text
    assert done.changes == seen.changes
    assert driver.preview().changes == {}
    return seen


def replicas(driver: Driver) -> dict[str, int]:
    """The replicas of the Deployments that really stand, by cluster."""
    return {cluster: int(data["spec"]["replicas"]) for cluster, data in driver.stands().items()}


def decided(driver: Driver) -> Mapping[str, Any]:
    """What the state holds of the template ``web``."""
    return driver.record("shop/Deployment/web")


def of_kind(outcome: delivery.Outcome, kind: str = "Deployment") -> dict[str, str]:
    """What happens to the objects of a kind, by cluster."""
    found = outcome.changes.items()
    return {
        delivery.cluster_of(name): change for name, change in found if name.startswith(f"{kind} ")
    }
