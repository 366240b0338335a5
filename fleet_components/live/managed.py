"""Fields of an object on a member that somebody manages, as the object itself says.

What an API server sets by itself, as the address of a Service, has no manager.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.content.guarded import read_json
from fleet_components.model.problem import FieldPath


def is_managed(live: Mapping[str, Any], path: FieldPath) -> bool:
    """Return whether somebody manages a field, or a part of it; the status and other subresources do not count.

    Every field of an object that names no managers counts as managed.
    """
    entries = live["metadata"].get("managedFields") or ()
    return not entries or any(
        _is_in(entry.get("fieldsV1") or {}, live, path) for entry in entries if not entry.get("subresource")
    )


def _is_in(fields: Mapping[str, Any], value: Any, path: FieldPath) -> bool:
    if not path:
        return True
    step, *rest = path
    if isinstance(value, Mapping):
        below = fields.get(f"f:{step}")
        item = value.get(step)
    else:
        item = value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None
        below = next((each for key, each in fields.items() if _names(key, step, item)), None)
    # Nothing below a managed field: its parts have one manager.
    return below is not None and (below == {} or _is_in(below, item, tuple(rest)))


def _names(key: str, index: Any, item: Any) -> bool:
    """Return whether a key in ``managedFields`` names an item of a list: by its keys, its value, or its index."""
    form, _, text = key.partition(":")
    match form:
        case "k":
            return isinstance(item, Mapping) and item.items() >= read_json(text).items()
        case "v":
            return bool(read_json(text) == item)
    return form == "i" and text == str(index)
