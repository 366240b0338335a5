"""Outcome of a change that is only supposed: planned from what is decided now, and nothing is
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.delivered import delivered
from fleet_components.plan.remainder import MOST_UPDATES, together
from fleet_components.plan.source import Source, gathered
from fleet_components.plan.state import StackState
from fleet_components.review.planning.edit import written_in
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.selection import SelectableMembers
from fleet_components.review.planning.supposition import SUPPOSED, Supposed, Supposition
from fleet_components.review.planning.survey import (
    CommandLine,
    Survey,
    gathered_from,
    survey_source,
)

_IN_PROGRAM = (
    "change it, and plan it with the --state that fleet plan --save-state has written before the"
    " change"
)
_NOTHING_AFTER = Message(
    "nothing-after-refusal", "refused, so nothing can come after it: {refusal}"
)
AS_NEW = "the fleet as it is, as if newly made"


@attrs.frozen(kw_only=True)
class SimulationStart:
    """The fleet as it is, with what is decided now.

    Attributes:
        source: the fleet.
        paths: where it is written.
        command: the options, with the state that the supposed change starts from.
        before: the plan without any change: what is still to be done anyway.
        words: what the plan starts from.
    """

    source: Source
    paths: Sequence[Path]
    command: CommandLine
    before: Survey
    words: str

    @classmethod
    def of(cls, paths: Sequence[Path], command: CommandLine) -> SimulationStart:
        """Read a fleet, and what is decided; without a state, what is planned now counts as carried
        out.

        Args:
            paths: files and directories of a fleet, or a Pulumi project whose ``fleet:source``
                names them.
            command: the options of the command line.

        Raises:
            FleetError: the source or the options cannot be used, or the program of a project makes
                the fleet.
        """
        paths, command = written_in(paths, command, _IN_PROGRAM)
        with command.together():
            source = gathered_from(paths, command)
            before = survey_source(source, paths, command)
        start = cls(
            source=source,
            paths=paths,
            command=command,
            before=before,
            words=before.against or f"the state in {before.file}",
        )
        return (
            start if command.state.file else attrs.evolve(start.carried_out(before), words=AS_NEW)
        )

    def carried_out(self, survey: Survey) -> SimulationStart:
        """Return the start after an update and those that it leaves, with all approvals that they
        need.

        Raises:
            FleetError: the update is refused, or what comes after it cannot be planned.
        """
        start = self._after(survey)
        # Bounded, as a rollout may never end.
        for _ in range(MOST_UPDATES):
            left = together(survey.plans[0].remainders.values())
            if start.before.refused or not (left.updates or left.approvals):
                break
            command = attrs.evolve(
                start.command, approvals=start.command.approvals.union(left.approvals)
            )
            survey = (
                # Plan again only if there are approvals: start.before is the same plan without
                # them.
                survey_source(start.source, start.paths, command)
                if left.approvals
                else start.before
            )
            start = attrs.evolve(start, command=command)._after(survey)
        return start

    def _after(self, survey: Survey) -> SimulationStart:
        """Return the start after one update."""
        if survey.refused:
            raise FleetError(
                attrs.evolve(refusal, message=_NOTHING_AFTER.filled(refusal=refusal.message))
                for refusal in survey.refused
            )
        state = StateFile(state=StackState.of(delivered(survey.plans[0], redacted=False)))
        command = attrs.evolve(self.command, state=state)
        before = survey_source(self.source, self.paths, command)
        return attrs.evolve(self, command=command, before=before)

    def supposing(self, suppositions: Iterable[Supposition]) -> Simulation:
        """Return what comes of a change.

        Args:
            suppositions: the parts of the change, in their order.

        Raises:
            FleetError: a part names what is not there, or API servers would refuse what is
                supposed.
        """
        fleet, problems = Supposed.of(self.source), list[Problem]()
        for supposition in suppositions:
            try:
                fleet = supposition.applied(fleet)
            except FleetError as error:
                problems += error.problems
        if problems:
            raise FleetError(problems)
        # By identity: suppositions of losses alone leave the objects as they are.
        same = fleet.manifests is self.source.given.manifests
        source = (
            self.source
            if same
            else gathered(attrs.evolve(self.source.given, manifests=fleet.manifests))
        )
        command = attrs.evolve(self.command, lost=self.command.lost | fleet.lost)
        try:
            survey = survey_source(source, self.paths, command)
        except FleetError as error:
            raise FleetError(_as_supposed(error.problems, self.source, source)) from error
        against = f"{self.words}, supposing: {'; '.join(fleet.words) or 'nothing'}"
        # What would change without the supposition is marked as pending.
        survey = attrs.evolve(survey, against=against, pending=self.pending)
        return Simulation(
            start=self, source=source, roster=fleet.roster, words=fleet.words, survey=survey
        )

    @property
    def pending(self) -> frozenset[str]:
        """Names of the placements and templates that would change without any change of the
        fleet.
        """
        return frozenset(
            subject.name
            for plan in self.before.plans
            for subject in plan.subjects
            if subject.changes
        )


@attrs.frozen(kw_only=True)
class Simulation:
    """A supposed change, and what comes of it.

    Attributes:
        start: what it starts from.
        source: the fleet as it is supposed to be.
        roster: its members, to be selected.
        words: what is supposed.
        survey: the plan.
    """

    start: SimulationStart
    source: Source
    roster: SelectableMembers
    words: tuple[str, ...]
    survey: Survey

    def carried_out(self) -> SimulationStart:
        """Return the supposed fleet as a start, once the update and those that it leaves are
        carried out.

        Raises:
            FleetError: the update is refused.
        """
        # A token allows a loss once.
        command = attrs.evolve(self.start.command, confirm=frozenset())
        return attrs.evolve(self.start, source=self.source, command=command).carried_out(
            self.survey
        )


def simulate(
    paths: Sequence[Path], command: CommandLine, suppositions: Iterable[Supposition]
) -> Simulation:
    """Plan a fleet with a change that is only supposed.

    Args:
        paths: files and directories of a fleet, or a Pulumi project whose ``fleet:source`` names
            them.
        command: the options of the command line.
        suppositions: the parts of the change, in their order.

    Raises:
        FleetError: the source or the options cannot be used, or nothing can be planned as supposed.
    """
    return SimulationStart.of(paths, command).supposing(suppositions)


def _as_supposed(problems: Iterable[Problem], before: Source, after: Source) -> list[Problem]:
    """Return the problems of a supposed fleet; those of changed objects are in no line of a file.

    The fleet as it is has none, so what is wrong with an object that its files have was supposed.
    """
    known = {
        file
        for manifest in before.given.manifests
        if manifest.origin
        for file in manifest.origin.files
    }
    given = {manifest.origin.file for manifest in after.given.manifests if manifest.origin} - known
    return [
        problem if problem.file in given else attrs.evolve(problem, file=SUPPOSED.file, line=None)
        for problem in problems
    ]
