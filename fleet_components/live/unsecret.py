"""Words of programs and services, without what could be a secret in them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Any

from fleet_components.model.text import visible

HIDDEN = "[hidden]"
_LONGEST = 300
SHORTEST = 6
"""Length of the shortest secret that is looked for: a shorter one would take every other word
out.
"""
_NAMED = re.compile("secret|token|passw|key|credential|auth", re.IGNORECASE)
_PLACES = re.compile("(file|path|host|url|uri|dir)$", re.IGNORECASE)
_SIGN = "[A-Za-z0-9+_~=-]"
_OPAQUE = (
    re.compile(r"\beyJ[\w-]+(\.[\w-]*)*"),  # the beginning of every JSON web token
    re.compile(r"(?<=bearer )\S+", re.IGNORECASE),
    # Longer than a GUID, which names what went wrong and where. Names of objects have shorter
    # parts, and a digest that is called so is none.
    re.compile(
        rf"(?<!sha256:)(?<!{_SIGN})"
        rf"(?!(?:[a-z0-9]{{1,20}}-)+[a-z0-9]{{1,20}}(?!{_SIGN})){_SIGN}{{40,}}"
    ),
    re.compile(r"-----BEGIN.*", re.DOTALL),
)


def unsecret(text: str, known: Iterable[str] = (), longest: int = _LONGEST) -> str:
    """Return a text in one line, shortened, in which secrets are hidden.

    Hidden are the values that are known, those of environment variables with the name of a secret,
    and whatever looks like a token.

    Args:
        text: the text.
        known: values that are secret.
        longest: the length of the text that is returned.
    """
    named = (value for name, value in os.environ.items() if names_secret(name))
    text = without_opaque(without(text, {*known, *named}))
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= longest else f"{shown[:longest]}..."


def without_opaque(text: str) -> str:
    """Return a text in which is hidden whatever looks like a token or a private key."""
    for pattern in _OPAQUE:
        text = pattern.sub(HIDDEN, text)
    return text


def without(text: str, known: Iterable[str]) -> str:
    """Return a text in which values are hidden that are known to be secret, unless they are very
    short.
    """
    # The longest first, since one may be a part of another.
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text


def without_in(value: Any, known: Collection[str]) -> Any:
    """Return a value of an API object in whose texts, also in keys, known secrets are hidden."""
    match value:
        case str():
            return without(value, known)
        case Mapping():
            return {
                without(str(key), known): without_in(item, known) for key, item in value.items()
            }
        case list():
            return [without_in(item, known) for item in value]
    return value


def names_secret(key: str) -> bool:
    """Return whether a variable, an option or a field has the name of a secret."""
    return bool(_NAMED.search(key)) and not _PLACES.search(key)


def secrets_of(arguments: Iterable[str]) -> set[str]:
    """Return those arguments of a command that are the values of options with the name of a
    secret.
    """
    listed = list(arguments)
    given = [text.split("=", 1) for text in listed if text.startswith("-") and "=" in text]
    given += [[option, value] for option, value in pairwise(listed) if option.startswith("-")]
    return {value for option, value in given if names_secret(option)}
