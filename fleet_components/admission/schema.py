"""The vocabulary in which the structure of an API object is declared, for KubeFleet and Karmada alike.

A kind is a tree of schemas, made with these words::

    TOLERATION = struct({
        "key": text(),
        "operator": text(enum=("Equal", "Exists"), default="Equal"),
        "tolerationSeconds": integer(minimum=0, format="int64"),
    })
    POLICY = struct(
        {
            "placementType": text(enum=("PickAll", "PickN"), default="PickAll"),
            "numberOfClusters": integer(minimum=0, example=3),
            "tolerations": listing(TOLERATION, max_items=100),
            "labels": mapping(text()),
            "maxSurge": int_or_text(pattern="^[0-9]+%?$", default="25%"),
        },
        rules=(
            rule("PickAll takes no numberOfClusters",
                 lambda it: it["placementType"] != "PickAll" or "numberOfClusters" not in it),
            transition("placement type is immutable", lambda it, old: it["placementType"] == old["placementType"]),
        ),
    )
    KIND = Kind("example.com", "v1", "Placement", whole({"spec": POLICY.but(required=True)}), namespaced=True)

``required=True`` belongs to the field, not to the object that holds it; ``schema.but(...)`` is the same schema
with some of it changed. A schema says only what the API server itself checks (OpenAPI and CEL of the
CustomResourceDefinition); what a webhook checks is a function over the whole object (see ``registry.py``).
``structure.py`` prunes, defaults and checks by it, ``hint.py`` writes what would do.

An ``example`` is a value that would do; hints show it where nothing can be made of what the user wrote.
``go`` is the type's name in the controller's own source, shown by webhooks that fail to decode an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import attrs

Type = Literal["object", "array", "string", "integer", "number", "boolean", "int-or-string", "any"]


@attrs.frozen
class Rule:
    """A rule over a value, as CEL rules of a CustomResourceDefinition are.

    Attributes:
        message: the text that the API server shows when it does not hold.
        holds: called with the value and the old value. A ``KeyError`` that it raises is reported in the way in
            which CEL reports a missing key.
        transition: it compares with the old value, so it is skipped where there is none.
        hint: what would do instead.
    """

    message: str
    holds: Callable[[Any, Any], bool] = attrs.field(repr=False)
    transition: bool = False
    hint: str = ""


@attrs.frozen(kw_only=True, eq=False)
class Schema:
    """What one value may be. Made by the functions below, whose arguments are these attributes.

    Attributes:
        type: the JSON type; ``any`` accepts and keeps everything.
        required: the field must be there.
        default: what an absent field becomes; None for nothing.
        enum: the strings allowed, in the order in which the API server lists them; empty for any.
        pattern: a regular expression that a string has to match somewhere.
        format: ``int32`` or ``int64``; the API server does not hold numbers to it, webhooks do.
        minimum: the least number allowed.
        maximum: the greatest number allowed.
        min_length: the least length of a string, in characters.
        max_length: the greatest length of a string, in characters.
        min_items: the least number of items of a list or of keys of a mapping.
        max_items: the greatest number of them.
        fields: the fields of an object, by name.
        items: the schema of each item of a list, or of each value of a mapping.
        rules: further rules, checked in this order.
        example: a value that would do, for hints.
        go: the Go type, for texts of webhooks that decode.
        pointer: the Go field is a pointer, so that an optional zero value stays when a webhook writes the object
            back; by default only numbers are.
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
    rules: tuple[Rule, ...] = ()
    example: Any = None
    go: str = ""
    pointer: bool | None = None

    def but(self, **changes: Any) -> Schema:
        """The same schema with these attributes changed."""
        return attrs.evolve(self, **changes)

    def having(self, fields: Mapping[str, Schema]) -> Schema:
        """The same object schema with these fields added or replaced."""
        return attrs.evolve(self, fields={**self.fields, **fields})

    def without(self, *names: str) -> Schema:
        """The same object schema without these fields."""
        return attrs.evolve(self, fields={key: field for key, field in self.fields.items() if key not in names})

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Schema]]:
        """The schema and all that it holds, with their paths: ``[]`` is any item of a list, ``{}`` any value by key."""
        yield path, self
        for name, field in self.fields.items():
            yield from field.walk((*path, name))
        if self.items:
            yield from self.items.walk((*path, "[]" if self.type == "array" else "{}"))


def text(**attributes: Any) -> Schema:
    """A string."""
    return Schema(type="string", **attributes)


def integer(**attributes: Any) -> Schema:
    """A whole number."""
    return Schema(type="integer", **attributes)


def number(**attributes: Any) -> Schema:
    """A number."""
    return Schema(type="number", **attributes)


def flag(**attributes: Any) -> Schema:
    """``true`` or ``false``."""
    return Schema(type="boolean", **attributes)


def int_or_text(**attributes: Any) -> Schema:
    """A whole number or a string, such as ``3`` or ``25%``; a pattern applies to the string only."""
    return Schema(type="int-or-string", **attributes)


def anything(**attributes: Any) -> Schema:
    """Any value, kept as it is (``x-kubernetes-preserve-unknown-fields``)."""
    return Schema(type="any", **attributes)


def struct(fields: Mapping[str, Schema], **attributes: Any) -> Schema:
    """An object with these fields and no others."""
    return Schema(type="object", fields=fields, **attributes)


def mapping(values: Schema, **attributes: Any) -> Schema:
    """An object with any keys, each with such a value."""
    return Schema(type="object", items=values, **attributes)


def listing(items: Schema, **attributes: Any) -> Schema:
    """A list of such items."""
    return Schema(type="array", items=items, **attributes)


def rule(message: str, holds: Callable[[Any], bool], hint: str = "") -> Rule:
    """A rule over a value."""
    return Rule(message, lambda value, _: holds(value), hint=hint)


def transition(message: str, holds: Callable[[Any, Any], bool], hint: str = "") -> Rule:
    """A rule over a value and the one that it replaces, checked in updates where both are there."""
    return Rule(message, holds, transition=True, hint=hint)


LABEL_SELECTOR = struct(
    {
        "matchLabels": mapping(text(), go="map[string]string", example={"env": "prod"}),
        "matchExpressions": listing(
            struct(
                {
                    "key": text(required=True, example="env"),
                    "operator": text(required=True, example="In", go="v1.LabelSelectorOperator"),
                    "values": listing(text(), example=["prod"]),
                },
                go="v1.LabelSelectorRequirement",
            )
        ),
    },
    go="v1.LabelSelector",
    example={"matchLabels": {"env": "prod"}},
)
"""A label selector; its operators are checked by webhooks only, and not by all of them."""

CONDITIONS = listing(
    struct(
        {
            **dict.fromkeys(("type", "status"), text(required=True)),
            **dict.fromkeys(("reason", "message", "lastTransitionTime"), text()),
            "observedGeneration": integer(),
        }
    )
)
"""The conditions of a status."""
