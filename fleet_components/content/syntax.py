"""Turns errors of the YAML parser into problems with a line and a hint."""

from __future__ import annotations

import re

import yaml
from yaml.reader import ReaderError

from fleet_components.model.message import Message
from fleet_components.model.problem import Problem

HELM_HINT = "this looks like a Helm template: render it first, helm template CHART > manifests.yaml"


_CLOSING = {"{": "}", "[": "]"}


def syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """Return the problem for an error of the YAML parser."""
    if isinstance(error, ReaderError):
        line = text.encode()[: error.position].count(b"\n") + 1
        return Problem(
            Message("not-yaml", "not YAML: {reason}", reason=error.reason),
            file=file,
            line=line,
            hint="remove the character",
        )
    lines = text.splitlines()
    begun, mark = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    mark = mark or begun
    line = mark.line if mark else 0
    as_key = getattr(error, "context", None) == "while scanning a simple key"
    hint = (
        _of_helm(lines, line)
        or _unclosed(lines, begun, mark, as_key=as_key)
        or _misplaced(lines, mark)
    )
    return Problem(_what(error, _at(lines, mark)), file=file, line=line + 1, hint=hint)


def _at(lines: list[str], mark: yaml.Mark | None) -> str:
    """Return the character at a mark; empty at the end of a line or of the text."""
    return (
        lines[mark.line][mark.column : mark.column + 1] if mark and mark.line < len(lines) else ""
    )


def _what(error: yaml.YAMLError, character: str) -> Message:
    if character == "\t":
        return Message("tab-in-yaml", "not YAML: a tab where YAML wants spaces")
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    reason = ", ".join(part for part in parts if part) or str(error)
    return Message("not-yaml", "not YAML: {reason}", reason=reason)


def _of_helm(lines: list[str], line: int) -> str:
    return HELM_HINT if any("{{" in near for near in lines[max(line - 1, 0) : line + 1]) else ""


def _unclosed(
    lines: list[str], begun: yaml.Mark | None, mark: yaml.Mark | None, *, as_key: bool
) -> str:
    """Return a hint if a ``{`` or ``[`` is still open where a field begins, at the wrong bracket,
    or at the end.

    One that was closed and would be a key stands where a field should begin: it is not indented far
    enough.
    """
    opening, here = _at(lines, begun), _at(lines, mark)
    if not begun or opening not in _CLOSING or (here == ":" and _in_value(lines, mark)):
        return ""
    if as_key:
        return f"indent line {begun.line + 1} more than the field that it belongs to"
    return (
        f"close the {opening} of line {begun.line + 1} with {_CLOSING[opening]}, or put commas"
        " between its items"
    )


def _misplaced(lines: list[str], mark: yaml.Mark | None) -> str:
    match _at(lines, mark):
        case "\t":
            return "indent with spaces"
        case "@" | "`" | "%":
            return "write the value in quotes"
        case ":" if _in_value(lines, mark):
            return 'write a value that holds ": " in quotes'
        case ":":
            return "indent the field as those beside it"
    return ""


def _in_value(lines: list[str], mark: yaml.Mark | None) -> bool:
    """Return whether the colon at the mark is not the first one of its field."""
    return mark is not None and ":" in re.split(r"[,{\[]", lines[mark.line][: mark.column])[-1]
