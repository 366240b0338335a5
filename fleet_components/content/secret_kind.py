"""Kinds of objects whose data are secret."""

from __future__ import annotations

import re
from typing import Any

_LISTS = ("secretlist", "secretslist", "secretlists")
_SECRETS = ("secret", "secrets", *_LISTS)
"""Kinds of secret objects, by their letters alone: a kind that is misspelt makes nothing public either."""
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
