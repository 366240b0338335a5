"""The one rule for what is secret in an object, and how it is hidden in what others may read.

Secret are the data of a ``Secret``, whatever its API group and version: a wrong one makes nothing
public. So is a text that holds one, as the annotation of ``kubectl apply`` or a ConfigMap with
manifests does.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from fleet_components.content.revision import canonical
from fleet_components.content.secret_text import holds_secret, is_list_of_secrets, is_secret_kind

PUBLIC = ("apiVersion", "kind", "metadata", "type", "immutable")
"""Fields of a Secret that everybody may read. Any other has data, under a name that is misspelt
perhaps.
"""
REDACTED = "[secret]"
_OF_OBJECTS = frozenset(("metadata", "data", "stringData"))
"""Fields that an object has, and a reference to one has not."""
INTO_SECRET = "intoSecret"
"""Field of kept override rules: true if what they change is a Secret."""
_SELECTORS = ("resourceSelectors", "clusterResourceSelectors")
_IMAGE, _IN_FIELDS = "imageOverrider", ("json", "yaml")
"""Fields of overrides whose items have no ``path``: of workloads, and of the text of any field."""
_RULES = frozenset(("overrideRules", "overriders"))
"""Fields of the override policies of Karmada."""
_PATCHES = ("plaintext", "imageOverrider", "json", "yaml", "jsonPatchOverrides")
"""Fields of overrides whose items have a ``value`` that any field of an object may get."""


class SecretText(str):
    """A text that is secret wherever it stands: the value of a rule that changes a Secret as
    well.
    """

    __slots__ = ()


def is_secret(data: Mapping[str, Any]) -> bool:
    """Return whether the object is a ``Secret``."""
    return is_secret_kind(data.get("kind"))


def redacted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with ``[secret]`` for all that is secret in it; the same object if nothing
    is.
    """
    return _redacted_map(data, whole=True)


