"""Canonical and compressed forms of contents, for comparing and storing revisions."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from typing import Any

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import LIMIT_VARIABLE, limit_mib
from fleet_components.model.codec import MisfitError
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem

_VALUES_A_MIB = 65_536
"""Ordinary manifests have some 40,000 values a MiB; a value takes more memory than its text."""
_CHUNK = 2**20
# Each value but the first follows a comma; those in texts are counted, too, which does no harm.
_BEGIN_VALUE = (b"[", b"{", b",")
_CORRUPT = (binascii.Error, zlib.error, TypeError, ValueError, EOFError)


class UnpackingBudget:
    """Limit of all contents of one state together: small texts can stand for gigabytes, and for
    more in memory.

    They may have the size of a file, which ``FLEET_MAX_FILE_MIB`` sets.
    """

    def __init__(self) -> None:
        self._most = limit_mib()
        self._size = self._values = 0

    def take(self, text: Any) -> None:
        """Count a compressed text, without keeping what it stands for. What is no such text counts
        nothing.

        Raises:
            MisfitError: with this text it is too much.
        """
        try:
            for chunk in _inflated(text):
                self.count(chunk)
        # What reads the text later reports it.
        except _CORRUPT:
            return

    def count(self, plain: bytes) -> None:
        """Count a part of a decompressed text.

        Raises:
            MisfitError: with this part it is too much.
        """
        self._size += len(plain)
        self._values += sum(map(plain.count, _BEGIN_VALUE))
        if self._size > self._most * 2**20:
            raise MisfitError(
                Problem(
                    Message(
                        "stands-more-than-mib",
                        "stands for more than {most} MiB; {limit_variable} sets the limit",
                        most=self._most,
                        limit_variable=LIMIT_VARIABLE,
                    )
                )
            )
        if self._values > (most := self._most * _VALUES_A_MIB):
            raise MisfitError(
                Problem(
                    Message(
                        "stands-more-than-values",
                        "stands for more than {most:,} values; {limit_variable} sets the limit",
                        most=most,
                        limit_variable=LIMIT_VARIABLE,
                    )
                )
            )


def canonical(value: Any) -> str:
    """Return JSON with sorted keys and without blanks: equal data give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def compress(value: Any) -> str:
    """Return plain data as compressed text.

    The text may differ between Python versions, so compare the decompressed data instead.
    """
    return base64.b64encode(zlib.compress(canonical(value).encode(), 9)).decode()


def decompress(text: Any) -> list[Any]:
    """Return the objects that were compressed.

    Raises:
        MisfitError: the text is corrupt, or is too much for the :class:`UnpackingBudget` of a
            whole state.
    """
    budget, plain = UnpackingBudget(), bytearray()
    try:
        for chunk in _inflated(text):
            budget.count(chunk)
            plain += chunk
    # Before the errors of any other kind, among which it is as well.
    except EOFError:
        raise MisfitError(
            Problem(Message("not-kept-revision-cut", "is not a kept revision: it is cut off"))
        ) from None
    except _CORRUPT:
        raise MisfitError(
            Problem(
                Message(
                    "not-kept-revision-cannot", "is not a kept revision: it cannot be decompressed"
                )
            )
        ) from None
    try:
        found = read_json(bytes(plain), unique=True)
    except UnreadableError as error:
        raise MisfitError(
            Problem(
                Message(
                    "not-kept-revision", "is not a kept revision: it {what}", what=error.message
                )
            )
        ) from None
    if not isinstance(found, list):
        raise MisfitError(
            Problem(Message("not-kept-revision-not", "is not a kept revision: it is not a list"))
        )
    return found


def _inflated(text: Any) -> Iterator[bytes]:
    """Yield what a compressed text stands for, in parts.

    Raises:
        EOFError: it is cut off.
        ValueError, TypeError, zlib.error: it is no such text.
    """
    # In parts with a limit: a few bytes can stand for gigabytes.
    inflating, rest = zlib.decompressobj(), base64.b64decode(text, validate=True)
    while not inflating.eof:
        chunk = inflating.decompress(rest, _CHUNK)
        rest = inflating.unconsumed_tail
        # No output and no end: the text was cut off.
        if not chunk and not inflating.eof:
            raise EOFError
        yield chunk
