"""Successive runs with failures between them: what stands, what is decided, and what goes first."""

from __future__ import annotations

import pytest

from tests.delivery.driver import Driver


def everywhere(image: str, clusters: str = "abcd") -> dict[str, str]:
    return dict.fromkeys(clusters, image)


@pytest.mark.long
def test_first_preview_shows_every_object_of_every_cluster(driver: Driver) -> None:
    seen = driver.preview().changes
    assert {f"Deployment shop@{c}/shop/web" for c in "abcd"} <= seen.keys()
    assert set(seen.values()) == {"create"}


@pytest.mark.long
def test_an_unchanged_second_run_shows_nothing(driver: Driver) -> None:
    assert driver.up().ok
    assert driver.images() == everywhere("web:1")
    assert driver.preview().changes == {}
    assert driver.up().changes == {}


@pytest.mark.long
def test_a_change_moves_wave_by_wave(driver: Driver) -> None:
    driver.up()
    driver.world.image = "web:2"
    shown = driver.preview()
    assert "wave 1: update a" in shown.text
    assert "wave 4: update d" in shown.text
    assert driver.up().ok
    assert driver.order() == ["a", "b", "c", "d"]
    assert driver.preview().changes == {}


def test_a_wave_that_fails_stops_the_rest(driver: Driver) -> None:
    driver.up()
    driver.world.image = "web:2"
    assert not driver.up(fails="b").ok
    assert driver.images() == {"a": "web:2", "b": "web:1", "c": "web:1", "d": "web:1"}


def test_a_retry_keeps_its_order_and_starts_where_it_broke(driver: Driver) -> None:
    driver.up()
    driver.world.image = "web:2"
    driver.up(fails="b")
    waves = {c: placed["wave"] for c, placed in driver.record()["decisions"].items()}
    shown = driver.preview()
    assert {name for name in shown.changes if name.startswith("Deployment")} == {
        f"Deployment shop@{c}/shop/web" for c in "bcd"
    }
    assert driver.up().ok
    assert driver.order() == ["b", "c", "d"]
    assert {c: placed["wave"] for c, placed in driver.record()["decisions"].items()} == waves
    assert driver.preview().changes == {}


@pytest.mark.long
def test_after_a_failure_a_new_content_goes_to_the_broken_cluster_first(driver: Driver) -> None:
    driver.up()
    driver.world.image = "web:2"
    driver.up(fails="b")
    driver.world.image = "web:3"
    assert not driver.up(fails="a").ok
    assert driver.order()[0] == "b"
    assert driver.images() == {"a": "web:2", "b": "web:3", "c": "web:1", "d": "web:1"}


def test_held_clusters_keep_what_they_really_run(driver: Driver) -> None:
    """The interleaving that goes wrong when the decisions are taken for the truth."""
    driver.up()
    driver.world.image = "web:2"
    driver.up(fails="b")
    driver.world.image = "web:3"
    driver.world.rolling = {"maxUnavailable": 0, "maxSurge": 1}
    shown = driver.preview()
    assert "held: a, c, d" in shown.text or ("held: a" in shown.text and "held: c, d" in shown.text)
    assert driver.up().ok
    # b broke, so it needs no budget; the others stay at what stands there, not at what was decided.
    assert driver.images() == {"a": "web:2", "b": "web:3", "c": "web:1", "d": "web:1"}
    assert driver.preview().changes == {}
    driver.world.rolling = {"maxUnavailable": 1, "maxSurge": 1}
    assert driver.up().ok
    assert driver.images() == everywhere("web:3")
    assert driver.preview().changes == {}


@pytest.mark.long
def test_two_failures_in_a_row(driver: Driver) -> None:
    driver.up()
    driver.world.image = "web:2"
    driver.up(fails="b")
    driver.up(fails="b")
    assert driver.images() == {"a": "web:2", "b": "web:1", "c": "web:1", "d": "web:1"}
    driver.up(fails="c")
    assert driver.images() == {"a": "web:2", "b": "web:2", "c": "web:1", "d": "web:1"}
    assert driver.up().ok
    assert driver.images() == everywhere("web:2")
    assert driver.preview().changes == {}


@pytest.mark.long
def test_a_run_that_ends_right_after_the_placement(driver: Driver) -> None:
    driver.up()
    driver.world.image = "web:2"
    driver.up(fails="a")
    assert driver.images() == everywhere("web:1")
    assert driver.up().ok
    assert driver.order() == ["a", "b", "c", "d"]


