"""Edits that an observation has replaced, in words: the field, what it had, and what it has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fleet_components.content.scalar import plain
from fleet_components.content.three_way import LostEdit
from fleet_components.model.problem import show_path

_LONGEST = 80


def edit_text(edit: LostEdit) -> str:
    """Return an edit in words: ``spec.policy.numberOfClusters: had 5, the hub has 4``. No secret is shown."""
    if edit.sealed:
        words = "had another secret value than the hub, whose value counts"
    elif edit.had is None:
        words = f"was removed here, the hub has changed it to {_value(edit.has)}"
    else:
        words = f"had {_value(edit.had)}, the hub has {'it no more' if edit.has is None else _value(edit.has)}"
    return f"{show_path(edit.path)}: {words}" if edit.path else words


def _value(value: Any) -> str:
    text = (
        value if isinstance(value, str) and _is_plain(value) else json.dumps(_without_null(value), ensure_ascii=False)
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _is_plain(text: str) -> bool:
    try:
        return plain(text) == text and text == text.strip() and text.isprintable() and ", " not in text
    except ValueError:
        return False


def _without_null(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_null(item) for key, item in value.items() if item is not None}
        case list() | tuple():
            return [_without_null(item) for item in value]
    return value
