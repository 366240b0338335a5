"""Which names, label keys and label values Kubernetes takes, with its texts, and what it says of label selectors.

Source: the validation functions of the Kubernetes API machinery. Each function returns the messages, none when the
value is fine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"
_MAX_PART = 63
_MAX_SUBDOMAIN = 253
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def subdomain_errors(name: str) -> list[str]:
    """A name of an object or cluster: ``aks-westeurope-1``, at most 253 characters."""
    errors = _length_errors(name, _MAX_SUBDOMAIN)
    if not re.fullmatch(_SUBDOMAIN, name):
        rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
        errors.append(
            _unlike(f"{rule} and must start and end with an alphanumeric character", _SUBDOMAIN, "example.com")
        )
    return errors


def label_errors(name: str) -> list[str]:
    """A name without dots, as a namespace has; at most 63 characters."""
    errors = _length_errors(name)
    if not re.fullmatch(_LABEL, name):
        if re.fullmatch(_SUBDOMAIN, name):
            return [*errors, "must not contain dots"]
        rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start"
        errors.append(_unlike(f"{rule} and end with an alphanumeric character", _LABEL, "my-name", "123-abc"))
    return errors


def qualified_name_errors(name: str) -> list[str]:
    """A label or taint key: ``gpu`` or ``example.com/gpu``."""
    prefix, slash, rest = name.partition("/")
    if "/" in rest:
        rule = f"a qualified name {_SHAPE}"
        domain = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [_unlike(rule, _QUALIFIED, "MyName", "my.name", "123-abc") + domain]
    errors = _prefix_errors(prefix) if slash else []
    return errors + _name_part_errors(rest if slash else prefix)


def label_value_errors(value: str) -> list[str]:
    """A label or taint value: at most 63 letters, digits, ``-``, ``_`` and ``.``; may be empty."""
    errors = _length_errors(value)
    if not re.fullmatch(_VALUE, value):
        rule = f"a valid label must be an empty string or consist of {_ALPHABET}"
        errors.append(_unlike(rule, _VALUE, "MyValue", "my_value", "12345"))
    return errors


def label_selector_error(selector: Mapping[str, Any]) -> str:
    """What is wrong with a ``labelSelector``, the first thing only; empty when it is fine."""
    for key, value in selector.get("matchLabels", {}).items():
        if error := _requirement_error(key, "=", [value]):
            return error
    for expression in selector.get("matchExpressions", ()):
        if expression["operator"] not in _OPERATORS:
            return f"{_quoted(expression['operator'])} is not a valid label selector operator"
        if error := _requirement_error(expression["key"], expression["operator"], expression.get("values", [])):
            return error
    return ""


_ALPHABET = "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_SHAPE = f"must consist of {_ALPHABET}"


def _prefix_errors(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    return [f"prefix part {error}" for error in subdomain_errors(prefix)]


def _name_part_errors(name: str) -> list[str]:
    errors = [] if name else ["name part must be non-empty"]
    errors += [f"name part {error}" for error in _length_errors(name)]
    if not re.fullmatch(_QUALIFIED, name):
        errors.append(_unlike(f"name part {_SHAPE}", _QUALIFIED, "MyName", "my.name", "123-abc"))
    return errors


def _requirement_error(key: str, operator: str, values: Sequence[str]) -> str:
    errors = list(dict.fromkeys(_requirement_errors(key, operator, values)))
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


def _requirement_errors(key: str, operator: str, values: Sequence[str]) -> Iterator[str]:
    if errors := qualified_name_errors(key):
        yield f"key: Invalid value: {_quoted(key)}: {'; '.join(errors)}"
    if operator in ("In", "NotIn") and not values:
        yield "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
    if operator in ("Exists", "DoesNotExist") and values:
        shown = json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))
        yield f"values: Invalid value: {shown}: values set must be empty for exists and does not exist"
    for index, value in enumerate(values):
        if errors := label_value_errors(value):
            yield f"values[{index}][{key}]: Invalid value: {_quoted(value)}: {'; '.join(errors)}"


def _length_errors(text: str, limit: int = _MAX_PART) -> list[str]:
    return [f"must be no more than {limit} characters"] if len(text.encode()) > limit else []


def _unlike(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
