"""Replays a recording as a user's program over successive runs, and compares what comes of it with what was seen."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components import Fleet, FleetArgs
from fleet_components.admission import Existing, admit
from fleet_components.content.files import Text
from fleet_components.model.cluster import serving_both
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.model.releases import Releases
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, gather
from fleet_components.plan.state import reveal
from fleet_components.testing import ProgramRun, Registration, StackState, run_program
from tests.delivery.driver import FLEET, changes, kubeconfigs
from tests.delivery.recording import (
    NOW,
    Data,
    Differing,
    Key,
    Objects,
    Recording,
    S,
    Seen,
    Step,
    compared,
)
from tests.delivery.refusals import without_value

_UPDATES = 4
"""After so many updates in a row the next step is taken, whether they have come to rest or not."""


R = TypeVar("R", bound=Recording[Any])


@attrs.frozen
class Difference:
    """What differs after a step of a recording.

    Attributes:
        found: what differs, and how; in words where it is not about something that was seen in either place.
    """

    recording: Recording[Any]
    step: Step
    found: Differing | str

    @property
    def words(self) -> str:
        """How it reads."""
        return str(self.found)


When = Callable[[Difference], bool]


@attrs.frozen
class Known:
    """A difference that is known wherever something holds, in any recording.

    Attributes:
        words: how it reads, as a regular expression.
        why: why it is there.
        source: where that is written: a file of ``docs`` with its heading, or a file of the system and its release.
        when: whether it holds.
    """

    words: str
    why: str
    source: str
    when: When

    def covers(self, difference: Difference) -> bool:
        """Whether this is it."""
        return re.match(self.words, difference.words) is not None and self.when(difference)


@attrs.define(slots=False)
class Replay(ABC, Generic[R, S]):
    """A recording on its way.

    Attributes:
        recording: the recording.
        objects: what the user has written by now.
        state: the stack.
        before: what the user had written before the last step.
        broken: what the hub took and could not carry out.
        plan: what an update would do now; None before the first step, and where nothing can be planned.
        settled: what the user had written when the last update came to rest; None where it did not.
        unready: what the last run has written and did not become ready.
        last: what was compared last: what was seen, and what stood here.
    """

    recording: R
    objects: Objects = attrs.field(factory=dict)
    state: StackState = StackState()
    before: Objects = attrs.field(factory=dict)
    broken: Objects = attrs.field(factory=dict)
    plan: FleetPlan | None = None
    settled: list[Data] | None = None
    unready: list[Registration] = attrs.field(factory=list)
    last: list[tuple[Seen, Seen]] = attrs.field(factory=list)

    def differences(self) -> Iterator[Difference]:
        """What differs after each step."""
        for step in self.recording.steps:
            for found in (*self.carried(step), *self.compared(step)):
                yield Difference(self.recording, step, found)

    def unexplained(self) -> Iterator[Difference]:
        """What differs and is not known."""
        return (difference for difference in self.differences() if not self.explained(difference))

    def explained(self, difference: Difference) -> Known | None:
        """The first rule that a difference comes under."""
        return next((known for known in self.known if known.covers(difference)), None)

    @classmethod
    @abstractmethod
    def of(cls, recording: R) -> Self:
        """The replay of a recording."""

    known: ClassVar[Sequence[Known]]
    """What may differ."""

    @property
    def stack(self) -> str:
        """The name of the stack."""
        return "stack"

    @abstractmethod
    def seen(self, step: S) -> Iterator[tuple[Seen, Seen]]:
        """What was seen after a step, and what stands now: pairs that are compared."""

    def compared(self, step: S) -> Iterator[Differing | str]:
        """What differs between what stands now and what was seen after a step."""
        self.last = list(self.seen(step))
        for there, here in self.last:
            yield from compared(there, here)

    @property
    def settings(self) -> Settings:
        """The settings of the fleet: whatever the user did was meant."""
        return Settings(limit=1)

    def fails(self, step: S, registration: Registration) -> bool:
        """Whether an object did not become ready on its member in the recording."""
        return False

    def carried_out(self) -> None:
        """Take notice of what a run has done."""

    def planned(self, source: Source) -> None:
        """Take notice of the plan."""

    def carried(self, step: S) -> Iterator[str]:
        """Change what the user wrote and update; what the hub refuses must be refused here too."""
        good = dict(self.objects)
        self.before = good | self.broken
        self.objects = dict(self.before)
        self.recording.change(self.objects, step)
        broken = self.recording.broken(self.objects, step)
        self.broken = {key: self.objects[key] for key in broken}
        if refused := {**self.recording.refused(self.objects, step), **broken}:
            yield from self.must_refuse(step, refused)
            accepted = {key: data for key, data in self.objects.items() if key not in refused}
            self.objects = accepted | {key: good[key] for key in refused if key in good}
        yield from self.update(step)

    def must_refuse(self, step: S, refused: Mapping[Key, tuple[str, ...]]) -> Iterator[str]:
        """What differs where the update of a step has to be refused because of each of these objects.

        Args:
            step: the step.
            refused: the reasons that the API server gave, by kind and name. What it says of a field that it does not
                know is said of no object.
        """
        text = self.refusal(gathered(self.documents(step), self.recording.releases))
        for key, expected in refused.items():
            told = [without_value(words) for words in (text, *self._refusals(key))]
            if "/".join(filter(None, key[1:])) not in text:
                yield f"{' '.join(key)} is not refused: {text}"
            yield from (
                f'refused with "{told}", there with "{item}"'
                for item in map(without_value, expected)
                if not item or not any(item in words for words in told)
            )

    def _refusals(self, key: Key) -> list[str]:
        """What the API server says to an object."""
        if key not in self.objects:
            return []
        old = Manifest(self.before[key]) if key in self.before else None
        context = Existing(
            tuple(Manifest(data) for data in self.objects.values()), self.recording.releases
        )
        return [
            refusal.text
            for refusal in admit(Manifest(self.objects[key]), old=old, context=context).refusals
        ]

    def update(self, step: S) -> Iterator[str]:
        """Update until nothing changes any more; one update is to be enough."""
        documents = self.documents(step)
        if documents == self.settled:
            return
        source, self.settled = gathered(documents, self.recording.releases), None
        for number in range(_UPDATES):
            text = self._look(source)
            if not text and self.plan and not self.plan.changes:
                self.settled = documents
                return
            tokens = re.findall(r"fleet:confirm=(\w+)", text)
            run = None if text and not tokens else self.run(step, source, tokens)
            if run is None or not run.registrations:
                self.plan = None
                yield f"refused: {run.error if run else text}"
                return
            if number and (changed := changes(run)):
                yield f"takes another update: {', '.join(sorted(changed))}"
            self.carried_out()
            self.state = self._left(run)
            if run.error:
                break
        else:
            yield f"does not come to rest after {_UPDATES} updates"
        self._look(source)

    def refusal(self, source: Source) -> str:
        """Why an update is refused; empty when it is not."""
        return self._judged(source)[1]

    def _look(self, source: Source) -> str:
        """Take notice of what an update would do now; why it is refused."""
        self.plan, text = self._judged(source)
        if self.plan:
            self.planned(source)
        return text

    def _judged(self, source: Source) -> tuple[FleetPlan | None, str]:
        """The plan, and why it is refused."""
        try:
            plan = self._planned(source)
        except FleetError as error:
            return None, str(error)
        return plan, "\n".join(map(str, plan.refused))

    def documents(self, step: S) -> list[Data]:
        """What the user has written, and what was seen of the members."""
        return self.recording.documents(self.objects, step)

    def run(self, step: S, source: Source, confirm: Sequence[str] = ()) -> ProgramRun:
        """Run the user's program, which means the losses with these tokens; the state stays as it is."""

        def program() -> None:
            members = [member.name for member in source.clusters]
            args = FleetArgs(
                source,
                kubeconfigs=kubeconfigs(members),
                as_of=NOW,
                limit=self.settings.limit,
                keep_cluster_resources=self.settings.keep_cluster_resources,
                confirm=confirm,
            )
            self.plan = Fleet(FLEET, args).plan

        def fails(registration: Registration) -> bool:
            if fails := self.fails(step, registration):
                self.unready.append(registration)
            return fails

        self.unready.clear()
        return run_program(program, state=self.state, stack=self.stack, preview=False, fails=fails)

    def _left(self, run: ProgramRun) -> StackState:
        """The state after a run: an object that was written and did not become ready is there as it was written."""
        resources = dict(run.state().resources)
        for item in self.unready:
            inputs = reveal(item.inputs)
            if item.urn in resources:
                resources[item.urn] = attrs.evolve(
                    resources[item.urn], inputs=inputs, outputs=inputs
                )
        return StackState(resources)

    def _planned(self, source: Source) -> FleetPlan:
        """The plan from what stands now, as the next preview shows it."""
        both = attrs.evolve(source, clusters=tuple(map(serving_both, source.clusters)))
        options = Options(
            stack=f"organization/project/{self.stack}",
            fleet=FLEET,
            settings=self.settings,
            as_of=NOW,
        )
        return plan_fleet(both, Past.of(self.state.resources.values(), FLEET), options)


def gathered(documents: Iterable[Data], releases: Releases) -> Source:
    """The source that these documents are, for a hub of a release."""
    return gather(Text("fleet.yaml", "\n---\n".join(map(json.dumps, documents))), releases=releases)
