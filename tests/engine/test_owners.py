"""Whose an object is, on real API servers: fields of others are overwritten, objects of other stacks are refused."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator

import pytest

from tests.control_planes import control_planes
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import (
    Story,
    carried_out,
    config_map,
    deployment,
    namespace,
    placement,
    refused,
    shop_of,
)
from tests.engine.test_clusters import WIDGETS

pytestmark = pytest.mark.engine


@pytest.fixture
def shop(story: Engine[Story]) -> Engine[Story]:
    """A Namespace with a Deployment and a ConfigMap on both members."""
    shop_of(story.world)
    assert (first := story.up()).ok, first.text
    return story


SCALE = json.dumps({"spec": {"replicas": 4}})
IMAGE = json.dumps(
    {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "by-hand:1"}]}}}}
)
# A HorizontalPodAutoscaler writes like this.
CONTROLLER = ("--type=merge", "--field-manager=kube-controller-manager", "-p", SCALE)
BY_HAND = (
    ("scale", "deployment", "web", "--replicas=4"),
    ("patch", "deployment", "web", "--subresource=scale", *CONTROLLER),
    ("patch", "deployment", "web", *CONTROLLER),
    ("patch", "deployment", "web", "-p", IMAGE),
    ("set", "image", "deployment/web", "web=by-hand:1"),
)


def test_what_somebody_has_changed_is_overwritten(shop: Engine[Story]) -> None:
    """As by KubeFleet, whose default of whenToApply is Always; and a preview shows what then happens."""
    tale = shop.world
    for number, command in enumerate(BY_HAND):
        tale.planes["b"].kubectl(*command, "-n", tale.space)
        image = f"web:{number + 2}"
        tale.objects["web"] = deployment(tale.space, image)
        carried_out(shop)
        for plane in "ab":
            spec = tale.live(plane, "deployment", "web")["spec"]
            assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (
                1,
                image,
            ), command


def test_what_somebody_else_made_is_taken_over(shop: Engine[Story]) -> None:
    """As by KubeFleet, whose default of whenToTakeOver is Always; what it sets and the source does not, stays."""
    tale = shop.world
    b = tale.planes["b"]
    b.kubectl(
        "create",
        "configmap",
        "more",
        "-n",
        tale.space,
        "--from-literal=k=theirs",
        "--from-literal=other=1",
    )
    b.kubectl(
        "create",
        "secret",
        "generic",
        "s",
        "-n",
        tale.space,
        "--from-literal=k=theirs",
        "--from-literal=same=1",
    )
    uids = tale.uids(("configmap", "more"), ("secret", "s"), on="b")
    secret = {**config_map(tale.space, name="s"), "kind": "Secret"}
    del secret["data"]
    tale.objects |= {
        "more": config_map(tale.space, "ours", "more"),
        "s": {**secret, "stringData": {"k": "ours", "same": "1"}},
    }
    seen = carried_out(shop)
    assert (
        f"ConfigMap {tale.space}/more: somebody else has made it on b: it is taken over, and changed in data.k"
        in seen.text
    )
    assert (
        f"Secret {tale.space}/s: somebody else has made it on b: it is taken over, and changed in data.k"
        in seen.text
    )
    assert "theirs" not in seen.text
    assert tale.uids(("configmap", "more"), ("secret", "s"), on="b") == uids
    assert tale.live("b", "configmap", "more")["data"] == {"k": "ours", "other": "1"}


@pytest.fixture
def other(shop: Engine[Story], tmp_path_factory: pytest.TempPathFactory) -> Engine[Story]:
    """Another stack with the same members, that brings the same objects and one more."""
    tale = Story(shop.world.space, shop.world.planes)
    tale.go_back(shop.world.source())
    tale.objects |= {
        "web": deployment(tale.space, "web:2"),
        "more": config_map(tale.space, name="more"),
    }
    return Engine(tmp_path_factory.mktemp("other"), world=tale, standin=False, name="other")


def test_an_object_of_another_stack_is_refused(other: Engine[Story]) -> None:
    """Before anything is written, and in a preview; it can be handed over."""
    tale = other.world
    space, a, b = tale.space, tale.planes["a"], tale.planes["b"]
    before = tale.uids(("deployment", "web"), ("namespace", space))
    anothers = "is on a, b already, and belongs to the stack organization/fleet/dev"
    for outcome in (other.preview(), other.up()):
        assert not outcome.ok
        for what in (f"Deployment {space}/web", f"ConfigMap {space}/c", f"Namespace {space}"):
            assert re.search(rf"fleet.yaml:\d+: {what}: {anothers}", outcome.text), outcome.text
        assert f"ConfigMap {space}/more" not in outcome.text
    assert tale.live("a", "configmap", "more") is None
    assert not [name for name in other.state().resources if "Target" in name]
    for plane in (a, b):
        plane.kubectl(
            "annotate", "-n", space, "deployment/web", "configmap/c", "fleet-components/stack-"
        )
    assert "Namespace" in other.preview().text
    # Members that cannot be asked are not judged in a preview.
    a.pause()
    b.pause()
    try:
        seen = other.preview()
        assert "belongs to the stack" not in seen.text
        assert "a, b cannot be asked" in seen.text
    finally:
        a.resume()
        b.resume()
    for plane in (a, b):
        plane.kubectl("annotate", f"namespace/{space}", "fleet-components/stack-")
    carried_out(other)
    assert tale.uids(("deployment", "web"), ("namespace", space)) == before
    spec = tale.live("b", "deployment", "web")["spec"]
    assert spec["template"]["spec"]["containers"][0]["image"] == "web:2"


@pytest.fixture
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine[Story]]:
    """A stack on API servers of its own."""
    provider_or_skip()
    with control_planes("ab") as planes:
        tale = Story("shop", planes)
        for name in planes:
            tale.join(name)
        space = namespace(tale.space)
        tale.objects = {
            "space": space,
            "c": config_map(tale.space),
            "shop": placement("shop", space),
        }
        yield Engine(tmp_path_factory.mktemp("stack"), world=tale, standin=False)


def test_a_dead_member_that_was_taken_out(mortal: Engine[Story]) -> None:
    """It is named before anything is written, and may be marked lost although it is not declared any more."""
    tale = mortal.world
    assert mortal.up().ok
    tale.planes["b"].kill()
    tale.leave("b")
    tale.objects["c"] = config_map(tale.space, "two")
    refused(
        mortal,
        "member b: is no longer a member, and does not answer: ConfigMap shop/c cannot",
        "fleet:lost b",
    )
    assert tale.live("a", "configmap", "c")["data"] == {"k": "one"}
    tale.config["lost"] = "b"
    assert "on b: forgotten, as the member is lost" in carried_out(mortal).text
    assert tale.live("a", "configmap", "c")["data"] == {"k": "two"}
    del tale.config["lost"]
    carried_out(mortal)
    assert "@b" not in mortal.export()


def test_a_definition_that_was_kept_is_taken_up_with_changes(shop: Engine[Story]) -> None:
    """The provider updates a CustomResourceDefinition without server-side apply."""
    tale = shop.world
    tale.objects |= {"widgets": copy.deepcopy(WIDGETS), "defined": placement("defined", WIDGETS)}
    carried_out(shop)
    uids = tale.uids(("crd", "widgets.example.com"))
    names = tale.objects["widgets"]["spec"]["names"]
    names["shortNames"] = ["w"]
    carried_out(shop)
    defined = tale.objects.pop("defined")
    carried_out(shop)
    tale.objects["defined"] = defined
    names["shortNames"] = ["wd"]
    carried_out(shop)
    assert tale.uids(("crd", "widgets.example.com")) == uids
    assert tale.live("b", "crd", "widgets.example.com")["spec"]["names"]["shortNames"] == ["wd"]
    for plane in tale.planes.values():
        plane.kubectl("delete", "crd", "widgets.example.com", "--wait=false")
