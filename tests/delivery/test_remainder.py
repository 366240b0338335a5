"""What every plan says of the updates that come after it, against what then happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.fleets import plan, run
from tests.delivery.driver import Driver, InProcess
from tests.delivery.karmada.test_failover import DOWN, EVENLY, settings, taint
from tests.delivery.karmada.world import KarmadaWorld
from tests.delivery.karmada.world import delivered as placed
from tests.delivery.test_staged import released

pytestmark = pytest.mark.long


def moving(rolling: dict[str, object], *, members: str = "abcd", to: str = "cdef") -> InProcess:
    """The placement moves from some members to others; a removal has to come before an addition."""
    driver = InProcess()
    driver.world.members = {name: {} for name in sorted({*members, *to})}
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": sorted(members)}
    driver.world.rolling = rolling
    driver.world.config = {"limit": 1}
    assert driver.up().ok
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": sorted(to)}
    return driver


def said(driver: Driver[Any]) -> list[str]:
    return [line for line in driver.preview().text.splitlines() if line.startswith("left: ")]


def updates(driver: Driver) -> int:
    """How many updates there are to the end, each as the one before has said."""
    number, left = 0, None
    while driver.preview().changes:
        lines = said(driver)
        now = int(lines[0].split()[1]) if lines and lines[0].split()[1].isdigit() else 0
        assert left is None or now == left - 1, (left, lines)
        assert driver.up().ok
        number, left = number + 1, now
    assert left == 0
    return number


@pytest.mark.parametrize(("unavailable", "number"), [(1, 4), (2, 2), (4, 1)])
def test_strict_surge_takes_as_many_updates_as_the_first_one_says(
    unavailable: int, number: int
) -> None:
    driver = moving({"maxUnavailable": unavailable, "maxSurge": 0}, members="abcd", to="efgh")
    assert said(driver)[0].removeprefix("left: ").split(" more")[0] == str(number)
    assert updates(driver) == number + 1
    assert sorted(driver.images()) == list("efgh")


def test_an_approval_is_named_with_the_updates_before_it() -> None:
    driver = InProcess()
    released(driver, {"type": "Approval"})
    assert said(driver) == ["left: approval go-after-canary is needed"]
    assert driver.up().ok
    assert driver.preview().changes == {}


def test_a_wait_is_named_with_its_end() -> None:
    driver = InProcess()
    released(driver, {"type": "TimedWait", "waitTime": "2h"})
    driver.world.config = {"asOf": "2026-05-01T10:00:00Z"}
    (line,) = said(driver)
    assert (
        line
        == "left: stage canary is followed by a wait of 2h0m0s, until 2026-05-01T12:00:00+00:00"
    )


def test_a_copy_that_is_purged_first_leaves_one_more() -> None:
    driver = InProcess(KarmadaWorld())
    driver.world.objects["settings"] = settings()
    placed(driver, EVENLY, 6, failover={"cluster": {"purgeMode": "Directly"}})
    taint(driver, "a", DOWN)
    assert said(driver) == ["left: 1 more update"]
    assert driver.up().ok
    assert said(driver) == []


def test_what_no_update_opens_is_not_counted() -> None:
    driver = InProcess()
    assert driver.up().ok
    driver.world.image = "web:2"
    driver.world.rolling = {"maxUnavailable": 0, "maxSurge": 1}
    assert said(driver) == []


def test_it_is_in_the_document_the_table_and_the_comment(tmp_path: Path) -> None:
    driver = moving({"maxUnavailable": 1, "maxSurge": 0}, members="ab", to="cd")
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": ["a", "b"]}
    driver.world.write(tmp_path / "fleet")
    assert run("render", tmp_path / "fleet", "--out", tmp_path / "out").exit_code == 0
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": ["c", "d"]}
    driver.world.write(tmp_path / "fleet")
    options = (tmp_path / "fleet", "--state", tmp_path / "out/local/state.json")
    document = plan(*options)
    (subject,) = document["subjects"]
    assert document["remaining"]["updates"] == subject["remaining"]["updates"] == 2
    opens = {item["name"]: item["opens"] for item in subject["clusters"]}
    assert opens == {"a": None, "b": "update", "c": "update", "d": "update"}
    for form, times in (
        ("table", 3),
        ("markdown", 2),
    ):  # ahead, beside the placement, and at the end of a table
        text = run("plan", *options, "-o", form).stdout
        assert text.count("left: 2 more updates") == times
