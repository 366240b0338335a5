"""A validating webhook that API servers call before they write objects of a namespace."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from tests.engine.stories import Data
from tests.engine.test_endings import wait_until
from tests.live.test_network import certificate
from tools.clusters.cluster import ControlPlane

NAME = "judge.example.com"
WORDS = "the judge does not want it"
PROBE = "probe"
CREATED_CONFIG_MAPS: Data = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
    "operations": ["CREATE"],
}


@attrs.define
class Webhook:
    """A validating webhook on a free port of 127.0.0.1.

    Attributes:
        client: how an API server reaches it.
        denies: whether it denies a request.
        requests: all requests that it has received.
    """

    client: Data
    denies: Callable[[Data], bool] = lambda request: False
    requests: list[Data] = attrs.field(factory=list)

    def client_of(self, member: str) -> Data:
        """How the API server of a member reaches it; its requests have the key ``member``."""
        return {**self.client, "url": self.client["url"] + member}

    def answer(self, request: Data) -> Data:
        self.requests.append(request)
        denied = request["name"] == PROBE or self.denies(request)
        status = {"status": {"message": WORDS, "code": 403}} if denied else {}
        response = {"uid": request["uid"], "allowed": not denied, **status}
        return {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        }


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
            member = self.path.partition("?")[0].removeprefix("/")
            body = json.dumps(judge.answer({**review["request"], "member": member})).encode()
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


@contextmanager
def registered(
    plane: ControlPlane,
    space: str,
    client: Data,
    side_effects: str = "None",
    rules: Sequence[Data] = (CREATED_CONFIG_MAPS,),
) -> Iterator[None]:
    """Have an API server call a webhook before it creates a ConfigMap in a namespace.

    It takes effect some time after it was made: then the probe is refused.

    Args:
        plane: the API server.
        space: the namespace.
        client: how the webhook is reached.
        side_effects: what the webhook declares.
        rules: for which requests it is called; the creation of ConfigMaps has to be among them.
    """
    file = register(plane, space, client, side_effects, rules)
    wait_until(lambda: not takes(plane, space))
    try:
        yield
    finally:
        plane.kubectl("delete", "-f", str(file))
        wait_until(lambda: takes(plane, space))


def register(
    plane: ControlPlane,
    space: str,
    client: Data,
    side_effects: str,
    rules: Sequence[Data] = (CREATED_CONFIG_MAPS,),
) -> Path:
    """Write the configuration of a webhook; returns its file."""
    judge = {
        "name": NAME,
        "clientConfig": client,
        "rules": list(rules),
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
