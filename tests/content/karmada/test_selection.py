"""Which members and objects the selectors of Karmada policies match."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.model.cluster import Cluster, ResourceModel, ResourceSummary, Taint
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.cluster import read_karmada_cluster
from fleet_components.systems.karmada.model.override import OverrideSpec
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    Rank,
    ResourceSelector,
    Toleration,
)

MEMBER = Cluster("m1", {"env": "prod"}, provider="aws", region="eu", zones=("z1", "z2"))


def _field(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {
        "fieldSelector": {
            "matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]
        }
    }


def _label(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {
        "labelSelector": {
            "matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]
        }
    }


@pytest.mark.parametrize(
    ("affinity", "matched"),
    [
        ({}, True),
        ({"clusterNames": ["m1"]}, True),
        ({"clusterNames": ["m2"]}, False),
        ({"clusterNames": ["m1"], "exclude": ["m1"]}, False),
        ({"labelSelector": {}}, True),
        ({"labelSelector": {"matchLabels": {"env": "prod"}}}, True),
        ({"labelSelector": {"matchLabels": {"env": "prod"}}, "clusterNames": ["m2"]}, False),
        (_label("env", "Foo", "prod"), False),
        (_label("env", "In"), False),
        (_label("env", "Exists", "prod"), False),
        (_label("bad key", "DoesNotExist"), False),
        (_field("zone", "In", "z2", "z9"), True),
        (_field("zone", "NotIn", "z2"), False),
        (_field("zone", "NotIn", "z9"), True),
        (_field("zone", "In"), False),
        (_field("zone", "NotIn"), True),
        (_field("zone", "Exists"), True),
        (_field("zone", "DoesNotExist"), False),
        (_field("zone", "Gt", "z1"), False),
        (_field("provider", "In", "aws"), True),
        (_field("provider", "In"), False),
        (_field("region", "NotIn", "us"), True),
        (_field("country", "NotIn", "us"), True),
        (_field("country", "In", "us"), False),
    ],
)
def test_members(affinity: dict[str, Any], matched: bool) -> None:
    assert decode(ClusterAffinity, affinity).matches(MEMBER) is matched


@pytest.mark.parametrize(("operator", "matched"), [("NotIn", True), ("In", False)])
def test_a_member_without_fields_is_in_nothing(operator: str, matched: bool) -> None:
    bare = Cluster("bare")
    assert decode(ClusterAffinity, _field("zone", operator, "z1")).matches(bare) is matched
    assert decode(ClusterAffinity, _field("provider", operator, "aws")).matches(bare) is matched


@pytest.mark.parametrize(
    ("selector", "rank"),
    [
        (ResourceSelector("apps/v1", "Deployment"), Rank.ALL),
        (ResourceSelector("apps/v1", "Deployment", "default", "web"), Rank.NAME),
        (ResourceSelector("apps/v1", "Deployment", "other", "web"), Rank.NO_MATCH),
        (ResourceSelector("apps/v1", "Deployment", name="db"), Rank.NO_MATCH),
        (ResourceSelector("apps/v1beta1", "Deployment"), Rank.NO_MATCH),
        (
            decode(
                ResourceSelector,
                {"apiVersion": "apps/v1", "kind": "Deployment", "labelSelector": {}},
            ),
            Rank.LABEL,
        ),
        (
            decode(
                ResourceSelector,
                {"apiVersion": "apps/v1", "kind": "Deployment", **_label("app", "In", "db")},
            ),
            Rank.NO_MATCH,
        ),
        (
            decode(
                ResourceSelector,
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "name": "web",
                    **_label("app", "In", "db"),
                },
            ),
            Rank.NAME,
        ),
    ],
)
def test_objects(selector: ResourceSelector, rank: Rank) -> None:
    metadata = {"name": "web", "namespace": "default", "labels": {"app": "web"}}
    manifest = Manifest({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata})
    assert selector.rank(manifest) is rank
    assert OverrideSpec((selector,)).rank(manifest) is rank
    assert OverrideSpec().rank(manifest) is Rank.ALL


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration(), False),
        (Toleration(operator="Exists"), True),
        (Toleration("k", value="v"), True),
        (Toleration("k", "Equal", "w"), False),
        (Toleration("k", "Exists", effect="NoExecute"), False),
        (Toleration(value="v"), True),
        (Toleration("k", "Gt", "0"), False),
    ],
)
def test_tolerations(toleration: Toleration, tolerated: bool) -> None:
    assert toleration.tolerates(Taint("k", "v", "NoSchedule")) is tolerated


def test_a_cluster_object_is_read_whole() -> None:
    model = {"grade": 1, "ranges": [{"name": "cpu", "min": "1", "max": "2"}]}
    cluster = read_karmada_cluster(
        {
            "metadata": {
                "name": "m1",
                "labels": {"a": "b"},
                "deletionTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {
                "provider": "aws",
                "zone": "z1",
                "taints": [
                    {"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
                ],
                "resourceModels": [model],
            },
            "status": {
                "apiEnablements": [{"groupVersion": "v1", "resources": [{"kind": "Secret"}]}],
                "resourceSummary": {
                    "allocatable": {"cpu": 4},
                    "allocatableModelings": [{"grade": 1, "count": 3}],
                },
            },
        }
    )
    assert (cluster.provider, cluster.region, cluster.zones) == ("aws", "", ("z1",))
    assert (cluster.observed, cluster.leaving) == (True, True)
    assert cluster.taints[0].time_added is not None
    assert cluster.api_enablements == frozenset({("v1", "Secret")})
    assert cluster.resource_models == (ResourceModel(1, {"cpu": "1"}),)
    assert cluster.resource_summary == ResourceSummary({"cpu": "4"}, nodes_by_grade={1: 3})


def test_a_declared_cluster_object_has_no_status() -> None:
    cluster = read_karmada_cluster({"metadata": {"name": "m1"}, "spec": {"syncMode": "Push"}})
    assert (cluster.observed, cluster.api_enablements, cluster.resource_models) == (
        False,
        None,
        None,
    )
