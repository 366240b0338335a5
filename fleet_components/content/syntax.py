"""Says what the YAML parser could not read, where, and what to write instead."""

from __future__ import annotations

import yaml
from yaml.reader import ReaderError

from fleet_components.model.problem import Problem

HELM_HINT = "this looks like a Helm template: render it first, helm template CHART > manifests.yaml"


def syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """The problem that stands for an error of the YAML parser."""
    if isinstance(error, ReaderError):
        line = text.encode()[: error.position].count(b"\n") + 1
        return Problem(f"not YAML: {error.reason}", file=file, line=line, hint="remove the character")
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.splitlines()
    here = lines[line] if line < len(lines) else ""
    return Problem(_what(error, here[column : column + 1]), file=file, line=line + 1, hint=_hint(lines, line, column))


def _what(error: yaml.YAMLError, character: str) -> str:
    if character == "\t":
        return "not YAML: a tab where YAML wants spaces"
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    return "not YAML: " + (", ".join(part for part in parts if part) or str(error))


def _hint(lines: list[str], line: int, column: int) -> str:
    if any("{{" in near for near in lines[max(line - 1, 0) : line + 1]):
        return HELM_HINT
    here = lines[line] if line < len(lines) else ""
    if here[column : column + 1] == "\t":
        return "indent with spaces"
    if here[column : column + 1] in ("@", "`", "%"):
        return "write the value in quotes"
    if here[column : column + 1] == ":":
        return 'write a value that holds ": " in quotes'
    return ""
