"""Finds Secrets in texts: in manifests that a ConfigMap, an annotation or any other field holds."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from fleet_components.content.guarded import UnreadableError, read_scalars

# Each begins with letters, for which a search is quicker than for the edge of a word.
_KIND_WORD, _SECRET_WORD = re.compile(r"kind\b(?<!\wkind)"), re.compile(r"secrets?(?:\W?lists?)?\b")
# Before the value may stand a tag and an anchor. Their length has a limit, so that the search takes
# linear time.
_WRITTEN = re.compile(
    r"kind(?<!\wkind)(?:\W+|[^\w!&]*(?:[!&]\S{0,200}\s[^\w!&]*){1,3})secrets?(?:lists?)?\b"
)
_KEY = re.compile(r"kind(?<!\wkind)[\s\"']*:|[?*]")
_ALIASED = re.compile(r"\bkind\b[\"']?\s*:\s*\*")
_ESCAPE = re.compile(r"\\+(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n\s*)|.)")
_MOST_PARSED = 2**20
"""Length of the longest text that is parsed."""
_MOST_REMEMBERED = 2**15
"""Length of the longest text whose result is kept."""
_MOST_NESTED = 5
"""The most texts in one another that are parsed."""


def holds_secret(text: str, level: int = 0) -> bool:
    """Return whether a text holds a Secret, as YAML or JSON in any spelling, or inside another
    text.
    """
    folded = text.casefold()
    # An escape may spell the words, so that only a text without any is done here.
    if "\\" not in folded and not ("kind" in folded and "secret" in folded):
        return False
    return _remembered(text, level) if len(text) <= _MOST_REMEMBERED else _searched(text, level)


def _searched(text: str, level: int) -> bool:
    folded = text.casefold()
    plain = _ESCAPE.sub(_unescaped, text).casefold() if "\\" in text else folded
    if not (
        "kind" in plain
        and "secret" in plain
        and _KIND_WORD.search(plain)
        and _SECRET_WORD.search(plain)
    ):
        return False
    if _WRITTEN.search(folded) or _WRITTEN.search(plain):
        return True
    # Without a colon after it, the key is marked as one or stands elsewhere.
    return (
        bool(_KEY.search(plain))
        and level <= _MOST_NESTED
        and len(text) <= _MOST_PARSED
        and _parsed(text, level)
    )


_remembered = lru_cache(maxsize=2048)(_searched)


def _parsed(text: str, level: int) -> bool:
    """Return whether a text, read as YAML, has a map of the kind Secret; if it is none, whether it
    looks like one.
    """
    try:
        return any(
            (letters(key) == "kind" and is_secret_kind(value))
            # A text in the text. It has to be shorter, or a single scalar would hold itself.
            or (":" in value and len(value) < len(text) and holds_secret(value, level + 1))
            for key, value in read_scalars(text)
        )
    except UnreadableError:
        return bool(_ALIASED.search(text.casefold()))


def _unescaped(escape: re.Match[str]) -> str:
    """Return the sign that an escape of YAML or JSON stands for; a space for those that stand for
    no letter.
    """
    code = escape[1] or escape[2] or escape[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else " "
    return "" if escape[4] else " "


# Kinds of objects whose data are secret.


_LISTS = ("secretlist", "secretslist", "secretlists")
_SECRETS = ("secret", "secrets", *_LISTS)
"""Kinds of secret objects, by their letters alone: a kind that is misspelt makes nothing public
either.
"""
_NO_LETTERS = re.compile(r"[\W_]+")


def is_secret_kind(kind: Any) -> bool:
    """Return whether an object of this kind is a Secret, or a list of them."""
    return letters(kind) in _SECRETS


def letters(kind: Any) -> str:
    """Return the letters of a kind, in lower case."""
    return _NO_LETTERS.sub("", str(kind).casefold())


def is_list_of_secrets(kind: Any) -> bool:
    """Return whether an object of this kind has Secrets as its items."""
    return letters(kind) in _LISTS
