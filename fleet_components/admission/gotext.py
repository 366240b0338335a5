"""Formats values as Go's ``fmt`` package does, for the texts of webhooks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

POINTER = "0xPTR"
"""Placeholder for the address of a struct, which differs from run to run in the real texts."""


def fields(value: Mapping[str, Any], names: Mapping[str, str], **shown: str) -> str:
    """Format a struct with its field names (``%+v``): ``{Key:k Value: Effect:NoSchedule}``.

    ``names`` maps the keys of the value to the names of the struct's fields, in order; ``shown`` replaces the text
    of a field.
    """
    texts = (f"{name}:{shown.get(key, value.get(key, ''))}" for key, name in names.items())
    return "{" + " ".join(texts) + "}"


def label_selector(selector: Mapping[str, Any] | None) -> str:
    """Format a label selector (``%+v`` of a pointer to one)."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted(selector.get("matchLabels", {}).items()))
    expressions = "".join(map(_requirement, selector.get("matchExpressions", ())))
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def raw_json(value: Any) -> str:
    """Format a JSON value as the API server passes it on: compact, keys sorted, HTML characters escaped."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _requirement(expression: Mapping[str, Any]) -> str:
    values: Sequence[str] = expression.get("values", ())
    return (
        f"LabelSelectorRequirement{{Key:{expression['key']},Operator:{expression['operator']},"
        f"Values:[{' '.join(values)}],}},"
    )
