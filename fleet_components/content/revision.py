"""The form in which contents are compared and kept."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from fleet_components.model.problem import FleetError, Problem


def canonical(value: Any) -> str:
    """JSON with sorted keys and without blanks: equal text for equal data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def compress(value: Any) -> str:
    """Plain data as short text. The text may differ between Python versions: compare what it decompresses to."""
    return base64.b64encode(zlib.compress(canonical(value).encode(), 9)).decode()


def decompress(text: str) -> Any:
    """The plain data that was compressed.

    Raises:
        FleetError: the text is damaged.
    """
    try:
        return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
    except (binascii.Error, zlib.error, ValueError) as error:
        hint = "restore the state from its history, pulumi stack export --version N"
        raise FleetError([Problem(f"a kept revision is damaged: {error}", hint=hint)]) from error
