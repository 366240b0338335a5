"""Replays a recording as a user's program over successive runs, and compares what comes of it with what was seen."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import attrs

from fleet_components import Fleet
from fleet_components.plan.karmada.place import TemplateOutcome
from fleet_components.plan.karmada.record import template_uid
from fleet_components.testing import ProgramRun, StackState, run_program
from tests.delivery.driver import changes, kubeconfigs
from tests.delivery.karmada.comparison import bindings_here, bindings_there, compared, copies_here, copies_there
from tests.delivery.karmada.recording import Objects, Recording, Step

_UPDATES = 4
"""After so many updates in a row the next step is taken, whether they have come to rest or not."""


@attrs.define(slots=False)
class Replay:
    """A recording on its way.

    Attributes:
        recording: the recording.
        without: kinds that are left out, as we refuse them.
        unhealthy: the members on which its Deployment ``nginx`` does not work.
        objects: what the user has written by now.
        state: the stack.
        outcomes: what the last run decided, by template.
    """

    recording: Recording
    without: frozenset[str] = frozenset()
    unhealthy: tuple[str, ...] = ()
    objects: Objects = attrs.field(factory=dict)
    state: StackState = StackState()
    outcomes: dict[str, TemplateOutcome] = attrs.field(factory=dict)

    def differences(self) -> Iterator[tuple[int, str]]:
        """What differs after each step, with the number of the step."""
        for step in self.recording.steps:
            for words in (*self._carry_out(step), *self._compared(step)):
                yield step.number, words

    def refusal(self, step: Step) -> str:
        """Why an update is refused when the user writes what is written in the step; empty when it is not."""
        self.recording.change(self.objects, step)
        return str(self._run(step).error or "")

    @cached_property
    def stack(self) -> str:
        """The name of a stack under which ties between members go as they were seen to go."""
        odd = {f"{self.recording.namespace}/{kind}/{name}": odd for (kind, name), odd in self.recording.odd.items()}
        names = (f"s{number}" for number in count())
        return next(n for n in names if all(_is_odd(template_uid(_full(n), key)) == odd[key] for key in odd))

    def _carry_out(self, step: Step) -> Iterator[str]:
        """Change what the user wrote and update; what Karmada's API refuses must be refused here too."""
        before = dict(self.objects)
        self.recording.change(self.objects, step)
        self.objects = {key: data for key, data in self.objects.items() if key[0] not in self.without}
        if refused := {key: words for key, words in step.refused.items() if key in self.objects}:
            yield from self._must_refuse(step, refused.values())
            accepted = {key: data for key, data in self.objects.items() if key not in refused}
            self.objects = accepted | {key: before[key] for key in refused if key in before}
        if step.pruned:
            yield from self._must_refuse(step, step.pruned)
            self.objects = {key: _without(data, step.pruned) for key, data in self.objects.items()}
        yield from self._update(step)

    def _update(self, step: Step) -> Iterator[str]:
        """Update until nothing changes any more; one update is to be enough."""
        if self.unhealthy:
            self.state = self._run(step, seen=False).state()
        for number in range(_UPDATES):
            run = self._run(step)
            if run.error:
                yield f"refused: {run.error}"
                return
            if not (changed := changes(run)):
                return
            self.state = run.state()
            if number:
                yield f"takes another update: {', '.join(sorted(changed))}"

    def _must_refuse(self, step: Step, words: Iterable[str]) -> Iterator[str]:
        text = str(self._run(step).error)
        yield from (f'refused with "{text}", there with "{expected}"' for expected in words if expected not in text)

    def _compared(self, step: Step) -> Iterator[str]:
        yield from compared(copies_there(step), copies_here(self.state))
        yield from compared(bindings_there(step), bindings_here(self.outcomes))

    def _run(self, step: Step, *, seen: bool = True) -> ProgramRun:
        """Run the program; ``seen`` says whether it is seen already where the application does not work."""
        self.outcomes = {}
        with tempfile.TemporaryDirectory() as folder:
            members = self.recording.members(step, self.objects)
            health = self._health() if seen else []
            documents = [_ours("KarmadaSettings", self.recording.settings), *health, *members, *self.objects.values()]
            (Path(folder) / "fleet.yaml").write_text("\n---\n".join(map(json.dumps, documents)))
            names = [member["metadata"]["name"] for member in members]
            config = {"fleet:source": folder, "fleet:kubeconfigs": kubeconfigs(names), "fleet:limit": "1"}
            return run_program(self._program, state=self.state, stack=self.stack, config=config, preview=False)

    def _program(self) -> None:
        for key, template in Fleet.from_config("dev").templates.items():
            self.outcomes[key] = template.decided.outcome

    def _health(self) -> list[dict[str, Any]]:
        if ("Deployment", "nginx") not in self.objects or not self.unhealthy:
            return []
        web = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": self.recording.namespace, "name": "nginx"}
        return [_ours("ApplicationHealth", {"unhealthy": [{**web, "cluster": name} for name in self.unhealthy]})]


def _ours(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "fleet-components/v1", "kind": kind, "metadata": {"name": "it"}, "spec": spec}


def _full(stack: str) -> str:
    return f"organization/project/{stack}"


def _is_odd(uid: str) -> bool:
    """Whether the FNV-1a hash is odd: its offset and its prime are, so each byte counts with its lowest bit."""
    return sum(uid.encode()) % 2 == 0


def _without(data: dict[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The object without fields that are given as ``spec.list[0].field``."""
    copy = deepcopy(data)
    for path in paths:
        *way, last = path.replace("[", ".").replace("]", "").split(".")
        part: Any = copy
        for name in way:
            part = part[int(name)] if isinstance(part, list) else part.get(name, {})
        part.pop(last, None)
    return copy
