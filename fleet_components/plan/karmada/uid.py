"""The uid that a template has for good."""

from __future__ import annotations

import uuid


def template_uid(stack: str, key: str) -> str:
    """A stable uid, of stack and key; ties between members depend on it."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{stack}/{key}"))
