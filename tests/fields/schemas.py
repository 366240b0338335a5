"""Every field that users may write: what the tests of this folder walk over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.admission.admit import kinds_under
from fleet_components.admission.registry import AdmittedKind
from fleet_components.admission.schema import Schema
from fleet_components.model.releases import Releases
from fleet_components.plan.effect import Steps, Unheeded
from fleet_components.plan.effects import entries_of

RELEASES = Releases.named(kubefleet="main-2026-08")
"""The releases whose definitions say most of values, so that other values can be made from them."""
_IDENTITY = (("apiVersion",), ("kind",))


@attrs.frozen
class Field:
    """A field of one version of a kind. Fields that hold others count as these."""

    kind: AdmittedKind
    steps: Steps
    schema: Schema = attrs.field(eq=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind.name}-{self.kind.version}-{'.'.join(self.steps)}"

    def is_of(self, data: Mapping[str, Any]) -> bool:
        """Whether an object is of the kind, in whatever version."""
        return (data["kind"], data["apiVersion"].rpartition("/")[0]) == (
            self.kind.name,
            self.kind.group,
        )

    def asked(self, value: Any) -> bool:
        """Whether an object has the field."""
        return _has(value, self.steps)

    @property
    def of(self) -> tuple[str, str]:
        """The kind, as :data:`KINDS_OF_FIELDS` has it."""
        return self.kind.api_version, self.kind.name

    @property
    def entries(self) -> tuple[Unheeded, ...]:
        """What the table says of the field, or of one that holds it."""
        known = entries_of(self.kind.api_version, self.kind.name)
        return tuple(entry for entry, _ in known if self.steps[: len(entry.steps)] == entry.steps)

    @property
    def listed(self) -> bool:
        """Whether the table takes every value of it out of what is carried out."""
        said = {
            value
            for entry in self.entries
            if not (entry.beside or entry.unless)
            for value in entry.only
        }
        asked = set(self.schema.enum) - {self.schema.default}
        return any(entry.always for entry in self.entries) or bool(asked and asked <= said)


def _has(value: Any, steps: Steps) -> bool:
    if not steps:
        return True
    step, *rest = steps
    if step in ("[]", "{}"):
        inner = (
            value
            if isinstance(value, list)
            else value.values()
            if isinstance(value, Mapping)
            else ()
        )
        return any(_has(item, tuple(rest)) for item in inner)
    return isinstance(value, Mapping) and step in value and _has(value[step], tuple(rest))


def fields() -> Iterator[Field]:
    """All fields of all kinds."""
    for kind in kinds_under(RELEASES).values():
        for steps, schema in kind.structure.walk():
            if steps and steps not in _IDENTITY and not schema.fields and not schema.items:
                yield Field(kind, steps, schema)


FIELDS = list(fields())
KINDS_OF_FIELDS = list(dict.fromkeys((field.kind.api_version, field.kind.name) for field in FIELDS))
"""A test of many quick cases goes over the fields of a kind at once."""
CARRIED_OUT = [field for field in FIELDS if not field.listed]
