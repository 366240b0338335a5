"""Admission webhooks on real API servers: one that nobody serves, and a real one that denies or has side effects."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from tests.control_planes import Planes, own_control_planes
from tests.engine.checked import said
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Data, Story, config_map, shop_of, unchanged
from tests.engine.test_endings import wait_until
from tests.engine.test_replaced_safely import Shop, shop
from tests.engine.test_replacing import placed_in, sealed
from tests.live.test_network import certificate
from tools.clusters.cluster import ControlPlane

__all__ = ["shop"]
pytestmark = [pytest.mark.engine, pytest.mark.clusters]
NAME = "judge.example.com"
WORDS = "the judge does not want it"
KIND = "ConfigMap"
PROBE = "probe"


@pytest.fixture(scope="module")
def api_servers() -> Iterator[Planes]:
    """Two of its own."""
    provider_or_skip()
    with own_control_planes("ab") as started:
        yield started


@attrs.define
class Webhook:
    """A validating webhook on a free port of 127.0.0.1.

    Attributes:
        client: how an API server reaches it.
        denies: whether it denies a request.
        requests: all that it was asked.
    """

    client: Data
    denies: Callable[[Data], bool] = lambda request: False
    requests: list[Data] = attrs.field(factory=list)

    def answer(self, request: Data) -> Data:
        self.requests.append(request)
        denied = request["name"] == PROBE or self.denies(request)
        status = {"status": {"message": WORDS, "code": 403}} if denied else {}
        response = {"uid": request["uid"], "allowed": not denied, **status}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@pytest.fixture
def webhook(tmp_path: Path) -> Iterator[Webhook]:
    """A webhook that allows everything for now."""
    pytest.importorskip("cryptography")
    own = certificate(tmp_path / "judge")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.cert, own.key)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(judge.answer(review["request"])).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    authority = base64.b64encode(own.cert.read_bytes()).decode()
    address = f"https://127.0.0.1:{server.server_port}/"
    judge = Webhook({"url": address, "caBundle": authority})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield judge
    server.shutdown()
    server.server_close()
    thread.join()


def unserved(plane: ControlPlane, space: str) -> Data:
    """How an API server would reach a webhook behind a Service without endpoints."""
    plane.kubectl("create", "service", "clusterip", "judge", "-n", space, "--tcp=443")
    return {"service": {"namespace": space, "name": "judge", "path": "/"}}


@contextmanager
def registered(plane: ControlPlane, space: str, client: Data, side_effects: str = "None") -> Iterator[None]:
    """Have an API server ask a webhook before it creates a ConfigMap in a namespace.

    It takes effect some time after it was made: then the probe is refused.
    """
    file = register(plane, space, client, side_effects)
    wait_until(lambda: not takes(plane, space))
    try:
        yield
    finally:
        plane.kubectl("delete", "-f", str(file))
        wait_until(lambda: takes(plane, space))


def register(plane: ControlPlane, space: str, client: Data, side_effects: str) -> Path:
    """Write the configuration of a webhook; returns its file."""
    everything = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    judge = {
        "name": NAME,
        "clientConfig": client,
        "rules": [{**everything, "operations": ["CREATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space}},
        "sideEffects": side_effects,
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 3,
        "failurePolicy": "Fail",
    }
    version = "admissionregistration.k8s.io/v1"
    kind = {"apiVersion": version, "kind": "ValidatingWebhookConfiguration"}
    file = plane.folder / f"{space}-webhook.yaml"
    file.write_text(yaml.safe_dump({**kind, "metadata": {"name": space}, "webhooks": [judge]}))
    plane.kubectl("apply", "-f", str(file))
    return file


def takes(plane: ControlPlane, space: str) -> bool:
    """Whether an API server would create a ConfigMap in a namespace."""
    try:
        plane.kubectl("create", "configmap", PROBE, "-n", space, "--dry-run=server")
    except subprocess.CalledProcessError:
        return False
    return True


def in_earnest(request: Data) -> bool:
    """Deny a creation that is no dry run."""
    return not request["dryRun"]


def of_two(request: Data) -> bool:
    """Deny the new form of the sealed ConfigMap."""
    return bool(request["object"].get("data", {}).get("k") == "two")


def test_a_webhook_that_nobody_serves(story: Engine[Story]) -> None:
    """On one member: what is new is refused there, what is to be replaced stays; all others are through by then."""
    world = story.world
    shop_of(world, sealed=placed_in(world.space, sealed()[0]))
    world.objects["shop"]["spec"]["strategy"] = {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    assert (done := story.up()).ok, done.text
    objects = (("configmap", "c"), ("configmap", "web"), ("deployment", "web"))
    before = world.uids(*objects)
    new = ("configmap", "d")
    world.objects["d"] = config_map(world.space, name="d")
    with registered(world.planes["b"], world.space, unserved(world.planes["b"], world.space)):
        shown = story.preview()
        assert not shown.ok
        assert f'failed calling webhook "{NAME}"' in shown.text
        broken = story.up()
        assert not broken.ok
        assert f'failed calling webhook "{NAME}"' in broken.text
        assert f"broke on b (ConfigMap {world.space}/d)" in broken.text
        assert [uid is None for uid in world.uids(new).values()] == [False, True]
        print(said(story, "status", 2))
        # What would be replaced is tried first, on all members.
        world.objects["sealed"] = placed_in(world.space, sealed()[1])
        for outcome in (story.preview(), story.up()):
            assert not outcome.ok
            assert "is to be replaced on b, and the API server refuses the new form" in outcome.text
        assert world.uids(*objects) == before
    assert (mended := story.up()).ok, mended.text
    after = world.uids(*objects, new)
    assert None not in after.values()
    assert {key[2] for key in before if after[key] != before[key] and key[1] == "configmap"} == {"web"}
    unchanged(story)
    said(story, "status", 0, "--live")


def test_a_webhook_that_denies(shop: Shop, webhook: Webhook) -> None:
    """It is asked by a dry run: the old form stays, whether the source goes back or on."""
    shop.open(KIND)
    world, before, old = shop.world, shop.uids(), shop.world.objects[KIND]
    webhook.denies = of_two
    with registered(world.planes["a"], world.space, webhook.client):
        shop.change(KIND)
        for outcome in (shop.engine.preview(), shop.up()):
            assert not outcome.ok
            assert f"{KIND} {world.space}/web" in outcome.text
            assert f'admission webhook "{NAME}" denied the request: {WORDS}' in outcome.text
        assert shop.uids() == before
        assert all(request["dryRun"] for request in webhook.requests)
        wanted, world.objects[KIND] = world.objects[KIND], old
        assert (reverted := shop.engine.up()).ok, reverted.text
        assert shop.uids() == before
        shop.settled()
        world.objects[KIND] = {**wanted, "data": {"k": "three"}}
        assert (mended := shop.engine.up()).ok, mended.text
    assert shop.uids()[KIND] not in (None, before[KIND])
    shop.settled()


@pytest.mark.parametrize("way", ["back", "on"])
def test_a_webhook_that_denies_in_earnest_only(shop: Shop, webhook: Webhook, way: str) -> None:
    """No trial finds that: the failed update says what is gone, and the next one brings it."""
    shop.open(KIND)
    world, before, old = shop.world, shop.uids(), shop.world.objects[KIND]
    webhook.denies = in_earnest
    with registered(world.planes["a"], world.space, webhook.client):
        shop.change(KIND)
        assert (shown := shop.engine.preview()).ok, shown.text
        broken = shop.up()
        assert not broken.ok
        assert WORDS in broken.text
        assert f"gone from a, where it was to be replaced: {KIND} {world.space}/web" in broken.text
        assert shop.uids() == {KIND: None}
        assert "0 of 1 as decided" in said(shop.engine, "status", 2)
    if way == "back":
        world.objects[KIND] = old
    assert (mended := shop.engine.up()).ok, mended.text
    assert shop.uids()[KIND] not in (None, before[KIND])
    assert world.live("a", "configmap", "web")["data"] == {"k": "one" if way == "back" else "two"}
    shop.settled()


def test_a_webhook_with_side_effects(shop: Shop, webhook: Webhook) -> None:
    """No API server of today takes it; one that skips them in dry runs is asked, and takes the new form."""
    shop.open(KIND)
    world, before = shop.world, shop.uids()
    plane = world.planes["a"]
    with pytest.raises(subprocess.CalledProcessError) as refused:
        register(plane, world.space, webhook.client, side_effects="Some")
    assert 'Unsupported value: "Some"' in refused.value.stderr
    with registered(plane, world.space, webhook.client, side_effects="NoneOnDryRun"):
        shop.change(KIND)
        shown, done = shop.engine.preview(), shop.up()
        for outcome in (shown, done):
            assert outcome.ok, outcome.text
            assert "is not checked" not in outcome.text
        asked = [request["dryRun"] for request in webhook.requests if request["name"] != PROBE]
        assert asked[0] is True
        assert asked[-1] is False
        assert shop.uids()[KIND] not in (None, before[KIND])
    shop.settled()