def redacted_content(objects: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return the objects of one content with all that is secret hidden.

    So are the values of overrides that go into a Secret, which are marked with :data:`INTO_SECRET`.
    """
    return tuple(
        _without_values(data) if data.get(INTO_SECRET) else redacted(data) for data in objects
    )


def redacted_policy(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an override policy of either system with ``[secret]`` for the values that it gives
    Secrets it selects.

    A policy that selects none by its kind is returned as it is. One of Karmada without selectors
    selects all objects, as OverrideSpec of v1.19 says: of that one, the values are hidden that go
    where a Secret has its data.
    """
    spec = policy.get("spec")
    found = [spec.get(field) for field in _SELECTORS] if isinstance(spec, Mapping) else []
    selectors = [
        data
        for some in found
        if isinstance(some, list | tuple)
        for data in some
        if isinstance(data, Mapping)
    ]
    if not any(found) and isinstance(spec, Mapping) and not _RULES.isdisjoint(spec):
        shown: Mapping[str, Any] = _without_values(policy, everywhere=False)
        return shown
    return (
        _without_values(policy)
        if any(is_secret_kind(selector.get("kind")) for selector in selectors)
        else policy
    )


def secret_fields(data: Mapping[str, Any]) -> set[str]:
    """Return the fields of an object that hold something secret."""
    hidden = redacted(data)
    sealed = is_secret(data)
    return {
        field
        for field, value in data.items()
        if (sealed and field not in PUBLIC) or hidden[field] is not value
    }


def secret_values(objects: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the texts that are secret in objects, their lines, and what they stand for in
    base64.
    """
    found: set[str] = set()
    for data in objects:
        for field in secret_fields(data):
            for text in _texts(data[field]):
                found |= {text, *text.splitlines(), *_decoded(text)}
    return frozenset(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _decoded(text: str) -> Iterator[str]:
    # Most texts are not base64, or stand for bytes that are no text.
    with suppress(ValueError):
        plain = b64decode(text, validate=True).decode()
        yield plain
        yield from plain.splitlines()


def is_hidden(value: Any, mark: str = REDACTED) -> bool:
    """Return whether anything in a value was replaced by a mark, ``[secret]`` by default."""
    match value:
        case Mapping():
            return any(is_hidden(item, mark) for item in value.values())
        case list() | tuple():
            return any(is_hidden(item, mark) for item in value)
    return bool(value == mark)


def _without_values(value: Any, *, patch: bool = False, everywhere: bool = True) -> Any:
    """Return an override policy, or a part of it, with ``[secret]`` for the value of each patch.

    With ``everywhere`` False, only for those that go where a Secret has its data.
    """
    match value:
        case Mapping():
            return {
                key: _value(item, value.get("path"), everywhere=everywhere)
                if patch and key == "value"
                else _without_values(
                    item,
                    # Overrides of images change workloads only.
                    patch=key in _PATCHES and (everywhere or key != _IMAGE),
                    everywhere=everywhere or key in _IN_FIELDS,
                )
                for key, item in value.items()
            }
        case list() | tuple():
            return [_without_values(item, patch=patch, everywhere=everywhere) for item in value]
    return value


def _value(value: Any, path: Any, *, everywhere: bool) -> Any:
    """Return the value of a patch that may go into a Secret: hidden, unless it goes into a field
    that has no data.
    """
    # A JSON pointer begins with a slash, so that the part before it is empty.
    root, *fields = str(path).split("/")
    if not everywhere and fields and fields[0] not in ("data", "stringData"):
        return _redacted(value)
    return _redacted(value) if not root and fields and fields[0] in PUBLIC else REDACTED


def _redacted(value: Any) -> Any:
    match value:
        case Mapping():
            return _redacted_map(value)
        case list() | tuple():
            items = [_redacted(item) for item in value]
            return (
                value if all(new is old for new, old in zip(items, value, strict=True)) else items
            )
        # Before the plain texts, since it is a str as well.
        case SecretText():
            return REDACTED
        case str() if holds_secret(value):
            return REDACTED
    return value


def _redacted_map(value: Mapping[str, Any], *, whole: bool = False) -> Mapping[str, Any]:
    kind = value.get("kind")
    # A selector or a reference names a Secret by its kind, and has nothing of it.
    secret = is_secret_kind(kind) and (whole or not _OF_OBJECTS.isdisjoint(value))
    listed = is_list_of_secrets(kind)
    hidden = {}
    for field, item in value.items():
        if listed and field == "items":
            hidden[field] = REDACTED
        elif secret and field not in PUBLIC and item:
            hidden[field] = _hidden(item)
        else:
            # The kind of a Secret names it and is no secret.
            hidden[field] = item if field == "kind" else _redacted(item)
    # The same object if nothing is hidden, by which callers see that.
    return value if all(hidden[field] is item for field, item in value.items()) else hidden


def _hidden(value: Any) -> Any:
    """Return only the keys of a map. A value that is not a map, which API servers refuse, is hidden
    completely.
    """
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED


# Values of override rules that reach a Secret, and are secret in every other object that gets
# them, too.


SecretPatch = tuple[str, str]
"""Path of a patch, and its value as JSON."""
_OF_ANY_KIND = ("plaintext", "jsonPatchOverrides")
"""Fields of overrides with patches of any kind of object. Others are for workloads, or for JSON or
YAML in a text, which the data of a Secret is not.
"""


def secret_patches(rule: Mapping[str, Any]) -> Iterator[SecretPatch]:
    """Yield the patches of a kept override rule that give data to a Secret; none if it changes no
    Secret.
    """
    if not rule.get(INTO_SECRET):
        return
    # Redaction keeps the structure, so that the patches of both match one by one.
    (hidden,) = redacted_content([rule])
    for patch, shown in zip(_patches(rule), _patches(hidden), strict=True):
        if shown["value"] != patch["value"]:
            yield _identity(patch)


def with_secret_texts(
    rule: Mapping[str, Any], secret: Collection[SecretPatch]
) -> Mapping[str, Any]:
    """Return a kept override rule whose texts in some patches are secret; the same rule if it has
    none of them.
    """
    if not any(_identity(patch) in secret for patch in _patches(rule)):
        return rule
    found: Mapping[str, Any] = _with_secret_texts(rule, secret)
    return found


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
    return any(isinstance(text, SecretText) for text in _texts(value))


def _identity(patch: Mapping[str, Any]) -> SecretPatch:
    return str(patch.get("path")), canonical(patch["value"])


def _patches(value: Any, *, patch: bool = False) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if patch and "value" in value:
            yield value
        for key, item in value.items():
            yield from _patches(item, patch=key in _OF_ANY_KIND)
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
                else _with_secret_texts(item, secret, patch=key in _OF_ANY_KIND)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_with_secret_texts(item, secret, patch=patch) for item in value]
    return value
