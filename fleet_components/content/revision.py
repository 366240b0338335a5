"""Canonical and compressed forms of contents, for comparing and storing revisions."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.model.codec import MisfitError
from fleet_components.model.problem import Problem

_MOST_BYTES = 64 * 2**20


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
        MisfitError: the text is corrupt, or stands for more than 64 MiB.
    """
    try:
        # Up to a limit, because a text of some kilobytes can stand for gigabytes.
        inflating = zlib.decompressobj()
        plain = inflating.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
        whole = inflating.eof
    except (binascii.Error, zlib.error, TypeError, ValueError):
        raise MisfitError(Problem("is not a kept revision: it cannot be decompressed")) from None
    if not whole:
        large = len(plain) == _MOST_BYTES
        what = f"stands for more than {_MOST_BYTES // 2**20} MiB" if large else "is not a kept revision: it is cut off"
        raise MisfitError(Problem(what))
    try:
        found = read_json(plain, unique=True)
    except UnreadableError as error:
        raise MisfitError(Problem(f"is not a kept revision: it {error.what}")) from None
    if not isinstance(found, list):
        raise MisfitError(Problem("is not a kept revision: it is not a list"))
    return found
