"""A stand-in for the engine that records the Kubernetes resources a program makes, without
registering them.

The SDK takes its monitor from the context in which a resource is made, and tasks keep the context
that they were started in. So resources that are made in a context with another monitor are
registered with that monitor alone, whatever else runs at the same time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import copy_context
from typing import Any

import attrs
import pulumi
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.rpc import UNKNOWN
from pulumi.runtime.rpc_manager import RPCManager
from pulumi.runtime.settings import SETTINGS, get_monitor, set_root_resource
from pulumi.runtime.stack import wait_for_rpcs
from pulumi.runtime.sync_await import _ensure_event_loop, _sync_await

from fleet_components.content.secret import secret_fields
from fleet_components.model.manifest import PROGRAM, Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan import state
from fleet_components.plan.names import is_object
from fleet_components.plan.state import is_marked

SECONDS = 60
"""Longest wait for the values of objects, in seconds; a value that takes longer is not a
setting.
"""
_BUILDERS = ("kubernetes:yaml", "kubernetes:helm", "kubernetes:kustomize")
_AS_A_SOURCE = (
    "give the path as a source of the fleet: it takes files, directories, Helm charts and"
    " kustomizations"
)
_STRANGE = "unexpected input of type"


@attrs.define
class Recorder:
    """A monitor that records objects and registers nothing.

    Attributes:
        engine: the monitor that it replaces; calls for values are passed on to it.
        naming: True if an object without a name gets that of its resource.
        manifests: the objects that were made.
        problems: why other resources cannot be objects of a fleet.
    """

    engine: Any
    naming: bool = True
    manifests: list[Manifest] = attrs.field(factory=list)
    problems: list[Problem] = attrs.field(factory=list)
    _own: set[str] = attrs.field(factory=set)
    # The SDK calls its monitor from threads.
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Record an object and answer with its inputs; of a component, only the resources in it are
        recorded.
        """
        stack = f"{pulumi.get_stack()}::{pulumi.get_project()}"
        # Without the types of parents that the engine adds: these URNs are compared only with each
        # other.
        urn = f"urn:pulumi:{stack}::{request.type}::{request.name}"
        answer = resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        with self._lock:
            self._own.add(urn)
            if is_object(request.type) and not request.type.startswith(_BUILDERS):
                manifest, problems = read_request(request, self._own, naming=self.naming)
                self.manifests.append(manifest)
                self.problems += problems
                _tell_name(answer, manifest)
            elif request.custom or request.remote:
                self._refuse(
                    request, Message("not-kubernetes-object", "is not a Kubernetes object")
                )
        return answer

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Accept the outputs of a component, which are not used."""
        return Empty()

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Record a problem: existing resources cannot be read."""
        with self._lock:
            self._refuse(request, Message("read-not-made", "is read, and not made"))
        return resource_pb2.ReadResourceResponse(
            urn=f"urn:pulumi:{request.name}", properties=request.properties
        )

    def Invoke(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Pass a call on to the engine, unless it builds objects, which not every plan can do.

        Raises:
            FleetError: the Kubernetes provider would have to build the objects from files.
        """
        if request.tok.startswith(_BUILDERS):
            raise FleetError(
                [
                    Problem(
                        Message(
                            "makes-objects-files", "{tok} makes objects of files", tok=request.tok
                        ),
                        hint=_AS_A_SOURCE,
                    )
                ]
            )
        return self.engine.Invoke(request)

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the engine."""
        return getattr(self.engine, name)

    def _refuse(self, request: Any, what: Message) -> None:
        built = request.type.startswith(_BUILDERS)
        hint = (
            _AS_A_SOURCE
            if built
            else "keep it out of the function: it is the program's own, and not the fleet's"
        )
        self.problems.append(Problem(what, hint=hint, subject=f"{request.type} {request.name}"))


def record(make: Callable[[], Any], *, naming: bool = True) -> Recorder:
    """Run a function and record the Kubernetes resources that it makes.

    The function always runs as in a preview, so fields that only a cluster knows are unknown, and
    an update makes the same objects as a preview.

    Args:
        make: makes the resources.
        naming: True if an object without a name gets that of its resource.

    Raises:
        FleetError: a value is still unknown after ``SECONDS``, or has a type that no object can
            hold.
    """
    recorder = Recorder(get_monitor(), naming)
    copy_context().run(_run, make, recorder)
    # Registrations arrive in no fixed order.
    recorder.manifests.sort(key=lambda manifest: manifest.key)
    recorder.problems = sorted(dict.fromkeys(recorder.problems), key=str)
    return recorder


def _run(make: Callable[[], Any], recorder: Recorder) -> None:
    # There is no event loop outside of a program, where objects may be made as well.
    _ensure_event_loop()
    # These settings belong to the copied context; those of the program stay as they are.
    SETTINGS.monitor, SETTINGS.dry_run = recorder, True
    # With lists of its own the wait below is for these resources, and not for all that the program
    # has begun.
    SETTINGS.rpc_manager, SETTINGS.outputs = RPCManager(), type(SETTINGS.outputs)()
    set_root_resource(None)  # type: ignore[arg-type]
    make()
    try:
        _sync_await(asyncio.wait_for(wait_for_rpcs(), SECONDS))
    except TimeoutError:
        what = Message(
            "object-not-known-in-time",
            "what an object is made of is not known after {seconds} s",
            seconds=SECONDS,
        )
        raise FleetError([*recorder.problems, Problem(what, hint=OUTSIDE)]) from None
    except ValueError as error:
        # The SDK names the field that it cannot serialize, outermost first; the last line has the
        # value itself.
        *_, last = str(error).splitlines() or [""]
        if _STRANGE not in last:
            raise
        problem = Problem(
            Message("not-serializable", "{reason}", reason=last[last.index(_STRANGE) :]),
            hint="write text, a number, a list or a dict",
        )
        raise FleetError([*recorder.problems, problem]) from error


def _tell_name(answer: Any, manifest: Manifest) -> None:
    """Add the name to the answer, so that other objects can use ``namespace.metadata["name"]`` or
    ``namespace.id``.
    """
    answer.id = f"{manifest.namespace}/{manifest.name}" if manifest.namespace else manifest.name
    metadata = MessageToDict(answer.object).get("metadata") or {}
    if not is_marked(metadata) and not metadata.get("name"):
        ParseDict({"metadata": {**metadata, "name": manifest.name}}, answer.object)


# Reads a Kubernetes object from the request that registers it, and finds why a fleet cannot take
# it.


_UNKNOWN = "[unknown]"
"""Placeholder for unknown values in messages."""
OUTSIDE = (
    "the plan is made before any resource: take what is known at once, a name or a setting of the"
    " stack"
)
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


def read_request(
    request: Any, own: Collection[str], *, naming: bool
) -> tuple[Manifest, list[Problem]]:
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
        what = Message(
            "changes-object-already",
            "{type} changes an object that is there already",
            type=request.type,
        )
        yield manifest.problem(what, (), "make the whole object: what a fleet writes is its own")


def _kept_secret(manifest: Manifest, secrets: Collection[FieldPath]) -> Iterator[Problem]:
    for path in secrets:
        if path[0] not in secret_fields(manifest.data):
            hint = "put it into the data of a Secret, and refer to that"
            yield manifest.problem(
                Message(
                    "secret-told-all-who",
                    "is secret, and would be told to all who may see the object",
                ),
                path,
                hint,
            )


def _known(
    request: Any, manifest: Manifest, unknown: Collection[FieldPath], own: Collection[str]
) -> Iterator[Problem]:
    """Yield a problem for each value that depends on resources outside of the function, even if a
    preview knows it.

    Those resources are registered after the plan is made.
    """
    implied: set[str] = set()
    for field, dependencies in sorted(request.propertyDependencies.items()):
        implied.update(dependencies.urns)
        outside = _outside(dependencies.urns, own)
        found = [path for path in unknown if path[0] == field]
        before = f" before {outside} stands" if outside else ""
        yield from (
            manifest.problem(
                Message("not-known", "is not known{before}", before=before), path, OUTSIDE
            )
            for path in found
        )
        if outside and not found:
            yield manifest.problem(
                Message("depends-on-outside-resource", "comes of {outside}", outside=outside),
                (field,),
                OUTSIDE,
            )
    outside = _outside(set(request.dependencies) - implied, own)
    if outside:
        hint = "let the fleet wait for it: Fleet(..., opts=ResourceOptions(depends_on=...))"
        yield manifest.problem(
            Message("cannot-wait-itself", "cannot wait for {outside} by itself", outside=outside),
            (),
            hint,
        )


def _outside(urns: Collection[str], own: Collection[str]) -> str:
    return few(sorted(urn.rpartition("::")[2] for urn in set(urns) - set(own)))


def _carried_out(request: Any, manifest: Manifest) -> Iterator[Problem]:
    given = {
        field.name
        for field, value in request.ListFields()
        # A message that is set but empty says nothing.
        if not hasattr(value, "ByteSize") or value.ByteSize()
    }
    unused = sorted(_OPTIONS[field] for field in _OPTIONS.keys() & given)
    if unused:
        hint = "leave them out: the fleet delivers the object, to each member by its own rules"
        yield manifest.problem(
            Message(
                "options-do-nothing-here",
                "has options that do nothing here: {unused}",
                unused=", ".join(unused),
            ),
            (),
            hint,
        )


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
    problems: list[tuple[Message, FieldPath, str]] = attrs.field(factory=list)

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
            self.problems.append(
                (Message("no-value", "is a resource or a file, and no value"), path, hint)
            )
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
