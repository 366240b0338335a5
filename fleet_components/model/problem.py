"""Problems in the input: what is wrong, where, and how to fix it. Every error for users has this
form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from fleet_components.model.message import Message, Phrase, Setting, Wording
from fleet_components.model.text import count, indented, visible

FieldPath = tuple[str | int, ...]
"""Path of a field in an object, as keys and indices: ``("spec", "taints", 0, "effect")``."""


def show_path(path: Sequence[str | int]) -> str:
    """Format a field path as the Kubernetes API does: ``spec.taints[0].effect``."""
    text = ""
    for step in path:
        # Keys such as those of labels would read like several steps.
        if isinstance(step, int) or "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


_MOST_SHOWN = 2000


@attrs.frozen
class Problem:
    """One error in the input.

    Attributes:
        message: the error.
        path: the field, from the root of the object.
        advice: the remedy, given as ``hint``; empty if nothing helps.
        subject: the object, as ``Kind namespace/name``.
        file: the file that it was read from; empty for objects made in a program.
        line: the line in that file, from 1.
        follows: True if it may be the consequence of another problem: something is missing that
            could not be read or was refused; see :func:`layered`.
        wording: who reads it.
    """

    message: Message = attrs.field(validator=attrs.validators.instance_of(Message))
    path: FieldPath = ()
    advice: Phrase | str = attrs.field(default="", alias="hint")
    subject: str = ""
    file: str = ""
    line: int | None = None
    # Not compared: one problem found in two ways, once as a consequence, is still reported once.
    follows: bool = attrs.field(default=False, eq=False)
    # Not compared either: the same problem is worded for those who read it.
    wording: Wording = attrs.field(default=Wording.PROGRAM, eq=False)

    @property
    def what(self) -> str:
        """The error as a sentence without a full stop."""
        return self.message.worded(self.wording)

    @property
    def hint(self) -> str:
        """Remedy of the error; empty if nothing helps."""
        advice = self.advice
        return advice if isinstance(advice, str) else advice.worded(self.wording)

    @property
    def token(self) -> str:
        """The token that allows what is refused; empty if none does."""
        terms = () if isinstance(self.advice, str) else self.advice.terms()
        found = (term for term in terms if isinstance(term, Setting) and term.key == "confirm")
        return next((term.value for term in found), "")

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else self.file
        parts = [part for part in (where, self.subject, show_path(self.path), self.what) if part]
        text = ": ".join(parts) + (f" ({self.hint})" if self.hint else "")
        # A text from outside, such as the message of a server, has any length.
        more = len(text[_MOST_SHOWN:])
        if more:
            text = f"{text[:_MOST_SHOWN]}... and {count(more, 'more character')}"
        return indented(visible(text, lines=True))


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems sorted by file and line, without duplicates; those without a file come
    last.
    """
    return tuple(
        sorted(
            dict.fromkeys(problems),
            key=lambda fromkey: (not fromkey.file, fromkey.file, fromkey.line or 0),
        )
    )


def layered(*layers: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems of all layers, each of which checks what the layers before it could read.

    A problem that ``follows`` is left out if an earlier layer has a problem that does not: the
    missing object may be in the file that could not be read.
    """
    found: list[Problem] = []
    for layer in layers:
        broken = any(not problem.follows for problem in found)
        found += [problem for problem in layer if not (problem.follows and broken)]
    return tuple(dict.fromkeys(found))


class FleetError(Exception):
    """Invalid input. Carries all problems found, not only the first.

    Attributes:
        problems: the problems, in the order of files and lines.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
