"""Server-side apply on plain objects, without a schema: a list whose items have names is a map, any other is one value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

Field = tuple[str, ...]
"""Path of a value: ``f:`` before the name of a field and ``k:`` before the key of an item, as in ``managedFields``."""
_IDENTITY = {
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata", "f:name"),
    ("f:metadata", "f:namespace"),
}


class Conflict(Exception):
    """Fields that other managers have set otherwise."""


def applied(
    live: Mapping[str, Any],
    sent: Mapping[str, Any],
    managers: Mapping[str, set[Field]],
    manager: str,
    *,
    force: bool,
) -> tuple[dict[str, Any], dict[str, set[Field]]]:
    """Return the object that stands after an apply, and what each manager has in it.

    Raises:
        Conflict: other managers have set fields otherwise, which is not to be overwritten.
    """
    new, old = _flat(sent), _flat(live)
    mine = new.keys() - _IDENTITY
    clashes = {
        (other, field) for other, fields in managers.items() if other != manager for field in fields & mine
        if old.get(field) != new[field]
    }  # fmt: skip
    if clashes and not force:
        count = f"{len(clashes)} conflict{'s' * (len(clashes) > 1)}"
        told = ", ".join(
            sorted(f'conflict with "{other}": {_shown(field)}' for other, field in clashes)
        )
        raise Conflict(f"Apply failed with {count}: {told}")
    others = {
        item: fields - {field for _, field in clashes}
        for item, fields in managers.items()
        if item != manager
    }
    given_up = managers.get(manager, set()) - mine - set().union(*others.values())
    whole = _nested(
        {field: value for field, value in {**old, **new}.items() if field not in given_up}
    )
    return whole, {**others, manager: set(mine)}


def managed_fields(managers: Mapping[str, Iterable[Field]]) -> list[dict[str, Any]]:
    """Return the managers as objects name them."""
    return [
        {
            "manager": manager,
            "operation": "Apply",
            "fieldsType": "FieldsV1",
            "fieldsV1": _tree(fields),
        }
        for manager, fields in managers.items()
        if fields
    ]


def _flat(value: Any, field: Field = ()) -> dict[Field, Any]:
    if isinstance(value, Mapping) and (value or not field):
        parts = {f"f:{key}": item for key, item in value.items()}
    elif (
        isinstance(value, list)
        and value
        and all(isinstance(each, Mapping) and "name" in each for each in value)
    ):
        parts = {f"k:{json.dumps({'name': each['name']})}": each for each in value}
    else:
        return {field: value}
    return {
        path: leaf
        for step, item in parts.items()
        for path, leaf in _flat(item, (*field, step)).items()
    }


def _tree(fields: Iterable[Field]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for field in sorted(fields):
        node = tree
        for step in field:
            node = node.setdefault(step, {})
    return tree


def _nested(flat: Mapping[Field, Any]) -> Any:
    if () in flat:
        return flat[()]
    steps = dict.fromkeys(field[0] for field in flat)
    parts = {
        step: _nested({field[1:]: value for field, value in flat.items() if field[0] == step})
        for step in steps
    }
    if all(step.startswith("k:") for step in steps) and steps:
        return list(parts.values())
    return {step[2:]: part for step, part in parts.items()}


def _shown(field: Field) -> str:
    return "".join(f".{step[2:]}" if step.startswith("f:") else f"[{step[3:-1]}]" for step in field)
