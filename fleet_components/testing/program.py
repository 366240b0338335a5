"""Runs a Pulumi program in process: without the CLI, without an engine, without touching a
cluster.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import pulumi
from pulumi.runtime import resource, rpc_manager, set_all_config, set_mocks
from pulumi.runtime.proto import source_pb2
from pulumi.runtime.settings import SETTINGS, set_root_resource
from pulumi.runtime.stack import run_in_stack

from fleet_components.model.frames import own_frames
from fleet_components.plan.state import StackState, StoredResource, reveal
from fleet_components.testing.mocks import FleetMocks
from fleet_components.testing.monitor import RecordingMonitor, Registration
from fleet_components.testing.other_stacks import OtherStacks


@attrs.frozen
class ProgramRun:
    """Result of one run.

    Attributes:
        registrations: the resources, in the order of registration.
        before: the state before the run.
        exports: the outputs of the stack in wire form, with secrets marked; another run takes them
            as ``stacks``.
        messages: what the program logged, as (level, message).
        error: the error that ended the program early, with the frames of the program only; None if
            it did not.
        registered: what components registered as their outputs, in wire form, by URN.
        answers: the id and the outputs that the mocks gave each resource, in wire form, by URN.
    """

    registrations: tuple[Registration, ...]
    before: StackState
    exports: Mapping[str, Any]
    messages: tuple[tuple[str, str], ...]
    error: BaseException | None = None
    registered: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    answers: Mapping[str, tuple[str, Mapping[str, Any]]] = attrs.field(factory=dict)

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs of the stack, with secrets in plain."""
        plain: Mapping[str, Any] = reveal(self.exports)
        return plain

    def state(self) -> StackState:
        """Return the state after the run; after a failed one, with all resources that it did not
        update or delete.
        """
        after = {r.urn: _stored(r, self.registered.get(r.urn, {})) for r in self.registrations}
        kept = self.before.resources if self.error else {}
        return StackState({**kept, **after})

    def named(self, name: str, kind: str = "") -> Registration:
        """Return the only resource with that name and a type that ends with ``kind``.

        Raises:
            LookupError: there is none, or there are several.
        """
        found = [r for r in self.registrations if r.name == name and r.type.endswith(kind)]
        if len(found) != 1:
            known = ", ".join(sorted(r.name for r in self.registrations)) or "nothing"
            raise LookupError(f'{len(found)} resources are named "{name}"; registered: {known}')
        return found[0]

    def inputs(self, name: str, kind: str = "") -> Mapping[str, Any]:
        """Return the inputs of a resource, with secrets in plain; arguments as for
        :meth:`named`.
        """
        plain: Mapping[str, Any] = reveal(self.named(name, kind).inputs)
        return plain


def run_program(
    program: Callable[[], Any],
    *,
    state: StackState | None = None,
    project: str = "project",
    stack: str = "stack",
    organization: str = "organization",
    config: Mapping[str, Any] | None = None,
    secret_keys: Iterable[str] = (),
    preview: bool = True,
    fails: Callable[[Registration], bool] = lambda _: False,
    stacks: Mapping[str, Mapping[str, Any]] | None = None,
    mocks: Callable[[StackState], FleetMocks] = FleetMocks,
) -> ProgramRun:
    """Run a program against :class:`FleetMocks`.

    Args:
        program: the program, as a function without arguments.
        state: the state before the run.
        project: the project's name.
        stack: the stack's name.
        organization: the organization; a file backend has ``organization``.
        config: stack configuration; values other than strings are handed over as JSON, as by the
            engine.
        secret_keys: the configuration keys that are secret.
        preview: whether the program runs as in a preview.
        fails: returns True for registrations that fail; resources that depend on them are then not
            registered.
        stacks: outputs of other stacks that the program reads, by name: ``run.exports`` of a run of
            their program.
        mocks: returns the mocks, given the state before the run.
    """
    before = state or StackState()
    made = mocks(before)
    made.stacks = OtherStacks(stacks or {}, organization, project)
    monitor, logger, messages = RecordingMonitor(made, fails), *_recording_logger()
    reset_runtime()
    set_all_config({key: _text(value) for key, value in (config or {}).items()}, list(secret_keys))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # After a failure, asyncio would print a traceback for every future that nobody awaits any more.
    loop.set_exception_handler(lambda *_: None)
    error: BaseException | None = None
    try:
        set_mocks(monitor.mocks, project, stack, preview, logger, monitor, organization)
        # set_mocks registers a root stack, and run_in_stack refuses to make the program's own
        # beside it.
        set_root_resource(None)  # type: ignore[arg-type]
        with _without_traces():
            loop.run_until_complete(run_in_stack(program))
    except Exception as failure:  # noqa: BLE001 - the run reports whatever ended the program
        error = failure
        own_frames(error)
    # A program that exits with status 0 has not failed.
    except SystemExit as ended:
        error = pulumi.RunError(_ended(ended.code)) if ended.code else None
    finally:
        end_loop(loop)
        monitor.close()
    # Empty if the program failed before its outputs were registered.
    exports = next(
        (v for urn, v in monitor.outputs.items() if "::pulumi:pulumi:Stack::" in urn), {}
    )
    return ProgramRun(
        tuple(monitor.registrations),
        before,
        exports,
        tuple(messages),
        error,
        monitor.outputs,
        monitor.answers,
    )


@contextmanager
def _without_traces() -> Iterator[None]:
    """Keeps the SDK from walking the whole call stack for every resource: only an engine looks at
    these traces.
    """
    trace = getattr(resource, "_get_stack_trace", None)
    if trace is not None:
        # Private to the SDK.
        setattr(resource, "_get_stack_trace", source_pb2.StackTrace)  # noqa: B010
    try:
        yield
    finally:
        if trace is not None:
            setattr(resource, "_get_stack_trace", trace)  # noqa: B010


def _ended(code: int | str | None) -> str:
    how = f" with exit status {code}" if isinstance(code, int) else f": {code}"
    return f"the program ended itself{how}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def reset_runtime() -> None:
    """Reset the SDK's globals, which hold the program that ran last."""
    set_root_resource(None)  # type: ignore[arg-type]
    SETTINGS.rpc_manager = rpc_manager.RPCManager()
    SETTINGS.outputs.clear()


def end_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the tasks that a program left running, close its event loop, and reset the SDK."""
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    asyncio.set_event_loop(None)
    reset_runtime()


def _recording_logger() -> tuple[logging.Logger, list[tuple[str, str]]]:
    messages: list[tuple[str, str]] = []

    class _Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append((record.levelname.lower(), record.getMessage()))

    logger = logging.Logger("fleet-components program", logging.INFO)
    logger.addHandler(_Recorder())
    return logger, messages


def _without_nulls(value: Any) -> Any:
    """Return a value as a state has it: the engine drops what is null in a map."""
    match value:
        case Mapping():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list() | tuple():
            return [_without_nulls(item) for item in value]
    return value


def _stored(registration: Registration, registered: Mapping[str, Any]) -> StoredResource:
    """Return a resource as a state has it; a component with what it registered, all others with
    their inputs.
    """
    inputs = _without_nulls(reveal(registration.inputs))
    outputs = inputs if registration.custom else _without_nulls(reveal(registered))
    return StoredResource(
        urn=registration.urn,
        type=registration.type,
        inputs=inputs,
        outputs={k: v for k, v in outputs.items() if not isinstance(v, pulumi.output.Unknown)},
        id=f"{registration.name}-id" if registration.custom else "",
        parent=registration.parent,
        provider=registration.provider,
        dependencies=registration.dependencies,
    )
