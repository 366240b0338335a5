"""A diff of two objects as YAML, for people: its hunks name fields, not lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from fleet_components.content.yaml_lines import Line, yaml_lines
from fleet_components.model.problem import FieldPath, show_path
from fleet_components.model.text import visible

_MANY = 2000
"""Number of lines from which on lines that are found everywhere are not compared with one another."""


def yaml_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the hunks in which the YAML of two objects differs, each under the field that encloses its changes.

    Args:
        old: the object as it was, without what is secret; empty if there was none, so that all lines are new.
        new: the object as it is, likewise.
    """
    was, now = list(yaml_lines(old)) if old else [], list(yaml_lines(new))
    if not was:
        return "".join(f"+{text}\n" for _, text in now)
    # A line is compared with those of the same field only, whatever the positions in lists.
    before, after = ([(_shape(path), text) for path, text in lines] for lines in (was, now))
    matcher = SequenceMatcher(None, before, after, autojunk=len(now) > _MANY)
    return "".join(f"{line}\n" for group in matcher.get_grouped_opcodes() for line in _hunk(group, was, now))


def _hunk(group: Sequence[tuple[str, int, int, int, int]], was: Sequence[Line], now: Sequence[Line]) -> Iterator[str]:
    changed: list[FieldPath] = []
    lines: list[str] = []
    for change, i, j, k, m in group:
        if change == "equal":
            lines += [f" {text}" for _, text in was[i:j]]
            continue
        changed += [path for path, _ in (*was[i:j], *now[k:m])]
        lines += [f"-{text}" for _, text in was[i:j]]
        lines += [f"+{text}" for _, text in now[k:m]]
    yield f"@@ {visible(_enclosing(changed))} @@"
    yield from lines


def _enclosing(paths: Sequence[FieldPath]) -> str:
    """Return the nearest field that encloses all of some fields; their first steps if nothing but the object does."""
    first, last = min(paths, key=_sortable), max(paths, key=_sortable)
    common: FieldPath = ()
    for one, other in zip(first[:-1], last[:-1], strict=False):
        if one != other:
            break
        common = (*common, one)
    return show_path(common) or ", ".join(dict.fromkeys(str(path[0]) for path in paths))


def _sortable(path: FieldPath) -> list[tuple[bool, str | int]]:
    return [(isinstance(step, int), step) for step in path]


def _shape(path: FieldPath) -> FieldPath:
    return tuple("" if isinstance(step, int) else step for step in path)
