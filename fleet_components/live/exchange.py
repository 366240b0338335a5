"""One request and its answer, bounded in time and memory: for members, hubs and Azure alike."""

from __future__ import annotations

import socket
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import attrs

from fleet_components.content.guarded import read_json
from fleet_components.content.paths import LIMIT_VARIABLE, limit_mib
from fleet_components.live.echo import without_credential
from fleet_components.model.digits import integer

if TYPE_CHECKING:
    from httpx2 import Client, Response

_MIB = 2**20
PER_OBJECT = 16
"""MiB that the answers about one object may take: it is asked for a few times, and etcd takes no
more than 1.5 MiB.
"""
_OF_HUB = 4
"""Times that a hub's answers may take what a member's may."""
_WEIGHTS: Mapping[bytes, int] = {b"{": 184, b"[": 72, b",": 64}
"""Bytes of memory that a map, a list and an element of one take in CPython 3.11, about."""
_FREE = 16
"""Part of its memory that a budget may take at any time: a sixteenth. More than that needs one of
the large places.
"""
LARGE_PLACES = 4
"""Budgets that may take more at once: 64 members are asked at a time, and each alone may take
hundreds of MiB.
"""
_LARGE = threading.BoundedSemaphore(LARGE_PLACES)
# The window bits by which zlib expects the header of gzip.
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 2**20


class TooLargeError(Exception):
    """Answers that take more than all of them may; the text has how much that is, and what sets
    it.
    """


def member_room(objects: int) -> int:
    """Return the bytes of memory that all answers of a member may take that is asked for some
    objects.
    """
    return (limit_mib() + PER_OBJECT * objects) * _MIB


def hub_room() -> int:
    """Return the bytes of memory that all answers of a hub or a plain cluster may take."""
    return _OF_HUB * limit_mib() * _MIB


@attrs.define
class AnswerBudget:
    """Limits of requests in time and memory, shared by all threads; used in a ``with`` block.

    At the deadline the sockets of the requests are closed, since each wait of a client has a limit
    of its own.

    Attributes:
        deadline: on the monotonic clock.
        size: bytes of memory that all answers may take together.
    """

    deadline: float
    size: int
    _taken: int = attrs.field(default=0, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    _sockets: list[socket.socket] = attrs.field(factory=list, init=False)
    _timer: threading.Timer | None = attrs.field(default=None, init=False)
    _is_large: bool = attrs.field(default=False, init=False)
    _growing: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def __enter__(self) -> Self:
        self._timer = threading.Timer(max(0.0, self.deadline - time.monotonic()), self._close)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()
        if self._is_large:
            _LARGE.release()

    def seconds(self) -> float:
        """Return how many seconds are left.

        Raises:
            TimeoutError: none are.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def take(self, number: int) -> None:
        """Take a number of bytes.

        Raises:
            TooLargeError: there are not as many left.
            TimeoutError: no time is left.
        """
        with self._lock:
            self._taken += number
        if self._taken > self.size:
            raise TooLargeError(
                f"{self.size // _MIB} MiB of memory, a limit that {LIMIT_VARIABLE} raises"
            )
        if self._taken > self.size // _FREE:
            self._become_large()
        # Raises an error if the time is over.
        self.seconds()

    def _become_large(self) -> None:
        """Wait for a large place, and keep it.

        Raises:
            TimeoutError: no time is left.
        """
        # One thread of a budget waits for the place; the others wait for that thread.
        with self._growing:
            if not self._is_large and not _LARGE.acquire(timeout=self.seconds()):
                raise TimeoutError
            self._is_large = True

    def json(self, content: bytes, most: int | None = None) -> Any:
        """Return the value of a JSON text, whose memory is taken before it is read.

        Args:
            content: the text.
            most: MiB of memory that the value may take; None for what is left.

        Raises:
            UnreadableError: it is not JSON.
            TooLargeError: the value takes more.
            TimeoutError: no time is left.
        """
        # Signs within texts count, too, so that the estimate is rather too large.
        memory = sum(content.count(sign) * weight for sign, weight in _WEIGHTS.items())
        if most is not None and len(content) + memory > most * _MIB:
            raise TooLargeError(f"{most} MiB of memory, which no object takes")
        self.take(memory)
        return read_json(content)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of the sockets of a client, which calls this at each step of a request."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._sockets.append(info["return_value"].get_extra_info("socket"))
            # The timer has closed only the sockets that it knew.
            if time.monotonic() > self.deadline:
                self._close()

    def _close(self) -> None:
        with self._lock:
            for item in self._sockets:
                with suppress(OSError):
                    # As of a plain socket: TLS would say good-bye first.
                    socket.socket.shutdown(item, socket.SHUT_RDWR)


@attrs.frozen
class Received:
    """An answer.

    Attributes:
        status: its HTTP status.
        content: its body.
        headers: its headers, by name in any case.
    """

    status: int
    content: bytes = attrs.field(repr=False)
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @property
    def pause(self) -> float | None:
        """Seconds until the next attempt; None if the answer has none, 1 if it has a date."""
        header = self.headers.get("Retry-After")
        if header is None:
            return None
        return float(integer(header)) if header.isdecimal() else 1.0


def received(
    client: Client,
    method: str,
    url: str,
    headers: Mapping[str, str],
    budget: AnswerBudget,
    body: Any = None,
) -> Received:
    """Send a request and return its whole answer, without the credential that it was sent with.

    No redirection is followed, which would take a credential elsewhere.

    Args:
        client: the client.
        method: the HTTP method.
        url: the address, or the path below that of the client.
        headers: headers besides those of the client.
        budget: the limits of all its requests.
        body: what is sent, as JSON; None for nothing.

    Raises:
        HTTPError: of the client, when there is no answer, or no whole one.
        TimeoutError: the budget has no time left.
        TooLargeError: the answer is larger than what is left.
    """
    from httpx2 import HTTPError

    content = bytearray()
    try:
        with client.stream(
            method,
            url,
            headers={"Accept-Encoding": "gzip", **headers},
            json=body,
            follow_redirects=False,
            timeout=budget.seconds(),
            extensions={"trace": budget.trace},
        ) as answer:
            for piece in _unpacked(answer, budget):
                content += piece
            sent = answer.request.headers.get("Authorization", "")
            return Received(
                answer.status_code, without_credential(bytes(content), sent), answer.headers
            )
    except HTTPError:
        budget.seconds()  # a socket that was closed at the deadline is no failure of the cluster
        raise


def _unpacked(answer: Response, budget: AnswerBudget) -> Iterator[bytes]:
    """Yield the body of an answer in pieces of a bounded size.

    The client itself unpacks a chunk in one piece, and encodings of encodings, so that a few KiB
    become GiB.
    """
    from httpx2 import DecodingError

    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise DecodingError("is encoded in a way that was not asked for", request=answer.request)
    inflater = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
    for chunk in answer.iter_raw():
        budget.take(len(chunk))
        if inflater is None:
            yield chunk
            continue
        rest = chunk
        # Bytes after the end of the gzip data are not part of the answer.
        while rest and not inflater.eof:
            try:
                piece = inflater.decompress(rest, _PIECE)
            except zlib.error:
                raise DecodingError("is not gzip", request=answer.request) from None
            budget.take(len(piece))
            yield piece
            rest = inflater.unconsumed_tail
