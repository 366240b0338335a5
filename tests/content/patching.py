"""Applies a diff of YAML, as its reader would: below the field that the header of a hunk names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.content.yaml_diff import Line, yaml_lines
from fleet_components.model.problem import show_path


def patched(old: Mapping[str, Any], diff: str) -> list[str]:
    """The lines of the new object, from the old one and the diff.

    Hunks have no line numbers: each is applied at the first place behind the one before where its old lines stand and
    its header names the field around those that go.
    """
    before = list(yaml_lines(old)) if old else []
    done: list[str] = []
    at = 0
    for header, body in hunks(diff):
        removed = [line[1:] for line in body if line[0] in " -"]
        place = next(
            i for i in range(at, len(before) + 1) if fits(before[i:], removed, body, header)
        )
        done += [text for _, text in before[at:place]]
        done += [line[1:] for line in body if line[0] in " +"]
        at = place + len(removed)
    return [*done, *(text for _, text in before[at:])]


def hunks(diff: str) -> list[tuple[str, list[str]]]:
    """The header and the lines of each hunk; all lines are one where the object is new."""
    found: list[tuple[str, list[str]]] = []
    for line in diff.splitlines():
        if line.startswith("@@"):
            found.append((line, []))
        elif not found:
            found.append(("", [line]))
        else:
            found[-1][1].append(line)
    return found


def fits(before: Sequence[Line], removed: Sequence[str], body: Sequence[str], header: str) -> bool:
    """Whether the old lines of a hunk stand at the beginning of these lines, in the field that the header names."""
    if [text for _, text in before[: len(removed)]] != list(removed):
        return False
    old = iter(before)
    going = [
        path
        for sign, (path, _) in ((line[0], next(old)) for line in body if line[0] in " -")
        if sign == "-"
    ]
    named = header.removeprefix("@@ ").removesuffix(" @@")
    return all(
        show_path(path).startswith(named) or str(path[0]) in named.split(", ") for path in going
    )
