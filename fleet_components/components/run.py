"""The fleets of one run of a program, and the moment at which the program has declared all of them.

A fleet does not know those that the program declares after it. What it loses may move to one of
them, so a fleet with losses is judged when the body of the program has ended. Until then nothing of
any fleet is written.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import pulumi
from pulumi.runtime import stack
from pulumi.runtime.settings import SETTINGS, get_root_resource

from fleet_components.components.process import output_of
from fleet_components.components.refusal import RefusedPlanError
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.neighbours import judged_together

# The root resource calls these when the body of the program has ended: the first one only if the
# body did not fail and the SDK runs coroutines (Pulumi SDK 3.272.0, pulumi/runtime/stack.py,
# run_in_stack).
_LAST_CALLS = ("_take_async_program", "register_outputs")


@attrs.define(eq=False)
class Planned:
    """A fleet of the run.

    Attributes:
        plan: its plan; once it is judged, the one that knows the other fleets.
        run: the run.
        judged: True once the plan is judged, and not refused.
    """

    plan: FleetPlan
    run: EngineRun
    judged: bool = False
    _waiting: list[Callable[[], None]] = attrs.field(factory=list)

    @cached_property
    def known(self) -> pulumi.Output[None]:
        """Resolves once the plan is judged beside all fleets that the body of the program
        declares.
        """
        return output_of(self.wait())

    async def wait(self) -> None:
        """Wait until the plan is judged.

        Raises:
            BaseException: why nothing must be written: the plan of a fleet is refused, or the body
                of the program has failed.
        """
        if self.judged:
            return
        await self.run.ended.wait()
        if self.run.error is not None:
            raise self.run.error

    def once_judged(self, call: Callable[[], None]) -> None:
        """Call a function as soon as the plan is judged, before anything of the fleet is
        written.
        """
        if self.judged:
            call()
        else:
            self._waiting.append(call)

    def judge(self) -> None:
        """Call what waits for the judgement of the plan."""
        self.judged = True
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    @property
    def others(self) -> tuple[FleetPlan, ...]:
        """Plans of the other fleets that are known so far."""
        return tuple(fleet.plan for fleet in self.run.fleets if fleet is not self)


@attrs.define(eq=False)
class EngineRun:
    """A run of a program.

    Attributes:
        fleets: the fleets in the order in which the program declares them.
        ended: set when the body of the program has ended.
        error: why it must not go on; None if it may.
    """

    fleets: list[Planned] = attrs.field(factory=list)
    ended: asyncio.Event = attrs.field(factory=asyncio.Event)
    error: BaseException | None = None

    @classmethod
    def current(cls) -> EngineRun:
        """Return the run of the program that is running.

        A program without a root resource, such as a unit test with the SDK's mocks, has no body
        whose end can be seen: each of its fleets is a run of its own.
        """
        root = get_root_resource()
        if root is None:
            alone = cls()
            alone.ended.set()
            return alone
        if root not in _RUNS:
            _RUNS[root] = run = cls()
            # Earlier releases of the SDK do not know this attribute, and have no programs whose
            # body is a coroutine.
            if getattr(root, "_outputs_registered", False):
                run.ended.set()
            else:
                run._await_end_of(root)
        return _RUNS[root]

    def add(self, plan: FleetPlan, *, defers: bool) -> Planned:
        """Return a fleet as one of this run.

        Args:
            plan: its plan; it may be refused.
            defers: whether a refusal may wait until all fleets are known.

        Raises:
            RefusedPlanError: the plan is refused, and does not wait.
        """
        planned = Planned(plan, self)
        self.fleets.append(planned)
        if self.ended.is_set() or not _in_body():
            self._judge([planned])
        elif plan.refused and not defers:
            raise RefusedPlanError([fleet.plan for fleet in self.fleets])
        return planned

    def _await_end_of(self, root: Any) -> None:
        for name in _LAST_CALLS:
            call = getattr(root, name, None)
            if call:
                # On this instance only; the class belongs to the SDK.
                setattr(root, name, self._ending(call))

    def _ending(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call of the root resource before which the fleets are judged, if they are not
        yet.
        """

        def ended(*given: Any) -> Any:
            self._end()
            return call(*given) if self.error is None else None

        return ended

    def _end(self) -> None:
        """Judge the fleets of a body that has ended.

        Raises:
            RefusedPlanError: the plan of a fleet is refused.
        """
        if self.ended.is_set():
            return
        # The error of the body, if the SDK makes this call while that error propagates.
        self.error = sys.exc_info()[1]
        # Tasks that wait for this go on only after this function, and see its error then.
        self.ended.set()
        try:
            if self.error is None:
                self._judge([fleet for fleet in self.fleets if not fleet.judged])
        except BaseException as error:
            self.error = error
            raise
        finally:
            if self.error is not None:
                _drop_registrations()

    def _judge(self, fleets: Sequence[Planned]) -> None:
        # Together with the fleets that were judged before: objects may move between all of them.
        together = judged_together([fleet.plan for fleet in self.fleets])
        for planned, plan in zip(self.fleets, together, strict=True):
            planned.plan = plan
        if any(fleet.plan.refused for fleet in fleets):
            raise RefusedPlanError(together)
        for planned in fleets:
            planned.judge()


def _drop_registrations() -> None:
    """Drop what waits to be registered: its errors would take the place of the one that has ended
    the program.

    The SDK waits for it, and ends with the first error that it finds there (Pulumi SDK 3.272.0,
    pulumi/runtime/stack.py, run_pulumi_func).
    """
    current = asyncio.current_task()
    for task in asyncio.all_tasks():
        if task is not current:
            task.cancel()
    SETTINGS.rpc_manager.clear()
    SETTINGS.outputs.clear()
    # The root resource makes new outputs of what the program exports, which is canceled too.
    root: Any = get_root_resource()
    if root is not None:
        root.outputs = {}


_RUNS: WeakKeyDictionary[Any, EngineRun] = WeakKeyDictionary()


def _in_body() -> bool:
    """Return whether the program is running its body, and not a coroutine, which may wait for its
    fleets.
    """
    within = [*_frames()]
    return within[-1].f_code.co_filename == stack.__file__ and not any(
        frame.f_code.co_flags & inspect.CO_COROUTINE for frame in within[:-1]
    )


def _frames() -> Iterator[FrameType]:
    """Yield the frames from here up to the SDK's function that runs the body of a program, if it
    does.
    """
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = None if frame.f_code.co_filename == stack.__file__ else frame.f_back
