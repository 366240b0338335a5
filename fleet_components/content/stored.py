"""Objects as an API server stores them: with the defaults of their kind, and without what counts
as absent.

Both systems read objects from the API server of their hub. Whatever decides on behalf of a hub
reads an object in this form; what members get stays as the user wrote it.

Sources: ``defaults.json``, which ``tools/defaults`` writes from the answers of an API server of
Kubernetes 1.36, and ``conditional_defaults.py``. Custom kinds have the defaults of their
CustomResourceDefinition, as "Defaulting" in the Kubernetes documentation of these says.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.conditional_defaults import OF_KINDS, OF_TYPES
from fleet_components.content.guarded import read_json
from fleet_components.model.quantity import canonical, is_quantity

Object = Mapping[str, Any]

_FILE = Path(__file__).parent / "defaults.json"
_METADATA = "meta.v1.ObjectMeta"
QUANTITY = "api.resource.Quantity"
"""The type of quantities, which have one form where they are stored."""
_CORE, _MILLI, _NANO = "core.v1.", -3, -9
"""API servers round the amounts of resources in the types of this group up to thousandths
(``SetDefaults_ResourceList`` in ``pkg/apis/core/v1/defaults.go``).
"""
_LIST, _MAP = "[]", "{}"
LABELLED_BY_SERVER = (("v1", "Namespace"), ("v1", "ReplicationController"), ("batch/v1", "Job"))
"""Kinds whose objects have labels that nobody has written: of their name, or of the pods that
they make.
"""
CACHED = 4096
"""Number of objects of which a form is kept, since the objects of a placement are read once for
each member.
"""


@attrs.frozen(eq=False)
class Shape:
    """Defaults of a type, and its fields that may be left out.

    Attributes:
        name: name of the type; empty in a custom kind.
        defaults: values of fields that are absent.
        omitted: fields of which an empty value counts as absent.
        fields: the shapes of its fields, each with its sort: ``[]`` for a list of such values,
            ``{}`` for a map of them, empty for a value itself. A built-in type is given by its
            name.
    """

    name: str = ""
    defaults: Object = attrs.field(factory=dict)
    omitted: frozenset[str] = frozenset()
    fields: Mapping[str, tuple[str, Shape | str]] = attrs.field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.defaults or self.omitted or self.fields)

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form of the shape of a custom kind."""
        known = ((field, sort, item) for field, (sort, item) in self.fields.items())
        below = {
            f"{sort}{field}": item.to_wire()
            for field, sort, item in known
            if isinstance(item, Shape)
        }
        return {
            part: found
            for part, found in (("defaults", dict(self.defaults)), ("fields", below))
            if found
        }

    @classmethod
    def from_wire(cls, wire: Any) -> Shape:
        """Read it back from :meth:`to_wire`."""
        fields = {
            _field(key): (_sort(key), cls.from_wire(item))
            for key, item in wire.get("fields", {}).items()
        }
        return cls(defaults=wire.get("defaults", {}), fields=fields)


def stored(data: Object, custom: Shape | None = None) -> Object:
    """Return an object as an API server stores it, except for what it assigns by itself, such as a
    uid.

    What is written in no valid form stays as it is: an API server refuses it.

    Args:
        data: the object as it was written.
        custom: the shape of its kind if that is custom; None if its definition is unknown.
    """
    # One shape stands for no shape, so that both share an entry of the cache.
    return _stored(Identical(data), custom or _NOTHING)


def normalized(data: Object) -> Object:
    """Return an object of a built-in kind as a client with the types of the API sends it: without
    empty fields that count as absent, and quantities in their canonical form.
    """
    name = _types().kinds.get(f"{data.get('apiVersion')}/{data.get('kind')}")
    return data if name is None else _filled(_shape(name), data, defaults=False)


def with_texts(data: Object, written: Object) -> Object:
    """Return a stored Secret with the ``stringData`` that was written; any other object as it is.

    A hub has none. But what is delivered directly never was on a hub, and rules may name it.
    """
    return {**data, "stringData": written["stringData"]} if "stringData" in written else data


def without_texts(data: Object) -> Object:
    """Return a Secret with its ``stringData`` as an API server stores it, in ``data``; any other
    object as it is.

    One map is stored of both, and what is written in ``stringData`` wins.
    """
    if "stringData" not in data:
        return data
    rest = {field: value for field, value in data.items() if field != "stringData"}
    kept = stored(data)
    # It is still there if it is not a map: an API server refuses that.
    return data if "stringData" in kept else {**rest, "data": kept.get("data")}


