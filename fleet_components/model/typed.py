"""Base class of values that check the types of their arguments where they are created.

A wrong argument in a program is then reported with its name and line, instead of failing deep
inside the package.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import ContextDecorator
from datetime import datetime
from functools import cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

import attrs

from fleet_components.model.frames import called_from
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import article

HINT = "hint"
"""Metadata key of an argument: a hint that replaces the one derived from its type."""
LATER = "later"
"""Metadata key of an argument: a hint for a given output, if the argument accepts more than plain
values.
"""
_TOO_LATE = "the plan is made before any resource, so give a plain value"
_SORTS: Mapping[Any, tuple[str, str]] = {
    str: ("text", "write it in quotes"),
    int: ("a whole number", "for example 1"),
    float: ("a number", "for example 0.5"),
    bool: ("True or False", "without quotes"),
    datetime: ("a time", "a datetime with a time zone: datetime(2026, 1, 31, tzinfo=timezone.utc)"),
    NoneType: ("None", "leave it out"),
}
"""Names of types in messages, and the hint for each."""


@runtime_checkable
class Later(Protocol):
    """A value that is known later: Pulumi's ``Output``, which this layer must not import."""

    def future(self, with_unknowns: bool | None = None) -> Awaitable[Any]:
        """Return an awaitable of the value."""


class _Trusted(ContextDecorator, threading.local):
    """Context in which type checks are skipped. Per thread and nestable."""

    # The value in a thread that has not entered yet: threading.local keeps one for each.
    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


TRUSTED = _Trusted()
"""``with TRUSTED:``, or the decorator ``@TRUSTED``, creates values without type checks.
For input that was checked before (admitted YAML, or a state), because the checks are slow for ten
thousand members.
"""


class Typed:
    """Base of attrs classes that refuse arguments of wrong types, all of them at once.

    Lists are accepted for tuples; lists, tuples and sets for frozen sets. They are stored as the
    declared type.

    Raises:
        FleetError: an argument has a wrong type or value; each is named as ``Class.argument``, with
            the line of the program.
    """

    __slots__ = ()
    REFUSAL: ClassVar[type[FleetError]] = FleetError
    """The error class to raise. In a Pulumi program it is one that Pulumi prints without a
    traceback.
    """
    NAMES: ClassVar[Mapping[str, Any]] = {}
    """Names used in the types of the arguments that the class's module does not define."""

    def __attrs_post_init__(self) -> None:
        if not TRUSTED.depth:
            self._check()

    def _check(self) -> None:
        problems: list[Problem] = []
        kind: Any = type(self)
        for field, fit in _arguments(kind):
            value = getattr(self, field.name)
            # Spares the checks of arguments that were left out, which most are.
            if value is field.default:
                continue
            try:
                kept = fit(value)
            except _Misfit as misfit:
                source = LATER if isinstance(value, Later) else "" if misfit.near else HINT
                hint = field.metadata.get(source, misfit.hint)
                problems.append(Problem(misfit.message, (field.name, *misfit.path), hint))
                continue
            if kept is not value:
                # The class is frozen; this is still its construction.
                object.__setattr__(self, field.name, kept)
        wrong = problems or list(self.wrong_values())
        if wrong:
            file, line = called_from()
            name = type(self).__name__
            raise self.REFUSAL(
                attrs.evolve(p, path=(name, *p.path), file=file, line=line) for p in wrong
            )

    def wrong_values(self) -> Iterator[Problem]:
        """Yield problems of arguments that have the right types. Called only if all types are
        right.
        """
        return iter(())


