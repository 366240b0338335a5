"""Secrets of which only the metadata was read: what their managed fields say about the data,
none of it secret.

Source: the API server keeps for each writer the fields that it owns, and when it has last changed
one of them (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.content.secret import REDACTED, is_secret

_HEAD = ("apiVersion", "kind", "metadata")
_DATA = ("data", "stringData")
_ACCOUNT = "kubernetes.io/service-account.name"
"""Annotation that every Secret with the token of a service account has."""


def outlined(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a Secret that has nothing but metadata with ``[secret]`` for each of its data, and for
    its type.

    Where no writer is known to own data, ``[secret]`` stands for all of it. Any other object is
    returned as it is.
    """
    # A Secret with any further field was read as a whole.
    if not is_secret(data) or not data.keys() <= {*_HEAD}:
        return data
    keys = sorted(
        {
            key
            for fields, _ in _owned(data)
            for part in _DATA
            for key in _names(fields.get(f"f:{part}"))
        }
    )
    account = _ACCOUNT in (data["metadata"].get("annotations") or {})
    return {
        **data,
        "type": "kubernetes.io/service-account-token" if account else REDACTED,
        "data": dict.fromkeys(keys, REDACTED) if keys else REDACTED,
    }


def is_outlined(data: Mapping[str, Any]) -> bool:
    """Return whether an object is a Secret as :func:`outlined` returns it."""
    return data in outlines_of(data)


def outlines_of(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return all that :func:`outlined` may return of a Secret from its metadata; none for any other
    object.
    """
    if not is_secret(data):
        return ()
    keys = {key for part in _DATA if isinstance(data.get(part), Mapping) for key in data[part]}
    head = {field: data[field] for field in _HEAD if field in data}
    return tuple(
        {**head, "type": REDACTED, "data": hidden}
        for hidden in (dict.fromkeys(keys, REDACTED), REDACTED)
    )


def data_written(data: Mapping[str, Any]) -> str:
    """Return when the data of a Secret was last written, in RFC 3339; empty if nothing says it, or
    it is no Secret.

    A writer of data that changes something else of the Secret counts as well.
    """
    if not is_secret(data):
        return ""
    data_fields = {f"f:{part}" for part in _DATA}
    # API servers write these times in UTC and in full seconds, so that they sort as text.
    return max(
        (time for fields, time in _owned(data) if not data_fields.isdisjoint(fields)), default=""
    )


def _owned(data: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the fields of each writer, and when it has last changed one of them."""
    for entry in data["metadata"].get("managedFields") or ():
        yield entry.get("fieldsV1") or {}, str(entry.get("time") or "")


def _names(fields: Any) -> Iterator[str]:
    """Yield the keys of a map of which the fields are owned."""
    for name in fields if isinstance(fields, Mapping) else ():
        if name.startswith("f:"):
            yield name.removeprefix("f:")
