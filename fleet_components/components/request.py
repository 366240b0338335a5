"""Reads a Kubernetes object from the request that registers it, and finds why a fleet cannot take it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import attrs
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.rpc import UNKNOWN

from fleet_components.content.secret import secret_fields
from fleet_components.model.manifest import PROGRAM, Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import few
from fleet_components.plan import state

_UNKNOWN = "[unknown]"
"""Placeholder for unknown values in messages."""
OUTSIDE = "the plan is made before any resource: take what is known at once, a name or a setting of the stack"
_OPTIONS = {
    "provider": "provider",
    "protect": "protect",
    "importId": "import_",
    "ignoreChanges": "ignore_changes",
    "replaceOnChanges": "replace_on_changes",
    "retainOnDelete": "retain_on_delete",
    "deleteBeforeReplaceDefined": "delete_before_replace",
    "deletedWith": "deleted_with",
    "customTimeouts": "custom_timeouts",
    "hideDiffs": "hide_diffs",
    "transforms": "transforms",
    "hooks": "hooks",
}
"""Resource options that would have no effect: names in the request, and in the SDK."""


def read_request(request: Any, own: Collection[str], *, naming: bool) -> tuple[Manifest, list[Problem]]:
    """Return the manifest of a request, and its problems.

    Args:
        request: the registration request of the SDK.
        own: URNs of the resources made by the same function.
        naming: True if an object without a name gets that of its resource.
    """
    wire = _Wire.read(MessageToDict(request.object))
    metadata = wire.data.get("metadata") or {}
    if naming and not metadata.get("name"):
        wire.data["metadata"] = {**metadata, "name": request.name}
    manifest = Manifest(wire.data, PROGRAM)
    problems = [manifest.problem(what, path, hint) for what, path, hint in wire.problems]
    problems += _whole(request, manifest)
    problems += _kept_secret(manifest, wire.secrets)
    problems += _known(request, manifest, wire.unknown, own)
    problems += _carried_out(request, manifest)
    return manifest, problems


def _whole(request: Any, manifest: Manifest) -> Iterator[Problem]:
    if request.type.rpartition(":")[2] != manifest.kind:
        what = f"{request.type} changes an object that is there already"
        yield manifest.problem(what, (), "make the whole object: what a fleet writes is its own")


def _kept_secret(manifest: Manifest, secrets: Collection[FieldPath]) -> Iterator[Problem]:
    for path in secrets:
        if path[0] not in secret_fields(manifest.data):
            hint = "put it into the data of a Secret, and refer to that"
            yield manifest.problem("is secret, and would be told to all who may see the object", path, hint)


def _known(request: Any, manifest: Manifest, unknown: Collection[FieldPath], own: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each value that depends on resources outside of the function, even if a preview knows it.

    Those resources are registered after the plan is made.
    """
    implied: set[str] = set()
    for field, dependencies in sorted(request.propertyDependencies.items()):
        implied.update(dependencies.urns)
        outside = _outside(dependencies.urns, own)
        found = [path for path in unknown if path[0] == field]
        before = f" before {outside} stands" if outside else ""
        yield from (manifest.problem(f"is not known{before}", path, OUTSIDE) for path in found)
        if outside and not found:
            yield manifest.problem(f"comes of {outside}", (field,), OUTSIDE)
    if outside := _outside(set(request.dependencies) - implied, own):
        hint = "let the fleet wait for it: Fleet(..., opts=ResourceOptions(depends_on=...))"
        yield manifest.problem(f"cannot wait for {outside} by itself", (), hint)


def _outside(urns: Collection[str], own: Collection[str]) -> str:
    return few(sorted(urn.rpartition("::")[2] for urn in set(urns) - set(own)))


def _carried_out(request: Any, manifest: Manifest) -> Iterator[Problem]:
    given = {field.name for field, value in request.ListFields() if not hasattr(value, "ByteSize") or value.ByteSize()}
    if unused := sorted(_OPTIONS[field] for field in _OPTIONS.keys() & given):
        hint = "leave them out: the fleet delivers the object, to each member by its own rules"
        yield manifest.problem(f"has options that do nothing here: {', '.join(unused)}", (), hint)


@attrs.define
class _Wire:
    """An object in the form that is sent to the engine, taken apart.

    Attributes:
        data: the plain object.
        secrets: paths of the secret fields.
        unknown: paths of the fields whose value is unknown.
        problems: values that no object can hold, as (what, path, hint).
    """

    data: dict[str, Any] = attrs.field(factory=dict)
    secrets: list[FieldPath] = attrs.field(factory=list)
    unknown: list[FieldPath] = attrs.field(factory=list)
    problems: list[tuple[str, FieldPath, str]] = attrs.field(factory=list)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> _Wire:
        wire = cls()
        wire.data = wire._plain(data, ())
        return wire

    def _plain(self, value: Any, path: FieldPath) -> Any:
        if state.is_marked_secret(value):
            self.secrets.append(path)
            return self._plain(value.get("value"), path)
        if state.is_marked(value):
            hint = 'take one of its fields, as namespace.metadata["name"]'
            self.problems.append(("is a resource or a file, and no value", path, hint))
            return None
        if isinstance(value, Mapping):  # sorted, because keys are sent in no fixed order
            return {key: self._plain(value[key], (*path, key)) for key in sorted(value)}
        if isinstance(value, list):
            return [self._plain(item, (*path, position)) for position, item in enumerate(value)]
        if value == UNKNOWN:
            self.unknown.append(path)
            return _UNKNOWN
        # The Struct of a request has no integers.
        return int(value) if isinstance(value, float) and value.is_integer() else value
