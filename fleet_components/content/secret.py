"""The one rule for what is secret in an object, and how it is hidden in what others may read.

Secret are the data of a ``Secret``, whatever its API group and version: a wrong one makes nothing public. So is a text
that holds one, as the annotation of ``kubectl apply`` or a ConfigMap with manifests does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.model.karmada.policy import CLUSTER_OVERRIDE, OVERRIDE

_PUBLIC = ("apiVersion", "kind", "metadata", "type", "immutable")
"""Fields of a Secret that everybody may read. Any other has data, under a name that is misspelt perhaps."""
REDACTED = "[secret]"
_LIST = "secretlist"
_PATCHES = ("plaintext", "imageOverrider", "json", "yaml")
"""Fields of override policies whose items have a ``value`` that any field of an object may get."""
_EMBEDDED = re.compile(r"\bkind\W{1,9}secret(list)?\b", re.IGNORECASE)


def is_secret(data: Mapping[str, Any]) -> bool:
    """Return whether the object is a ``Secret``."""
    return _kind(data) == "secret"


def redacted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with ``[secret]`` for all that is secret in it; the same object if nothing is."""
    hidden: Mapping[str, Any] = _redacted(data)
    return hidden


def redacted_content(objects: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return the objects of one content with all that is secret hidden.

    Beside a Secret, the values of override policies are hidden too, since they are put into it.
    """
    known = tuple(objects)
    hidden = tuple(map(redacted, known))
    if not any(map(is_secret, known)):
        return hidden
    return tuple(_without_values(one) if one.get("kind") in (OVERRIDE, CLUSTER_OVERRIDE) else one for one in hidden)


def secret_fields(data: Mapping[str, Any]) -> set[str]:
    """Return the fields of an object that hold something secret."""
    hidden = redacted(data)
    sealed = is_secret(data)
    return {field for field, value in data.items() if (sealed and field not in _PUBLIC) or hidden[field] is not value}


def is_hidden(value: Any) -> bool:
    """Return whether anything in a value was replaced by ``[secret]``."""
    match value:
        case Mapping():
            return any(map(is_hidden, value.values()))
        case list() | tuple():
            return any(map(is_hidden, value))
    return bool(value == REDACTED)


def _without_values(value: Any, *, patch: bool = False) -> Any:
    """Return an override policy, or a part of it, with ``[secret]`` for the value of each patch."""
    match value:
        case Mapping():
            return {
                key: REDACTED if patch and key == "value" else _without_values(item, patch=key in _PATCHES)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_without_values(item, patch=patch) for item in value]
    return value


def _redacted(value: Any) -> Any:
    match value:
        case Mapping():
            return _redacted_map(value)
        case list() | tuple():
            items = [_redacted(item) for item in value]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        case str() if "ecret" in value.casefold() and _EMBEDDED.search(value):
            return REDACTED
    return value


def _redacted_map(value: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = _kind(value)
    hidden = {}
    for field, item in value.items():
        if kind == "secret" and field not in _PUBLIC and item:
            hidden[field] = _hidden(item)
        elif kind == _LIST and field == "items":
            hidden[field] = REDACTED
        else:
            # The kind of a Secret names it and is no secret.
            hidden[field] = item if field == "kind" else _redacted(item)
    return value if all(hidden[field] is item for field, item in value.items()) else hidden


def _kind(data: Mapping[str, Any]) -> str:
    return str(data.get("kind")).strip().casefold()


def _hidden(value: Any) -> Any:
    """Return only the keys of a map. A value that is not a map, which API servers refuse, is hidden completely."""
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED
