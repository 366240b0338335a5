"""Lines of a YAML text without the secrets in it, for a diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from fleet_components.content.guarded import UnreadableError, read_documents
from fleet_components.content.secret import PUBLIC, REDACTED
from fleet_components.content.secret_text import holds_secret, is_list_of_secrets, is_secret_kind


def shown_lines(text: str) -> list[str]:
    """Return the lines of a text with ``[secret]`` for what is secret in them; keys of block maps
    are shown.
    """
    lines = text.splitlines()
    try:
        roots = read_documents(text)
    except UnreadableError:
        return [REDACTED] * len(lines) if holds_secret(text) else lines
    for line, secret in (found for root in roots for found in _secrets(root, 0)):
        _hide(lines, line, secret, len(text))
    return lines


def _secrets(node: Any, line: int) -> Iterator[tuple[int, Any]]:
    """Yield the outermost nodes that are secret, each with the line of its key: comments stand
    between the two.
    """
    if isinstance(node, yaml.ScalarNode):
        yield from [(line, node)] if holds_secret(node.value) else []
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _secrets(item, item.start_mark.line)
    else:
        kind = next((value.value for key, value in node.value if key.value == "kind"), "")
        for key, value in node.value:
            below = key.end_mark.line
            sealed = is_secret_kind(kind) and key.value not in PUBLIC
            sealed = sealed or (is_list_of_secrets(kind) and key.value == "items")
            yield from [(below, value)] if sealed else _secrets(value, below)


def _hide(lines: list[str], line: int, node: Any, length: int) -> None:
    first, last = node.start_mark, node.end_mark
    scalar = isinstance(node, yaml.ScalarNode)
    block = node.style in ("|", ">") if scalar else not node.flow_style
    keys = (
        {key.start_mark.line: key for key, _ in node.value}
        if block and isinstance(node, yaml.MappingNode)
        else {}
    )
    # What is written as a block ends where the next field begins.
    end = last.line if block and last.index < length else last.line + 1
    # From behind the line of the key: a comment before the value may quote it.
    for number in range(min(line + 1, first.line), min(end, len(lines))):
        begin = first.column if number == first.line else 0
        old = lines[number]
        before = old[:begin] if begin else old[: len(old) - len(old.lstrip())]
        key = f"{keys[number].value}: " if number in keys else ""
        lines[number] = f"{before}{key}{REDACTED}" if old.strip() else old
