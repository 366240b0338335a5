"""Objects that are supposed to be otherwise: those of a file in the place of others, or single
fields of them.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from typing import Any

import attrs

from fleet_components.content.document import documents
from fleet_components.content.secret import REDACTED, redacted
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem, show_path
from fleet_components.model.text import few, nearest
from fleet_components.review.planning.supposition import Supposed, Supposition

_STEP = re.compile(r"\.?(?:([^.\[\]]+)|\[(\d+)\]|\[([^\[\]]+)\])")
_OVERRIDE = "Override"
_SHOWN = 60


@attrs.frozen
class Replacement(Supposition):
    """Objects in the place of those with the same kind, namespace and name; others are added.

    Attributes:
        file: where they are from, to be named.
        manifests: the objects.
    """

    file: str
    manifests: tuple[Manifest, ...]

    def applied(self, fleet: Supposed) -> Supposed:
        """Replace them in their places, and add those that are new."""
        new = {_identity(manifest): manifest for manifest in reversed(self.manifests)}
        known = {_identity(manifest) for manifest in fleet.manifests}
        kept = [new.get(_identity(manifest), manifest) for manifest in fleet.manifests]
        # Not from ``new``, so that an object which the file has twice is refused as always.
        added = [
            manifest
            for manifest in self.manifests
            if _identity(manifest) not in known or new[_identity(manifest)] is not manifest
        ]
        named = [
            f"{item.key} {'as in' if key in known else 'added from'} {self.file}"
            for key, item in new.items()
        ]
        return attrs.evolve(fleet, manifests=(*kept, *added)).saying(few(named[::-1]))


@attrs.frozen
class FieldChange(Supposition):
    """One field of an object.

    Attributes:
        object: the object, as ``Kind/name`` or ``Kind/namespace/name``.
        path: the field.
        value: its new value; None if it is taken away.
    """

    object: str
    path: FieldPath
    value: Any = None

    def applied(self, fleet: Supposed) -> Supposed:
        """Set the field, with the maps above it where they are missing."""
        manifest = self._found(fleet.manifests)
        old, data = value_at(manifest.data, self.path), copy.deepcopy(dict(manifest.data))
        self._put(manifest, data)
        changed = attrs.evolve(manifest, data=data)
        manifests = tuple(changed if item is manifest else item for item in fleet.manifests)
        before, after = (
            self._shown(manifest.data, old),
            "none" if self.value is None else self._shown(data, self.value),
        )
        words = f"{manifest.key}: {show_path(self.path)} {before} -> {after}"
        return attrs.evolve(fleet, manifests=manifests).saying(words)

    def _found(self, manifests: Sequence[Manifest]) -> Manifest:
        named: dict[str, list[Manifest]] = {}
        for manifest in manifests:
            whole = "/".join(filter(None, (manifest.kind, manifest.namespace, manifest.name)))
            for name in {whole, f"{manifest.kind}/{manifest.name}"}:
                named.setdefault(name, []).append(manifest)
        found = named.get(self.object, [])
        if len(found) == 1:
            return found[0]
        if found:
            names = [
                f"{item.kind}/{item.namespace}/{item.name} of {item.api_version}" for item in found
            ]
            hint = f"there is {few(names)}"
            raise FleetError(
                [
                    Problem(
                        Message(
                            "could-any-several-objects",
                            '"{object}" could be any of several objects',
                            object=self.object,
                        ),
                        hint=hint,
                    )
                ]
            )
        meant = nearest(self.object, named)
        alike = sorted(
            name for name in named if name.startswith(f"{self.object.partition('/')[0]}/")
        )
        known = (
            f"there is: {few(alike)}"
            if alike
            else "write Kind/name or Kind/namespace/name, as in the YAML"
        )
        hint = f"did you mean {meant}?" if meant else known
        raise FleetError(
            [
                Problem(
                    Message("no-object", 'there is no object "{object}"', object=self.object),
                    hint=hint,
                )
            ]
        )

    def _put(self, manifest: Manifest, data: Any) -> None:
        *above, last = self.path
        for depth, step in enumerate(above):
            inner: Any = [] if isinstance(self.path[depth + 1], int) else {}
            data = self._within(manifest, data, step, depth, inner)
        self._within(manifest, data, last, len(above), self.value)
        if self.value is None:
            del data[last]
        else:
            data[last] = self.value

    def _within(
        self, manifest: Manifest, data: Any, step: str | int, depth: int, missing: Any
    ) -> Any:
        """Return the value at a step, which is made if it is missing; an item may follow the last
        one of a list.
        """
        here = self.path[: depth + 1]
        if isinstance(data, list) and isinstance(step, int):
            if step > len(data):
                hint = f"the list has {len(data)}; the next one is [{len(data)}]"
                raise FleetError(
                    [manifest.problem(Message("no-such-item", "there is no such item"), here, hint)]
                )
            if step == len(data):
                data.append(missing)
            return data[step]
        if not isinstance(data, dict) or isinstance(step, int):
            kind = (
                "a list"
                if isinstance(data, list)
                else "a map"
                if isinstance(data, dict)
                else "a single value"
            )
            hint = "items of a list are written [0], keys of a map .key or [a.key/with.dots]"
            raise FleetError(
                [
                    manifest.problem(
                        Message("field-above-not-map", "the field above it is {kind}", kind=kind),
                        here,
                        hint,
                    )
                ]
            )
        if data.get(step) is None:
            data[step] = missing
        return data[step]

    def _shown(self, data: Any, value: Any) -> str:
        """Return a value in short; nothing of what may be secret, as what an override writes."""
        if _OVERRIDE in str(data.get("kind")) or value_at(redacted(data), self.path) != value:
            return REDACTED
        text = "none" if value is None else json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def read_path(text: str) -> FieldPath:
    """Parse the path of a field: ``spec.policy.tolerations[0].key``,
    ``metadata.labels[example.com/tier]``.

    Raises:
        ValueError: it is no path.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if not found or (not at and text[0] in ".[") or (at and found[1] and text[at] != "."):
            break
        steps.append(int(found[2]) if found[2] else found[1] or found[3])
        at = found.end()
    if not steps or at < len(text):
        raise ValueError(
            "is not the path of a field, as spec.policy.tolerations[0] or"
            " metadata.labels[example.com/tier]"
        )
    return tuple(steps)


def read_value(text: str) -> Any:
    """Parse a value as YAML; empty or null for None.

    Raises:
        ValueError: it is not YAML, or several documents.
    """
    problems: list[Problem] = []
    found = list(documents(text, "", problems))
    if problems or len(found) > 1:
        raise ValueError("is not a value in YAML")
    return found[0].data if found else None


def _identity(manifest: Manifest) -> tuple[str, str, str, str]:
    """Return what is the same of an object in two files: a missing namespace is the default one."""
    key = manifest.key
    return key.group, key.kind, key.namespace or "default", key.name
