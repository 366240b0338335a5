"""Values whose arguments are checked: a wrong type is refused by name where it is given, and never deep inside."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import ContextDecorator
from datetime import datetime
from functools import cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints, runtime_checkable

import attrs

from fleet_components.model.frames import called_from
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import article

HINT = "hint"
"""The metadata of an argument that say what would do, where its type does not say it well."""
LATER = "later"
"""The metadata that say what would do in the place of an output, where a plain value is not the only thing."""
_TOO_LATE = "the plan is made before any resource, so give a plain value"
_SORTS: Mapping[Any, tuple[str, str]] = {
    str: ("text", "write it in quotes"),
    int: ("a whole number", "for example 1"),
    float: ("a number", "for example 0.5"),
    bool: ("True or False", "without quotes"),
    datetime: ("a time", "a datetime with a time zone: datetime(2026, 1, 31, tzinfo=timezone.utc)"),
    NoneType: ("None", "leave it out"),
}
"""What values of a sort are called, and what would do."""


@runtime_checkable
class Later(Protocol):
    """A value that is known later: an ``Output`` of Pulumi, which nothing here imports."""

    def future(self, with_unknowns: bool | None = None) -> Awaitable[Any]:
        """Its value, once it is known."""


class _Trusted(ContextDecorator, threading.local):
    """Where values are made of what was checked before: of YAML that was admitted, or of a state."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


TRUSTED = _Trusted()
"""``with TRUSTED:``, or a function under ``@TRUSTED``, makes values without a look at their types: for ten thousand
members that takes its time."""


class Typed:
    """A class made with attrs that refuses arguments of wrong types, all of them at once.

    Lists are taken for tuples, and lists and sets for frozen sets.

    Raises:
        FleetError: an argument has a wrong type or value; each is named as ``Class.argument``, with the line of the
            program.
    """

    __slots__ = ()
    REFUSAL: ClassVar[type[FleetError]] = FleetError
    """What is raised; where Pulumi runs a program, something that it prints without a traceback."""
    NAMES: ClassVar[Mapping[str, Any]] = {}
    """Names in the types of its arguments that its module does not know."""

    def __attrs_post_init__(self) -> None:
        if not TRUSTED.depth:
            self._check()

    def _check(self) -> None:
        problems: list[Problem] = []
        kind: Any = type(self)
        for field, fit in _arguments(kind):
            value = getattr(self, field.name)
            if value is field.default:
                continue
            try:
                kept = fit(value)
            except _Misfit as misfit:
                told = LATER if isinstance(value, Later) else "" if misfit.near else HINT
                hint = field.metadata.get(told, misfit.hint)
                problems.append(Problem(misfit.what, (field.name, *misfit.path), hint))
                continue
            if kept is not value:
                object.__setattr__(self, field.name, kept)
        if wrong := problems or list(self.wrong_values()):
            file, line = called_from()
            name = type(self).__name__
            raise self.REFUSAL(attrs.evolve(p, path=(name, *p.path), file=file, line=line) for p in wrong)

    def wrong_values(self) -> Iterator[Problem]:
        """What is wrong with arguments of the right types; asked when all of them are."""
        return iter(())


class _Misfit(Exception):
    """A value that is not of its type.

    Attributes:
        what: what is wrong.
        hint: what would do.
        path: where it is in the argument.
        near: nothing says better what would do: it is of the right sort and something about it is wrong, or too late.
    """

    def __init__(self, what: str, hint: str, path: FieldPath = (), *, near: bool = False) -> None:
        super().__init__(what)
        self.what, self.hint, self.path, self.near = what, hint, path, near or bool(path)

    def inside(self, *path: str | int) -> _Misfit:
        """The same, seen from further out."""
        return _Misfit(self.what, self.hint, (*path, *self.path))


Fit = Callable[[Any], Any]
"""Gives a value in the form in which it is kept, or says why it is of no use."""


def fitted(kind: Any, value: Any, argument: FieldPath) -> Any:
    """A value of a type, in the form in which it is kept.

    Raises:
        FleetError: it is not of that type; the argument is named.
    """
    try:
        return _fit(kind)(value)
    except _Misfit as misfit:
        file, line = called_from()
        raise FleetError([Problem(misfit.what, (*argument, *misfit.path), misfit.hint, "", file, line)]) from None


