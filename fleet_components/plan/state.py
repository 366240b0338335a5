"""Read the state of a stack, as ``pulumi stack export`` prints it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import read_regular
from fleet_components.content.secret import REDACTED
from fleet_components.model.codec import MisfitError, checked, decode
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.plan.names import Urn, is_urn

# Source: pulumi/pulumi v3.259.0, sdk/go/common/resource/sig/sig.go.
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
# Signatures of values; the empty one is that of any other map.
_SIGNED = (
    "",
    "c44067f5952c0a294b673a41bacd8c17",  # an asset
    "0def7320c3a5731c473e5ecbe6d01bc7",  # an archive
    "5cf8f73096256a8f31e491e813e4eb8e",  # a resource
    "d0e6a833031e9bbcd3f4e8bde6ca49a4",  # an output
)
SECRET_MARK: Mapping[str, Any] = {_SIGNATURE: _SECRET}
"""Fields that mark a secret on the wire, beside its ``value``."""
OUTPUT_MARK: Mapping[str, Any] = {_SIGNATURE: _SIGNED[-1]}
"""Fields that mark an output on the wire, beside ``value`` (none if unknown), ``secret`` and
``dependencies``.
"""
ENCRYPTED = "[encrypted]"
"""Placeholder of a secret that the export does not show."""
MEND = (
    "mend it: pulumi stack export --file FILE, then pulumi stack import --file FILE; or go back to"
    " an earlier state: pulumi stack export --version N"
)
"""Hint for a damaged state."""
PENDING_REPLACEMENT = "pendingReplacement"
"""Field of a resource in a state that was deleted to be replaced, and not created again."""
CREATING = "creating"
"""Type of a pending operation: the engine was killed while it created a resource."""
INTERRUPTED = "interrupted"
"""Field of a resource as a program in process is given it; the engine gives neither."""
# Deeper values, which only damage brings about, would end in a RecursionError.
_MOST_LEVELS = 200
_WRONG = (dict, list, float)
"""Types of JSON values in which something can be wrong; most values are text."""


@attrs.frozen
class StoredResource:
    """One resource of a state. Inputs and outputs are in plain text; encrypted secrets read
    ``[encrypted]``.
    """

    urn: str = attrs.field(metadata=checked(lambda text: _no_urn(text)))
    type: str
    inputs: Mapping[str, Any] = attrs.field(factory=dict)
    outputs: Mapping[str, Any] = attrs.field(factory=dict)
    id: str = ""
    parent: str = ""
    provider: str = ""
    dependencies: tuple[str, ...] = ()
    delete: bool = False
    """True for the old half of a replacement, until the engine has deleted it."""
    init_errors: tuple[str, ...] = ()
    """Errors of the provider: why the object was not written as it was asked to, or did not become
    ready.
    """
    pending_replacement: bool = False
    """True for an object that was deleted to be replaced, and not created again."""
    interrupted: str = ""
    """The operation under way when an update was killed, ``updating`` for example; empty without
    one.
    """

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]

    def whole(self) -> Mapping[str, Any]:
        """Return all outputs: a running program does not keep those of every object in plain
        form.
        """
        return self.outputs


@attrs.frozen
class StackState:
    """A state.

    Attributes:
        resources: the resources of the stack by URN, in the order of the state.
        pending: URNs of resources at which an update was interrupted, each with what was being
            done: ``updating``. A resource that the state has was not interrupted while it was
            created.
    """

    resources: Mapping[str, StoredResource] = attrs.field(factory=dict)
    pending: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(cls, resources: Iterable[StoredResource]) -> StackState:
        """Return a state of these resources."""
        return cls({resource.urn: resource for resource in resources})

    @classmethod
    def from_export(cls, export: Mapping[str, Any], file: str = "") -> StackState:
        """Parse the output of ``pulumi stack export``, with or without ``--show-secrets``.

        Args:
            export: the parsed output.
            file: its name, for messages.

        Raises:
            FleetError: it is damaged; carries a problem for every resource and field that Pulumi
                cannot have written.
        """
        deployment = export.get("deployment")
        listed = (
            deployment.get("resources") if isinstance(deployment, Mapping) else deployment
        ) or []
        if not isinstance(listed, list):
            raise FleetError(
                [
                    Problem(
                        Message("not-list-resources", "is not a list of resources"),
                        ("deployment", "resources"),
                        MEND,
                        file=file,
                    )
                ]
            )
        found = stored(enumerate(listed), ("deployment", "resources"), file)
        # One that waits to be created again does not stand, though the state has it.
        settled = {item.urn for item in found if not item.pending_replacement}
        # The engine keeps the note of a creation through all later updates (pulumi v3.260.0,
        # pkg/backend/journal.go); once the state has the resource, an update has recorded it since.
        pending = {
            urn: what
            for urn, what in _pending(deployment)
            if not (what == CREATING and urn in settled)
        }
        known = (attrs.evolve(item, interrupted=pending.get(item.urn, "")) for item in found)
        return attrs.evolve(cls.of(known), pending=pending)

    @classmethod
    def read(cls, file: Path) -> StackState:
        """Read an export from a file.

        Raises:
            FleetError: the file cannot be read, or is not an export.
        """
        hint = "give the output of: pulumi stack export --file FILE"
        try:
            export = read_json(read_regular(file), unique=True)
        except OSError as error:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "cannot-read", "cannot be read: {strerror}", strerror=error.strerror
                        ),
                        file=str(file),
                        hint=hint,
                    )
                ]
            ) from error
        except UnreadableError as error:
            raise FleetError([error.problem(str(file), hint)]) from error
        if not isinstance(export, dict) or "deployment" not in export:
            raise FleetError(
                [
                    Problem(
                        Message("no-deployment", 'has no "deployment"'), file=str(file), hint=hint
                    )
                ]
            )
        return cls.from_export(export, str(file))


def is_marked_secret(value: Any) -> bool:
    """Return whether a value is marked as a secret, as in a state or on the wire."""
    return isinstance(value, Mapping) and value.get(_SIGNATURE) == _SECRET


def is_marked_output(value: Any) -> bool:
    """Return whether a value is marked as an output, as on the wire to a transform."""
    return isinstance(value, Mapping) and value.get(_SIGNATURE) == OUTPUT_MARK[_SIGNATURE]


def is_marked(value: Any) -> bool:
    """Return whether a value is a marked one: a secret, a resource or a file."""
    return isinstance(value, Mapping) and _SIGNATURE in value


def reveal(value: Any) -> Any:
    """Return a value with its marked secrets in plain text; encrypted ones become
    ``[encrypted]``.
    """
    if isinstance(value, Mapping):
        if is_marked_secret(value):
            return _revealed(value)
        return {key: reveal(item) for key, item in value.items()}
    return [reveal(item) for item in value] if isinstance(value, list) else value


def redact(value: Any) -> Any:
    """Return the value with every secret replaced by ``[secret]``."""
    if isinstance(value, Mapping):
        if is_marked_secret(value):
            return REDACTED
        return {key: redact(item) for key, item in value.items()}
    return [redact(item) for item in value] if isinstance(value, list) else value


def _pending(deployment: Any) -> Iterator[tuple[str, str]]:
    """Yield the operations that were under way when an update was killed; what is no such thing is
    passed over.
    """
    listed = deployment.get("pending_operations") if isinstance(deployment, Mapping) else None
    for item in listed if isinstance(listed, list) else ():
        resource = item.get("resource") if isinstance(item, Mapping) else None
        urn = resource.get("urn") if isinstance(resource, Mapping) else None
        if isinstance(urn, str) and is_urn(urn):
            yield urn, str(item.get("type"))


def _revealed(secret: Mapping[str, Any]) -> Any:
    # An export has the plain value as JSON text; on the wire to the engine the value stands there
    # itself.
    if "plaintext" in secret:
        return reveal(read_json(secret["plaintext"], unique=True))
    return reveal(secret["value"]) if "value" in secret else ENCRYPTED


def stored(
    raw: Iterable[tuple[str | int, Any]], path: FieldPath, file: str, mend: str = MEND
) -> list[StoredResource]:
    """Return the resources of a state, except those that are pending deletion.

    Args:
        raw: each resource with its index or key.
        path: the path of the list or map that has them.
        file: the name of the state, for messages.
        mend: the hint for a damaged state.

    Raises:
        FleetError: some are damaged.
    """
    found, problems = dict[str, StoredResource](), list[Problem]()
    stack = ""
    for place, data in raw:
        try:
            resource = _stored(data)
            # The old half of a replacement has the same URN as the new one until it is deleted.
            if not resource.delete:
                stack = stack or _stack_of(resource.urn)
                if resource.urn in found:
                    raise MisfitError(
                        Problem(Message("state-twice", "is in the state twice"), ("urn",))
                    )
                if not resource.urn.startswith(stack):
                    raise MisfitError(
                        Problem(
                            Message(
                                "another-stack-than-first",
                                "is of another stack than the first resource",
                            ),
                            ("urn",),
                        )
                    )
                found[resource.urn] = resource
        except MisfitError as misfit:
            urn = (
                str(data.get("urn") or "")
                if isinstance(data, Mapping)
                else place
                if isinstance(place, str)
                else ""
            )
            # A damaged URN names nothing: the problem names the place in the file instead.
            urn = "" if _no_urn(urn) else urn
            at = () if urn else (*path, place)
            problems += [
                Problem(p.message, (*at, *p.path), mend, urn, file) for p in misfit.problems
            ]
    if problems:
        raise FleetError(problems)
    return list(found.values())


def _stack_of(urn: str) -> str:
    """Return the beginning of a URN that names stack and project."""
    return "::".join((*urn.split("::", 2)[:2], ""))


def _stored(raw: Any) -> StoredResource:
    """Return one resource, with its secrets in plain text.

    Raises:
        MisfitError: it is damaged.
    """
    resource = _rendered(raw) or _decoded(raw)
    parts = (("inputs", resource.inputs), ("outputs", resource.outputs))
    # All are checked; most have no secret, and are not copied.
    if not [field for field, values in parts if values and _check(values, (field,))]:
        return resource
    return attrs.evolve(resource, inputs=reveal(resource.inputs), outputs=reveal(resource.outputs))


def _rendered(raw: Any) -> StoredResource | None:
    """Return a resource as a render keeps it; None for any other, and for one that is damaged.

    Large states are renders, and of such a resource there is nothing to decode.
    """
    if not isinstance(raw, dict) or raw.keys() != {"urn", "type", "outputs"}:
        return None
    urn, kind, outputs = raw["urn"], raw["type"], raw["outputs"]
    fine = (
        isinstance(urn, str)
        and isinstance(outputs, dict)
        and is_urn(urn)
        and Urn.parse(urn).type == kind
    )
    return StoredResource(urn, kind, {}, outputs) if fine else None


def _decoded(raw: Any) -> StoredResource:
    given = (
        {key: value for key, value in raw.items() if value is not None}
        if isinstance(raw, Mapping)
        else raw
    )
    resource = decode(StoredResource, given)
    if resource.type != Urn.parse(resource.urn).type:
        raise MisfitError(Problem(Message("not-type-urn", "is not the type in the URN"), ("type",)))
    return resource


def _plaintext(text: Any) -> Any:
    if not isinstance(text, str):
        raise UnreadableError(Message("state-value-not-text", "is not text"))
    return read_json(text, unique=True)


def _check(value: Any, path: FieldPath) -> bool:
    """Check a value for what the engine never writes: invalid numbers, unreadable secrets,
    excessive depth.

    Returns whether there is a secret in it.

    Raises:
        MisfitError: the value has such a part.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise MisfitError(Problem(Message("not-number", "is not a number"), path))
    if len(path) > _MOST_LEVELS:
        raise MisfitError(
            Problem(
                Message(
                    "nested-more-than-levels",
                    "is nested more than {most_levels} levels deep",
                    most_levels=_MOST_LEVELS,
                ),
                path[:2],
            )
        )
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        # A map without a signature is an ordinary one.
        sort = value.get(_SIGNATURE, "")
        if sort == _SECRET:
            _check(_hidden(value, path), path)
            return True
        if sort not in _SIGNED:
            raise MisfitError(
                Problem(Message("sort-nobody-knows", "is of a sort that nobody knows"), path)
            )
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    secret = False
    for key, item in items:
        if isinstance(item, _WRONG):
            secret |= _check(item, (*path, key))
    return secret


def _hidden(secret: Mapping[str, Any], path: FieldPath) -> Any:
    """Return what a secret hides; None if it is encrypted.

    Raises:
        MisfitError: it cannot be read.
    """
    try:
        return _plaintext(secret["plaintext"]) if "plaintext" in secret else secret.get("value")
    except UnreadableError:
        raise MisfitError(
            Problem(Message("secret-cannot-read", "is a secret that cannot be read"), path)
        ) from None


def _no_urn(text: str) -> str:
    return "" if is_urn(text) else "is not a URN"
