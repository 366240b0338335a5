"""Members as an observation has them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import attrs
import pytest

from fleet_components.hub.reading import read_hub
from fleet_components.systems.kubefleet.hub.members import members_of
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import ineligibility
from tests.delivery.recording import NOW
from tests.hub.kubefleet.hubs import agent, hub_of, member
from tests.hub.kubefleet.planned import source_of


def why_not(written: Any, *, later: timedelta = timedelta()) -> str:
    return ineligibility(read_member_cluster(written), NOW + later)


def test_a_member_that_is_heard_of_has_no_times() -> None:
    (written,) = members_of(hub_of(member()))
    assert "2025" not in str(written)
    assert not why_not(written)
    assert "heartbeat" not in str(written).lower()


def test_an_hour_later_the_same_is_written() -> None:
    now = hub_of(member())
    then = hub_of(
        member(status={"agentStatus": [agent("2026-01-01T00:59:55Z")]}, resourceVersion="99")
    )
    assert members_of(now) == members_of(attrs.evolve(then, as_of=NOW + timedelta(hours=1)))


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (agent("2025-12-31T23:54:00Z"), "last received 6.00 minutes ago"),
        (agent(None), "no recent heartbeat"),
        (agent("2025-12-31T23:59:00Z", healthy="False"), "unhealthy for a prolonged period"),
        (
            {
                "type": "MemberAgent",
                "conditions": [],
                "lastReceivedHeartbeat": "2025-12-31T23:59:00Z",
            },
            "not joined yet",
        ),
        ({"type": "Another"}, "not online yet"),
    ],
)
def test_a_member_that_cannot_be_scheduled_on_says_why(report: Any, words: str) -> None:
    (written,) = members_of(hub_of(member(status={"agentStatus": [report]})))
    assert words in why_not(written)


def test_a_member_that_leaves_is_leaving() -> None:
    (written,) = members_of(hub_of(member(deletionTimestamp="2026-01-01T00:00:00Z")))
    assert why_not(written) == "cluster has left the fleet"


def test_an_export_without_a_heartbeat_is_silent_still() -> None:
    assert "no recent heartbeat" in why_not(member(status={"agentStatus": [agent(None)]}))


def test_what_schedulers_read_stays_and_times_of_it_do_not() -> None:
    properties = {
        "kubernetes-fleet.io/node-count": {"value": "3", "observationTime": "2025-12-31T23:59:59Z"}
    }
    status = {
        "properties": properties,
        "resourceUsage": {"available": {"cpu": "2"}, "observationTime": "2025-12-31T23:59:59Z"},
        "namespaces": {},
        "conditions": [
            {
                "type": "NamespaceCollectionSucceeded",
                "status": "True",
                "lastTransitionTime": "2025-12-31T23:59:59Z",
            },
            {"type": "Joined", "status": "True"},
        ],
    }
    (written,) = members_of(
        hub_of(member(status={**member()["status"], **status}, labels={"ring": "1"}))
    )
    assert "2025" not in str(written)
    read = read_member_cluster(written)
    assert (read.properties, read.usage.available) == (
        {"kubernetes-fleet.io/node-count": "3"},
        {"cpu": "2"},
    )
    assert (read.labels, read.namespaces, read.namespaces_collected) == ({"ring": "1"}, {}, True)


def test_what_is_written_is_a_source() -> None:
    conditions = [{"type": "NamespaceCollectionSucceeded", "status": "True"}]
    taints = [{"key": "a", "effect": "NoSchedule"}]
    tainted = member(
        "tainted", status={**member()["status"], "conditions": conditions, "namespaces": {"a": "b"}}
    )
    tainted["spec"]["taints"] = taints
    source = source_of(
        read_hub(hub_of(tainted, member("silent", status={"agentStatus": [agent(None)]})))
    )
    assert (source.problems, source.warnings) == ((), ())
    assert {cluster.name: len(cluster.taints) for cluster in source.clusters} == {
        "silent": 0,
        "tainted": 1,
    }
