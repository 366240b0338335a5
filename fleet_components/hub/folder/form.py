"""The texts of an observed directory: objects as people write them, and what was decided with one
line a member.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.content.revision import canonical
from fleet_components.content.scalar import plain
from fleet_components.content.three_way import LostEdit
from fleet_components.content.wire import escaped, to_yaml
from fleet_components.hub.listing import Object
from fleet_components.model.problem import show_path

_FIRST = ("apiVersion", "kind", "metadata", "spec")
_FIRST_OF_METADATA = ("name", "namespace")
# Lists in members that the servers fill as they find things.
_UNORDERED = frozenset(("apiEnablements", "conditions", "resources", "taints"))


def object_text(data: Object) -> str:
    """Return an object as YAML: apiVersion, kind, metadata and spec first, all other keys
    sorted.
    """
    whole = {key: _sorted(value) for key, value in _in_order(data, _FIRST)}
    if isinstance(data.get("metadata"), Mapping):
        # Replaced in place, so that metadata keeps its position.
        whole["metadata"] = {
            key: _sorted(value) for key, value in _in_order(data["metadata"], _FIRST_OF_METADATA)
        }
    return to_yaml(whole)


def settled(member: Object) -> Object:
    """Return a member with those lists sorted whose order has no meaning."""
    found: Object = _settled(member, "")
    return found


def digest(text: str) -> str:
    """Return a digest of a text."""
    # 64 bits are enough: the digest only has to show that a text has changed.
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def lines(value: Mapping[str, Any], spread: Mapping[str, int]) -> str:
    """Return a map as JSON in which what a reader compares has a line of its own.

    Args:
        value: the map; its order counts, and all below is sorted.
        spread: by key, over how many levels of maps its value is spread, one line an entry; -1 for
            all of it.
    """
    entries = [
        f" {json.dumps(key)}: {_spread(item, spread.get(key, 0), ' ')}"
        for key, item in value.items()
    ]
    return escaped("{\n" + ",\n".join(entries) + "\n}\n")


def _spread(value: Any, levels: int, before: str) -> str:
    if levels < 0:
        return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).replace(
            "\n", f"\n{before}"
        )
    if not levels or not isinstance(value, Mapping) or not value:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    inner = f"{before} "
    entries = [
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {_spread(value[key], levels - 1, inner)}"
        for key in sorted(value)
    ]
    return "{\n" + ",\n".join(entries) + f"\n{before}}}"


def _in_order(data: Mapping[str, Any], first: Sequence[str]) -> list[tuple[str, Any]]:
    return [
        *((key, data[key]) for key in first if key in data),
        *((k, data[k]) for k in sorted(data) if k not in first),
    ]


def _sorted(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _sorted(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [_sorted(item) for item in value]
    return value


def _settled(value: Any, key: str) -> Any:
    match value:
        case Mapping():
            return {name: _settled(item, name) for name, item in value.items()}
        case list() | tuple():
            items = [_settled(item, "") for item in value]
            return sorted(items, key=canonical) if key in _UNORDERED else items
    return value


# Edits that an observation has replaced, in words: the field, what it had, and what it has.


_LONGEST = 80


def edit_text(edit: LostEdit) -> str:
    """Return an edit in words: ``spec.policy.numberOfClusters: had 5, the hub has 4``. No secret is
    shown.
    """
    if edit.sealed:
        words = "had another secret value than the hub, whose value counts"
    elif edit.had is None:
        words = f"was removed here, the hub has changed it to {_value(edit.has)}"
    else:
        words = (
            f"had {_value(edit.had)}, the hub has"
            f" {'it no more' if edit.has is None else _value(edit.has)}"
        )
    return f"{show_path(edit.path)}: {words}" if edit.path else words


def _value(value: Any) -> str:
    text = (
        value
        if isinstance(value, str) and _is_plain(value)
        else json.dumps(_without_null(value), ensure_ascii=False)
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _is_plain(text: str) -> bool:
    # Quoted are texts that YAML reads differently, and those whose ends a reader cannot see.
    try:
        return (
            plain(text) == text and text == text.strip() and text.isprintable() and ", " not in text
        )
    except ValueError:
        return False


def _without_null(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_null(item) for key, item in value.items() if item is not None}
        case list() | tuple():
            return [_without_null(item) for item in value]
    return value
