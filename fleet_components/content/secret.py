"""Which parts of an object are secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SECRET_FIELDS = ("data", "stringData")
REDACTED = "[secret]"


def is_secret(data: Mapping[str, Any]) -> bool:
    """Whether the object is a core ``Secret``."""
    return data.get("apiVersion") == "v1" and data.get("kind") == "Secret"


def redacted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object with the values of a ``Secret`` replaced by ``[secret]``, for whoever may read along."""
    if not is_secret(data):
        return data
    return {field: _hidden(value) if field in SECRET_FIELDS and value else value for field, value in data.items()}


def _hidden(value: Any) -> Any:
    """The keys of the data alone; nothing of what is no map, which the API servers refuse."""
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED
