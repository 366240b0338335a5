"""Numbers the contents that a placement has had, and keeps those that are still in use."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem


def canonical(value: Any) -> str:
    """JSON with sorted keys and without blanks: equal text for equal data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(manifests: Iterable[Manifest]) -> str:
    """The SHA-256 of a selected content, in hexadecimal. Order counts: give it in snapshot order."""
    content = canonical([manifest.data for manifest in manifests])
    return hashlib.sha256(content.encode()).hexdigest()


def revision_of(wanted: str, kept: Mapping[int, str]) -> int:
    """The number of the wanted content, by digest, given the digests of the kept revisions.

    As KubeFleet numbers its snapshots: from 0, the latest one again when nothing changed, else the next one; going
    back to an older content is a change like any other.
    """
    latest = max(kept, default=-1)
    return latest if kept.get(latest) == wanted else latest + 1


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
