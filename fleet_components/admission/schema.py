"""Vocabulary for the structure of API objects, shared by KubeFleet and Karmada.

A schema is a tree. Those of the kinds are data, one file for each API version in ``schemas/``:
``tools/schemas.py`` writes them from CustomResourceDefinitions, ``definitions.py`` reads them. A
new version of an API is a new file. What the data do not say is written by hand for each system:

- ``overlay.py``: examples and Go types of fields, and the order of fields in a Go struct;
- ``rules.py`` (KubeFleet): what carries out each rule that is not plain data, found by its message,
  and hints;
- ``kinds.py``: the kinds, with their webhooks as functions over the whole object.

The few kinds and fields that have no definition are declared with the functions of this file::

    TOLERATION = struct({
        "key": text(required=True, example="dedicated"),
        "operator": text(enum=("Equal", "Exists"), default="Equal"),
        "tolerationSeconds": integer(minimum=0, format="int64"),
    })
    SPEC = struct({"tolerations": listing(TOLERATION, max_items=100)}, required=True)
    KIND = Kind("example.com", "v1", "Placement", lambda: whole({"spec": SPEC}), namespaced=True)

``required=True`` belongs to the field, not to the object that holds it; ``schema.but(...)`` returns
a copy with some attributes changed. A schema declares only what the API server itself checks
(OpenAPI and CEL of the CustomResourceDefinition). ``structure.py`` prunes, defaults and checks by
it; ``hint.py`` derives hints from it.

An ``example`` is a valid value; hints show it if the user's value cannot be converted.
``go`` is the name of the type in the controller's source, shown by webhooks that fail to decode an
object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

import attrs

Absent = Literal["error", "kept", "free"]
Type = Literal["object", "array", "string", "integer", "number", "boolean", "int-or-string", "any"]


@attrs.frozen
class ValueRule:
    """Rule on a value, like the CEL rules of a CustomResourceDefinition.

    Attributes:
        message: the text that the API server shows if the rule does not hold.
        holds: called with the value and the old value. A ``KeyError`` that it raises is reported as
            CEL reports a missing key.
        transition: whether it compares with the old value; it is then skipped if there is none.
        hint: what to write instead.
        compares: the fields of the value that a transition compares, such as
            ``policy.placementType``; empty for the whole value.
    """

    message: str
    holds: Callable[[Any, Any], bool] = attrs.field(repr=False)
    transition: bool = False
    hint: str = ""
    compares: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False)
class Schema:
    """Schema of one value. Built by the functions below, which take these attributes as arguments.

    Attributes:
        type: the JSON type; ``any`` accepts and keeps everything.
        required: whether the field must be present.
        default: the value of an absent field; None for no default.
        enum: the allowed strings, in the order in which the API server lists them; empty for any.
        pattern: a regular expression that must match somewhere in the string.
        format: ``int32`` or ``int64``; the API server does not enforce it, webhooks do.
        minimum: the smallest allowed number.
        maximum: the largest allowed number.
        min_length: the minimum length of a string, in characters.
        max_length: the maximum length of a string, in characters.
        min_items: the minimum number of items of a list or of keys of a mapping.
        max_items: the maximum number of items of a list or of keys of a mapping.
        fields: the fields of an object, by name.
        items: the schema of each item of a list, or of each value of a mapping.
        rules: further rules, checked in this order.
        example: a valid value, for hints.
        go: the Go type, for texts of webhooks that decode.
        pointer: whether the Go field is a pointer, so that an optional zero value stays when a
            webhook writes the object back; by default this holds for numbers only.
    """

    type: Type
    required: bool = False
    default: Any = None
    enum: tuple[str, ...] = ()
    pattern: str = ""
    format: str = ""
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    fields: Mapping[str, Schema] = attrs.field(factory=dict)
    items: Schema | None = None
    rules: tuple[ValueRule, ...] = ()
    example: Any = None
    go: str = ""
    pointer: bool | None = None

    @cached_property
    def needed(self) -> Mapping[str, Schema]:
        """The fields that must be present."""
        return {name: field for name, field in self.fields.items() if field.required}

    @cached_property
    def defaulted(self) -> Mapping[str, Schema]:
        """The fields that have a default."""
        return {name: field for name, field in self.fields.items() if field.default is not None}

    @cached_property
    def ruled(self) -> bool:
        """Rules are on the value or on something in it."""
        return bool(self.rules) or any(it.ruled for it in self._inner())

    @cached_property
    def narrow(self) -> bool:
        """Go has 32 bits for the value or for something in it."""
        return (
            # IntOrString of Kubernetes holds its number in an int32.
            self.format == "int32"
            or self.type == "int-or-string"
            or any(it.narrow for it in self._inner())
        )

    def _inner(self) -> Iterator[Schema]:
        yield from self.fields.values()
        if self.items:
            yield self.items

    def but(self, **changes: Any) -> Schema:
        """Return a copy with these attributes changed."""
        return attrs.evolve(self, **changes)

    def having(self, fields: Mapping[str, Schema]) -> Schema:
        """Return a copy of an object schema with these fields added or replaced."""
        return attrs.evolve(self, fields={**self.fields, **fields})

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Schema]]:
        """Yield the schema and all nested ones with their paths.

        In a path ``[]`` is any item of a list and ``{}`` any value of a mapping.
        """
        yield path, self
        for name, field in self.fields.items():
            yield from field.walk((*path, name))
        if self.items:
            yield from self.items.walk((*path, "[]" if self.type == "array" else "{}"))


def text(**attributes: Any) -> Schema:
    """Return the schema of a string."""
    return Schema(type="string", **attributes)


def integer(**attributes: Any) -> Schema:
    """Return the schema of a whole number."""
    return Schema(type="integer", **attributes)


def number(**attributes: Any) -> Schema:
    """Return the schema of a number."""
    return Schema(type="number", **attributes)


def flag(**attributes: Any) -> Schema:
    """Return the schema of a boolean."""
    return Schema(type="boolean", **attributes)


def int_or_text(**attributes: Any) -> Schema:
    """Return the schema of a whole number or a string, such as ``3`` or ``25%``; a pattern applies
    to strings only.
    """
    return Schema(type="int-or-string", **attributes)


def anything(**attributes: Any) -> Schema:
    """Return the schema of any value, which is kept as it is
    (``x-kubernetes-preserve-unknown-fields``).
    """
    return Schema(type="any", **attributes)


def struct(fields: Mapping[str, Schema], **attributes: Any) -> Schema:
    """Return the schema of an object with these fields and no others."""
    return Schema(type="object", fields=fields, **attributes)


def mapping(values: Schema, **attributes: Any) -> Schema:
    """Return the schema of an object with arbitrary keys and values of this schema."""
    return Schema(type="object", items=values, **attributes)


def listing(items: Schema, **attributes: Any) -> Schema:
    """Return the schema of a list with items of this schema."""
    return Schema(type="array", items=items, **attributes)


def rule(message: str, holds: Callable[[Any], bool], hint: str = "") -> ValueRule:
    """Return a rule on a value."""
    return ValueRule(message, lambda value, _: holds(value), hint=hint)


def transition(
    message: str,
    holds: Callable[[Any, Any], bool],
    hint: str = "",
    *,
    compares: tuple[str, ...] = (),
) -> ValueRule:
    """Return a rule on a value and the one it replaces, checked in updates if both exist."""
    return ValueRule(message, holds, transition=True, hint=hint, compares=compares)


def immutable(
    message: str, field: str = "", *, hint: str = "", absent: Absent = "error"
) -> ValueRule:
    """Return the rule that a value stays as it is.

    Args:
        message: the text of the API server.
        field: the name of the field of the value that is meant; empty for the value itself.
        hint: what to write instead.
        absent: if the field is absent, comparing it is an ``error``, or it has to be ``kept``
            absent, or it is ``free`` to be set.
    """

    def holds(value: Any, old: Any) -> bool:
        if not field:
            return bool(value == old)
        if absent == "kept":
            # get() makes absence a value, so that the field is neither added nor removed later.
            return bool(value.get(field) == old.get(field))
        # A missing field raises a KeyError on purpose, as ValueRule.holds says.
        return (absent == "free" and field not in old) or bool(value[field] == old[field])

    return transition(message, holds, hint)
