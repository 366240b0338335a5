"""Placements that compare only, and drift that is left alone, on real API servers: the members' own objects tell."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    carried_out,
    config_map,
    deployment,
    shop_of,
    unchanged,
)

pytestmark = pytest.mark.engine

OBJECTS = (("namespace", ""), ("deployment", "web"), ("configmap", "c"), ("secret", "s"))


def secret(space: str, value: str) -> Data:
    data = config_map(space, name="s")
    del data["data"]
    return {**data, "kind": "Secret", "stringData": {"password": value}}


def strategy(tale: Story, **apply: Any) -> None:
    """Write the apply strategy of the placement."""
    tale.objects["shop"]["spec"]["strategy"] = {"type": "RollingUpdate", "applyStrategy": apply}


def written(story: Story, *more: tuple[str, str]) -> dict[tuple[str, str], Any]:
    """What was written on the members, and by whom, by member and object; a cluster's own controllers do not count."""
    found: dict[tuple[str, str], Any] = {}
    for plane, server in story.planes.items():
        for kind, name in (*OBJECTS, *more):
            live = server.get(kind, name or story.space, "-n", story.space, "--show-managed-fields")
            found[plane, kind] = live and _told(live)
    return found


def _told(live: Mapping[str, Any]) -> dict[str, Any]:
    metadata = live["metadata"]
    told = {key: metadata.get(key) for key in ("uid", "generation", "labels", "ownerReferences")}
    # Of the cluster's own: the revision of a Deployment, and the status of everything.
    managers = [
        item for item in metadata["managedFields"] if item["manager"] != "kube-controller-manager"
    ]
    managers = [manager for manager in managers if manager.get("subresource") != "status"]
    return {**told, "managers": managers, **{key: live.get(key) for key in ("spec", "data")}}


@pytest.fixture
def shop(story: Engine[Story]) -> Engine[Story]:
    """A placement that compares only; on member ``a`` somebody has made the objects otherwise, on ``b`` all but one."""
    tale = story.world
    shop_of(tale, s=secret(tale.space, "wanted-password"))
    strategy(tale, type="ReportDiff")
    for plane in tale.planes.values():
        plane.kubectl("create", "namespace", tale.space)
    a = tale.planes["a"]
    a.kubectl("create", "deployment", "web", "-n", tale.space, "--image=web:0", "--replicas=4")
    for plane in tale.planes.values():
        plane.kubectl(
            "create",
            "configmap",
            "c",
            "-n",
            tale.space,
            "--from-literal=k=one",
            "--from-literal=other=1",
        )
    a.kubectl(
        "create",
        "secret",
        "generic",
        "s",
        "-n",
        tale.space,
        "--from-literal=password=their-password",
    )
    return story


def report(engine: Engine[Story], member: str) -> Mapping[str, Any]:
    """The report on a member, as the state has it."""
    (found,) = (
        resource
        for resource in engine.state().resources.values()
        if resource.name.endswith(f"/shop@{member}") and "Report" in resource.type
    )
    return found.outputs


def test_it_writes_nothing_whatever_is_done(shop: Engine[Story]) -> None:
    tale = shop.world
    before = written(tale)
    seen = shop.preview()
    assert seen.ok, seen.text
    assert written(tale) == before
    carried_out(shop)
    assert written(tale) == before
    for field in (
        "/spec/replicas: 4, wanted 1",
        "/spec/template/spec/containers/0/image: web:0, wanted web:1",
    ):
        assert f"Deployment {tale.space}/web: {field}" in seen.text
    assert f"Deployment {tale.space}/web: is not there" in seen.text
    assert f"Secret {tale.space}/s: /data/password: (redacted" in seen.text
    for text in (seen.text, shop.export()):
        assert "their-password" not in text
    differences = report(shop, "a")["differences"]
    assert differences[f"Deployment {tale.space}/web"]["/spec/replicas"] == {
        "wanted": "1",
        "there": "4",
    }
    assert f"ConfigMap {tale.space}/c" not in differences
    assert report(shop, "b")["differences"][f"Deployment {tale.space}/web"] == {
        "/": {"wanted": "(the whole object)"}
    }
    # A changed source, and what others change, show as changes of the report alone.
    tale.objects["web"] = deployment(tale.space, "web:2")
    tale.objects["c"]["data"]["k"] = "two"
    assert "ConfigMap" in carried_out(shop).text
    assert written(tale) == before
    for run in (shop.refresh, shop.up_refreshed):
        assert (outcome := run()).ok, outcome.text
        assert written(tale) == before
    tale.planes["a"].kubectl("scale", "deployment", "web", "--replicas=1", "-n", tale.space)
    before = written(tale)
    changed = shop.preview()
    assert changed.changes == {"Report shop@a": "update"}
    # A member goes, then the placement, then all.
    source = tale.source()
    tale.objects["shop"]["spec"]["policy"] = {"placementType": "PickAll", "affinity": NOWHERE}
    carried_out(shop)
    assert written(tale) == before
    tale.go_back(source)
    carried_out(shop)
    del tale.objects["shop"]
    carried_out(shop)
    assert written(tale) == before
    tale.go_back(source)
    carried_out(shop)
    assert shop.unprotect().ok
    assert (gone := shop.destroy()).ok, gone.text
    assert not shop.state().resources
    assert written(tale) == before