def test_a_member_that_leaves_is_emptied_last(driver: Driver) -> None:
    driver.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    driver.up()
    assert set(driver.images()) == {"c", "d"}
    del driver.world.members["d"]
    shown = driver.preview()
    assert shown.changes["Deployment shop@b/shop/web"] == "create"
    assert shown.changes["Deployment shop@d/shop/web"] == "delete"
    # The new cluster refuses: what leaves is still there.
    driver.up(fails="b")
    assert {"c", "d"} <= set(driver.images())
    assert driver.up().ok
    assert set(driver.images()) == {"b", "c"}
    assert driver.preview().changes == {}


@pytest.mark.long
def test_a_member_that_comes_back_gets_nothing_back_while_others_serve(driver: Driver) -> None:
    driver.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    driver.up()
    del driver.world.members["d"]
    driver.up()
    driver.world.members["d"] = {}
    assert not [name for name in driver.preview().changes if name.startswith("Deployment")]
    driver.up()
    assert set(driver.images()) == {"b", "c"}


@pytest.mark.long
def test_a_lost_member_is_replaced_and_forgotten(driver: Driver) -> None:
    driver.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    driver.up()
    driver.world.config = {"lost": "d"}
    assert driver.up().ok
    assert set(driver.images()) >= {"b", "c"}
    assert "d" not in driver.record()["decisions"]
    assert driver.preview().changes == {}


@pytest.mark.long
def test_a_member_that_is_lost_and_not_declared_any_more(driver: Driver) -> None:
    """Its objects are remembered for its return all the same."""
    driver.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    driver.up()
    assert set(driver.images()) == {"c", "d"}
    del driver.world.members["d"]
    driver.world.config = {"lost": "d,e"}
    seen, done = driver.preview(), driver.up()
    assert (seen.ok, seen.changes) == (done.ok, done.changes)
    assert (
        "Deployment shop/web, Namespace shop of ClusterResourcePlacement/shop on d: forgotten"
        in done.text
    )
    assert 'lost: there is no member "e" (the members are: a, b, c, d)' in done.text
    assert {"b", "c"} <= set(driver.images())
    assert driver.preview().changes == {}
    driver.world.members["d"] = {}
    driver.world.config = {}
    back = driver.up()
    assert (
        "Deployment shop/web on d: deleted: the member is back, and it has moved away meanwhile"
        in back.text
    )


@pytest.mark.long
def test_after_a_rollback_from_where_an_update_stopped_nothing_is_left_to_do(
    driver: Driver,
) -> None:
    driver.up()
    driver.world.image = "web:2"
    assert not driver.up(fails="a").ok
    driver.world.image = "web:1"
    assert driver.up().ok
    assert driver.preview().changes == {}


@pytest.mark.long
def test_what_a_later_removal_does_otherwise_is_said(driver: Driver) -> None:
    driver.up()
    for keeps, now in (("false", "deleted"), ("true", "kept on the member")):
        driver.world.config = {"keepClusterResources": keeps}
        for outcome in (driver.preview(), driver.up()):
            assert f"Namespace shop on a, b, c, d (4 objects): {now} from now on" in outcome.text
        again = driver.preview()
        assert (again.changes, "from now on" in again.text) == ({}, False)


@pytest.mark.long
def test_a_mass_removal_is_refused_with_a_token(driver: Driver) -> None:
    driver.up()
    driver.world.policy = {
        "placementType": "PickAll",
        "affinity": {
            "clusterAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"keep": "yes"}}}]
                }
            }
        },
    }
    driver.world.members["a"] = {"keep": "yes"}
    refused = driver.preview()
    assert not refused.ok
    assert (
        "ClusterResourcePlacement/shop: would lose 3 objects on 3 members (b, c, d), 3 of the 4 "
        in refused.text
    )
    token = refused.text.partition("fleet:confirm=")[2][:8]
    driver.world.config = {"confirm": token}
    assert driver.up().ok
    driver.world.config = {}
    assert set(driver.images()) == {"a"}
    assert driver.preview().changes == {}


@pytest.mark.long
def test_a_label_that_changes_no_decision_changes_nothing(driver: Driver) -> None:
    driver.up()
    driver.world.members["c"] = {"owner": "somebody else"}
    assert driver.preview().changes == {}


@pytest.mark.long
def test_a_member_that_is_no_longer_declared_is_not_held(driver: Driver) -> None:
    """There would be nothing to reach it with, whatever the budget says."""
    driver.world.policy = {"placementType": "PickN", "numberOfClusters": 2}
    driver.world.rolling = {"maxUnavailable": 0, "maxSurge": 0}
    driver.up()
    del driver.world.members["d"]
    assert driver.up().ok
    assert "d" not in driver.images()
    assert driver.preview().changes == {}
