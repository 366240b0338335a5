"""A mock monitor that records what a program registers, in the form in which the engine would
receive it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import attrs
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi import RunError
from pulumi.runtime.mocks import MockMonitor

from fleet_components.plan.ignored import ignore
from fleet_components.testing.lineage import ROOT, Lineage, make_urn
from fleet_components.testing.mocks import PROVIDERS, FleetMocks
from fleet_components.testing.transforms import Transforms

_QUIET_SECONDS = 0.3
"""Time without a registration after which no further one is expected."""


@attrs.frozen
class Registration:
    """One resource that a program registered.

    Attributes:
        urn: its URN.
        type: its type token.
        name: its logical name.
        custom: True if a provider manages it, False for a component.
        inputs: the inputs that the engine would use, in wire form, with secrets marked.
        parent: the URN of its parent; empty for the stack.
        provider: the reference of its explicit provider; empty when it has none.
        dependencies: the URNs that it depends on.
        options: the options that are shown to a reader, if set: protect, retainOnDelete, hideDiffs.
        aliases: the URNs under which it may have been registered before.
    """

    urn: str
    type: str
    name: str
    custom: bool
    inputs: Mapping[str, Any]
    parent: str = ""
    provider: str = ""
    dependencies: tuple[str, ...] = ()
    options: Mapping[str, Any] = attrs.field(factory=dict)
    aliases: tuple[str, ...] = ()


class Refused(Exception):
    """The failure of a resource that a test made fail."""


class RecordingMonitor(MockMonitor):
    """The SDK's mock monitor, extended by a record of all registrations and by behaviour of the
    engine.

    As on the engine, resources inherit transforms (those of the stack included), aliases,
    protection and providers from their parents.

    Args:
        mocks: the mocks that answer for the resources.
        fails: returns True for registrations that fail, as if a cluster had rejected them.
    """

    def __init__(
        self, mocks: FleetMocks, fails: Callable[[Registration], bool] = lambda _: False
    ) -> None:
        super().__init__(mocks)
        self._fleet_mocks = mocks
        self.registrations: list[Registration] = []
        self.outputs: dict[
            str, Mapping[str, Any]
        ] = {}  # of components and of the stack, in wire form, by URN
        self.answers: dict[
            str, tuple[str, Mapping[str, Any]]
        ] = {}  # ids and outputs of resources, by URN
        self._fails = fails
        self._lineage = Lineage(mocks.state.resources)
        self._transforms = Transforms()
        self._of_calls: list[Any] = []
        self._claimed: set[str] = set()
        self._lock = threading.Lock()
        self._loops: set[asyncio.AbstractEventLoop] = set()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return the URN as the engine makes it, with the types of all parents except the stack."""
        return make_urn(parent, type_, name)

    def close(self) -> None:
        """Close what the program's calls opened: event loops of threads, and connections."""
        self._transforms.close()
        for loop in self._loops:
            loop.close()

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Record a resource and answer as the mocks do."""
        # The stack itself is no resource of the program.
        if request.type == ROOT:
            return super().RegisterResource(request)  # type: ignore[no-untyped-call]
        # First, since aliases, ignored fields and the record depend on inherited options.
        self._hand_down(request)
        aliases = self._lineage.aliases(request)
        urn = make_urn(request.parent, request.type, request.name)
        self._claim(urn)
        previous = self._lineage.previous(urn, aliases)
        self._fleet_mocks.stood(request.type, request.name, previous)
        self._ignore_changes(request)
        registration = self._registration(urn, request, aliases)
        if self._fails(registration):
            self._settle()
            raise Refused(f"{registration.type} {registration.name} was made to fail")
        try:
            answer = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        finally:
            self._note_loop()
        # Only now, so that a resource that failed hands nothing down.
        self._lineage.enter(urn, request, previous)
        outputs = _wire(answer.object)
        self.answers[urn] = (answer.id, outputs)
        self._record(registration, outputs)
        return answer

    def RegisterStackTransform(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Record a transform of all resources."""
        self._lineage.transform_all(request)
        return empty_pb2.Empty()

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Record the outputs of a component or of the stack."""
        self.outputs[request.urn] = _wire(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]

    def RegisterStackInvokeTransform(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Record a transform of all calls of providers' functions."""
        with self._lock:
            self._of_calls.append(request)
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Close the connections to the program's transforms before it ends, and with it the server
        of these.
        """
        self._transforms.close()
        return super().SignalAndWaitForShutdown(request)  # type: ignore[no-untyped-call]

    def Invoke(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Apply the transforms of calls, and answer as the mocks do."""
        with self._lock:
            transforms = list(self._of_calls)
        self._transforms.apply_to_call(transforms, request)
        try:
            return super().Invoke(request)  # type: ignore[no-untyped-call]
        finally:
            self._note_loop()

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 - of the SDK
        """Answer as the mocks do."""
        self._claim(make_urn(request.parent, request.type, request.name))
        try:
            return super().ReadResource(request)  # type: ignore[no-untyped-call]
        finally:
            self._note_loop()

    def _claim(self, urn: str) -> None:
        """Raise the engine's error if another resource has the same URN."""
        with self._lock:
            if urn in self._claimed:
                raise RunError(f"Duplicate resource URN '{urn}'; try giving it a unique name")
            self._claimed.add(urn)

    def _hand_down(self, request: Any) -> None:
        """Apply options and transforms of the parents to a request."""
        self._lineage.inherit(request)
        self._transforms.apply(self._lineage.transforms(request), request)

    def _ignore_changes(self, request: Any) -> None:
        """Set ignored fields back to their old values, as the engine does."""
        old = self._fleet_mocks.olds(request.type, request.name)
        if request.ignoreChanges and old:
            inputs = _wire(request.object)
            ignore(inputs, old, request.ignoreChanges)
            request.object.Clear()
            ParseDict(inputs, request.object)

    def _settle(self) -> None:
        """Wait until nothing else is registered.

        As on the engine, resources that do not depend on the failing one are still registered.
        """
        seen = -1
        while seen != len(self.registrations):
            seen = len(self.registrations)
            time.sleep(_QUIET_SECONDS)

    def _note_loop(self) -> None:
        with self._lock, suppress(RuntimeError):  # a thread that needed no event loop has none
            # The SDK's mocks open an event loop in each thread that they are called in, and close
            # none.
            self._loops.add(asyncio.get_event_loop())

    def _record(self, registration: Registration, outputs: Mapping[str, Any]) -> None:
        if registration.type in PROVIDERS:
            # On the engine, the inputs of these are what ``check`` has returned.
            registration = attrs.evolve(registration, inputs=outputs)
        with self._lock:
            self.registrations.append(registration)

    def _registration(self, urn: str, request: Any, aliases: tuple[str, ...]) -> Registration:
        options = {"protect": request.protect, "retainOnDelete": request.retainOnDelete}
        shown: dict[str, Any] = {key: True for key, value in options.items() if value}
        if request.hideDiffs:
            shown["hideDiffs"] = list(request.hideDiffs)
        return Registration(
            urn=urn,
            type=request.type,
            name=request.name,
            custom=bool(request.custom),
            inputs=_wire(request.object),
            parent=request.parent,
            provider=request.provider,
            dependencies=tuple(sorted(request.dependencies)),
            options=shown,
            aliases=aliases,
        )


def _wire(struct: Any) -> dict[str, Any]:
    wire: dict[str, Any] = MessageToDict(struct)
    return wire
