"""Describe fields that are not carried out, and what happens to them.

A field that would change members, content or deletion is refused. A field without influence on
these is reported as having no effect. A field that asks for what happens anyway, or that an API
server or hub keeps for itself, is accepted silently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any

import attrs

from fleet_components.admission.schema import Schema
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

Steps = tuple[str, ...]
"""Path of a field in a schema: names, ``[]`` for any item of a list, ``{}`` for any value of a
map.
"""


class Effect(StrEnum):
    """Treatment of a field that is not carried out."""

    REFUSED = "refused"
    NONE = "no effect"
    NOT_NEEDED = "not needed"


@attrs.frozen(kw_only=True)
class Unheeded:
    """A field that is not carried out, including everything below it.

    Attributes:
        kinds: the kinds that have the field.
        field: its path, such as ``spec.taints[].value`` or ``metadata.labels{}``; empty for the
            whole object.
        effect: what happens to it.
        reason: why it is not carried out.
        hint: what to do instead.
        only: patterns for the values concerned, or for the keys if the field is a value of a map. A
            pattern that begins with ``!`` stands for all others. Empty for all. Of several entries
            for a field the first one counts.
        beside: name of a sibling field and a pattern for its value: the entry applies only if it
            matches.
        unless: the attribute of ``KarmadaSettings`` that, if set, makes the control plane carry the
            field out.
        default: a default that only a webhook sets; the schema has the others.
        on_hub: what a hub does with it; empty if that does nothing with it either.
        steps: the path, step by step.
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
    on_hub: str = ""
    # Computed once, since each entry is held against every object of its kinds.
    steps: Steps = attrs.field(
        init=False, default=attrs.Factory(lambda self: _steps(self.field), takes_self=True)
    )
    _sure: Steps = attrs.field(
        init=False, default=attrs.Factory(lambda self: _sure(self.steps), takes_self=True)
    )

    @property
    def always(self) -> bool:
        """True if the entry applies to every value in every situation."""
        return not (self.only or self.beside or self.unless)

    @property
    def left_out(self) -> bool:
        """True if a forecast of a hub that carries the field out may differ: nobody says how the
        hub is set up.
        """
        return self.effect is Effect.REFUSED or bool(self.unless)

    def found(self, schema: Schema, manifest: Manifest, settings: object) -> Iterator[IgnoredField]:
        """Yield the places where an object uses the field; a value that equals the default does not
        count.

        Args:
            schema: the schema of the field.
            manifest: the object, as written.
            settings: how the Karmada control plane would be set up.
        """
        # Most objects have few of the fields: this is quicker than looking for all places.
        value: Any = manifest.data
        for step in self._sure:
            if not isinstance(value, Mapping) or step not in value:
                return
            value = value[step]
        # With that setting, the control plane carries the field out.
        if self.unless and getattr(settings, self.unless):
            return
        for path, value, beside in _places(manifest.data, self.steps):
            if (
                value != self.default
                and _asks(schema, value)
                and self._is_about(path, value, beside)
            ):
                yield IgnoredField(self, manifest, path, value)

    def _is_about(self, path: FieldPath, value: Any, beside: Mapping[str, Any]) -> bool:
        # Of labels and annotations, the key says what is meant.
        text = str(path[-1]) if self.steps[-1:] == ("{}",) else _text(value)
        neighbour = self.beside is None or _matches(
            _text(beside.get(self.beside[0], "")), self.beside[1]
        )
        return neighbour and (
            not self.only or any(_matches(text, pattern) for pattern in self.only)
        )


@attrs.frozen(kw_only=True)
class FieldTable:
    """The kinds of a system, and what becomes of their fields.

    Attributes:
        policies: kinds that steer a fleet.
        protected: kinds of these whose objects an annotation of ours protects.
        envelopes: kinds that hold objects.
        members: kinds of members.
        effects: fields that are not carried out.
        elsewhere: fields that are carried out, and that other deliveries treat otherwise.
    """

    policies: tuple[str, ...]
    protected: tuple[str, ...] = ()
    envelopes: tuple[str, ...] = ()
    members: tuple[str, ...]
    effects: tuple[Unheeded, ...]
    elsewhere: tuple[Elsewhere, ...]


