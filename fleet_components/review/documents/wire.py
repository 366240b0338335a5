"""Documents as plain data, and the JSON Schema of a document: both come from its class.

A document is an attrs class. Its fields, in camelCase, are the keys; their types are the schema.
Unlike the wire form of :mod:`fleet_components.model.codec`, it has every key, whatever its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.fns import identity
from cattrs.gen import make_dict_unstructure_fn, override

from fleet_components.model.codec import camel

Schema = dict[str, Any]
_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
# JSON and YAML know lists only.
_converter = Converter(unstruct_collection_overrides={Sequence: list, tuple: list})


class Absent(Enum):
    """Value of an optional key that a document does not have."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@attrs.frozen
class Choice:
    """Annotation of a text that is one of a few words."""

    words: tuple[str, ...]


def as_data(document: Any) -> Any:
    """Return a document as plain data, as JSON and YAML have it."""
    return _converter.unstructure(document)


def schema_of(kind: Any) -> tuple[Schema, Schema]:
    """Return the JSON Schema of a class, and the definitions that it refers to.

    Every key is named and required unless it may be absent, so that a document with a key too many
    or too few does not fit. A class with a ``DEFINITION`` is described once, under that name.
    """
    definitions: Schema = {}
    return _of_class(kind, definitions), definitions


def _of_class(kind: Any, definitions: Schema) -> Schema:
    fields = attrs.fields(attrs.resolve_types(kind))
    required = [field for field in fields if field.default is not ABSENT]
    optional = [field for field in fields if field.default is ABSENT]
    properties = {camel(field.name): _of(field.type, definitions) for field in required + optional}
    return {
        "type": "object",
        "properties": properties,
        "required": [camel(field.name) for field in required],
        "additionalProperties": False,
    }


def _of(kind: Any, definitions: Schema) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        # The only annotation of documents is a Choice.
        return {"enum": list(kind.__metadata__[0].words)}
    if origin is Literal:
        return {"enum": list(arguments)} if arguments[1:] else {"const": arguments[0]}
    if origin is Sequence:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is tuple:
        # Tuples of documents have items of one type.
        number = len(arguments)
        items = _of(arguments[0], definitions)
        return {"type": "array", "items": items, "minItems": number, "maxItems": number}
    if origin is Mapping:
        return {"type": "object"}
    if attrs.has(kind):
        return _reference(kind, definitions)
    if arguments:
        # An absent key is not required, so its value needs no type.
        some = [_of(each, definitions) for each in arguments if each is not Absent]
        return {"anyOf": some} if some[1:] else some[0]
    # Any has no type of its own, and fits everything.
    return {"type": _TYPES[kind]} if kind in _TYPES else {}


def _reference(kind: Any, definitions: Schema) -> Schema:
    name = getattr(kind, "DEFINITION", None)
    if name is None:
        return _of_class(kind, definitions)
    if name not in definitions:
        definitions[name] = _of_class(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}


@_converter.register_unstructure_hook_factory(attrs.has)
def _unstructured(kind: Any) -> Any:
    keys: dict[str, Any] = {
        field.name: override(
            rename=camel(field.name),
            omit_if_default=field.default is ABSENT,
            # Documents have ten thousand members: what is plain already is not looked at.
            unstruct_hook=identity if _is_plain(field.type) else None,
        )
        for field in attrs.fields(attrs.resolve_types(kind))
    }
    return make_dict_unstructure_fn(kind, _converter, **keys)


def _is_plain(kind: Any) -> bool:
    if get_origin(kind) is Annotated or kind in _TYPES or kind is Any:
        return True
    return get_origin(kind) in (Union, UnionType) and all(map(_is_plain, get_args(kind)))


def _is_map(kind: Any) -> bool:
    return get_origin(kind) is Mapping


# What is in a map is plain: the status in the form of the API, the inputs of a resource.
_converter.register_unstructure_hook_func(_is_map, dict)
