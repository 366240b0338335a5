"""Fields of built-in objects that are not what their kind has there.

API servers refuse such objects. Source: ``structures.json``, which ``tools/structures.py`` writes
from the OpenAPI documents of an API server of Kubernetes 1.36; the words are those of its
server-side apply (``typed/validate.go`` of structured-merge-diff 6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import read_json
from fleet_components.model.problem import FieldPath, show_path
from fleet_components.model.quantity import is_quantity

_FILE = Path(__file__).parent / "structures.json"
_LIST, _MAP = "[]", "{}"
_ANY, _QUANTITY, _EITHER = "any", "quantity", "integer or string"
_UNDECLARED = "field not declared in schema"


@attrs.frozen
class Misfit:
    """A field that is not what its kind has there.

    Attributes:
        path: the field.
        expected: what the kind has there: ``string``, ``list`` or ``map`` for example; empty if it
            has no such field in Kubernetes 1.36.
        found: what is there instead.
    """

    path: FieldPath
    expected: str
    found: str

    @property
    def words(self) -> str:
        """The problem, without a value of the object."""
        return f"expected {self.expected}, got {self.found}" if self.expected else _UNDECLARED

    def __str__(self) -> str:
        return f"{show_path(self.path)}: {self.words}"


def misfits(data: Mapping[str, Any]) -> Iterator[Misfit]:
    """Yield the fields of an object that are not what its kind has there.

    Nothing is known of custom kinds, nor of the values of fields that take anything.

    Args:
        data: the object.
    """
    kinds, types = _structures()
    name = kinds.get(f"{data.get('apiVersion')}/{data.get('kind')}")
    if name:
        yield from _below(types, name, data, ())


# The text of a type is a name, or [] or {} followed by the text of the type of each item.
def _below(types: Mapping[str, Any], text: str, value: Any, path: FieldPath) -> Iterator[Misfit]:
    if value is None or text == _ANY:
        return
    expected, found = _sort(text), _sort_of(value)
    if not _fits(expected, value, found):
        yield Misfit(path, expected, found)
    elif text.startswith(_LIST):
        for index, item in enumerate(value):
            yield from _below(types, text.removeprefix(_LIST), item, (*path, index))
    elif text.startswith(_MAP):
        for key, item in value.items():
            yield from _below(types, text.removeprefix(_MAP), item, (*path, key))
    elif text in types:
        for field, item in value.items():
            if field in types[text]:
                yield from _below(types, types[text][field], item, (*path, field))
            else:
                yield Misfit((*path, field), "", _sort_of(item))


def _sort(text: str) -> str:
    """Return what a value of a type is."""
    if text.startswith(_LIST):
        return "list"
    # Only names of types have a dot: core.v1.PodSpec.
    return "map" if text.startswith(_MAP) or "." in text else text


def _sort_of(value: Any) -> str:
    if value is None:
        return "null"
    # A bool is an int to Python, and a str is a sequence: both come before these.
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Mapping):
        return "map"
    if isinstance(value, str):
        return "string"
    if isinstance(value, Sequence):
        return "list"
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return "integer" if is_whole else "number"


def _fits(expected: str, value: Any, found: str) -> bool:
    if expected == _EITHER:
        return found in ("string", "integer")
    if expected == _QUANTITY:
        return found in ("integer", "number") or (found == "string" and is_quantity(value))
    return found == expected or (expected, found) == ("number", "integer")


@cache
def _structures() -> tuple[Mapping[str, str], Mapping[str, Any]]:
    found = read_json(_FILE.read_text())
    return found["kinds"], found["types"]
