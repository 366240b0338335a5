"""MemberCluster objects: declared ones, observed ones, and what cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fleet_components.model.cluster import Agent, Cluster, Taint, Usage, read_time
from fleet_components.systems.kubefleet.model.member_cluster import (
    MEMBER_NAME_LABEL,
    read_member_cluster,
)

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def member(**parts: Any) -> dict[str, Any]:
    """The wire form of a member."""
    return {"metadata": {"name": "m"}, **parts}


def agent(
    *conditions: tuple[str, str], heartbeat: str | None = "2026-01-31T12:00:00Z"
) -> Agent | None:
    """What is read of a MemberAgent's report with these conditions."""
    listed = [
        {"type": kind, "status": is_, "lastTransitionTime": "2026-01-31T12:00:00Z"}
        for kind, is_ in conditions
    ]
    report = {"type": "MemberAgent", "conditions": listed, "lastReceivedHeartbeat": heartbeat}
    others = [{"type": "ServiceExportImportAgent", "conditions": []}]
    return read_member_cluster(member(status={"agentStatus": [*others, report]})).agent


def test_a_declared_member() -> None:
    declared = read_member_cluster(
        {
            "metadata": {"name": "aks-1", "labels": {"env": "prod"}},
            "spec": {
                "taints": [
                    {"key": "k", "value": "v", "effect": "NoSchedule"},
                    {"key": "l", "effect": "NoSchedule"},
                ]
            },
            "status": {
                "properties": {
                    "nodes": {"value": 5},
                    "cost": {"value": "0.10", "observationTime": "..."},
                    "none": {},
                },
                "resourceUsage": {"capacity": {"cpu": 8}, "available": {"memory": "1Gi"}},
            },
        }
    )
    assert declared == Cluster(
        "aks-1",
        labels={"env": "prod", MEMBER_NAME_LABEL: "aks-1"},
        taints=(Taint("k", "v"), Taint("l")),
        properties={"nodes": "5", "cost": "0.10", "none": ""},
        usage=Usage(capacity={"cpu": "8"}, available={"memory": "1Gi"}),
    )
    assert not declared.observed
    assert declared.agent == Agent()


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"spec": None, "status": None},
        {"spec": {"taints": None}, "status": {"properties": None, "resourceUsage": None}},
        {"metadata": {"name": "m", "labels": None, "deletionTimestamp": None}},
    ],
)
def test_what_is_empty_may_be_left_out(parts: dict[str, Any]) -> None:
    assert read_member_cluster(member(**parts)) == Cluster("m", labels={MEMBER_NAME_LABEL: "m"})


def test_a_hub_writes_the_name_of_a_member_into_its_labels() -> None:
    """An observed one has what it has: other hubs than that of KubeFleet 0.3.1 write no such label."""
    declared = member(metadata={"name": "m", "labels": {MEMBER_NAME_LABEL: "other"}})
    assert read_member_cluster(declared).labels == {MEMBER_NAME_LABEL: "m"}
    assert read_member_cluster({**declared, "status": {"agentStatus": []}}).labels == {
        MEMBER_NAME_LABEL: "other"
    }


def test_an_observed_member() -> None:
    statuses: list[dict[str, Any]] = [
        {"agentStatus": []},
        {"conditions": []},
        {"agentStatus": None},
    ]
    for status in statuses:
        observed = read_member_cluster(member(status=status))
        assert observed.observed
        assert observed.agent is None
    assert agent(("Joined", "True"), ("Healthy", "False")) == Agent(True, False, NOON, NOON)
    assert agent(("Joined", "Unknown"), ("Healthy", "True")) == Agent(False, True, NOON, NOON)
    assert agent(heartbeat=None) == Agent(False, None, None, None)


def test_a_member_that_leaves() -> None:
    leaving = member(metadata={"name": "m", "deletionTimestamp": "2026-01-31T12:00:00Z"})
    assert read_member_cluster(leaving).leaving


@pytest.mark.parametrize("is_", ["True", "False", "Unknown"])
def test_namespaces_are_collected_where_the_condition_is_there(is_: str) -> None:
    condition = {"type": "NamespaceCollectionSucceeded", "status": is_}
    status = {
        "conditions": [{"type": "Joined", "status": "True"}, condition],
        "namespaces": {"app": ""},
    }
    read = read_member_cluster(member(status=status))
    assert (read.namespaces_collected, read.namespaces) == (True, {"app": ""})
    without = read_member_cluster(member(status={"conditions": [], "namespaces": {}}))
    assert (without.namespaces_collected, without.namespaces) == (False, {})


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00.000000000Z",
        "2026-01-31T13:00:00+01:00",
        "2026-01-31T07:00:00-05:00",
    ],
)
def test_times(text: str) -> None:
    assert read_time(text) == NOON
    assert read_time(None) is None


TAINT = {"key": "k", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({}, "metadata.name is missing"),
        ({"metadata": {"labels": {}}}, "metadata.name is missing"),
        (
            member(status={"properties": {"nodes": 5}}),
            'the property "nodes" is not an object; write it as nodes: {value: "5"}',
        ),
        (
            member(spec={"taints": [{**TAINT, "timeAdded": "2026-01-31T12:00:00"}]}),
            '"2026-01-31T12:00:00" has no time zone; write it as 2026-01-31T12:00:00Z',
        ),
        (
            member(spec={"taints": [{**TAINT, "timeAdded": "2026-01-31"}]}),
            '"2026-01-31" has no time zone; write it as 2026-01-31T12:00:00Z',
        ),
        (
            member(
                status={
                    "agentStatus": [{"type": "MemberAgent", "lastReceivedHeartbeat": "yesterday"}]
                }
            ),
            '"yesterday" is not a time; write it as 2026-01-31T12:00:00Z',
        ),
        (
            member(status={"agentStatus": [{"type": "MemberAgent", "lastReceivedHeartbeat": 5}]}),
            '"5" is not a time; write it as 2026-01-31T12:00:00Z',
        ),
    ],
)
def test_what_cannot_be_read(data: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        read_member_cluster(data)
    assert str(refused.value) == error