class _Misfit(Exception):
    """A value that does not have the declared type.

    Attributes:
        message: the error.
        hint: how to fix it.
        path: the position of the value in the argument.
        near: True if ``hint`` is more precise than the argument's own hint: the value is of the
            right kind but invalid, or it is an output.
    """

    def __init__(
        self, message: Message, hint: str, path: FieldPath = (), *, near: bool = False
    ) -> None:
        super().__init__(message)
        # A misfit inside of the argument is more precise than a hint for the whole of it.
        self.message, self.hint, self.path, self.near = message, hint, path, near or bool(path)

    def inside(self, *path: str | int) -> _Misfit:
        """Return the misfit with its path prefixed."""
        return _Misfit(self.message, self.hint, (*path, *self.path))


Fit = Callable[[Any], Any]
"""Returns a value in the form in which it is stored, or raises ``_Misfit``."""


def fitted(kind: Any, value: Any, argument: FieldPath) -> Any:
    """Return a value in the form in which it is stored.

    Raises:
        FleetError: the value does not have the type; the problem names the argument.
    """
    try:
        return _fit(kind)(value)
    except _Misfit as misfit:
        file, line = called_from()
        raise FleetError(
            [Problem(misfit.message, (*argument, *misfit.path), misfit.hint, "", file, line)]
        ) from None


@cache
def _arguments(kind: Any) -> tuple[tuple[attrs.Attribute[Any], Fit], ...]:
    """Return the arguments of a class, each with the function that checks its values."""
    hints = get_type_hints(kind, localns=dict(kind.NAMES))
    return tuple((field, _fit(hints[field.name])) for field in attrs.fields(kind) if field.init)


@cache
def _fit(kind: Any) -> Fit:
    if kind is Any or isinstance(kind, TypeVar):
        return lambda value: value
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return _choice_of(inner)
    sort = _sort(kind)
    if _is(origin, Mapping) and inner:
        return _mapping(_fit(inner[0]), _fit(inner[1]), sort)
    # tuple[X, ...] is a list of any length; any other tuple has a fixed number of items.
    if origin is tuple and Ellipsis not in inner:
        return _exactly(tuple(map(_fit, inner)), sort)
    if origin in (tuple, Sequence, Collection) or _is(origin, Set):
        make = tuple if origin is tuple else frozenset if _is(origin, Set) else None
        return _items(make, _fit(inner[0]), sort)
    return _instance(origin, sort)


def _instance(kind: Any, sort: tuple[str, str]) -> Fit:
    accepted: Any = (int, float) if kind is float else kind

    def fit(value: Any) -> Any:
        # A bool is an int to Python.
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind in (int, float)):
            raise _misfit(value, sort)
        if kind is str and not _is_text(value):
            raise _Misfit(
                Message("character-no-file-can", "has a character that no file can name or hold"),
                "text without NUL and surrogates",
                near=True,
            )
        if kind is float and not _is_number(value):
            raise _Misfit(
                Message("too-large-number", "is too large for a number"), sort[1], near=True
            )
        if kind is datetime and value.tzinfo is None:
            raise _Misfit(Message("no-time-zone", "has no time zone"), sort[1], near=True)
        return value

    return fit


def _is_text(value: str) -> bool:
    """Return whether a text can be written: Python's can hold NUL and halves of characters, as from
    broken input.
    """
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


