"""Values of override rules that reach a Secret, and are secret in every other object that gets them, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fleet_components.content.revision import canonical
from fleet_components.content.secret import (
    INTO_SECRET,
    SecretText,
    redacted_content,
)

SecretPatch = tuple[str, str]
"""Path of a patch, and its value as JSON."""
_PATCHES = ("plaintext", "jsonPatchOverrides")
"""Fields of overrides with patches of any kind of object. Others are for workloads, or for JSON or YAML
in a text, which the data of a Secret is not."""


def secret_patches(rule: Mapping[str, Any]) -> Iterator[SecretPatch]:
    """Yield the patches of a kept override rule that give data to a Secret; none if it changes no Secret."""
    if not rule.get(INTO_SECRET):
        return
    (hidden,) = redacted_content([rule])
    for patch, shown in zip(_patches(rule), _patches(hidden), strict=True):
        if shown["value"] != patch["value"]:
            yield _identity(patch)


def with_secret_texts(rule: Mapping[str, Any], secret: Collection[SecretPatch]) -> Mapping[str, Any]:
    """Return a kept override rule whose texts in some patches are secret; the same rule if it has none of them."""
    found: Mapping[str, Any] = _with_secret_texts(rule, secret)
    return found if any(_identity(patch) in secret for patch in _patches(rule)) else rule


def as_secret(value: Any) -> Any:
    """Return a value in which every text is secret."""
    match value:
        case Mapping():
            return {key: as_secret(item) for key, item in value.items()}
        case list() | tuple():
            return [as_secret(item) for item in value]
        case str():
            return SecretText(value)
    return value


def holds_secret_text(value: Any) -> bool:
    """Return whether any text of a value is marked as secret."""
    match value:
        case Mapping():
            return any(map(holds_secret_text, value.values()))
        case list() | tuple():
            return any(map(holds_secret_text, value))
    return isinstance(value, SecretText)


def _identity(patch: Mapping[str, Any]) -> SecretPatch:
    return str(patch.get("path")), canonical(patch["value"])


def _patches(value: Any, *, patch: bool = False) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if patch and "value" in value:
            yield value
        for key, item in value.items():
            yield from _patches(item, patch=key in _PATCHES)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _patches(item, patch=patch)


def _with_secret_texts(value: Any, secret: Collection[SecretPatch], *, patch: bool = False) -> Any:
    match value:
        case Mapping():
            sealed = patch and "value" in value and _identity(value) in secret
            return {
                key: as_secret(item)
                if sealed and key == "value"
                else _with_secret_texts(item, secret, patch=key in _PATCHES)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_with_secret_texts(item, secret, patch=patch) for item in value]
    return value
