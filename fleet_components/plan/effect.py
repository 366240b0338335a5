"""A field that is not carried out, and what becomes of it.

What asks for other members, another content or another deletion than a plan makes is refused. What bears on none of
these has no effect, and is warned of. What is not needed passes in silence: it asks for what happens anyway, or for
what an API server or a hub keeps for itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import attrs

from fleet_components.admission.schema import Schema
from fleet_components.model.karmada_settings import KarmadaSettings
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem

Steps = tuple[str, ...]
"""Where a field stands in a schema: names, ``[]`` for any item of a list, ``{}`` for any value by key."""


class Effect(StrEnum):
    """What becomes of a field that is not carried out."""

    REFUSED = "refused"
    NONE = "no effect"
    NOT_NEEDED = "not needed"


@attrs.frozen(kw_only=True)
class Unheeded:
    """A field that is not carried out, with all below it.

    Attributes:
        kinds: the kinds that have it.
        field: where it stands, as ``spec.taints[].value`` or ``metadata.labels{}``; empty for the whole object.
        effect: what becomes of it.
        reason: why.
        hint: what would do instead.
        only: the values that this is about, or the keys where the field is that of a map, as patterns; one that
            begins with ``!`` is about all others. Empty for all. Of several entries for a field the first counts.
        beside: it is about a field whose neighbour, named first, has such a value.
        unless: the setting of the control plane under which it is carried out: an attribute of ``KarmadaSettings``.
        default: a default that only a webhook sets; the schema knows the others.
        steps: where it stands, step by step.
    """

    kinds: tuple[str, ...]
    field: str
    effect: Effect
    reason: str
    hint: str = ""
    only: tuple[str, ...] = ()
    beside: tuple[str, str] | None = None
    unless: str = ""
    default: Any = None
    steps: Steps = attrs.field(init=False, default=attrs.Factory(lambda self: _steps(self.field), takes_self=True))

    @property
    def always(self) -> bool:
        """Whether it is about every value of the field in every situation."""
        return not (self.only or self.beside or self.unless)

    def found(self, schema: Schema, manifest: Manifest, settings: KarmadaSettings) -> Iterator[Found]:
        """Where an object asks for something by it. A value that equals the default asks for nothing.

        Args:
            schema: the schema of the field.
            manifest: the object, as it is written.
            settings: how the Karmada control plane would be set up.
        """
        if self.unless and getattr(settings, self.unless):
            return
        for path, value, beside in _places(manifest.data, self.steps):
            if value != self.default and _asks(schema, value) and self._is_about(path, value, beside):
                yield Found(self, manifest, path, value)

    def _is_about(self, path: FieldPath, value: Any, beside: Mapping[str, Any]) -> bool:
        text = str(path[-1]) if self.steps[-1:] == ("{}",) else _text(value)
        neighbour = self.beside is None or _matches(_text(beside.get(self.beside[0], "")), self.beside[1])
        return neighbour and (not self.only or any(_matches(text, pattern) for pattern in self.only))


@attrs.frozen
class Found:
    """A field that an object has and that is not carried out."""

    entry: Unheeded
    manifest: Manifest
    path: FieldPath
    value: Any

    def problem(self, others: str = "") -> Problem:
        """What is said of it.

        Args:
            others: objects of the same kind of which the same is to be said; empty for none.
        """
        refused = self.entry.effect is Effect.REFUSED
        scalar = isinstance(self.value, str | int | float)
        what = f"{json.dumps(self.value, ensure_ascii=False)} " if scalar else ""
        what += "is not carried out by this version" if refused else "has no effect"
        what += f": {self.entry.reason}" + (f"; the same in {others}" if others else "")
        return self.manifest.problem(what, self.path, self.entry.hint.replace("{name}", self.manifest.name))


def _steps(field: str) -> Steps:
    return tuple(field.replace("[]", ".[]").replace("{}", ".{}").split(".")) if field else ()


def _places(
    value: Any, steps: Steps, path: FieldPath = (), beside: Mapping[str, Any] = {}
) -> Iterator[tuple[FieldPath, Any, Mapping[str, Any]]]:
    """The places of a field in an object, each with its value and the object that it is a field of."""
    if not steps:
        yield path, value, beside
        return
    step, *rest = steps
    for key, item in _within(value, step):
        around = beside if step in ("[]", "{}") else value
        yield from _places(item, tuple(rest), (*path, key), around)


def _within(value: Any, step: str) -> Iterable[tuple[str | int, Any]]:
    """What a step leads to, by key or index; nothing where a value is of another type."""
    match step, value:
        case "[]", list():
            return enumerate(value)
        case "{}", Mapping():
            return value.items()
        case _, Mapping() if step in value:
            return [(step, value[step])]
    return ()


def _asks(schema: Schema, value: Any) -> bool:
    """Whether a value asks for anything: it is neither empty nor the default, nor made of such values alone."""
    match value:
        case Mapping() if schema.fields:
            return any(_asks(field, value[name]) for name, field in schema.fields.items() if name in value)
        case None | "" | False | Mapping() | list():
            return bool(value)
    return bool(value != schema.default)


def _matches(text: str, pattern: str) -> bool:
    return fnmatchcase(text, pattern.removeprefix("!")) != pattern.startswith("!")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