@attrs.frozen(kw_only=True)
class Elsewhere:
    """A field that a plan carries out, and that another delivery than the direct one treats
    otherwise.

    Attributes:
        kinds: the kinds that have the field.
        field: its path, as that of :class:`Unheeded`.
        only: the values concerned; empty for all.
        on_hub: what a hub does with it; empty if that carries it out, too.
        argocd: what becomes of it where Argo CD brings the rendered manifests; empty if it is
            carried out.
        flux: the same of Flux.
    """

    kinds: tuple[str, ...]
    field: str
    only: tuple[str, ...] = ()
    on_hub: str = ""
    argocd: str = ""
    flux: str = ""

    @property
    def steps(self) -> Steps:
        """The path, step by step."""
        return _steps(self.field)


_REFUSED = Message("field-refused", "{value}is not carried out by this version: {reason}{others}")
_IGNORED = Message("field-without-effect", "{value}has no effect: {reason}{others}")
_LEFT_OUT = Message(
    "field-left-out", "{value}is left out of this forecast: on the hub {reason}{others}"
)
_CREDENTIALS = re.compile(r"(?<=://).*@")
"""User and password of an address, as that of a proxy; a password may have any sign."""


@attrs.frozen
class IgnoredField:
    """A field of an object that is not carried out."""

    entry: Unheeded
    manifest: Manifest
    path: FieldPath
    value: Any

    def problem(self, others: str = "") -> Problem:
        """Return the problem that describes it.

        Args:
            others: other objects of the same kind with the same problem; empty for none.
        """
        refused = self.entry.effect is Effect.REFUSED
        stated = _REFUSED if refused else _IGNORED
        return self.manifest.problem(
            self._stated(stated, self.entry.reason, others), self.path, self.entry.hint
        )

    def left_out(self, others: str = "") -> Problem:
        """Return the warning that a hub carries it out and a forecast leaves it out; ``others`` as
        for a problem.
        """
        what = self._stated(_LEFT_OUT, self.entry.on_hub, others)
        return self.manifest.problem(what, self.path, self.entry.hint if self.entry.unless else "")

    def _stated(self, stated: Message, reason: str, others: str) -> Message:
        scalar = isinstance(self.value, str | int | float)
        value = (
            f"{_CREDENTIALS.sub('[secret]@', json.dumps(self.value, ensure_ascii=False))} "
            if scalar
            else ""
        )
        return stated.filled(
            value=value, reason=reason, others=f"; the same in {others}" if others else ""
        )


def _steps(field: str) -> Steps:
    return tuple(field.replace("[]", ".[]").replace("{}", ".{}").split(".")) if field else ()


def _sure(steps: Steps) -> Steps:
    """Return the steps before the first one into a list or a map of any keys."""
    return tuple(takewhile(lambda step: step not in ("[]", "{}"), steps))


def _places(
    value: Any, steps: Steps, path: FieldPath = (), beside: Mapping[str, Any] = {}
) -> Iterator[tuple[FieldPath, Any, Mapping[str, Any]]]:
    """Yield the places of a field in an object: path, value, and the object that holds the
    field.
    """
    if not steps:
        yield path, value, beside
        return
    step, *rest = steps
    for key, item in _within(value, step):
        # Of an item, the siblings are those of its list or map.
        around = beside if step in ("[]", "{}") else value
        yield from _places(item, tuple(rest), (*path, key), around)


def _within(value: Any, step: str) -> Iterable[tuple[str | int, Any]]:
    """Return what a step leads to, by key or index; nothing if the value is of another type."""
    match step, value:
        case "[]", list():
            return enumerate(value)
        case "{}", Mapping():
            return value.items()
        case _, Mapping() if step in value:
            return [(step, value[step])]
    return ()


def _asks(schema: Schema, value: Any) -> bool:
    """Return whether a value asks for anything: neither empty nor the default, nor composed of such
    values only.
    """
    match value:
        case Mapping() if schema.fields:
            return any(
                _asks(field, value[name]) for name, field in schema.fields.items() if name in value
            )
        case None | "" | False | Mapping() | list():
            # A list, or a map of any keys, asks for something if it is not empty.
            return bool(value)
    return bool(value != schema.default)


def _matches(text: str, pattern: str) -> bool:
    # A leading ! turns the result around.
    return fnmatchcase(text, pattern.removeprefix("!")) != pattern.startswith("!")


def _text(value: Any) -> str:
    # Patterns name values as a manifest has them: true, and not True.
    return value if isinstance(value, str) else json.dumps(value)
