"""Replays a recording as a user's program over successive runs, and compares what comes of it with what was seen."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import attrs

from fleet_components import Fleet, FleetArgs
from fleet_components.content.files import Text
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.karmada.member import serving_both
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, gather
from fleet_components.testing import ProgramRun, Registration, StackState, run_program
from tests.delivery.driver import FLEET, changes, kubeconfigs
from tests.delivery.recording import Data, Objects, Recording, S, Step

_UPDATES = 4
"""After so many updates in a row the next step is taken, whether they have come to rest or not."""


R = TypeVar("R", bound=Recording[Any])


@attrs.frozen
class Difference:
    """What differs after a step, in words."""

    step: Step
    words: str


@attrs.frozen
class Known:
    """A difference that is known.

    Attributes:
        words: how it reads, as a regular expression.
        why: why it is there.
    """

    words: str
    why: str

    def covers(self, difference: Difference) -> bool:
        """Whether this is it."""
        return re.match(self.words, difference.words) is not None


@attrs.define(slots=False)
class Replay(ABC, Generic[R, S]):
    """A recording on its way.

    Attributes:
        recording: the recording.
        objects: what the user has written by now.
        state: the stack.
        plan: what an update would do now; None before the first step, and where nothing can be planned.
    """

    recording: R
    objects: Objects = attrs.field(factory=dict)
    state: StackState = StackState()
    plan: FleetPlan | None = None

    def differences(self) -> Iterator[Difference]:
        """What differs after each step."""
        for step in self.recording.steps:
            for words in (*self._carry_out(step), *self.compared(step)):
                yield Difference(step, words)

    @classmethod
    @abstractmethod
    def of(cls, file: Path) -> Self:
        """The replay of the recording in a file."""

    @property
    @abstractmethod
    def known(self) -> Sequence[Known]:
        """What may differ."""

    @property
    def stack(self) -> str:
        """The name of the stack."""
        return "stack"

    @abstractmethod
    def compared(self, step: S) -> Iterator[str]:
        """What differs between what stands now and what was seen after a step."""

    def arguments(self, step: S) -> dict[str, Any]:
        """Further arguments of the fleet."""
        return {}

    def fails(self, step: S, registration: Registration) -> bool:
        """Whether an object did not become ready on its member in the recording."""
        return False

    def _carry_out(self, step: S) -> Iterator[str]:
        """Change what the user wrote and update; what the hub refuses must be refused here too."""
        before = dict(self.objects)
        self.recording.change(self.objects, step)
        if refused := self.recording.refused(self.objects, step):
            yield from self.must_refuse(step, refused.values())
            accepted = {key: data for key, data in self.objects.items() if key not in refused}
            self.objects = accepted | {key: before[key] for key in refused if key in before}
        yield from self.update(step)

    def must_refuse(self, step: S, words: Iterable[str]) -> Iterator[str]:
        """What differs where the update of a step has to be refused with these words."""
        text = str(self.run(step, self.source(step)).error or "")
        yield from (f'refused with "{text}", there with "{expected}"' for expected in words if expected not in text)

    def update(self, step: S) -> Iterator[str]:
        """Update until nothing changes any more; one update is to be enough."""
        source = self.source(step)
        for number in range(_UPDATES):
            run = self.run(step, source)
            if run.error and not run.registrations:
                self.plan = None
                yield f"refused: {run.error}"
                return
            if number and (changed := changes(run)):
                yield f"takes another update: {', '.join(sorted(changed))}"
            self.state = run.state()
            self._plan_again(source)
            if run.error or not (self.plan and self.plan.changes):
                return

    def source(self, step: S) -> Source:
        """What the user has written, as a source."""
        return gathered(self.documents(step))

    def documents(self, step: S) -> list[Data]:
        """What the user has written, and what was seen of the members."""
        return self.recording.documents(self.objects, step)

    def run(self, step: S, source: Source) -> ProgramRun:
        """Run the user's program; the state stays as it is."""

        def program() -> None:
            members = [member.name for member in source.clusters]
            args = FleetArgs(source, kubeconfigs=kubeconfigs(members), limit=1, **self.arguments(step))
            self.plan = Fleet(FLEET, args).plan

        def fails(registration: Registration) -> bool:
            return self.fails(step, registration)

        return run_program(program, state=self.state, stack=self.stack, preview=False, fails=fails)

    def _plan_again(self, source: Source) -> None:
        """Plan from what stands now, as the next preview would."""
        assert self.plan
        both = attrs.evolve(source, clusters=tuple(map(serving_both, source.clusters)))
        self.plan = plan_fleet(both, Past.of(self.state.resources.values(), FLEET), self.plan.options)


def gathered(documents: Iterable[Data]) -> Source:
    """The source that these documents are."""
    return gather(Text("fleet.yaml", "\n---\n".join(map(json.dumps, documents))))