def _is_number(value: float) -> bool:
    """Return whether a whole number is small enough to be compared with fractions."""
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _choice_of(kinds: tuple[Any, ...]) -> Fit:
    fits = [_fit(kind) for kind in kinds]
    # None and awaitables are accepted, but a message does not suggest them.
    sorts = [
        _sort(kind) for kind in kinds if kind is not NoneType and get_origin(kind) is not Awaitable
    ]
    words = [word for word, _ in sorts]
    sort = (" or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words), sorts[0][1])

    def fit(value: Any) -> Any:
        misfits = []
        for each in fits:
            try:
                return each(value)
            except _Misfit as misfit:
                misfits.append(misfit)
        # A misfit that is near says more than that none of the types fits.
        raise next((misfit for misfit in misfits if misfit.near), None) or _misfit(value, sort)

    return fit


def _items(make: Callable[[Any], Any] | None, item: Fit, sort: tuple[str, str]) -> Fit:
    """Return the check of a list of any length. ``make`` converts it to the stored type; None keeps
    it as it is.
    """
    accepted: Mapping[Any, Any] = {
        tuple: (list, tuple),
        frozenset: (Set, list, tuple),
        None: Sequence,
    }
    taken = accepted[make]

    def fit(value: Any) -> Any:
        # A text is a sequence as well, of its characters.
        if not isinstance(value, taken) or isinstance(value, str | bytes):
            raise _misfit(value, sort)
        found = [_at(item, position, each) for position, each in enumerate(value)]
        # Unchanged values are kept as they are instead of copied.
        same = all(before is after for before, after in zip(value, found, strict=True))
        return value if same and (make is None or type(value) is make) else (make or tuple)(found)

    return fit


def _exactly(items: tuple[Fit, ...], sort: tuple[str, str]) -> Fit:
    """Return the check of a tuple with a fixed number of items."""

    def fit(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _misfit(value, sort)
        if len(value) != len(items):
            raise _Misfit(
                Message(
                    "items-not",
                    "has {value} items, not {items}",
                    value=len(value),
                    items=len(items),
                ),
                sort[1],
                near=True,
            )
        return tuple(
            _at(item, position, each)
            for position, (item, each) in enumerate(zip(items, value, strict=True))
        )

    return fit


def _mapping(key: Fit, value: Fit, sort: tuple[str, str]) -> Fit:
    def fit(given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise _misfit(given, sort)
        # The path of a misfit names the key, also where the key itself is wrong.
        found = {
            _at(key, str(name), name): _at(value, str(name), each) for name, each in given.items()
        }
        return given if all(found[name] is each for name, each in given.items()) else found

    return fit


def _at(fit: Fit, step: str | int, value: Any) -> Any:
    try:
        return fit(value)
    except _Misfit as misfit:
        raise misfit.inside(step) from None


def _misfit(value: Any, sort: tuple[str, str]) -> _Misfit:
    """Return the misfit of a value of a wrong type. It never shows the value, which may be
    secret.
    """
    if isinstance(value, Later):
        return _Misfit(Message("is-an-output", "is an Output"), _TOO_LATE, near=True)
    expected, hint = sort
    if value is None:
        hint = (
            "give a value, or leave it out; an environment variable that is not set comes as None"
        )
    elif isinstance(value, PurePath):
        hint = "write str(...) around it"
    return _Misfit(
        Message(
            "wrong-type",
            "is {found}, not {expected}",
            found="None" if value is None else article(type(value).__name__),
            expected=expected,
        ),
        hint,
    )


@cache
def _sort(kind: Any) -> tuple[str, str]:
    """Return the name of a type in messages, and the hint for it."""
    if kind in _SORTS:
        return _SORTS[kind]
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if _is(origin, Mapping):
        return "a dict", f"write it as a dict: {_example(kind)}"
    if origin in (tuple, Sequence, Collection) or _is(origin, Set):
        several = {str: "text", int: "whole numbers"}.get(inner[0], f"{_named(inner[0])} values")
        return f"a list of {several}", f"write it as a list: {_example(kind)}"
    if _is(origin, Callable):
        return "a function", "give a function"
    return article(_named(kind)), f"give {_example(kind)}"


def _example(kind: Any) -> str:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return _example(inner[0])
    if _is(origin, Mapping):
        return f"{{{_example(inner[0])}: {_example(inner[1])}}}"
    if origin in (tuple, Sequence, Collection) or _is(origin, Set):
        return f"[{_example(inner[0])}]"
    return {str: '"..."', int: "1", float: "0.5", bool: "True"}.get(origin, f"{_named(kind)}(...)")


def _named(kind: Any) -> str:
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_named(arg) for arg in get_args(kind) if arg is not NoneType)
    return {Later: "Output"}.get(kind) or str((get_origin(kind) or kind).__name__)


def _is(kind: Any, base: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
