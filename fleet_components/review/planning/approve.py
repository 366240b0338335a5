"""Approval of a staged update: the request for a pull request, and what an update with it moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import attrs

from fleet_components.content.insertion import UnwritableError
from fleet_components.content.restoration import restored, written
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.edit import Drafts, FileEdit, beside, edited, written_in
from fleet_components.review.planning.survey import (
    CommandLine,
    Survey,
    gathered_from,
    survey_source,
)
from fleet_components.rollout.rollout import Change, Opens
from fleet_components.systems.kubefleet.plan.update_runs import APPROVALS, runs_of
from fleet_components.systems.kubefleet.rollout.strategy import (
    External,
    RolloutStage,
    UpdateRun,
    When,
)

_IN_PROGRAM = "approvals=(...) of its Settings; or fleet:approvals of the stack"
_CONDITION = {
    "type": "Approved",
    "status": "True",
    "reason": "ApprovedByPullRequest",
    "message": "approved in the source of the fleet",
}
_MOVES = (Change.ADD, Change.UPDATE, Change.REMOVE)
_MOST = 20


@attrs.frozen
class Asked:
    """An approval that an update run asks for.

    Attributes:
        name: its name, after the namespace of the run and a slash if it has one.
        decided: the placement.
        run: the update run.
        stage: the stage that it is for.
        given: whether it is given.
        spent: whether it was given for an earlier run of that name, and opens nothing.
        members: the members that wait for it now.
        later: whether further updates come to it with nothing else given.
    """

    name: str
    decided: Decided
    run: UpdateRun
    stage: RolloutStage
    given: bool
    spent: bool
    members: tuple[str, ...]
    later: bool

    @property
    def words(self) -> str:
        """Members and stage that wait for it, in words."""
        if self.given:
            return "is given already"
        if self.members:
            return (
                f"{few(self.members, _MOST)} {'waits' if len(self.members) == 1 else 'wait'} for it"
            )
        return "is needed by a later update" if self.later else "nothing waits for it yet"


@attrs.frozen
class Approval:
    """Approvals that are given, and what comes of them.

    Attributes:
        edits: the files that change.
        given: the approvals.
        moves: what they let happen, in sentences.
        survey: the plan of the changed source.
    """

    edits: tuple[FileEdit, ...]
    given: tuple[Asked, ...]
    moves: tuple[str, ...]
    survey: Survey


def asked(paths: Sequence[Path], command: CommandLine) -> tuple[Asked, ...]:
    """Return the approvals that update runs ask for and that are not given.

    Raises:
        FleetError: there is no plan.
    """
    paths, command = written_in(paths, command, _IN_PROGRAM)
    with command.together():
        found = _asked(survey_source(gathered_from(paths, command), paths, command))
    return tuple(item for item in found.values() if not item.given)


def approve(names: Sequence[str], paths: Sequence[Path], command: CommandLine) -> Approval:
    """Return what gives approvals, without writing anything.

    Args:
        names: names of approvals, in a namespace after it and a slash.
        paths: files and directories of a fleet, or a Pulumi project whose ``fleet:source`` names
            them.
        command: the options of the command line.

    Raises:
        FleetError: nobody asks for one of them, or there is no plan.
    """
    paths, command = written_in(paths, command, _IN_PROGRAM)
    with command.together():
        source = gathered_from(paths, command)
        known = _asked(survey_source(source, paths, command))
        problems = [problem for name in names for problem in _wrong(name, known)]
        if problems:
            raise FleetError(problems)
        drafts = Drafts(paths)
        given = tuple(known[name] for name in dict.fromkeys(names))
        for item in given:
            if not item.given:
                _give(drafts, source, item)
        after = survey_source(edited(source, drafts.edits), paths, command)
    before = {item.decided.name: item.decided for item in given}
    moves = [
        words
        for subject in after.plans[0].subjects
        if subject.name in before
        for words in _moves(before[subject.name], subject)
    ]
    return Approval(drafts.edits, given, tuple(moves), after)


def _asked(surveyed: Survey) -> dict[str, Asked]:
    # written_in has led to YAML, which is always one fleet.
    plan = surveyed.plans[0]
    found = [
        item
        for decided in plan.subjects
        for item in _of(decided, plan.remainders[decided.name].approvals)
    ]
    return {item.name: item for item in found}


def _of(decided: Decided, later: Sequence[str]) -> Iterator[Asked]:
    """Yield the approvals that the update runs of a placement ask for, without those of runs that
    are over.
    """
    strategy, runs = (
        # Templates of Karmada have neither a strategy nor runs.
        getattr(decided.subject, "strategy", None),
        getattr(decided.outcome, "runs", None),
    )
    if not isinstance(strategy, External) or runs is None:
        return
    subject: Any = decided.subject
    waiting: dict[str, list[str]] = {}
    for member, entry in decided.entries.items():
        if entry.gate and entry.gate.opens is Opens.APPROVAL:
            waiting.setdefault(entry.gate.approval, []).append(member)
    for run in strategy.runs:
        if runs.records[run.name].over:
            continue
        # The run in force has the stages that it began with.
        run = runs.run if runs.run and runs.run.name == run.name else run
        gates = runs.gates(subject.gates)
        for stage in run.stages:
            for when in get_args(When):
                name = run.approval(when, stage)
                if name:
                    given, spent = name in gates.approvals, name in runs.spent
                    members = tuple(sorted(waiting.get(name, ())))
                    yield Asked(name, decided, run, stage, given, spent, members, name in later)


def _wrong(name: str, known: Mapping[str, Asked]) -> Iterator[Problem]:
    """Yield a problem if an approval cannot be given."""
    item = known.get(name)
    if item is None:
        meant = nearest(name, list(known))
        there = (
            "asked for is:"
            f" {few([name for name, item in known.items() if not item.given], _MOST) or 'none'}"
        )
        hint = f"did you mean {meant}? {there}" if meant else there
        yield Problem(
            Message(
                "no-update-run-asks", 'no update run asks for the approval "{name}"', name=name
            ),
            hint=hint,
        )
    elif item.spent:
        hint = f"give the run another name than {item.run.name}"
        yield Problem(
            Message(
                "given-earlier-run-name",
                "was given for an earlier run of that name, and opens nothing",
            ),
            subject=name,
            hint=hint,
        )


def _give(drafts: Drafts, source: Source, item: Asked) -> None:
    """Write an approval: into the request for it, if the source has that, else into a file beside
    the run.

    Raises:
        FleetError: neither is in a file that can be changed.
    """
    namespace, _, name = item.name.rpartition("/")
    # Index 0 is the cluster-wide kind, index 1 that of a namespace.
    kind = APPROVALS[bool(namespace)]
    place = (kind, namespace, name)
    requests = (
        manifest
        for manifest in source.given.manifests
        if (manifest.kind, manifest.namespace, manifest.name) == place
    )
    # Names are unique in a namespace, so that there is at most one.
    request = next(requests, None)
    if request:
        _accept(drafts, request)
        return
    subject: Any = item.decided.subject
    runs = runs_of(source.policies)[namespace, subject.key.rpartition("/")[2]]
    # The runs of the subject were read from these policies, so that this one is among them.
    run = next(run for run in runs if run.name == item.run.name)
    data = {
        "apiVersion": run.api_version,
        "kind": kind,
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "spec": {"parentStageRollout": run.name, "targetStage": item.stage.name},
        "status": {"conditions": [_CONDITION]},
    }
    drafts.add(f"approvals/{name}.yaml", beside(run), written(data))


def _accept(drafts: Drafts, request: Manifest) -> None:
    """Give a request for an approval the condition that it is approved.

    Raises:
        FleetError: it is in no file that can be changed.
    """
    file, status = beside(request), dict(request.data.get("status") or {})
    # A list of conditions has each type once.
    others = [
        condition
        for condition in status.get("conditions") or ()
        if condition.get("type") != _CONDITION["type"]
    ]
    data = {**request.data, "status": {**status, "conditions": [*others, _CONDITION]}}
    try:
        drafts.put(file, restored(drafts.text(file), request, data))
    except UnwritableError as error:
        hint = "write the condition Approved with status True there yourself"
        raise FleetError(
            [
                request.problem(
                    Message("cannot-changed-here", "cannot be changed here: {error}", error=error),
                    ("status",),
                    hint,
                )
            ]
        ) from error


def _moves(before: Decided, after: Decided) -> Iterator[str]:
    """Yield which members move that did not, by stage, and what the rest then waits for."""
    stages, sent, held = _stages(after), dict[str, list[str]](), dict[str, list[str]]()
    for name, entry in after.entries.items():
        if entry.change is Change.HELD:
            held.setdefault(str(entry.reason), []).append(name)
        elif entry.change in _MOVES and not _moved(before, name):
            goes = "off the member" if entry.placed is None else f"revision {entry.placed.revision}"
            sent.setdefault(f"{stages.get(name, 'the end of the run')}: {goes}", []).append(name)
    for words, names in sent.items():
        yield f"{after.name}: {words}: {few(names, _MOST)}"
    if not sent:
        yield f"{after.name}: nothing more moves in the next update"
    for why, names in held.items():
        yield f"{after.name}: held: {few(names, _MOST)}: {why}"


def _moved(decided: Decided, member: str) -> bool:
    return member in decided.entries and decided.entries[member].change in _MOVES


def _stages(decided: Decided) -> dict[str, str]:
    """Return the stage of each member in the update run in force, in words."""
    runs, rollout = decided.outcome.runs, decided.outcome.rollout
    parts = [(stage.name, part) for stage in runs.stages(rollout) for part in stage.parts]
    return {cluster: f"stage {name} of {runs.latest}" for name, part in parts for cluster in part}
