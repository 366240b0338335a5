"""A hub of Karmada's programs divides a Deployment between real members."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.clusters.documents import Document
from tests.hubs.karmada import KarmadaHub, KarmadaMember, karmada_hub

pytestmark = pytest.mark.hubs
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
}


@pytest.fixture(scope="module")
def karmada() -> Iterator[KarmadaHub]:
    with karmada_hub(
        [
            KarmadaMember("a", provider="aws", labels={"tier": "public"}),
            KarmadaMember("b", taints=["lab=only:NoSchedule"], nodes=2),
        ]
    ) as hub:
        yield hub


def test_members_are_as_asked(karmada: KarmadaHub) -> None:
    a, b = karmada.hub.get("clusters.cluster.karmada.io")["items"]
    assert (a["spec"]["provider"], a["metadata"]["labels"]["tier"]) == ("aws", "public")
    assert [(item["key"], item["value"]) for item in b["spec"]["taints"]] == [("lab", "only")]
    assert [item["status"]["resourceSummary"]["allocatable"]["cpu"] for item in (a, b)] == [
        "6",
        "12",
    ]


def test_a_deployment_is_divided(karmada: KarmadaHub) -> None:
    karmada.apply([deployment(replicas=9), divided({"a": 2, "b": 1})])
    karmada.settle()
    (binding,) = karmada.hub.get("resourcebindings", "-n", "shop")["items"]
    assert {item["name"]: item["replicas"] for item in binding["spec"]["clusters"]} == {
        "a": 6,
        "b": 3,
    }
    assert {name: ready(karmada, name) for name in karmada.members} == {"a": 6, "b": 3}
    assert (
        karmada.hub.get("pods", "--all-namespaces") is None
    )  # a template is no workload of the hub

    karmada.delete([deployment(replicas=9)])
    karmada.settle()
    assert {name: ready(karmada, name) for name in karmada.members} == {"a": None, "b": None}


def test_the_webhooks_refuse(karmada: KarmadaHub) -> None:
    """The definitions know nothing of a constraint that needs another one."""
    policy = divided({"a": 1})
    policy["spec"]["placement"]["spreadConstraints"] = [
        {"spreadByField": "region", "minGroups": 1, "maxGroups": 1}
    ]
    with pytest.raises(subprocess.CalledProcessError) as caught:
        karmada.apply([policy])
    assert "admission webhook" in caught.value.stderr


def ready(karmada: KarmadaHub, member: str) -> int | None:
    found = karmada.members[member].get("deployment", "web", "-n", "shop")
    return int(found["status"]["readyReplicas"]) if found else None


def deployment(replicas: int) -> Document:
    labels = {"app": "web"}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
    }
    return {
        **DEPLOYMENT,
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod},
    }


def divided(weights: dict[str, int]) -> Document:
    shares = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in weights.items()
    ]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": DEPLOYMENT["metadata"],
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
            "placement": {
                "clusterTolerations": [{"key": "lab", "operator": "Exists"}],
                "replicaScheduling": {
                    "replicaSchedulingType": "Divided",
                    "replicaDivisionPreference": "Weighted",
                    "weightPreference": {"staticWeightList": shares},
                },
            },
        },
    }
