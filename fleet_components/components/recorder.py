"""A stand-in for the engine that records the Kubernetes resources a program makes, without registering them.

The SDK takes its monitor from the context in which a resource is made, and tasks keep the context that they were
started in. So resources that are made in a context with another monitor are registered with that monitor alone,
whatever else runs at the same time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import attrs
import pulumi
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.rpc_manager import RPCManager
from pulumi.runtime.settings import SETTINGS, get_monitor, set_root_resource
from pulumi.runtime.stack import wait_for_rpcs
from pulumi.runtime.sync_await import _ensure_event_loop, _sync_await

from fleet_components.components.request import OUTSIDE, read_request
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.names import is_object
from fleet_components.plan.state import is_marked

SECONDS = 60
"""Longest wait for the values of objects, in seconds; a value that takes longer is not a setting."""
_BUILDERS = ("kubernetes:yaml", "kubernetes:helm", "kubernetes:kustomize")
_AS_A_SOURCE = "give the path as a source of the fleet: it takes files, directories, Helm charts and kustomizations"
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

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        """Record an object and answer with its inputs; of a component, only the resources in it are recorded."""
        urn = f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::{request.type}::{request.name}"
        answer = resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        with self._lock:
            self._own.add(urn)
            if is_object(request.type) and not request.type.startswith(_BUILDERS):
                manifest, problems = read_request(request, self._own, naming=self.naming)
                self.manifests.append(manifest)
                self.problems += problems
                _tell_name(answer, manifest)
            elif request.custom or request.remote:
                self._refuse(request, "is not a Kubernetes object")
        return answer

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        """Accept the outputs of a component, which are not used."""
        return Empty()

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        """Record a problem: existing resources cannot be read."""
        with self._lock:
            self._refuse(request, "is read, and not made")
        return resource_pb2.ReadResourceResponse(urn=f"urn:pulumi:{request.name}", properties=request.properties)

    def Invoke(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        """Pass a call on to the engine, unless it builds objects, which not every plan can do.

        Raises:
            FleetError: the Kubernetes provider would have to build the objects from files.
        """
        if request.tok.startswith(_BUILDERS):
            raise FleetError([Problem(f"{request.tok} makes objects of files", hint=_AS_A_SOURCE)])
        return self.engine.Invoke(request)

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the engine."""
        return getattr(self.engine, name)

    def _refuse(self, request: Any, what: str) -> None:
        built = request.type.startswith(_BUILDERS)
        hint = _AS_A_SOURCE if built else "keep it out of the function: it is the program's own, and not the fleet's"
        self.problems.append(Problem(what, hint=hint, subject=f"{request.type} {request.name}"))


def record(make: Callable[[], Any], *, naming: bool = True) -> Recorder:
    """Run a function and record the Kubernetes resources that it makes.

    The function always runs as in a preview, so fields that only a cluster knows are unknown, and an update makes
    the same objects as a preview.

    Args:
        make: makes the resources.
        naming: True if an object without a name gets that of its resource.

    Raises:
        FleetError: a value is still unknown after ``SECONDS``, or has a type that no object can hold.
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
    # With lists of its own the wait below is for these resources, and not for all that the program has begun.
    SETTINGS.rpc_manager, SETTINGS.outputs = RPCManager(), type(SETTINGS.outputs)()
    set_root_resource(None)  # type: ignore[arg-type]
    make()
    try:
        _sync_await(asyncio.wait_for(wait_for_rpcs(), SECONDS))
    except TimeoutError:
        what = f"what an object is made of is not known after {SECONDS} s"
        raise FleetError([*recorder.problems, Problem(what, hint=OUTSIDE)]) from None
    except ValueError as error:
        # The SDK names the field that it cannot serialize, outermost first; the last line has the value itself.
        *_, last = str(error).splitlines() or [""]
        if _STRANGE not in last:
            raise
        problem = Problem(last[last.index(_STRANGE) :], hint="write text, a number, a list or a dict")
        raise FleetError([*recorder.problems, problem]) from error


def _tell_name(answer: Any, manifest: Manifest) -> None:
    """Add the name to the answer, so that other objects can use ``namespace.metadata["name"]`` or ``namespace.id``."""
    answer.id = f"{manifest.namespace}/{manifest.name}" if manifest.namespace else manifest.name
    metadata = MessageToDict(answer.object).get("metadata") or {}
    if not is_marked(metadata) and not metadata.get("name"):
        ParseDict({"metadata": {**metadata, "name": manifest.name}}, answer.object)
