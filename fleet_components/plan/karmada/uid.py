"""Give each template a stable uid."""

from __future__ import annotations

import uuid


def template_uid(stack: str, key: str) -> str:
    """Return a stable uid derived from stack and key; ties between members depend on it."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{stack}/{key}"))
