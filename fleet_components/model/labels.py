"""The syntax of label keys and values, with the words in which Kubernetes refuses them.

Source: the validation package of the Kubernetes API machinery.
"""

from __future__ import annotations

import re

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_MAX_NAME, _MAX_SUBDOMAIN = 63, 253
_CONSIST = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_WRONG_KEY = f"must {_CONSIST} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
_WRONG_VALUE = (
    f"a valid label must be an empty string or {_CONSIST} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME})?')"
)
_WRONG_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)


def key_errors(key: str) -> list[str]:
    """What is wrong with a label key (a qualified name); empty when nothing is."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_WRONG_KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    errors = [f"prefix part {error}" for error in _prefix_errors(prefix)] if slash else []
    if not name:
        errors.append("name part must be non-empty")
    elif _size(name) > _MAX_NAME:
        errors.append(f"name part {_too_long(_MAX_NAME)}")
    if not re.fullmatch(_NAME, name):
        errors.append(f"name part {_WRONG_KEY}")
    return errors


def value_errors(value: str) -> list[str]:
    """What is wrong with a label value; empty when nothing is."""
    errors = [_too_long(_MAX_NAME)] if _size(value) > _MAX_NAME else []
    if not re.fullmatch(f"({_NAME})?", value):
        errors.append(_WRONG_VALUE)
    return errors


def _prefix_errors(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    errors = [_too_long(_MAX_SUBDOMAIN)] if _size(prefix) > _MAX_SUBDOMAIN else []
    if not re.fullmatch(_SUBDOMAIN, prefix):
        errors.append(_WRONG_SUBDOMAIN)
    return errors


def _size(text: str) -> int:
    return len(text.encode())


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"