NOWHERE = {
    "clusterAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"no": "where"}}}]
        }
    }
}


def test_all_fields_are_compared_if_asked(shop: Engine[Story]) -> None:
    tale = shop.world
    strategy(tale, type="ReportDiff", comparisonOption="FullComparison")
    carried_out(shop)
    assert report(shop, "a")["differences"][f"ConfigMap {tale.space}/c"] == {
        "/data/other": {"there": "1"}
    }


def test_a_member_that_does_not_answer_keeps_its_last_report(shop: Engine[Story]) -> None:
    tale = shop.world
    carried_out(shop)
    last = report(shop, "a")
    tale.planes["a"].pause()
    try:
        seen = shop.preview()
        assert seen.ok, seen.text
        assert "shop on a cannot be asked what differs" in seen.text
        assert seen.changes == {}
    finally:
        tale.planes["a"].resume()
    assert report(shop, "a") == last


def test_it_may_watch_what_another_placement_has_written(shop: Engine[Story]) -> None:
    tale = shop.world
    watch = copy.deepcopy(tale.objects["shop"])
    watch["metadata"]["name"] = "watch"
    strategy(tale)
    carried_out(shop)
    tale.objects["watch"] = watch
    carried_out(shop)
    before = written(tale)
    tale.planes["a"].kubectl("scale", "deployment", "web", "--replicas=4", "-n", tale.space)
    seen = shop.preview()
    assert f"Deployment {tale.space}/web: /spec/replicas: 4, wanted 1" in seen.text
    del tale.objects["watch"]
    assert shop.up().ok
    after = written(tale)
    assert {key: item["uid"] for key, item in before.items()} == {
        key: item["uid"] for key, item in after.items()
    }


def test_switched_to_and_back(shop: Engine[Story]) -> None:
    """Only once its objects are left where they are; then they are neither deleted nor written."""
    tale = shop.world
    strategy(tale)
    carried_out(shop)
    before = written(tale)
    strategy(tale, type="ReportDiff")
    for outcome in (shop.preview(), shop.up()):
        assert not outcome.ok
        assert f"Deployment {tale.space}/web" in outcome.text
        assert "propagationPolicy: Abandon" in outcome.text
    assert written(tale) == before
    strategy(tale)
    tale.objects["shop"]["apiVersion"] = (
        "placement.kubernetes-fleet.io/v1beta1"  # v1 has no deleteStrategy
    )
    tale.objects["shop"]["spec"]["strategy"]["deleteStrategy"] = {"propagationPolicy": "Abandon"}
    carried_out(shop)
    assert written(tale) == before
    strategy(tale, type="ReportDiff")
    carried_out(shop)
    assert written(tale) == before
    assert report(shop, "a")["differences"] == {}
    tale.objects["web"] = deployment(tale.space, "web:2")
    carried_out(shop)
    assert written(tale) == before
    strategy(tale)
    carried_out(shop)
    for plane in tale.planes:
        live = tale.live(plane, "deployment", "web")
        assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"
        assert live["metadata"]["uid"] == before[plane, "deployment"]["uid"]


def test_drift_is_left_alone_until_the_source_changes(shop: Engine[Story]) -> None:
    tale = shop.world
    strategy(tale, whenToApply="IfNotDrifted")
    carried_out(shop)
    a = tale.planes["a"]
    a.kubectl("scale", "deployment", "web", "--replicas=4", "-n", tale.space)
    a.kubectl("set", "image", "deployment/web", "web=by-hand:1", "-n", tale.space)
    before = written(tale)
    told = f"shop on a: found drifts, which are left alone until the source changes:\nDeployment {tale.space}/web: /spec"
    for run in (shop.preview, shop.up, shop.up_refreshed, shop.preview, shop.up):
        outcome = run()
        assert outcome.ok, outcome.text
        assert told in outcome.text
        assert outcome.changes == {}
        assert written(tale) == before
    a.kubectl("delete", "configmap", "c", "-n", tale.space)
    assert (outcome := shop.up_refreshed()).ok, outcome.text
    assert tale.live("a", "configmap", "c")["data"] == {"k": "one"}
    after = written(tale)
    assert after["a", "deployment"] == before["a", "deployment"]
    tale.objects["web"] = deployment(tale.space, "web:2")
    assert (outcome := shop.up()).ok, outcome.text
    spec = tale.live("a", "deployment", "web")["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (1, "web:2")
    unchanged(shop)
