"""Genuine Karmada ``Cluster`` objects as members."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fleet_components.model.cluster import ResourceModel, ResourceSummary, Taint
from fleet_components.systems.karmada.model.cluster import read_karmada_cluster
from fleet_components.systems.karmada.scheduler.estimator import estimate
from tests.scheduler.karmada.builders import clusters, decide, deployment, fleet, member, placement

JOINED: dict[str, Any] = {
    "apiVersion": "cluster.karmada.io/v1alpha1",
    "kind": "Cluster",
    "metadata": {"name": "member1", "labels": {"location": "us"}},
    "spec": {
        "provider": "aws",
        "region": "us-east-1",
        "zone": "us-east-1a",
        "zones": ["us-east-1a", "us-east-1b"],
        "taints": [{"key": "gpu", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}],
        "resourceModels": [{"grade": 0, "ranges": [{"name": "cpu", "min": 0, "max": "1"}]}],
    },
    "status": {
        "apiEnablements": [
            {
                "groupVersion": "apps/v1",
                "resources": [{"kind": "Deployment", "name": "deployments"}],
            }
        ],
        "resourceSummary": {
            "allocatable": {"cpu": 6, "pods": "110"},
            "allocated": {"cpu": "500m"},
            "allocatableModelings": [{"grade": 2, "count": 1}, {"grade": 3, "count": 4}],
        },
    },
}


def test_everything_that_counts_is_read() -> None:
    cluster = read_karmada_cluster(JOINED)
    assert cluster.observed
    assert (cluster.name, cluster.labels) == ("member1", {"location": "us"})
    assert (cluster.provider, cluster.region, cluster.zones) == (
        "aws",
        "us-east-1",
        ("us-east-1a", "us-east-1b"),
    )
    assert cluster.taints == (Taint("gpu", "", "NoExecute", datetime(2026, 1, 1, tzinfo=UTC)),)
    assert cluster.api_enablements == frozenset({("apps/v1", "Deployment")})
    assert cluster.resource_models == (ResourceModel(0, {"cpu": "0"}),)
    assert cluster.resource_summary == ResourceSummary(
        {"cpu": "6", "pods": "110"}, {"cpu": "500m"}, nodes_by_grade={2: 1, 3: 4}
    )
    assert not cluster.leaving


def test_a_declared_cluster_serves_every_api_and_an_observed_one_only_what_it_lists() -> None:
    declared = read_karmada_cluster({"metadata": {"name": "a"}})
    observed = read_karmada_cluster({"metadata": {"name": "b"}, "status": {}})
    assert (declared.observed, declared.api_enablements) == (False, None)
    assert (observed.observed, observed.api_enablements) == (True, frozenset())
    assert clusters(decide(fleet(declared, observed), deployment(1), placement())) == {"a": 1}


def test_a_single_zone_and_a_deletion() -> None:
    old = {
        "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"zone": "z"},
    }
    cluster = read_karmada_cluster(old)
    assert (cluster.zones, cluster.leaving) == (("z",), True)


def test_the_default_models_are_recognized() -> None:
    # As a running control plane has written them.
    memory = ["0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1Ti"]
    models = [
        {
            "grade": grade,
            "ranges": [{"name": "cpu", "min": str(cpu)}, {"name": "memory", "min": amount}],
        }
        for grade, (cpu, amount) in enumerate(
            zip((0, 1, 2, 4, 8, 16, 32, 64, 128), memory, strict=True)
        )
    ]
    written = {**JOINED, "spec": {"resourceModels": models}}
    assert read_karmada_cluster(written).resource_models is None
    assert estimate(fleet(read_karmada_cluster(written)), {"cpu": "1"}) == [2 + 4 * 4]


def test_two_members_of_one_name_are_refused() -> None:
    with pytest.raises(Exception, match='several members named "a"'):
        fleet(member("a"), read_karmada_cluster({"metadata": {"name": "a"}}))
