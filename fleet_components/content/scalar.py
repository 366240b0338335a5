"""Values of YAML scalars as kubectl reads them.

Source: ``sigs.k8s.io/yaml``, with which kubectl converts YAML to JSON. ``yes``, ``on`` and ``y``
are booleans and ``0777`` is octal, but sexagesimal numbers and timestamps stay text. Numbers then
are what JSON makes of them: ``1.0`` and ``1e3`` are integers.
"""

from __future__ import annotations

import math
import re

from yaml.events import ScalarEvent

Scalar = str | int | float | bool | None

_TRUE = "y Y yes Yes YES true True TRUE on On ON"
_FALSE = "n N no No NO false False FALSE off Off OFF"
_NULL = ("", "~", "null", "Null", "NULL")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(_TRUE.split(), True),
    **dict.fromkeys(_FALSE.split(), False),
    **dict.fromkeys(_NULL, None),
}
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
# No number of 64 bits has more digits.
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0|[1-9][0-9]{0,19})")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_STRICT_TAGS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
    "timestamp": (str,),
}
_INT64, _UINT64 = 2**63, 2**64
_MOST_DIGITS = 1000
_YAML_TAG = "tag:yaml.org,2002:"


def plain(text: str) -> Scalar:
    """Return the value of a plain (unquoted, untagged) scalar.

    Raises:
        ValueError: it is an infinity or NaN, which JSON cannot express.
    """
    if text in _WORDS:
        return _WORDS[text]
    # Most text is not a number, and is spared the expressions. The empty text is among the words
    # above.
    if text[0] not in "+-.0123456789":
        return text
    if _NOT_JSON.fullmatch(text):
        raise ValueError(f"{text} cannot be written in JSON")
    # YAML 1.1 allows underscores between digits.
    number = _number(text.replace("_", ""))
    return text if number is None else number


def tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with an explicit tag, given without ``tag:yaml.org,2002:``.
    Unknown tags mean text.

    Raises:
        ValueError: the text is not a value of that type.
    """
    if tag == "binary":
        raise ValueError("is !!binary, which no Kubernetes object has")
    if tag not in _STRICT_TAGS:
        return text
    value = plain(text)
    if type(value) not in _STRICT_TAGS[tag]:
        raise ValueError(f"is not of the type !!{tag}")
    return value


def scalar(event: ScalarEvent) -> Scalar:
    """Return the value of a quoted, tagged or plain scalar.

    Raises:
        ValueError: it has no value in a Kubernetes object.
    """
    if event.tag and event.tag.startswith(_YAML_TAG):
        return tagged(event.tag.removeprefix(_YAML_TAG), event.value)
    # The first of the two flags is that of plain scalars, the second that of quoted ones.
    is_plain = event.implicit[0] and not event.tag
    return plain(event.value) if is_plain else str(event.value)


def as_key(value: object) -> str | None:
    """Return a value as the key of a map; None if it cannot be one. Booleans and integers become
    text.
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    return None


def is_merge(event: object) -> bool:
    """Return whether the event is the merge key, ``<<``."""
    if not isinstance(event, ScalarEvent) or event.value != "<<":
        return False
    return event.tag == _YAML_TAG + "merge" or bool(event.implicit[0] and not event.tag)


def _number(text: str) -> int | float | None:
    if len(text) > _MOST_DIGITS:  # beyond any float, and as text only costly to read
        return None
    # Before the others: a leading zero means octal in YAML 1.1, and as a float 0777 would be 777.
    for form, base in ((_OCTAL, 8), (_INTEGER, 0)):
        whole = int(text, base) if form.fullmatch(text) else None
        if whole is not None and _is_integer(whole):
            return _as_json(whole)
    number = float(text) if _FLOAT.fullmatch(text) else math.inf
    return _as_json(number) if math.isfinite(number) else None


def _is_integer(number: int) -> bool:
    return -_INT64 <= number < _UINT64


def _as_json(number: int | float) -> int | float:
    """Return the number as the API server reads it: a whole number of 64 bits is an integer, any
    other a float.
    """
    whole = -_INT64 <= number < _INT64 and number == int(number)
    return int(number) if whole else float(number)
