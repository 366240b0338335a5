"""Answers of members and hubs that take too much: memory, or time. Each door is tried with each."""

from __future__ import annotations

import gzip
import json
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from fleet_components.live.approvals import approve_on_hub, hub_approvals
from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.live.connection import ask_cluster
from fleet_components.live.hub import ask_hub
from fleet_components.live.marks import connecting
from fleet_components.live.trial import try_all
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.problem import FleetError
from fleet_components.plan.apply_mode import OVERWRITES
from fleet_components.systems.kubefleet.hub.approvals import HubApproval
from tests.live.api_server import Api, api_server, path_of

MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "shop"},
}
SOON = 1.0
APPROVALS = (
    "/apis/placement.kubernetes-fleet.io/v1",
    "/apis/placement.kubernetes-fleet.io/v1beta1",
    "/apis/v1/namespaces/shop/status",
)
_TWICE = gzip.compress(gzip.compress(b" " * 2**24) * 2**6)
PLENTY = 100 * 2**20
"""Bytes of memory that no answer may take, in these tests, where a file may have a MiB."""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("FLEET_MAX_FILE_MIB", "1")
    with api_server() as found:
        yield found


def _chunked(request: BaseHTTPRequestHandler, *headers: tuple[str, str]) -> Callable[[bytes], None]:
    request.protocol_version = "HTTP/1.1"
    request.send_response(200)
    for name, value in (
        ("Transfer-Encoding", "chunked"),
        ("Content-Type", "application/json"),
        *headers,
    ):
        request.send_header(name, value)
    request.end_headers()
    return lambda data: void(request.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n"))


def void(_: object) -> None:
    pass


def endless(request: BaseHTTPRequestHandler) -> None:
    write = _chunked(request)
    while True:
        write(b" " * 2**16)


def bomb(request: BaseHTTPRequestHandler) -> None:
    write, packed = _chunked(request, ("Content-Encoding", "gzip")), gzip.compress(b" " * 2**24)
    while True:
        write(packed)


def twice(request: BaseHTTPRequestHandler) -> None:
    """A few KiB that stand for as many GiB."""
    write = _chunked(request, ("Content-Encoding", "gzip, gzip"))
    write(_TWICE)
    write(b"")


def empty_members(request: BaseHTTPRequestHandler) -> None:
    """Of which nothing ever comes."""
    write, packed = _chunked(request, ("Content-Encoding", "gzip")), gzip.compress(b"") * 1000
    while True:
        write(packed)


def nested(request: BaseHTTPRequestHandler) -> None:
    """Little text of many values."""
    write = _chunked(request)
    write(b'{"items": [' + b"[]," * (2**20) + b"[]]}")
    write(b"")


def drips(api: Api, before: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(before)
        while not api.ended.wait(0.05):
            request.wfile.write(b"x")

    return answer


LARGE = {
    "endless": endless,
    "a bomb": bomb,
    "a bomb of bombs": twice,
    "of nothing": empty_members,
    "nested": nested,
}
SLOW = {
    "in its status": b"HTTP/1.1 200 ",
    "in its headers": b"HTTP/1.1 200 OK\r\nA: ",
    "in its body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
}
WANTED = WantedObject(MAP, OVERWRITES, "m")
ASKED = HubApproval({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
"""What is approved, by a patch of a path that answers as all others do."""
DOORS: dict[str, Callable[[str], object]] = {
    "up": lambda text: ask_cluster(text, timeout=SOON).uid,
    "drift": lambda text: [
        data
        for data in observe({"a": text}, {"a": [WANTED]}, timeout=SOON)["a"].objects.values()
        if not data.error
    ],
    "trial": lambda text: (
        not try_all(text, [WANTED], timeout=SOON)[ObjectKey("", "ConfigMap", "shop", "a")].unchecked
    ),
    "move": lambda text: _refused(
        lambda: connecting(text, "hub", lambda hub: hub.items("", "Pod"), timeout=SOON)
    ),
    "observe": lambda text: _refused(lambda: ask_hub(text, timeout=SOON)),
    "list approvals": lambda text: _refused(lambda: hub_approvals(text, timeout=SOON)),
    "approve": lambda text: _refused(lambda: _approve(text)),
}


def _approve(text: str) -> None:
    approve_on_hub(text, ASKED, timeout=5 * SOON)  # the status of its answer counts alone


def _refused(work: Callable[[], object]) -> object:
    try:
        return work()
    except FleetError:
        return None


def answers(api: Api, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
    for path in (
        "/api/v1/namespaces/kube-system",
        "/api/v1/namespaces/shop",
        "/api/v1",
        "/api",
        "/apis",
        *APPROVALS,
    ):
        api.answers[path] = answer


@pytest.mark.samples(12)
@pytest.mark.parametrize("answer", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_an_answer_fills_no_memory(api: Api, door: Callable[[str], object], answer: Any) -> None:
    door(api.kubeconfig())  # what is imported then
    answers(api, answer)
    tracemalloc.start()
    try:
        began = time.monotonic()
        assert not door(api.kubeconfig())
        assert time.monotonic() - began < 5 * SOON
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < PLENTY
    assert not _asking()


_CHUNK = b"x" * 2**16


def _padded(request: BaseHTTPRequestHandler) -> None:
    """An object larger than any in an API server, which is kept until all members have answered."""
    write = _chunked(request)
    write(
        json.dumps({**MAP, "metadata": {**MAP["metadata"], "uid": "5f3c-1"}})[:-1].encode()
        + b', "data": {"k": "'
    )
    for _ in range(12 * 2**4):
        write(_CHUNK)
    write(b'"}}')
    write(b"")


@pytest.mark.long
def test_many_members_at_once_fill_no_memory(api: Api) -> None:
    """Each may take 33 MiB, four of them at a time, and no object of such a size is kept."""
    text = api.kubeconfig()
    observe({"a": text}, {"a": [WANTED]}, timeout=SOON)  # what is imported then
    api.put("/api/v1/namespaces/shop", None)
    api.answers[path_of(MAP)] = _padded
    members = [f"m{number}" for number in range(24)]
    tracemalloc.start()
    try:
        # Time is not what ends it: reading is slow where memory is traced and the machine is busy.
        found = observe(
            dict.fromkeys(members, text), dict.fromkeys(members, [WANTED] * 2), timeout=600
        )
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all("take more than" in str(item) for item in found.values())
    assert kept < PLENTY
    assert most < 4 * PLENTY  # without a limit for all of them together, six times as much


@pytest.mark.samples(5)
@pytest.mark.parametrize("before", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_the_socket_is_closed_at_the_deadline(
    api: Api, door: Callable[[str], object], before: bytes
) -> None:
    """Nothing of a request stays, in a thread that is left to itself for example."""
    answers(api, drips(api, before))
    assert not door(api.kubeconfig())
    assert not _asking()


def _asking() -> list[threading.Thread]:
    """The threads that still ask, a moment later."""
    until = time.monotonic() + SOON
    while True:
        own = [
            item
            for item in threading.enumerate()
            if item.daemon and "process_request" not in item.name
        ]
        if not own or time.monotonic() > until:
            return own
        time.sleep(0.05)
