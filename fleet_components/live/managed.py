"""Fields of an object on a member and their managers, as the object itself says.

What an API server sets by itself, as the address of a Service, has no manager.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleet_components.content.guarded import read_json
from fleet_components.model.problem import FieldPath

Entry = Mapping[str, Any]
"""An entry of ``metadata.managedFields``."""


def is_managed(live: Mapping[str, Any], path: FieldPath) -> bool:
    """Return whether somebody manages a field, or a part of it; the status and other subresources
    do not count.

    Every field of an object that names no managers counts as managed.
    """
    entries = live["metadata"].get("managedFields") or ()
    return not entries or any(
        _is_in(entry.get("fieldsV1") or {}, live, path)
        for entry in entries
        if not entry.get("subresource")
    )


def _is_in(fields: Mapping[str, Any], value: Any, path: FieldPath) -> bool:
    if not path:
        return True
    step, *rest = path
    if isinstance(value, Mapping):
        below = fields.get(f"f:{step}")
        item = value.get(step)
    else:
        item = (
            value[step]
            if isinstance(value, list) and isinstance(step, int) and step < len(value)
            else None
        )
        below = next((each for key, each in fields.items() if _names(key, step, item)), None)
    # Nothing below a managed field: its parts have one manager.
    return below is not None and (below == {} or _is_in(below, item, tuple(rest)))


def _names(key: str, index: Any, item: Any) -> bool:
    """Return whether a key in ``managedFields`` names an item of a list: by its keys, its value, or
    its index.
    """
    # Forms of FieldsV1: ``f:<field>``, ``k:<keys of an item>``, ``v:<value>``, ``i:<index>``; keys
    # and values are JSON.
    form, _, text = key.partition(":")
    match form:
        case "k":
            return isinstance(item, Mapping) and item.items() >= read_json(text).items()
        case "v":
            return bool(read_json(text) == item)
    return form == "i" and text == str(index)


_TAKEN_OVER = ("kubectl", "before-first-apply")
"""Beginnings of the names of managers whose fields the Kubernetes provider makes its own before it
updates an object; fields that it does not send are removed with that (pulumi/pulumi-kubernetes
v4.34.2, ``fixCSAFieldManagers`` in provider/pkg/await/await.go)."""
_PARKED = "kept-by-fleet-components/"
_LONGEST_MANAGER = 128


def parked(entries: Sequence[Entry], sent: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """Return ``managedFields`` with what others manage under names that the Kubernetes provider
    leaves alone.

    Fields of an object that was or is sent stay as they are, so that the provider takes them over:
    a field that leaves the source leaves the member, also if somebody has changed its value.

    Args:
        entries: the entries of ``metadata.managedFields``.
        sent: the object as it was sent last, and as it is sent now.
    """
    found: list[Entry] = []
    for entry in entries:
        if not entry["manager"].startswith(_TAKEN_OVER) or entry.get("subresource"):
            found.append(entry)
            continue
        theirs, ours = _divided(entry.get("fieldsV1") or {}, sent)
        name = f"{_PARKED}{entry['manager']}"[:_LONGEST_MANAGER]
        # An entry without any field stays as it is.
        found += [{**entry, "fieldsV1": ours}] if ours or not theirs else []
        found += [{**entry, "manager": name, "fieldsV1": theirs}] if theirs else []
    return _united(found)


def is_parked(entry: Entry) -> bool:
    """Return whether :func:`parked` has changed the name of a manager."""
    return str(entry["manager"]).startswith(_PARKED)


def unparked(entries: Sequence[Entry]) -> list[Entry]:
    """Return ``managedFields`` with the names that :func:`parked` has changed as they were."""
    return _united(
        [{**entry, "manager": entry["manager"].removeprefix(_PARKED)} for entry in entries]
    )


def added(entries: Sequence[Entry], sent: Mapping[str, Any], manager: str) -> list[str]:
    """Return the fields that others manage and that are not sent, as paths with dots, the most
    general ones only.
    """
    theirs = [
        entry for entry in entries if entry["manager"] != manager and not entry.get("subresource")
    ]
    parts = (_divided(their.get("fieldsV1") or {}, [sent])[0] for their in theirs)
    return sorted({path for part in parts for path in _paths(part, sent, "")})


def _divided(
    fields: Mapping[str, Any], sent: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the part of managed fields that none of some values has, and the rest."""
    theirs, ours = dict[str, Any](), dict[str, Any]()
    for key, below in fields.items():
        # "." stands for the item itself, which is ours if it was sent at all.
        if key == ".":
            (ours if sent else theirs)[key] = below
            continue
        items = [item for value in sent for item in _items(value, key) if item is not None]
        if not items:
            theirs[key] = below
        elif not below:
            ours[key] = below
        else:
            parts = _divided(below, items)
            theirs |= {key: parts[0]} if parts[0] else {}
            ours |= {key: parts[1]} if parts[1] else {}
    return theirs, ours


def _items(value: Any, key: str) -> list[Any]:
    """Return what a key in ``managedFields`` names in a value that was sent, in which defaults are
    missing.
    """
    form, _, text = key.partition(":")
    if form == "f":
        return [value[text]] if isinstance(value, Mapping) and text in value else []
    if not isinstance(value, list):
        return []
    if form == "k":
        keys = read_json(text)
        maps = (item for item in value if isinstance(item, Mapping))
        return [
            item
            for item in maps
            if all(item.get(name, wanted) == wanted for name, wanted in keys.items())
        ]
    return [item for index, item in enumerate(value) if _names(key, index, item)]


def _united(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries of which no two have the same manager, operation and version: an API server
    keeps only one.
    """
    found: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        names = ("manager", "operation", "apiVersion", "fieldsType", "subresource")
        key = tuple(str(entry.get(name, "")) for name in names)
        fields = (
            _joined(found[key]["fieldsV1"], entry["fieldsV1"])
            if key in found
            else entry.get("fieldsV1")
        )
        found[key] = {**entry, "fieldsV1": fields}
    return list(found.values())


def _joined(data: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _joined(data.get(key) or {}, other.get(key) or {})
        for key in (*data, *(other.keys() - data.keys()))
    }


def _paths(fields: Mapping[str, Any], sent: Any, path: str) -> Iterator[str]:
    """Yield the paths of managed fields down to the first that a value does not have."""
    for key, below in fields.items():
        form, _, text = key.partition(":")
        if form == ".":
            continue
        at = (
            f"{path}.{text}" if form == "f" and path else text if form == "f" else f"{path}[{text}]"
        )
        items = _items(sent, key)
        if items and below:
            yield from _paths(below, items[0], at)
        else:
            yield at
