"""Registration of a fleet's resources: what the engine need not know, and what an update leaves
out.

``pulumi up --target`` and ``--exclude`` leave resources out, and no program learns that. The engine
answers the registration of a new resource that is left out with ``unknown``, and that of a known
one with its old outputs (pulumi/pulumi v3.260.0, pkg/resource/deploy/step.go, SameStep).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import Any

import attrs
import pulumi
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import SETTINGS, get_monitor

from fleet_components.components.process import in_process
from fleet_components.components.refusal import RefusedError
from fleet_components.content.difference import differences
from fleet_components.content.replacement import as_sent
from fleet_components.model.manifest import value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.plan import names
from fleet_components.plan.ignored import ignore
from fleet_components.plan.state import reveal

_DECISIONS = (names.PLACEMENT, names.TEMPLATE)
_NO_PLACE = Message(
    "moves-place-target-exclude", "moves to a place that --target or --exclude leaves out"
)
UNLIMITED = "run pulumi up without --target and --exclude"


@contextmanager
def registering() -> Iterator[None]:
    """Register what the body makes through :class:`Registrations`; in process nothing is left
    out.
    """
    engine = get_monitor()
    if in_process():
        yield
        return
    # The SDK keeps for each resource the monitor that it finds when the resource is made.
    SETTINGS.monitor = Registrations(engine)
    try:
        yield
    finally:
        SETTINGS.monitor = engine


def registrations() -> Registrations | None:
    """Return the registrations of the fleet that is being made; None in process."""
    monitor = get_monitor()
    return monitor if isinstance(monitor, Registrations) else None


def observed(options: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Return the options of the fleet that is being made, with transforms that also record which
    fields they ignore.
    """
    known = registrations()
    if known is None:
        return options
    options = copy(options)
    options.transforms = [known.observed(each) for each in options.transforms or ()]
    return options


# Equal for one engine: caches have the monitor as their key (past.py), and each fleet makes one.
@attrs.define(unsafe_hash=True)
class Registrations:
    """The engine's monitor, through which the resources of a fleet are registered.

    Attributes:
        engine: the monitor.
    """

    engine: Any
    _left_out: dict[str, str] = attrs.field(factory=dict, eq=False)
    _watched: set[tuple[str, str]] = attrs.field(factory=set, eq=False)
    _outputs: dict[tuple[str, str], Any] = attrs.field(factory=dict, eq=False)
    _ignored: dict[tuple[str, str], set[str]] = attrs.field(factory=dict, eq=False)

    def watch(self, name: str, data: Mapping[str, Any]) -> None:
        """Keep what the engine answers for an object, by the name of its resource."""
        self._watched.add((names.type_token(data), name))

    def observed(self, transform: pulumi.ResourceTransform) -> pulumi.ResourceTransform:
        """Return a transform that also keeps which fields of objects the engine ignores after
        it.
        """

        async def observe(
            args: pulumi.ResourceTransformArgs,
        ) -> pulumi.ResourceTransformResult | None:
            result = transform(args)
            changed = await result if inspect.isawaitable(result) else result
            options = changed.opts if changed and changed.opts else args.opts
            self._ignore(args.type_, args.name, list(options.ignore_changes or ()))
            return changed

        return observe

    def _ignore(self, token: str, name: str, fields: Iterable[str]) -> None:
        self._ignored.setdefault((token, name), set()).update(fields)

    def is_sent(
        self, name: str, previous: Sequence[Mapping[str, Any]], data: Mapping[str, Any]
    ) -> bool:
        """Return whether an object that is watched was sent, and not left out.

        It counts as left out where all fields in which it differs from a former form are in that
        form still, apart from those that the engine ignores. What transforms of the stack, and of
        components above the fleet, have it ignore is not known.

        Args:
            name: the name of its resource.
            previous: forms in which it may have been sent before this update.
            data: the form in which it is sent now.
        """
        # Objects of several kinds may have one name.
        key = (names.type_token(data), name)
        outputs, ignored = self._outputs.pop(key, None), self._ignored.get(key, ())
        if outputs is None:
            return False
        inputs = as_sent(reveal(MessageToDict(outputs.fields["__inputs"].struct_value)))
        # Without inputs nothing can be compared, and the object counts as sent.
        for old in previous if inputs else ():
            before, now = as_sent(old), deepcopy(dict(as_sent(data)))
            ignore(now, before, ignored)
            found = list(differences(before, now))
            if found and all(
                value_at(inputs, difference.path) == difference.old for difference in found
            ):
                return False
        return True

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the SDK's method
        """Register without the trace of calls, and without dependencies on what this update leaves
        out.
        """
        # The engine writes the whole state at every step, and the trace is as large as the inputs
        # and outputs. It leads through this package, and says nothing of the source.
        request.ClearField("stackTrace")
        answer = self._answer_left_out(request) or self._register(request)
        if answer.unknown:
            self._left_out[answer.urn] = request.type
        elif (request.type, request.name) in self._watched:
            self._outputs[request.type, request.name] = answer.object
            self._ignore(request.type, request.name, request.ignoreChanges)
        return answer

    def _register(self, request: Any) -> Any:
        # With --exclude the engine writes a state that refers to what is not there, and cannot be
        # read again (pulumi/pulumi v3.260.0, pkg/resource/deploy/step_generator.go, validateSteps).
        dependencies = [urn for urn in request.dependencies if urn not in self._left_out]
        if len(dependencies) < len(request.dependencies):
            del request.dependencies[:]
            request.dependencies.extend(dependencies)
            for each in request.propertyDependencies.values():
                kept = [urn for urn in each.urns if urn not in self._left_out]
                del each.urns[:]
                each.urns.extend(kept)
        return self.engine.RegisterResource(request)

    def _answer_left_out(self, request: Any) -> Any:
        """Return the answer for a resource below a new one that is left out; None for any other.

        Raises:
            RefusedError: it stands elsewhere, and would be deleted there.
        """
        decisions = [urn for urn in request.dependencies if self._left_out.get(urn) in _DECISIONS]
        if request.parent not in self._left_out and not decisions:
            return None
        # It may stand under one of its aliases.
        if request.aliases or request.aliasURNs:
            raise RefusedError(
                [Problem(_NO_PLACE, subject=f"{request.type} {request.name}", hint=UNLIMITED)]
            )
        begin, _, _ = request.parent.rpartition("::")
        # In a URN, the types of the parents precede that of the resource, separated by "$".
        urn = f"{begin}${request.type}::{request.name}"
        return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object, unknown=True)

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the engine."""
        return getattr(self.engine, name)
