"""Placements that compare only, and drift that is left alone; on API servers in ``tests/engine/test_report_diff.py``."""

from __future__ import annotations

import copy
from typing import Any

import attrs
from pulumi.dynamic import CheckResult

from fleet_components.dynamic import ReportProvider
from fleet_components.testing import StackState
from tests.delivery.driver import InProcess, Outcome
from tests.delivery.world import KubeFleetWorld

REPORTS = {"type": "RollingUpdate", "applyStrategy": {"type": "ReportDiff"}}
ABANDONS = {"type": "RollingUpdate", "deleteStrategy": {"propagationPolicy": "Abandon"}}
APPLIES = {"type": "RollingUpdate"}


def reporting(**world: Any) -> InProcess:
    """A fleet whose placement compares only."""
    return InProcess(KubeFleetWorld(strategy=REPORTS, **world))


def kinds(state: StackState) -> set[str]:
    return {resource.type.rpartition(":")[2] for resource in state.resources.values()}


def test_nothing_of_it_is_registered_but_reports() -> None:
    driver = reporting()
    assert (outcome := driver.up()).ok, outcome.text
    assert "compared only (ReportDiff): nothing is written" in outcome.text
    assert not kinds(driver.state) & {"Namespace", "Deployment", "kubernetes"}
    assert "to become ready" not in outcome.text
    assert driver.preview().changes == {}
    reports = [
        resource
        for resource in driver.state.resources.values()
        if resource.type == "pulumi-python:dynamic/fleet:Report"
    ]
    assert {report.name for report in reports} == {f"dev/shop@{member}" for member in "abcd"}
    assert all(report.inputs["subject"] == "ClusterResourcePlacement/shop" for report in reports)


def test_nothing_of_it_is_ever_a_loss() -> None:
    names = {"placementType": "PickFixed", "clusterNames": ["a", "b", "c", "d"]}
    driver = reporting(policy=names)
    assert driver.up().ok
    driver.world.image = "web:2"
    changed = driver.preview()
    assert changed.ok
    assert not [name for name in changed.changes if name.startswith(("Deployment", "Namespace"))]
    driver.world.policy = {**names, "clusterNames": ["a"]}
    gone = driver.up()
    assert gone.ok, gone.text
    assert "deleted" not in gone.text
    assert {name: verb for name, verb in gone.changes.items() if name.startswith("Report")} == {
        f"Report shop@{member}": "delete" for member in "bcd"
    }


def test_its_objects_may_be_those_of_another() -> None:
    """Two placements that write one object to one member are refused; a report is none of them."""
    driver = InProcess()
    (other,) = (
        document
        for document in KubeFleetWorld(strategy=REPORTS).documents()
        if document["kind"] == "ClusterResourcePlacement"
    )
    driver.world.extra = [{**other, "metadata": {"name": "watch"}}]
    assert (outcome := driver.up()).ok, outcome.text
    driver.world.extra = []
    gone = driver.up()
    assert gone.ok, gone.text
    assert not [name for name in gone.changes if "/shop/web" in name]


def test_it_is_never_switched_to_over_what_would_be_deleted() -> None:
    driver = InProcess()
    assert driver.up().ok
    driver.world.strategy = REPORTS
    for outcome in (driver.preview(), driver.up()):
        assert not outcome.ok
        assert (
            "ClusterResourcePlacement/shop: compares only, with ReportDiff, and writes nothing"
            in outcome.text
        )
        assert "Deployment shop/web would be deleted on a, b, c, d" in outcome.text
        assert "propagationPolicy: Abandon" in outcome.text


def switched() -> tuple[InProcess, Outcome]:
    """A placement that wrote its objects, left them where they are, and compares them from then on."""
    driver = InProcess()
    assert driver.up().ok
    driver.world.strategy = ABANDONS
    assert (outcome := driver.up()).ok, outcome.text
    driver.world.strategy = REPORTS
    return driver, driver.up()


def test_what_was_left_where_it_is_may_be_compared() -> None:
    driver, outcome = switched()
    assert outcome.ok, outcome.text
    assert "kept on the member, no longer managed" in outcome.text
    assert not kinds(driver.state) & {"Namespace", "Deployment"}
    assert driver.preview().changes == {}


def test_applied_again_it_is_a_new_placement() -> None:
    driver = reporting()
    assert driver.up().ok
    driver.world.strategy = APPLIES
    outcome = driver.preview()
    assert outcome.ok, outcome.text
    assert "add a" in outcome.text
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:1")
    assert driver.preview().changes == {}


STOPS = {"type": "RollingUpdate", "applyStrategy": {"whenToApply": "IfNotDrifted"}}


def drifted(driver: InProcess, image: str = "by-hand:1") -> None:
    """Somebody changes the Deployment on ``a``, and a refresh takes that into the state."""
    resources = dict(driver.state.resources)
    (web,) = (resource for resource in resources.values() if resource.name == "dev/shop@a/shop/web")
    inputs = copy.deepcopy(dict(web.inputs))
    inputs["spec"]["template"]["spec"]["containers"][0]["image"] = image
    resources[web.urn] = attrs.evolve(web, inputs=inputs)
    driver.state = StackState(resources)


def test_drift_is_left_alone_until_the_source_changes() -> None:
    driver = InProcess(KubeFleetWorld(strategy=STOPS))
    assert driver.up().ok
    drifted(driver)
    assert driver.preview().changes == {}
    assert driver.up().ok
    assert driver.images() == {"a": "by-hand:1", **dict.fromkeys("bcd", "web:1")}
    driver.world.image = "web:2"
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:2")


def test_what_is_deleted_by_hand_comes_back_all_the_same() -> None:
    driver = InProcess(KubeFleetWorld(strategy=STOPS))
    assert driver.up().ok
    resources = {
        urn: resource
        for urn, resource in driver.state.resources.items()
        if resource.name != "dev/shop@a/shop/web"
    }
    driver.state = StackState(resources)
    assert driver.preview().changes == {"Deployment shop@a/shop/web": "create"}


def test_where_an_update_broke_everything_is_written() -> None:
    """What stands there is nobody's drift: the update may have written it."""
    driver = InProcess(KubeFleetWorld(strategy=STOPS))
    assert driver.up().ok
    driver.world.image = "web:2"
    assert not driver.up(fails="a").ok
    drifted(driver, "web:2")
    driver.world.image = "web:1"
    assert driver.up().ok
    assert driver.images() == dict.fromkeys("abcd", "web:1")


def asked(olds: dict[str, Any], **news: Any) -> dict[str, Any]:
    known = {"key": "dev/shop@a", "format": 1}
    result: CheckResult = ReportProvider().check(olds, {**known, **news})
    return {key: value for key, value in result.inputs.items() if key not in known}


def test_the_last_report_stands_while_a_member_does_not_answer() -> None:
    first = asked(
        {},
        differences={"Deployment shop/web": {"/spec/replicas": {"wanted": "1"}}},
        failures={},
        degraded=[],
    )
    assert first == {
        "differences": {"Deployment shop/web": {"/spec/replicas": {"wanted": "1"}}},
        "failures": {},
        "degraded": [],
    }
    assert asked(first, differences=None, failures=None, degraded=None) == first
    assert asked(first, differences={}, failures={}, degraded=[])["differences"] == {}
    assert asked({}, differences=None, failures=None, degraded=None) == {}
