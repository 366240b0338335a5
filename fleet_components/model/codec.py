"""Conversion of typed values to and from their wire form, in the way that Kubernetes writes them.

Keys are camelCase and fields that hold their default are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import datetime, timedelta
from typing import Any, TypeVar, get_args, get_origin

import attrs
from cattrs import AttributeValidationNote, BaseValidationError, Converter, IterableValidationNote
from cattrs.cols import is_mapping, list_structure_factory, mapping_structure_factory
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import TRUSTED

T = TypeVar("T")

MOST_INT32 = 2**31 - 1
"""Largest number in most fields of the Kubernetes API."""
# Sets are written sorted, so that output does not depend on their iteration order.
_converter = Converter(unstruct_collection_overrides={Set: sorted})


class MisfitError(Exception):
    """Wire values that do not fit their fields.

    Attributes:
        problems: one problem for each value, with the path of its field.
    """

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


def decode(kind: type[T], wire: Any) -> T:
    """Read a value from its wire form. Unknown keys are ignored; floats with an integral value are
    read as integers.

    Raises:
        MisfitError: the wire form does not fit the type. Admission refuses such user input earlier,
            with file and line.
    """
    try:
        # The converter checks all types itself, with the path of each field.
        with TRUSTED:
            return _converter.structure(wire, kind)
    except (BaseValidationError, ValueError) as error:
        raise MisfitError(*_misfits(error)) from None


def strict_converter() -> Converter:
    """Return a converter that reads as :func:`decode` does, and refuses unknown fields."""
    return _converter.copy(forbid_extra_keys=True)


def encode(value: Any) -> Any:
    """Return the wire form of a value."""
    return _converter.unstructure(value)


def camel(name: str) -> str:
    """Convert a field name to camelCase: ``match_labels`` to ``matchLabels``."""
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def choice_of(*words: str) -> dict[str, Any]:
    """Return metadata for a field that accepts only these words; ``decode`` refuses any other."""
    return checked(
        lambda word: None if word in words else f"is not {' or '.join(filter(None, words))}"
    )


def checked(problem: Callable[[Any], object]) -> dict[str, Any]:
    """Return metadata for a field with a check of its own.

    Args:
        problem: returns what is wrong with a value, or what is false if it is valid; ``str`` shows
            it.
    """
    return {"problem": problem}


def ranged(low: int, high: int = MOST_INT32) -> dict[str, Any]:
    """Return metadata for a field with a whole number from ``low`` to ``high``, or None."""
    return checked(lambda number: "" if number is None else out_of_range(number, low, high))


def out_of_range(number: int, low: int, high: int = MOST_INT32) -> str:
    """Return a message about a number that is not from ``low`` to ``high``; empty if it is."""
    return "" if low <= number <= high else f"is not a number from {low} to {high}"


# Called as a function, and a class because a state is read through it ten thousand times.
class below:  # noqa: N801
    """Prefix the paths of all misfits that are raised in the ``with`` block."""

    __slots__ = ("_path",)

    def __init__(self, *path: str | int) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, MisfitError):
            raise MisfitError(
                *(
                    attrs.evolve(problem, path=(*self._path, *problem.path))
                    for problem in error.problems
                )
            ) from None


def _names(kind: Any, converter: Any) -> dict[str, Any]:
    return {
        field.name: override(
            rename=wire_name(field), omit_if_default=True, struct_hook=_hook(field, converter)
        )
        for field in attrs.fields(attrs.resolve_types(kind))
    }


def wire_name(field: attrs.Attribute[Any]) -> str:
    """Return the name that a field has on the wire."""
    return str(field.metadata.get("wire", camel(field.name)))


def _hook(field: attrs.Attribute[Any], converter: Any) -> Callable[[Any, Any], Any] | None:
    """Return the function that reads a field with a check of its own; None if the type alone
    decides.
    """
    problem = field.metadata.get("problem")
    if problem is None:
        return None

    kind: Any = field.type or str
    structure = converter.get_structure_hook(kind)

    def read(value: Any, _: Any) -> Any:
        found = structure(value, kind)
        what = problem(found)
        if what:
            raise ValueError(what)
        return found

    return read


def misfits(
    error: BaseException, path: FieldPath = ()
) -> Iterator[tuple[FieldPath, BaseException]]:
    """Yield the errors of all misfits, each with its path: the names that the fields have on the
    wire.
    """
    if not isinstance(error, BaseValidationError):
        yield path, error
        return
    for exception in error.exceptions:
        notes = getattr(exception, "__notes__", ())
        steps = [_step(note) for note in notes if isinstance(note, _NOTES)]
        yield from misfits(exception, (*path, *steps[:1]))


def _misfits(error: BaseException) -> Iterator[Problem]:
    for path, item in misfits(error):
        yield Problem(
            (
                # cattrs raises a KeyError for a field that has no default.
                Message("is-missing", "is missing")
                if isinstance(item, KeyError)
                else Message("other-error", "{reason}", reason=item)
            ),
            path,
        )


_NOTES = (AttributeValidationNote, IterableValidationNote)


def _step(note: AttributeValidationNote | IterableValidationNote) -> str | int:
    if isinstance(note, AttributeValidationNote):
        return camel(note.name)
    return note.index if isinstance(note.index, int) else str(note.index)


class UnlikeError(ValueError):
    """Error for a value of another type.

    Its text has types only, because the value may be secret.

    Attributes:
        found: the type of the value.
        noun: the type that it should have: ``text``, ``a whole number``, ``a list``.
    """

    def __init__(self, value: Any, noun: str) -> None:
        self.found, self.noun = type_of(value), noun
        super().__init__(
            f"is {self.found}, not {noun}" if self.found not in noun else f"is not {noun}"
        )


def _exactly(kind: type, noun: str) -> Callable[[Any, Any], Any]:
    def read(value: Any, _: Any) -> Any:
        # The exact type: to isinstance, true is a whole number as well.
        if type(value) is not kind:
            raise UnlikeError(value, noun)
        return value

    return read


def type_of(value: Any) -> str:
    """Return the type of a value as messages call it: ``text``, ``a number``, ``a map``."""
    return next((noun for types, noun in _TYPES if isinstance(value, types)), type(value).__name__)


# A bool is an int as well, so it comes first.
_TYPES: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"),
    (str, "text"),
    ((int, float), "a number"),
    (Mapping, "a map"),
    ((list, tuple), "a list"),
    (type(None), "null"),
)


def _whole(value: Any, _: Any) -> int:
    # The Pulumi engine has only one kind of number and hands integers over as floats.
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MOST:
        value = int(value)
    if type(value) is not int or abs(value) > _MOST:
        raise UnlikeError(value, "a whole number")
    return value


def _number(value: Any, _: Any) -> float:
    # Put this way round, so that NaN, for which every comparison is false, is refused too.
    if type(value) not in (int, float) or not abs(value) <= _MOST:
        raise UnlikeError(value, "a number")
    return float(value)


def _time(value: Any, _: Any) -> datetime:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise UnlikeError(value, "a time") from None
    if time.tzinfo is None or not in_reach(time):
        raise UnlikeError(value, "a time with a zone")
    return time


def in_reach(time: datetime) -> bool:
    """Return whether a time is far enough from the limits of ``datetime`` that any wait can be
    added to it.
    """
    return _YEARS[0] <= time.year <= _YEARS[1]


def _seconds(value: Any, kind: Any) -> timedelta:
    try:
        return timedelta(seconds=_number(value, kind))
    except OverflowError:
        raise UnlikeError(value, "a time in seconds") from None


# Any 18 digits fit into 64 bits.
_NUMBER = re.compile("-?[0-9]{1,18}")
_MOST = 2**63
_YEARS = (1000, 9000)
_converter.register_structure_hook(str, _exactly(str, "text"))
_converter.register_structure_hook(bool, _exactly(bool, "true or false"))
_converter.register_structure_hook(int, _whole)
_converter.register_structure_hook(float, _number)
_converter.register_structure_hook(datetime, _time)
_converter.register_unstructure_hook(datetime, datetime.isoformat)
_converter.register_structure_hook(timedelta, _seconds)
_converter.register_unstructure_hook(timedelta, timedelta.total_seconds)
# A reason is sent in the words of a program: its receiver shows no other.
_converter.register_structure_hook(Phrase | str, _exactly(str, "text"))
_converter.register_unstructure_hook(Phrase | str, str)
# Map keys are text in JSON and in the Pulumi engine, so integer keys are written as text.
_converter.register_unstructure_hook_func(
    # A lambda, since the function is defined below.
    lambda kind: _is_keyed_by_int(kind),
    lambda value: {str(key): item for key, item in value.items()},
)


def _is_keyed_by_int(kind: Any) -> bool:
    return get_origin(kind) is Mapping and get_args(kind)[0] is int


# cattrs takes the type that a hook is for from the annotation of its result.
@_converter.register_structure_hook
def _int_or_string(value: Any, _: Any) -> int | str:
    return value if isinstance(value, str) else _whole(value, int)


@_converter.register_structure_hook
def _int_string_or_none(value: Any, kind: Any) -> int | str | None:
    return None if value is None else _int_or_string(value, kind)


@_converter.register_structure_hook_factory(attrs.has)
def _structure_fn(kind: Any, converter: Converter) -> Any:
    return of_a(
        Mapping, "a map", make_dict_structure_fn(kind, converter, **_names(kind, converter))
    )


@_converter.register_structure_hook_factory(is_mapping)
def _structure_mapping_fn(kind: Any, converter: Converter) -> Any:
    read = mapping_structure_factory(kind, converter)
    if not _is_keyed_by_int(kind):
        return of_a(Mapping, "a map", read)
    return of_a(
        Mapping,
        "a map",
        lambda value, _: read({_key(key): item for key, item in value.items()}, kind),
    )


# The reverse of the unstructure hook for such keys; a program gives them as numbers.
def _key(text: Any) -> int:
    if isinstance(text, str) and _NUMBER.fullmatch(text):
        return int(text)
    if type(text) is int:
        return text
    raise ValueError("has a key that is not a whole number")


@_converter.register_structure_hook_factory(lambda kind: _is_sequence(kind))
def _structure_sequence_fn(kind: Any, converter: Converter) -> Any:
    made: Any = get_origin(kind)
    items: Any = list.__class_getitem__(get_args(kind)[0])
    listed = list_structure_factory(items, converter)
    return of_a((list, tuple), "a list", lambda value, _: made(listed(value, items)))


def _is_sequence(kind: Any) -> bool:
    """Return whether the type is a frozen set, or a tuple of any length."""
    origin: Any = get_origin(kind)
    return origin is frozenset or (origin is tuple and get_args(kind)[-1] is Ellipsis)


def of_a(form: Any, noun: str, read: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a structure hook that refuses values of another form."""

    def checked(value: Any, kind: Any) -> Any:
        if not isinstance(value, form):
            raise UnlikeError(value, noun)
        return read(value, kind)

    return checked


@_converter.register_unstructure_hook_factory(attrs.has)
def _unstructure_fn(kind: Any) -> Any:
    return make_dict_unstructure_fn(kind, _converter, **_names(kind, _converter))