def preferred_version(group: str, kind: str) -> str:
    """Return the preferred version of a built-in kind that is served in several; empty for any
    other kind.
    """
    return _types().preferred.get(f"{group}/{kind}", "")


@attrs.frozen(eq=False)
class Identical:
    """An object as a key of a cache: equal to itself alone, so that nothing of it has to be
    compared.
    """

    data: Object

    def __hash__(self) -> int:
        # No other object can get this id: the key keeps its object alive.
        return id(self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identical) and other.data is self.data


@lru_cache(maxsize=CACHED)
def _stored(item: Identical, custom: Shape) -> Object:
    data = item.data
    kind = f"{data.get('apiVersion')}/{data.get('kind')}"
    name = _types().kinds.get(kind)
    made = _filled(custom if name is None else _shape(name), data)
    if name is None and isinstance(data.get("metadata"), Mapping):
        made["metadata"] = _filled(_shape(_METADATA), data["metadata"])
    fill = OF_KINDS.get(kind)
    if fill:
        fill(made)
    return made


def _filled(shape: Shape, value: Object, *, defaults: bool = True) -> dict[str, Any]:
    made = {}
    for field, item in value.items():
        if shape.name and (item is None or (field in shape.omitted and _is_empty(item))):
            continue  # a built-in kind has no nulls
        made[field] = _filled_field(shape, field, item, defaults=defaults)
    for field, default in shape.defaults.items() if defaults else ():
        if made.get(field) is None:
            # Defaults of built-in types are recorded in full; those of a schema may lack some
            # inside.
            made[field] = default if shape.name else _filled_field(shape, field, default)
    fill = OF_TYPES.get(shape.name)
    if fill and defaults:
        fill(made)
    return made


def _filled_field(shape: Shape, field: str, value: Any, *, defaults: bool = True) -> Any:
    sort, below = shape.fields.get(field, ("", ""))
    if not below:
        return value
    inner = _shape(below)

    def filled(item: Any) -> Any:
        # Only maps of resources in the core types are rounded to thousandths.
        if inner.name == QUANTITY:
            return _amount(item, _MILLI if sort == _MAP and shape.name.startswith(_CORE) else _NANO)
        return _filled(inner, item, defaults=defaults) if isinstance(item, Mapping) else item

    match sort, value:
        case "[]", list():
            return [filled(item) for item in value]
        case "{}", Mapping():
            return {key: filled(item) for key, item in value.items()}
        case "", _:
            return filled(value)
    return value


def _amount(value: Any, finest: int) -> Any:
    """Return a quantity as it is stored, a multiple of this power of ten; anything else as it
    is.
    """
    is_text = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return canonical(str(value), finest) if is_text and is_quantity(str(value)) else value


def _is_empty(value: Any) -> bool:
    return value in ("", [], {}) or value is False or (value == 0 and isinstance(value, int))


@attrs.frozen
class _Types:
    """Content of the file: the type of each kind, the shape of each type, and preferred
    versions.
    """

    kinds: Mapping[str, str]
    shapes: Mapping[str, Shape]
    preferred: Mapping[str, str]


@cache
def _types() -> _Types:
    found = read_json(_FILE.read_bytes())
    shapes = {name: _built_in(name, about) for name, about in found["types"].items()}
    return _Types(found["kinds"], shapes, found["preferred"])


def _built_in(name: str, about: Mapping[str, Any]) -> Shape:
    fields: dict[str, tuple[str, Shape | str]] = {
        field: (_sort(below), _field(below)) for field, below in about.get("fields", {}).items()
    }
    return Shape(name, about.get("defaults", {}), frozenset(about.get("omitted", ())), fields)


def _shape(below: Shape | str) -> Shape:
    # The file leaves out types with nothing to fill in, quantities among them: their name counts.
    return below if isinstance(below, Shape) else _types().shapes.get(below, Shape(below))


def _sort(text: str) -> str:
    # Both marks have two characters.
    return text[:2] if text.startswith((_LIST, _MAP)) else ""


def _field(text: str) -> str:
    return text.removeprefix(_LIST).removeprefix(_MAP)


_NOTHING = Shape()
