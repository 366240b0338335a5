"""A rollout: updates of one stack, planned one by one, until nothing moves or something is
needed.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import attrs

from fleet_components.automation.display import Lines, Picture
from fleet_components.automation.engine import Engine, Watcher, carried_out
from fleet_components.automation.progress import UpdateProgress
from fleet_components.automation.result import Ending, Result, RunUpdate, errors_of
from fleet_components.content.secret import secret_values
from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.schema import PlanDocument
from fleet_components.review.documents.statuses import StatusesDocument, statuses_document
from fleet_components.review.planning.project import Project
from fleet_components.review.planning.statuses import statuses
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.review.showing.console import make_console
from fleet_components.status.events import EngineEvent

_NO_PROGRESS = "the last update has succeeded, and the plan is the same as before it"
_MOVED = ("joins", "updated", "leaves")


@attrs.define(kw_only=True)
class StackRollout:
    """Updates of one stack.

    Attributes:
        project: the project.
        config: the file of the stack.
        folder: the project, as the command line names it.
        command: the options that plans depend on, with the name of the stack.
        agreed: called with the first plan; returns whether to carry it out.
        refuses: returns whether a plan is refused, by its document.
        quiet: whether standard output is left to a document.
        most: the largest number of updates.
        waits: whether times are waited for; plans and updates are then made as of the time of the
            clock.
        again: the command that goes on with it.
    """

    project: Project
    config: Path
    folder: Path
    command: CommandLine
    agreed: Callable[[PlanDocument], bool]
    refuses: Callable[[PlanDocument], bool]
    quiet: bool
    most: int
    waits: bool
    again: str
    engine: Engine = attrs.field(init=False)
    display: Lines = attrs.field(init=False)
    updates: list[RunUpdate] = attrs.field(factory=list, init=False)
    _surveyed: Survey | None = attrs.field(default=None, init=False)
    _planned: PlanDocument | None = attrs.field(default=None, init=False)
    _moved: list[tuple[str, ...]] = attrs.field(factory=list, init=False)
    _counted: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.engine = Engine(self.project, self.command.stack or "", self.config)
        console = make_console()
        # The display would mix with the document of -o json on a terminal.
        pictured = console.is_terminal and not self.quiet
        self.display = Picture(console) if pictured else Lines(err=self.quiet)

    def run(self) -> Result:
        """Plan and update until it ends.

        Raises:
            FleetError: no plan can be made.
        """
        try:
            while True:
                self._plan()
                ending = self._step()
                if ending:
                    return self._result(ending)
        except KeyboardInterrupt:
            if self._planned is None:
                raise  # nothing is known yet, and nothing was done
            return self._result(Ending.INTERRUPTED)

    def standing(self) -> StatusesDocument | None:
        """Return the statuses after an update that has failed or was stopped; None if there are
        none.
        """
        if not self.updates or not self.updates[-1].errors:
            return None
        try:
            command = attrs.evolve(self.command, state=self.engine.state(), as_of=self._as_of())
            return statuses_document(
                statuses([self.folder], command, self.updates[-1].progress.events)
            )
        except FleetError:
            return None  # the errors are printed all the same

    def _plan(self) -> None:
        self.display.plan(len(self.updates) + 1)
        try:
            state = self.engine.state()
            self._surveyed = survey(
                [self.folder], attrs.evolve(self.command, state=state, as_of=self._as_of())
            )
            self.engine.hide(
                secret_values(
                    manifest.data for plan in self._plans for manifest in plan.written.manifests
                )
            )
            self._planned = plan_document(self._surveyed)
        finally:
            self.display.end()

    def _step(self) -> Ending | None:
        """Carry out the plan, or wait for what it waits for; return how the rollout ends with it,
        if it does.
        """
        document = self._document
        moves = self._moves()
        # A forecast that goes on by itself is not refused: nothing more is sent.
        if self.refuses(document) and (moves or not (self._by_hub and self.updates)):
            return Ending.REFUSED
        if not moves:
            due = _due(document) if self.waits else None
            if due is None:
                return _at_rest(document)
            # due is known, so there is at least one wait.
            self._wait(due, document.remaining.waits[0].why)
            return None
        # After the check for moves: a rollout that is done within the limit has not hit it.
        if len(self.updates) == self.most:
            return Ending.LIMIT
        if not self.updates and not self.agreed(document):
            return Ending.DECLINED
        # An update that succeeds and leaves the same moves would be repeated for ever.
        moving, self._moved = self._moved, _moves_of(document)
        if moving and moving == self._moved:
            self.updates.append(RunUpdate(self._progress(), (_NO_PROGRESS,)))
            return Ending.FAILED
        return self._update()

    def _as_of(self) -> datetime | None:
        return datetime.now(UTC).replace(microsecond=0) if self.waits else self.command.as_of

    def _moves(self) -> bool:
        """Return whether an update has anything to do.

        The first one also brings what else the program has; after that the fleet alone counts, lest
        a resource that differs each time is updated for ever.
        """
        document = self._document
        # What a hub does goes on without updates: the first one has sent it everything.
        changes = (
            plan.moves_members if self._by_hub and self.updates else plan.changes
            for plan in self._plans
        )
        moves = any(changes) or (not self.updates and bool(document.changes))
        # A wait that no update has begun to count: the next one records the time.
        uncounted = (
            self.waits and bool(document.remaining.waits) and not (self._counted or _due(document))
        )
        return moves or uncounted

    @property
    def _document(self) -> PlanDocument:
        assert self._planned is not None
        return self._planned

    @property
    def _by_hub(self) -> bool:
        """True if a hub carries some of it out."""
        return any(plan.consignment.system for plan in self._plans)

    @property
    def _plans(self) -> tuple[FleetPlan, ...]:
        return self._surveyed.plans if self._surveyed else ()

    def _progress(self) -> UpdateProgress:
        number, left = len(self.updates) + 1, self._document.remaining
        # "+": more may follow, once somebody has approved or something has ended.
        more = "+" if left.endless or left.approvals or left.waits else ""
        return UpdateProgress(self._plans, number, f"{number + left.updates}{more}")

    def _update(self) -> Ending | None:
        """Run one update; return how the rollout ends with it, None if it goes on."""
        progress, as_of = self._progress(), self._as_of()
        # An update as of a time records when its waits begin: from then on they have an end.
        self._counted = as_of is not None
        self.display.begin(progress)
        try:
            ended, signals = self._carried_out(progress, as_of)
        finally:
            self.display.end()
        if not ended:
            for move in progress.succeed():
                self.display.moved(progress, move)
            self.display.succeed(progress)
        self.updates.append(RunUpdate(progress, errors_of(progress, ended)))
        if signals:
            return Ending.INTERRUPTED if signals == 1 else Ending.KILLED
        return Ending.FAILED if ended else None

    def _carried_out(self, progress: UpdateProgress, as_of: datetime | None) -> tuple[str, int]:
        """Run the engine; return what went wrong, and how often it was asked to stop."""

        def hear(event: EngineEvent) -> None:
            for move in progress.hear(event):
                self.display.moved(progress, move)

        watcher = Watcher(
            hear=hear, refresh=partial(self.display.refresh, progress), say=self.display.say
        )
        return carried_out(self.engine, watcher, as_of)

    def _wait(self, due: datetime, why: str) -> None:
        """Wait for a time, with a countdown."""
        try:
            while (left := due - datetime.now(UTC)) > timedelta():
                self.display.count_down(why, left)
                # Awake each second for the countdown, and not longer than what is left.
                time.sleep(min(1.0, left.total_seconds()))
        finally:
            self.display.end()

    def _result(self, ending: Ending) -> Result:
        return Result(
            ending=ending,
            plan=self._document,
            again=self.again,
            cancel=f"pulumi cancel --stack {self.command.stack}",
            updates=tuple(self.updates),
            hub=self._asking if self._by_hub else "",
        )

    @property
    def _asking(self) -> str:
        """The command that asks the hub how far it is."""
        return (
            f"fleet status {shlex.quote(str(self.folder))} --stack {self.command.stack} --hub"
            " KUBECONFIG"
        )


def _at_rest(document: PlanDocument) -> Ending:
    """Return how a rollout ends in which no update moves anything."""
    remaining = document.remaining
    held = any(subject.remaining.held for subject in document.subjects)
    return Ending.STOPPED if held or remaining.approvals or remaining.waits else Ending.DONE


def _due(document: PlanDocument) -> datetime | None:
    """Return the first time that is waited for; None if none is known."""
    until = [wait.until for wait in document.remaining.waits if wait.until]
    return min(map(datetime.fromisoformat, until), default=None)


def _moves_of(document: PlanDocument) -> list[tuple[str, ...]]:
    return [
        (subject.name, cluster.name, cluster.change, str(cluster.revision))
        for subject in document.subjects
        for cluster in subject.clusters
        if cluster.change in _MOVED
    ]
