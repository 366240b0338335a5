"""Evictions and disruption budgets over successive runs: each is carried out once, and nothing is removed too early."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.driver import Driver

GROUP = "placement.kubernetes-fleet.io/v1beta1"
TWO = {"placementType": "PickN", "numberOfClusters": 2}


def eviction(
    name: str, cluster: str, placement: str = "shop", version: str = GROUP
) -> dict[str, Any]:
    spec = {"placementName": placement, "clusterName": cluster}
    return {
        "apiVersion": version,
        "kind": "ClusterResourcePlacementEviction",
        "metadata": {"name": name},
        "spec": spec,
    }


def budget(version: str = GROUP, **spec: Any) -> dict[str, Any]:
    kind = "ClusterResourcePlacementDisruptionBudget"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "shop"}, "spec": spec}


def on_two(driver: Driver) -> None:
    """The placement is on c and d, of four members."""
    driver.world.policy = TWO
    assert driver.up().ok
    assert set(driver.images()) == {"c", "d"}


def result(driver: Driver, name: str) -> str:
    return str(driver.record()["memory"]["evictions"][name]["result"])


def test_a_tainted_member_is_left_once_its_replacement_stands(driver: Driver) -> None:
    on_two(driver)
    driver.world.tainted, driver.world.extra = {"d"}, [eviction("out", "d")]
    shown = driver.preview()
    assert (
        "eviction out: d is evicted, and left at the end of the update (Eviction is allowed, no "
        in shown.text
    )
    assert shown.changes["Deployment shop@b/shop/web"] == "create"
    assert shown.changes["Deployment shop@d/shop/web"] == "delete"
    # The replacement refuses: what is evicted still stands, and the next update goes on.
    assert not driver.up(fails="b").ok
    assert set(driver.images()) >= {"c", "d"}
    assert driver.up().ok
    assert set(driver.images()) == {"b", "c"}
    assert driver.preview().changes == {}


def test_what_is_picked_again_stays_and_names_the_taint(driver: Driver) -> None:
    on_two(driver)
    before = driver.record()["decisions"]
    driver.world.extra = [eviction("out", "d", version="placement.kubernetes-fleet.io/v1alpha1")]
    shown = driver.preview()
    assert (
        "d is evicted, picked again, and keeps what it has; a taint on that member keeps it away: "
        in shown.text
    )
    assert "taints: [{key: drained, effect: NoSchedule}]" in shown.text
    assert set(shown.changes) == {"Placement shop", "Roster dev"}
    assert driver.up().ok
    assert (set(driver.images()), driver.record()["decisions"]) == ({"c", "d"}, before)
    again = driver.preview()
    assert (again.changes, "eviction" in again.text) == ({}, False)


def test_it_is_carried_out_once_by_name(driver: Driver) -> None:
    on_two(driver)
    driver.world.extra = [eviction("out", "d")]
    assert driver.up().ok
    # It is over: the taint comes later, and the eviction is still in the source.
    driver.world.tainted = {"d"}
    assert driver.preview().changes == {}
    # Taken out and written again it is another one; on a hub as well.
    driver.world.extra = []
    gone = driver.preview()
    assert "eviction out is taken out: its name may be used again" in gone.text
    assert driver.up().ok
    driver.world.extra = [eviction("out", "d")]
    assert driver.up().ok
    assert set(driver.images()) == {"b", "c"}
    assert driver.preview().changes == {}


def test_a_name_is_not_used_again_for_another_target(driver: Driver) -> None:
    on_two(driver)
    driver.world.extra = [eviction("out", "d")]
    assert driver.up().ok
    driver.world.extra = [eviction("out", "c")]
    refused = driver.preview()
    assert not refused.ok
    assert "The ClusterName field is immutable" in refused.text
    driver.world.extra = [eviction("another", "c")]
    assert driver.up().ok
    assert list(driver.record()["memory"]["evictions"]) == ["another"]


def test_a_budget_lets_as_many_through_as_it_says(driver: Driver) -> None:
    on_two(driver)
    driver.world.tainted = {"c", "d"}
    driver.world.extra = [eviction("one", "c"), eviction("two", "d"), budget(maxUnavailable=1)]
    shown = driver.preview()
    counted = "Eviction is {} by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: {}, totalPlac"
    assert counted.format("allowed", 2) in shown.text
    assert counted.format("blocked", 1) in shown.text
    assert (
        "maxUnavailable: 2 lets it go; or wait until 1 more are available; an eviction is checked once"
        in shown.text
    )
    assert driver.up().ok
    assert len(set(driver.images()) & {"c", "d"}) == 1
    # The blocked one is over as well, although there is room by now; under another name it is checked again.
    assert driver.preview().changes == {}
    assert (result(driver, "one"), result(driver, "two")) == ("Executed", "NotExecuted")
    driver.world.extra[1] = eviction("three", "d")
    assert driver.up().ok
    assert set(driver.images()) == {"a", "b"}
    assert driver.preview().changes == {}


def test_a_failed_placement_leaves_whatever_the_budget_says(driver: Driver) -> None:
    on_two(driver)
    driver.world.image = "web:2"
    assert not driver.up(fails="d").ok
    driver.world.tainted, driver.world.extra = {"d"}, [eviction("out", "d"), budget(minAvailable=2)]
    assert driver.up().ok
    assert (
        driver.record()["memory"]["evictions"]["out"]["message"]
        == "Eviction is allowed, placement has failed"
    )
    assert driver.images() == {"b": "web:2", "c": "web:2"}
    assert driver.preview().changes == {}


@pytest.mark.parametrize(
    ("cluster", "placement", "said"),
    [
        (
            "a",
            "shop",
            "Failed to find scheduler decision for placement in cluster targeted by eviction; it is on c, d;",
        ),
        (
            "d",
            "shpo",
            'there is no ClusterResourcePlacement "shpo" (did you mean "shop"? there is: shop)',
        ),
    ],
)
def test_what_is_not_there_is_not_evicted(
    driver: Driver, cluster: str, placement: str, said: str
) -> None:
    on_two(driver)
    driver.world.extra = [eviction("out", cluster, placement)]
    assert said in driver.preview().text
    assert driver.up().ok
    assert set(driver.images()) == {"c", "d"}
    assert driver.preview().changes == {}


def test_it_has_nothing_to_say_on_what_was_never_delivered(driver: Driver) -> None:
    """Both a first update, and a wave that was never reached."""
    driver.world.policy = TWO
    driver.world.extra = [eviction("first", "d")]
    assert not driver.up(fails="c").ok
    assert result(driver, "first") == "Invalid"


def test_a_list_of_clusters_is_changed_and_not_evicted_from(driver: Driver) -> None:
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": ["c", "d"]}
    assert driver.up().ok
    driver.world.extra = [eviction("out", "d")]
    refused = driver.preview()
    assert not refused.ok
    assert (
        "placement policy type PickFixed is not supported (remove the cluster from clusterNames of shop"
        in refused.text
    )


def test_a_budget_guards_against_evictions_only(driver: Driver) -> None:
    on_two(driver)
    driver.world.extra = [budget(minAvailable=2)]
    assert driver.preview().text.count("disruption budget") == 0
    driver.world.image = "web:2"
    shown = driver.preview()
    assert (
        "the disruption budget (minAvailable: 2) does not count for c, d: it guards against evictions only"
        in shown.text
    )
    assert driver.up().ok
    assert driver.images() == {"c": "web:2", "d": "web:2"}


def test_what_is_over_stays_over_when_its_member_gets_another_name(driver: Driver) -> None:
    on_two(driver)
    driver.world.extra = [eviction("out", "d"), budget(maxUnavailable=0)]
    assert driver.up().ok
    del driver.world.members["d"]
    driver.world.members["e"] = {}
    driver.world.config = {"renamed": {"members": {"e": "d"}}}
    assert "eviction" not in driver.preview().text
    assert driver.up().ok
    assert (set(driver.record()["decisions"]), result(driver, "out")) == ({"c", "e"}, "NotExecuted")
