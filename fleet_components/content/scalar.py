"""What a plain YAML scalar means to kubectl.

Source: ``sigs.k8s.io/yaml``, with which kubectl turns YAML into JSON. It knows ``yes``, ``on`` and ``y`` and octal
``0777``, but neither sexagesimal numbers nor timestamps, which stay text; numbers then are what JSON makes of
them: ``1.0`` and ``1e3`` are integers.
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
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_STRICT_TAGS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
    "timestamp": (str,),
}
_INT64, _UINT64 = 2**63, 2**64
_YAML_TAG = "tag:yaml.org,2002:"


def plain(text: str) -> Scalar:
    """The value of a plain (unquoted, untagged) scalar.

    Raises:
        ValueError: it is an infinity or no number, which JSON cannot say.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _NOT_JSON.fullmatch(text):
        raise ValueError(f"{text} cannot be written in JSON")
    number = _number(text.replace("_", ""))
    return text if number is None else number


def tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag, given without ``tag:yaml.org,2002:``; unknown tags mean text.

    Raises:
        ValueError: the text is no such value.
    """
    if tag == "binary":
        raise ValueError("!!binary is no value of a Kubernetes object")
    if tag not in _STRICT_TAGS:
        return text
    value = plain(text)
    if type(value) not in _STRICT_TAGS[tag]:
        raise ValueError(f"`{text}` is not of the type !!{tag}")
    return value


def scalar(event: ScalarEvent) -> Scalar:
    """The value of a scalar, quoted, tagged or plain.

    Raises:
        ValueError: it has no value in a Kubernetes object.
    """
    if event.tag and event.tag.startswith(_YAML_TAG):
        return tagged(event.tag.removeprefix(_YAML_TAG), event.value)
    is_plain = event.implicit[0] and not event.tag
    return plain(event.value) if is_plain else str(event.value)


def as_key(value: object) -> str | None:
    """A value as the key of a map: keys read as booleans and whole numbers become text, others are no keys."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    return None


def is_merge(event: object) -> bool:
    """Whether it is the merge key, ``<<``."""
    if not isinstance(event, ScalarEvent) or event.value != "<<":
        return False
    return event.tag == _YAML_TAG + "merge" or bool(event.implicit[0] and not event.tag)


def _number(text: str) -> int | float | None:
    if _OCTAL.fullmatch(text) and _is_integer(whole := int(text, 8)):
        return _as_json(whole)
    if _INTEGER.fullmatch(text) and _is_integer(whole := int(text, 0)):
        return _as_json(whole)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return _as_json(number)
    return None


def _is_integer(number: int) -> bool:
    return -_INT64 <= number < _UINT64


def _as_json(number: int | float) -> int | float:
    """Whole numbers of 64 bits are integers to the API server, all others floats."""
    whole = -_INT64 <= number < _INT64 and number == int(number)
    return int(number) if whole else float(number)
