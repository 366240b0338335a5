"""Apply strategies on real API servers: what is taken over, forced, refused, and what stays when a placement goes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    carried_out,
    config_map,
    namespace,
    placement,
    propagation,
    refused,
    unchanged,
)

pytestmark = pytest.mark.engine
MORE, SECRET = ("configmap", "more"), ("secret", "s")


def with_strategy(name: str, *selected: Data, deletes: str = "", **apply: Any) -> Data:
    """A placement with an apply strategy."""
    item = placement(name, *selected)
    item["apiVersion"] = "placement.kubernetes-fleet.io/v1beta1"
    item["spec"]["strategy"] = {
        "type": "RollingUpdate",
        "applyStrategy": apply,
        **({"deleteStrategy": {"propagationPolicy": deletes}} if deletes else {}),
    }
    return item


def secret(space: str, value: str) -> Data:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": space},
        "stringData": {"k": value},
    }


@pytest.fixture
def shop(story: Engine[Story]) -> Engine[Story]:
    """A Namespace with a ConfigMap on both members; the member b has more in it by hand."""
    tale = story.world
    space = namespace(tale.space)
    tale.objects = {"space": space, "c": config_map(tale.space), "shop": placement("shop", space)}
    assert (first := story.up()).ok, first.text
    for name, kind in (("more", ("configmap",)), ("s", ("secret", "generic"))):
        tale.planes["b"].kubectl("create", *kind, name, "-n", tale.space, "--from-literal=k=theirs")
    return story


def test_what_stood_before_stays_when_it_leaves_in_the_very_next_update(
    shop: Engine[Story],
) -> None:
    tale = shop.world
    before = tale.uids(MORE, SECRET, on="b")
    for _ in range(2):  # and once more, after it was left behind
        tale.objects |= {
            "more": config_map(tale.space, "ours", "more"),
            "s": secret(tale.space, "ours"),
        }
        carried_out(shop)
        assert tale.live("b", *MORE)["metadata"]["annotations"]["fleet-components/found"] == "true"
        assert "fleet-components/found" not in tale.live("a", *MORE)["metadata"]["annotations"]
        tale.objects["more"]["data"] = {"k": "newer"}
        carried_out(shop)
        assert tale.live("b", *MORE)["data"] == {"k": "newer"}
        del tale.objects["more"], tale.objects["s"]
        seen = carried_out(shop)
        assert "on b: kept on the member, no longer managed; it stood there before" in seen.text
        assert tale.uids(MORE, SECRET, on="b") == before
        assert tale.live("a", *MORE) is None
        assert tale.live("a", *SECRET) is None
    tale.objects["more"] = config_map(tale.space, "ours", "more")
    assert shop.up().ok
    del tale.objects["more"]  # in the very next update
    assert shop.up().ok
    tale.config["limit"] = "1"
    del tale.objects["shop"]
    assert shop.up().ok
    assert tale.uids(MORE, SECRET, on="b") == before
    assert tale.live("b", "configmap", "c") is None


def test_what_stood_before_goes_where_that_is_asked(shop: Engine[Story]) -> None:
    tale = shop.world
    tale.config |= {"keepFound": "false", "limit": "1"}
    tale.objects["more"] = config_map(tale.space, "ours", "more")
    carried_out(shop)
    del tale.objects["more"]
    assert "deleted" in carried_out(shop).text
    assert tale.live("b", *MORE) is None


def test_what_stood_before_a_policy_overwrote_it_stays(shop: Engine[Story]) -> None:
    tale = shop.world
    before = tale.uids(MORE, on="b")
    del tale.objects["shop"], tale.objects["c"]
    tale.config["limit"] = "1"
    more = config_map(tale.space, "ours", "more")
    tale.objects |= {
        "more": more,
        "policy": propagation("policy", more, on="b", conflictResolution="Overwrite"),
    }
    assert shop.up().ok
    assert tale.live("b", *MORE)["data"] == {"k": "ours"}
    del tale.objects["more"]
    carried_out(shop)
    assert tale.uids(MORE, on="b") == before


def test_never_takes_nothing_over(shop: Engine[Story]) -> None:
    """Refused before anything is written; what is not there yet comes, and the mode may change afterwards."""
    tale = shop.world
    space, c = tale.objects["space"], tale.objects["c"]
    before = tale.live("b", *MORE)
    tale.objects["more"] = config_map(tale.space, "ours", "more")
    tale.objects["c"] = config_map(tale.space, "two")
    tale.objects["shop"] = with_strategy("shop", space, whenToTakeOver="Never")
    text = refused(
        shop, f"ConfigMap {tale.space}/more: is on b already, somebody else has made it", "is Never"
    )
    assert "fleet.yaml:" in text
    assert tale.live("b", *MORE) == before
    assert tale.live("a", *MORE) is None
    assert tale.live("a", "configmap", "c")["data"] == {"k": "one"}
    uids = tale.uids(("configmap", "c"), ("namespace", tale.space))
    tale.planes["b"].kubectl("delete", "configmap", "more", "-n", tale.space)
    carried_out(shop)
    assert tale.uids(("configmap", "c"), ("namespace", tale.space)) == uids
    assert tale.live("b", *MORE)["data"] == {"k": "ours"}
    tale.objects["shop"] = placement("shop", space)
    tale.objects["c"] = c
    carried_out(shop)
    assert tale.uids(("configmap", "c"), ("namespace", tale.space)) == uids
    assert tale.live("b", "configmap", "c")["data"] == {"k": "one"}


def test_what_does_not_differ_is_taken_over(shop: Engine[Story]) -> None:
    """Defaults are no difference; what the source does not set is one where the comparison is full."""
    tale = shop.world
    b, space = tale.planes["b"], tale.objects["space"]
    service: Data = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": tale.space},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    b.kubectl("create", "service", "clusterip", "web", "-n", tale.space, "--tcp=80:80")
    service["spec"]["ports"][0]["name"] = "80-80"
    before = tale.uids(MORE, SECRET, ("service", "web"), on="b")
    tale.objects |= {
        "more": config_map(tale.space, "ours", "more"),
        "s": secret(tale.space, "ours"),
        "web": service,
    }
    tale.objects["shop"] = with_strategy("shop", space, whenToTakeOver="IfNoDiff")
    text = refused(
        shop, f"ConfigMap {tale.space}/more: is on b already", "/data/k: theirs there, ours wanted"
    )
    assert f"Secret {tale.space}/s: is on b already" in text
    assert (
        "/data/k: (redacted for security reasons) there, (redacted for security reasons) wanted"
        in text
    )
    assert "Service" not in text
    assert tale.live("a", *MORE) is None
    tale.objects |= {
        "more": config_map(tale.space, "theirs", "more"),
        "s": secret(tale.space, "theirs"),
    }
    b.kubectl("patch", "configmap", "more", "-n", tale.space, "-p", '{"data":{"other":"1"}}')
    full = with_strategy(
        "shop", space, whenToTakeOver="IfNoDiff", comparisonOption="FullComparison"
    )
    partial, tale.objects["shop"] = tale.objects["shop"], full
    text = refused(
        shop,
        f"ConfigMap {tale.space}/more: is on b already",
        "/data/other: 1 there, nothing wanted",
    )
    assert "Secret" not in text
    tale.objects["shop"] = partial
    carried_out(shop)
    assert tale.uids(MORE, SECRET, ("service", "web"), on="b") == before
    tale.config["limit"] = "1"
    del tale.objects["shop"]
    carried_out(shop)
    assert tale.uids(MORE, SECRET, ("service", "web"), on="b") == before


def test_what_has_owners_is_written_where_that_is_asked(shop: Engine[Story]) -> None:
    tale = shop.world
    space = tale.objects["space"]
    live = tale.live("b", "configmap", "c")["metadata"]
    owner = f'{{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"{live["uid"]}"}}'
    tale.planes["b"].kubectl(
        "patch",
        "configmap",
        "more",
        "-n",
        tale.space,
        "-p",
        f'{{"metadata":{{"ownerReferences":[{owner}]}}}}',
    )
    tale.objects["more"] = config_map(tale.space, "ours", "more")
    refused(
        shop,
        f"ConfigMap {tale.space}/more: is on b already, and has owners there: ConfigMap c; allowCoOwnership",
    )
    assert tale.live("b", *MORE)["data"] == {"k": "theirs"}
    tale.objects["shop"] = with_strategy("shop", space, allowCoOwnership=True)
    carried_out(shop)
    found = tale.live("b", *MORE)
    assert (found["data"], found["metadata"]["ownerReferences"][0]["name"]) == ({"k": "ours"}, "c")


def test_server_side_apply_fails_on_a_conflict(shop: Engine[Story]) -> None:
    tale = shop.world
    space = tale.objects["space"]
    tale.objects["shop"] = with_strategy("shop", space, type="ServerSideApply")
    uids = tale.uids(("configmap", "c"))
    carried_out(shop)
    assert tale.uids(("configmap", "c")) == uids
    tale.objects["more"] = config_map(tale.space, "ours", "more")
    refused(
        shop,
        f"ConfigMap {tale.space}/more: is on b already",
        "does not force what others have set",
        "data.k",
    )
    assert tale.live("b", *MORE)["data"] == {"k": "theirs"}
    del tale.objects["more"]
    by_hand = ("patch", "configmap", "c", "-n", tale.space, "-p", '{"data":{"k":"by hand"}}')
    tale.planes["b"].kubectl(*by_hand)
    tale.objects["c"] = config_map(tale.space, "two")
    refused(
        shop,
        f"ConfigMap {tale.space}/c: on b somebody has changed it",
        "Apply failed with 1 conflict",
        ".data.k",
    )
    assert tale.live("b", "configmap", "c")["data"] == {"k": "by hand"}
    assert tale.live("a", "configmap", "c")["data"] == {"k": "one"}
    config = {"force": True}
    tale.objects["shop"] = with_strategy(
        "shop", space, type="ServerSideApply", serverSideApplyConfig=config
    )
    assert (done := shop.up()).ok, done.text
    unchanged(shop)
    assert tale.live("b", "configmap", "c")["data"] == {"k": "two"}
    assert tale.uids(("configmap", "c")) == uids


def test_what_is_abandoned_stays(shop: Engine[Story]) -> None:
    tale = shop.world
    space = tale.objects["space"]
    tale.config["limit"] = "1"
    tale.objects["shop"] = with_strategy("shop", space, deletes="Abandon")
    seen = carried_out(shop)
    assert "kept on the member from now on" in seen.text
    uids = tale.uids(("configmap", "c"))
    shopping = tale.objects.pop("shop")
    assert "kept on the member, no longer managed" in carried_out(shop).text
    assert tale.uids(("configmap", "c")) == uids
    tale.objects["shop"] = shopping
    assert (back := shop.up()).ok, back.text
    tale.objects["shop"] = placement("shop", space)
    assert "deleted from now on" in carried_out(shop).text
    del tale.objects["shop"]
    carried_out(shop)
    assert tale.live("a", "configmap", "c") is None
