"""The one rule for what is secret in an object, and how it is hidden in what others may read.

Secret are the data of a ``Secret``, whatever its API group and version: a wrong one makes nothing public. So is a text
that holds one, as the annotation of ``kubectl apply`` or a ConfigMap with manifests does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from fleet_components.content.guarded import UnreadableError, read_scalars
from fleet_components.model.karmada.policy import CLUSTER_OVERRIDE, OVERRIDE
from fleet_components.model.problem import FieldPath

_PUBLIC = ("apiVersion", "kind", "metadata", "type", "immutable")
"""Fields of a Secret that everybody may read. Any other has data, under a name that is misspelt perhaps."""
REDACTED = "[secret]"
_LISTS = ("secretlist", "secretslist", "secretlists")
_SECRETS = ("secret", "secrets", *_LISTS)
"""Kinds of secret objects, by their letters alone: a kind that is misspelt makes nothing public either."""
_PATCHES = ("plaintext", "imageOverrider", "json", "yaml")
"""Fields of override policies whose items have a ``value`` that any field of an object may get."""
_NO_LETTERS = re.compile(r"[\W_]+")
# Each begins with letters, for which a search is quicker than for the edge of a word.
_KIND_WORD, _SECRET_WORD = re.compile(r"kind\b(?<!\wkind)"), re.compile(r"secrets?(?:\W?lists?)?\b")
# Before the value may stand a tag and an anchor. Their length has a limit, so that the search takes linear time.
_WRITTEN = re.compile(r"kind(?<!\wkind)(?:\W+|[^\w!&]*(?:[!&]\S{0,200}\s[^\w!&]*){1,3})secrets?(?:lists?)?\b")
_KEY = re.compile(r"kind(?<!\wkind)[\s\"']*:|[?*]")
_ALIASED = re.compile(r"\bkind\b[\"']?\s*:\s*\*")
_ESCAPE = re.compile(r"\\+(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n\s*)|.)")
_MOST_PARSED = 2**20
"""Length of the longest text that is parsed."""
_MOST_REMEMBERED = 2**15
"""Length of the longest text whose result is kept."""
_MOST_NESTED = 5
"""The most texts in one another that are parsed."""


def is_secret(data: Mapping[str, Any]) -> bool:
    """Return whether the object is a ``Secret``."""
    return _is_secret_kind(data.get("kind"))


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


def exposes(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a changed object shows at a path what was hidden there, also in another item of the same list.

    Args:
        before: the object.
        after: the object as changed; it shares with the object what was not changed.
    """
    before, after = _changed(before, after)
    hidden = redacted(before)
    if hidden is before:
        return False
    was, now = list(_leaves(before, hidden)), _leaves(after, redacted(after))
    paths = {path for path, _, sealed in was if sealed}
    secret, public = (
        {(_in_lists(path), value) for path, value, sealed in was if sealed is one} for one in (True, False)
    )
    shown = ((path, (_in_lists(path), value)) for path, value, sealed in now if not sealed)
    return any((path in paths or leaf in secret) and leaf not in public for path, leaf in shown)


def _changed(before: Any, after: Any) -> tuple[Any, Any]:
    """Return what differs between two values that share parts, with the kinds around it."""
    match before, after:
        case Mapping(), Mapping() if _letters(before.get("kind")) == _letters(after.get("kind")):
            keys = [key for key in before if key in after and (key == "kind" or before[key] is not after[key])]
            pairs = {key: _changed(before[key], after[key]) for key in keys}
            return {key: pair[0] for key, pair in pairs.items()}, {key: pair[1] for key, pair in pairs.items()}
        case list(), list() if len(before) == len(after):
            items = [_changed(b, a) for b, a in zip(before, after, strict=True) if b is not a]
            return [b for b, _ in items], [a for _, a in items]
    return before, after


def _leaves(value: Any, hidden: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any, bool]]:
    """Yield the path of each value that is not empty, the value, and whether it is hidden."""
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _leaves(item, REDACTED if hidden == REDACTED else hidden[key], (*path, key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _leaves(item, REDACTED if hidden == REDACTED else hidden[index], (*path, index))
        case _ if value not in (None, ""):
            yield path, value, hidden == REDACTED


def _in_lists(path: FieldPath) -> FieldPath:
    """Return the path without the positions in lists, which a change of a list moves."""
    return tuple(-1 if isinstance(step, int) else step for step in path)


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
        case str() if _holds_secret(value):
            return REDACTED
    return value


def _redacted_map(value: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = value.get("kind")
    secret, listed = _is_secret_kind(kind), _letters(kind) in _LISTS
    hidden = {}
    for field, item in value.items():
        if listed and field == "items":
            hidden[field] = REDACTED
        elif secret and field not in _PUBLIC and item:
            hidden[field] = _hidden(item)
        else:
            # The kind of a Secret names it and is no secret.
            hidden[field] = item if field == "kind" else _redacted(item)
    return value if all(hidden[field] is item for field, item in value.items()) else hidden


def _is_secret_kind(kind: Any) -> bool:
    return _letters(kind) in _SECRETS


def _letters(kind: Any) -> str:
    return _NO_LETTERS.sub("", str(kind).casefold())


def _holds_secret(text: str, level: int = 0) -> bool:
    """Return whether a text holds a Secret, as YAML or JSON in any spelling, or inside another text."""
    folded = text.casefold()
    if "\\" not in folded and not ("kind" in folded and "secret" in folded):
        return False
    return _remembered(text, level) if len(text) <= _MOST_REMEMBERED else _searched(text, level)


def _searched(text: str, level: int) -> bool:
    folded = text.casefold()
    plain = _ESCAPE.sub(_unescaped, text).casefold() if "\\" in text else folded
    if not ("kind" in plain and "secret" in plain and _KIND_WORD.search(plain) and _SECRET_WORD.search(plain)):
        return False
    if _WRITTEN.search(folded) or _WRITTEN.search(plain):
        return True
    # Without a colon after it, the key is marked as one or stands elsewhere.
    return bool(_KEY.search(plain)) and level <= _MOST_NESTED and len(text) <= _MOST_PARSED and _parsed(text, level)


_remembered = lru_cache(maxsize=2048)(_searched)


def _parsed(text: str, level: int) -> bool:
    """Return whether a text, read as YAML, has a map of the kind Secret; if it is none, whether it looks like one."""
    try:
        return any(
            (_letters(key) == "kind" and _is_secret_kind(value))
            or (":" in value and len(value) < len(text) and _holds_secret(value, level + 1))
            for key, value in read_scalars(text)
        )
    except UnreadableError:
        return bool(_ALIASED.search(text.casefold()))


def _unescaped(escape: re.Match[str]) -> str:
    """Return the sign that an escape of YAML or JSON stands for; a space for those that stand for no letter."""
    code = escape[1] or escape[2] or escape[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else " "
    return "" if escape[4] else " "


def _hidden(value: Any) -> Any:
    """Return only the keys of a map. A value that is not a map, which API servers refuse, is hidden completely."""
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED
