"""What is wrong, where, and what would do: the one form of every refusal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

FieldPath = tuple[str | int, ...]
"""Where a value stands in an object, as keys and indices: ``("spec", "taints", 0, "effect")``."""


def show_path(path: Sequence[str | int]) -> str:
    """Write a field path as the Kubernetes API does: ``spec.taints[0].effect``."""
    text = ""
    for step in path:
        if isinstance(step, int) or "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


@attrs.frozen
class Problem:
    """One thing that is wrong with the input.

    Attributes:
        what: what is wrong, as a sentence without a full stop.
        path: the field, from the root of the object.
        hint: what would do instead; empty where nothing better can be said.
        subject: the object, as ``Kind namespace/name``.
        file: the file that it was read from; empty for objects made in a program.
        line: the line in that file, from 1.
        follows: it may be there only because something is missing that could not be read or was refused;
            see :func:`layered`.
    """

    what: str
    path: FieldPath = ()
    hint: str = ""
    subject: str = ""
    file: str = ""
    line: int | None = None
    follows: bool = attrs.field(default=False, eq=False)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else self.file
        parts = [part for part in (where, self.subject, show_path(self.path), self.what) if part]
        return ": ".join(parts) + (f" ({self.hint})" if self.hint else "")


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems by file and line, each once; those of no file come last."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda one: (not one.file, one.file, one.line or 0)))


def layered(*layers: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems of all layers at once, each of which works on what the ones before it could read.

    What may only follow is left out while an earlier layer has a problem that does not follow itself: the object that
    is missed may stand in the file that is broken.
    """
    found: list[Problem] = []
    for layer in layers:
        broken = any(not problem.follows for problem in found)
        found += [problem for problem in layer if not (problem.follows and broken)]
    return tuple(dict.fromkeys(found))


class FleetError(Exception):
    """Input that cannot be worked with; carries every problem found, not just the first.

    Attributes:
        problems: the problems, in the order of files and lines.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
