"""Hides the secret parts of objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SECRET_FIELDS = ("data", "stringData")
REDACTED = "[secret]"


def is_secret(data: Mapping[str, Any]) -> bool:
    """Return whether the object is a core ``Secret``."""
    return data.get("apiVersion") == "v1" and data.get("kind") == "Secret"


def redacted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with the values of a ``Secret`` replaced by ``[secret]``, for output that others may read."""
    if not is_secret(data):
        return data
    return {field: _hidden(value) if field in SECRET_FIELDS and value else value for field, value in data.items()}


def _hidden(value: Any) -> Any:
    """Return only the keys of a map. A value that is not a map, which API servers refuse, is hidden completely."""
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED
