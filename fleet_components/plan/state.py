"""A stack's state, as ``pulumi stack export`` prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.model.problem import FleetError, Problem

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
ENCRYPTED = "[encrypted]"
"""Stands for a secret that the export does not show."""


@attrs.frozen
class StoredResource:
    """One resource of a state. Inputs and outputs are plain; secrets that are encrypted read ``[encrypted]``."""

    urn: str
    type: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    id: str = ""
    parent: str = ""
    provider: str = ""
    dependencies: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]


@attrs.frozen
class StackState:
    """The resources of a stack by URN, in the order of the state."""

    resources: Mapping[str, StoredResource] = attrs.field(factory=dict)

    @classmethod
    def of(cls, resources: Iterable[StoredResource]) -> StackState:
        """A state of these resources."""
        return cls({resource.urn: resource for resource in resources})

    @classmethod
    def from_export(cls, export: Mapping[str, Any]) -> StackState:
        """Read what ``pulumi stack export`` printed, with or without ``--show-secrets``."""
        deployment = export.get("deployment") or {}
        return cls.of(_stored(r) for r in deployment.get("resources") or () if not r.get("delete"))

    @classmethod
    def read(cls, file: Path) -> StackState:
        """Read an export from a file.

        Raises:
            FleetError: the file cannot be read, or is no export.
        """
        hint = "give the output of: pulumi stack export --file FILE"
        try:
            export = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise FleetError([Problem(f"cannot be read: {error.strerror}", file=str(file), hint=hint)]) from error
        except ValueError as error:
            raise FleetError([Problem(f"is no JSON: {error}", file=str(file), hint=hint)]) from error
        if not isinstance(export, dict) or "deployment" not in export:
            raise FleetError([Problem('has no "deployment"', file=str(file), hint=hint)])
        return cls.from_export(export)


def is_secret(value: Any) -> bool:
    """Whether a value is marked as a secret, as in a state or on the wire."""
    return isinstance(value, Mapping) and value.get(_SIGNATURE) == _SECRET


def is_marked(value: Any) -> bool:
    """Whether a value stands for something else: a secret, a resource or a file."""
    return isinstance(value, Mapping) and _SIGNATURE in value


def reveal(value: Any) -> Any:
    """The plain form of a value in which secrets are marked, as in a state or on the wire."""
    if isinstance(value, Mapping):
        if is_secret(value):
            return _revealed(value)
        return {key: reveal(item) for key, item in value.items()}
    return [reveal(item) for item in value] if isinstance(value, list) else value


def redact(value: Any) -> Any:
    """The same value with every secret replaced by ``[secret]``."""
    if isinstance(value, Mapping):
        if is_secret(value):
            return "[secret]"
        return {key: redact(item) for key, item in value.items()}
    return [redact(item) for item in value] if isinstance(value, list) else value


def _revealed(secret: Mapping[str, Any]) -> Any:
    if "plaintext" in secret:
        return reveal(json.loads(secret["plaintext"]))
    return reveal(secret["value"]) if "value" in secret else ENCRYPTED


def _stored(resource: Mapping[str, Any]) -> StoredResource:
    return StoredResource(
        urn=resource["urn"],
        type=resource["type"],
        inputs=reveal(resource.get("inputs") or {}),
        outputs=reveal(resource.get("outputs") or {}),
        id=resource.get("id", ""),
        parent=resource.get("parent", ""),
        provider=resource.get("provider", ""),
        dependencies=tuple(resource.get("dependencies") or ()),
    )
