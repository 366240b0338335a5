"""What drives an application from a member, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.policy import Failover, Placement
from fleet_components.systems.karmada.scheduler.failover import Circumstances, driven_from

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
FAILOVER = decode(
    Failover,
    {"application": {"decisionConditions": {"tolerationSeconds": 60}, "purgeMode": "Never"}},
)


@pytest.mark.parametrize(
    ("as_of", "since", "created"),
    [
        (NOON, NOON - timedelta(seconds=60), NOON.isoformat()),
        (NOON, None, NOON.isoformat()),
        (None, None, ""),
    ],
)
def test_an_application_that_fails_for_long_enough_leaves_now(
    as_of: datetime | None, since: datetime | None, created: str
) -> None:
    around = Circumstances(
        placement=Placement(), failover=FAILOVER, unhealthy={"a": since, "x": None}
    )
    driven = driven_from(Inventory([Cluster("a")], as_of), around)
    assert list(driven.now) == ["a"]
    task = driven.now["a"].task
    assert (task.created, task.reason, task.purge_mode) == (created, "ApplicationFailure", "Never")
    assert (task.suppress_deletion, task.grace_period_seconds) == (True, None)
    assert driven.due == {}


@pytest.mark.parametrize("as_of", [NOON, None])
def test_until_then_it_is_due(as_of: datetime | None) -> None:
    around = Circumstances(
        placement=Placement(), failover=FAILOVER, unhealthy={"a": NOON - timedelta(seconds=59)}
    )
    driven = driven_from(Inventory([Cluster("a")], as_of), around)
    assert not driven.now
    assert driven.due["a"].startswith("to be left at 2026-11-20")


def test_without_a_setting_for_applications_none_leaves() -> None:
    around = Circumstances(placement=Placement(), unhealthy={"a": None})
    driven = driven_from(Inventory([Cluster("a")], NOON), around)
    assert (driven.now, driven.due) == ({}, {})
