"""Typed values to and from the form in which Kubernetes writes them: camelCase keys, defaults left out."""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime, timedelta
from typing import Any, TypeVar, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from fleet_components.model.typed import TRUSTED

T = TypeVar("T")

# Sets are written sorted, so that nothing depends on their order.
_converter = Converter(unstruct_collection_overrides={Set: sorted})


def decode(kind: type[T], wire: Any) -> T:
    """Read a value from its wire form. Unknown keys are ignored; whole floats are taken as integers.

    Raises:
        Exception: the wire form does not fit (admission refuses such input before, with file and line).
    """
    with TRUSTED:
        return _converter.structure(wire, kind)


def encode(value: Any) -> Any:
    """Write a value in its wire form."""
    return _converter.unstructure(value)


def camel(name: str) -> str:
    """``match_labels`` to ``matchLabels``."""
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def _names(kind: Any) -> dict[str, Any]:
    return {
        field.name: override(rename=field.metadata.get("wire", camel(field.name)), omit_if_default=True)
        for field in attrs.fields(kind)
    }


_converter.register_structure_hook(datetime, lambda value, _: datetime.fromisoformat(value))
_converter.register_unstructure_hook(datetime, datetime.isoformat)
_converter.register_structure_hook(timedelta, lambda value, _: timedelta(seconds=value))
_converter.register_unstructure_hook(timedelta, timedelta.total_seconds)
# Keys are text in every form that the engine and JSON know.
_converter.register_unstructure_hook_func(
    lambda kind: _is_keyed_by_int(kind), lambda value: {str(key): item for key, item in value.items()}
)


def _is_keyed_by_int(kind: Any) -> bool:
    return get_origin(kind) is Mapping and get_args(kind)[0] is int


@_converter.register_structure_hook
def _int_or_string(value: Any, _: Any) -> int | str:
    return value if isinstance(value, str) else int(value)


@_converter.register_structure_hook_factory(attrs.has)
def _structure_fn(kind: Any) -> Any:
    return make_dict_structure_fn(kind, _converter, **_names(kind))


@_converter.register_unstructure_hook_factory(attrs.has)
def _unstructure_fn(kind: Any) -> Any:
    return make_dict_unstructure_fn(kind, _converter, **_names(kind))
