"""Messages for users as data: a template and the values of its places, put together when they are
shown.

Code compares the code and the values of a message, never its text. A value that is worded in more
than one way, such as a setting, is a :class:`Term`, and the place that shows the message chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from enum import Flag, auto
from typing import Any, Protocol, Self, runtime_checkable

import attrs


class Wording(Flag):
    """Place from which a message is read: it decides how settings and the memory are called."""

    PROGRAM = 0
    """A program and its stack: settings are keys of the configuration, the memory is a state."""
    DIRECTORY = auto()
    """A directory: settings are options of the command line."""
    OBSERVED = auto()
    """An observed hub, which is the memory, and which goes on by itself."""


@runtime_checkable
class Term(Protocol):
    """Value of a message that is worded in more than one way."""

    def worded(self, wording: Wording) -> str:
        """Return it in the words of a reader."""


@attrs.frozen
class Setting:
    """Setting with a value that a message names.

    Attributes:
        key: of the configuration, without ``fleet:``.
        value: the value; empty for the setting itself.
    """

    key: str
    value: str = ""

    def worded(self, wording: Wording) -> str:
        """Return it as ``fleet:key=value``, or as ``--key value``."""
        if wording & Wording.DIRECTORY:
            return f"--{_dashed(self.key)}{self.value and f' {self.value}'}"
        return f"fleet:{self.key}{self.value and f'={self.value}'}"

    def __str__(self) -> str:
        return self.worded(Wording.PROGRAM)


@attrs.frozen
class OfMemory:
    """Words that depend on what a plan starts from.

    Attributes:
        state: the words where that is a state.
        observed: the words where that is an observed hub.
    """

    state: str
    observed: str

    def worded(self, wording: Wording) -> str:
        """Return the words for what the reader has."""
        return self.observed if wording & Wording.OBSERVED else self.state

    def __str__(self) -> str:
        return self.state


MEMORY = OfMemory("the state", "the observation")
NEXT_UPDATE = OfMemory("the next update", "the hub itself")
"""Subject of the rest of an update."""


def _dashed(key: str) -> str:
    return "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in key)


Argument = str | int | float | Term


def _frozen(arguments: dict[str, Any]) -> tuple[tuple[str, Argument], ...]:
    # Sorted, so that messages are equal in whatever order their arguments were given.
    return tuple(
        (name, value if isinstance(value, str | int | float | Term) else str(value))
        for name, value in sorted(arguments.items())
    )


class Phrase:
    """Template with named places and their values; equal if both are.

    Args:
        template: as for :meth:`str.format`.
        arguments: a value for each place. Others than texts, numbers and terms are shown by
            ``str``.
    """

    __slots__ = ("arguments", "template")

    def __init__(self, template: str, **arguments: Any) -> None:
        self.template = template
        self.arguments = _frozen(arguments)

    def worded(self, wording: Wording) -> str:
        """Return its text in the words of a reader."""
        return self.template.format(
            **{
                name: value.worded(wording) if isinstance(value, Term) else value
                for name, value in self.arguments
            }
        )

    def mapped(self, change: Callable[[str], str]) -> Self:
        """Return it with its texts changed."""
        return self.filled(
            **{name: change(value) for name, value in self.arguments if isinstance(value, str)}
        )

    def terms(self) -> tuple[Term, ...]:
        """Return the terms among its values, with those of texts in it."""
        found = [value for _, value in self.arguments if isinstance(value, Term)]
        return (
            *found,
            *(term for text in found if isinstance(text, Phrase) for term in text.terms()),
        )

    def filled(self, **arguments: Any) -> Self:
        """Return it with values for more of its places."""
        # A copy rather than a new phrase: a message has a code, too.
        filled = copy(self)
        filled.arguments = _frozen({**dict(self.arguments), **arguments})
        return filled

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.template, self.arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Phrase) and other._identity == self._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __str__(self) -> str:
        return self.worded(Wording.PROGRAM)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Message(Phrase):
    """Sentence without a full stop that says what is wrong.

    Args:
        code: its stable name, by which tests and later code know it.
        template: as for :class:`Phrase`.
        arguments: as for :class:`Phrase`.
    """

    __slots__ = ("code",)

    def __init__(self, code: str, template: str, **arguments: Any) -> None:
        super().__init__(template, **arguments)
        self.code = code