@cache
def _arguments(kind: Any) -> tuple[tuple[attrs.Attribute[Any], Fit], ...]:
    """The arguments of a class, each with what its values are checked with."""
    hints = get_type_hints(kind, localns=dict(kind.NAMES))
    return tuple((field, _fit(hints[field.name])) for field in attrs.fields(kind) if field.init)


@cache
def _fit(kind: Any) -> Fit:
    if kind is Any or isinstance(kind, TypeVar):
        return lambda value: value
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(inner)
    sort = _sort(kind)
    if _is(origin, Mapping) and inner:
        return _mapping(_fit(inner[0]), _fit(inner[1]), sort)
    if origin is tuple and Ellipsis not in inner:
        return _exactly(tuple(map(_fit, inner)), sort)
    if origin in (tuple, Sequence, Collection) or _is(origin, Set):
        make = tuple if origin is tuple else frozenset if _is(origin, Set) else None
        return _items(make, _fit(inner[0]), sort)
    return _instance(origin, sort)


def _instance(kind: Any, sort: tuple[str, str]) -> Fit:
    accepted: Any = (int, float) if kind is float else kind

    def fit(value: Any) -> Any:
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind in (int, float)):
            raise _misfit(value, sort)
        if kind is datetime and value.tzinfo is None:
            raise _Misfit("has no time zone", sort[1], near=True)
        return value

    return fit


def _one_of(kinds: tuple[Any, ...]) -> Fit:
    fits = [_fit(kind) for kind in kinds]
    sorts = [_sort(kind) for kind in kinds if kind is not NoneType and get_origin(kind) is not Awaitable]
    words = [word for word, _ in sorts]
    sort = (" or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words), sorts[0][1])

    def fit(value: Any) -> Any:
        misfits = []
        for each in fits:
            try:
                return each(value)
            except _Misfit as misfit:
                misfits.append(misfit)
        raise next((misfit for misfit in misfits if misfit.near), None) or _misfit(value, sort)

    return fit


def _items(make: Callable[[Any], Any] | None, item: Fit, sort: tuple[str, str]) -> Fit:
    """A list of any length, kept as what ``make`` makes of it; as it is without one."""
    taken: Any = {tuple: (list, tuple), frozenset: (Set, list, tuple), None: Sequence}[make]  # type: ignore[index]

    def fit(value: Any) -> Any:
        if not isinstance(value, taken) or isinstance(value, str | bytes):
            raise _misfit(value, sort)
        found = [_at(item, position, each) for position, each in enumerate(value)]
        same = all(before is after for before, after in zip(value, found, strict=True))
        return value if same and (make is None or type(value) is make) else (make or tuple)(found)

    return fit


def _exactly(items: tuple[Fit, ...], sort: tuple[str, str]) -> Fit:
    """A list of so many items."""

    def fit(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _misfit(value, sort)
        if len(value) != len(items):
            raise _Misfit(f"has {len(value)} items, not {len(items)}", sort[1], near=True)
        return tuple(_at(item, position, each) for position, (item, each) in enumerate(zip(items, value, strict=True)))

    return fit


def _mapping(key: Fit, value: Fit, sort: tuple[str, str]) -> Fit:
    def fit(given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise _misfit(given, sort)
        found = {_at(key, str(name), name): _at(value, str(name), each) for name, each in given.items()}
        return given if all(found[name] is each for name, each in given.items()) else found

    return fit


def _at(fit: Fit, step: str | int, value: Any) -> Any:
    try:
        return fit(value)
    except _Misfit as misfit:
        raise misfit.inside(step) from None


def _misfit(value: Any, sort: tuple[str, str]) -> _Misfit:
    """What it is and should be; values are not shown, for they may be secret."""
    if isinstance(value, Later):
        return _Misfit("is an Output", _TOO_LATE, near=True)
    expected, hint = sort
    if value is None:
        hint = "give a value, or leave it out; an environment variable that is not set comes as None"
    elif isinstance(value, PurePath):
        hint = "write str(...) around it"
    return _Misfit(f"is {'None' if value is None else article(type(value).__name__)}, not {expected}", hint)


@cache
def _sort(kind: Any) -> tuple[str, str]:
    """What values of a type are called, and what would do."""
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
        return " or ".join(_named(one) for one in get_args(kind) if one is not NoneType)
    return {Later: "Output"}.get(kind) or str((get_origin(kind) or kind).__name__)


def _is(kind: Any, base: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
