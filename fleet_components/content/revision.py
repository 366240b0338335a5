"""Canonical and compressed forms of contents, for comparing and storing revisions."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from fleet_components.content.guarded import read_json
from fleet_components.model.codec import MisfitError
from fleet_components.model.problem import Problem


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
        MisfitError: the text is corrupt.
    """
    try:
        found = read_json(zlib.decompress(base64.b64decode(text, validate=True)))
    except (binascii.Error, zlib.error, TypeError, ValueError) as error:
        raise MisfitError(Problem(f"is not a kept revision: {error}")) from None
    if not isinstance(found, list):
        raise MisfitError(Problem("is not a kept revision: it is not a list"))
    return found
