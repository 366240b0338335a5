"""What an API server says when it refuses something: its single reasons, none of which is empty."""

from __future__ import annotations

import re

_DENIED = " denied the request: "
_INVALID = " is invalid: "


def reasons(message: str) -> tuple[str, ...]:
    """Return the single reasons of a refusal; the whole message where it has no known form.

    A webhook gives one reason, a definition one for each field, and strict decoding one for each unknown field.

    Args:
        message: the message of the status that the API server answers.
    """
    if "strict decoding error: " in message:
        found = re.findall(r'(?:unknown|duplicate) field "[^"]+"', message)
    elif _DENIED in message:
        found = [message.partition(_DENIED)[2]]
    else:
        listed = message.partition(_INVALID)[2]
        whole = listed.removeprefix("[").removesuffix("]") if listed.startswith("[") else listed
        found = re.split(r", (?=(?:spec|metadata|status|data)[.:\[])", whole)
    return tuple(filter(None, (item.strip() for item in found))) or (message,)


def without_value(words: str) -> str:
    """Of a value that is refused, API servers of some versions tell the type, and of others the value or nothing."""
    return re.sub(r'Invalid value: "[^"]*": ', "Invalid value: ", words)
