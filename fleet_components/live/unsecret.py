"""Words of programs and services, without what could be a secret in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import pairwise

from fleet_components.model.text import visible

HIDDEN = "[hidden]"
_LONGEST = 300
_SHORTEST = 6
"""Length of the shortest secret that is looked for: a shorter one would take every other word out."""
_NAMED = re.compile("secret|token|passw|key|credential|auth", re.IGNORECASE)
_PLACES = re.compile("(file|path|host|url|uri|dir)$", re.IGNORECASE)
_OPAQUE = (
    re.compile(r"\beyJ[\w-]+(\.[\w-]*)*"),  # the beginning of every JSON web token
    re.compile(r"(?<=bearer )\S+", re.IGNORECASE),
    # Longer than a GUID, which names what went wrong and where.
    re.compile(r"[A-Za-z0-9+_~=-]{40,}"),
    re.compile(r"-----BEGIN.*", re.DOTALL),
)


def unsecret(text: str, known: Iterable[str] = ()) -> str:
    """Return a text in one line, shortened, in which secrets are hidden.

    Hidden are the values that are known, those of environment variables with the name of a secret, and whatever looks
    like a token.

    Args:
        text: the text.
        known: values that are secret.
    """
    named = (value for name, value in os.environ.items() if _NAMED.search(name) and not _PLACES.search(name))
    # The longest first, since one may be a part of another.
    for secret in sorted({*known, *named}, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    for pattern in _OPAQUE:
        text = pattern.sub(HIDDEN, text)
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


def secrets_of(arguments: Iterable[str]) -> set[str]:
    """Return those arguments of a command that are the values of options with the name of a secret."""
    listed = list(arguments)
    given = [one.split("=", 1) for one in listed if one.startswith("-") and "=" in one]
    given += [[option, value] for option, value in pairwise(listed) if option.startswith("-")]
    return {value for option, value in given if _NAMED.search(option) and not _PLACES.search(option)}
