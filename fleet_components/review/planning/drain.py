"""Draining of a member: the taint and the evictions for a pull request, and what an update with
them moves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.insertion import UnwritableError, inserted
from fleet_components.model.cluster import DRAINED, Taint
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan.delivered import delivered
from fleet_components.plan.source import Source
from fleet_components.plan.state import StackState
from fleet_components.plan.subject import Decided, Subject
from fleet_components.review.planning.edit import Drafts, FileEdit, edited, written_in
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.survey import (
    CommandLine,
    Survey,
    gathered_from,
    survey_source,
)
from fleet_components.rollout.rollout import Change

_TAINTS = ("spec", "taints")
_KARMADA = "Cluster"
_IN_PROGRAM = (
    "taints=[Taint(...)] on its Cluster, and ClusterResourcePlacementEvictions in its source"
)


@attrs.frozen
class Drain:
    """The draining of a member.

    Attributes:
        edits: the files that change.
        outcomes: what comes of each placement and template on the member, by name.
        survey: the plan of the changed source.
    """

    edits: tuple[FileEdit, ...]
    outcomes: dict[str, str]
    survey: Survey


def drain(member: str, paths: Sequence[Path], command: CommandLine) -> Drain:
    """Return what drains a member, without writing anything.

    Args:
        member: the name of the member.
        paths: files and directories of a fleet, or a Pulumi project whose ``fleet:source`` names
            them.
        command: the options of the command line. Without a state, what would be planned now counts
            as delivered.

    Raises:
        FleetError: the member does not exist, cannot be drained or is not written in a file; or
            there is no plan.
    """
    paths, command = written_in(paths, command, _IN_PROGRAM)
    with command.together():
        source = gathered_from(paths, command)
        before = survey_source(source, paths, command)
        if not command.state.file:
            # With the data of Secrets: it stays in memory, and without it each Secret would differ.
            state = StackState.of(delivered(before.plans[0], redacted=False))
            command = attrs.evolve(command, state=StateFile(state=state))
            before = survey_source(source, paths, command)
        here = [
            subject
            for subject in before.plans[0].subjects
            if subject.done(member).revision is not None
        ]
        declared = _declared(source, member)
        taint = _taint(source, declared, here)
        why = {decided.name: decided.subject.stays_on(taint) for decided in here}
        stays = {name: words for name, words in why.items() if words}
        leave = [
            decided.subject
            for decided in here
            if decided.subject.EVICTION and decided.name not in stays
        ]
        drafts = Drafts(paths)
        beside = _tainted(drafts, declared, taint)
        _with_evictions(drafts, beside, member, leave, source)
        edits = drafts.edits
        changed = edited(source, edits)
        after = survey_source(changed, paths, command)
    # Neither a taint nor an eviction takes a subject out of the source, so each is found here.
    moved = {subject.name: subject for subject in after.plans[0].subjects}
    outcomes = {
        decided.name: stays.get(decided.name) or _outcome(moved[decided.name], member)
        for decided in here
    }
    return Drain(
        edits,
        {name: f"stays: {why}" if name in stays else why for name, why in outcomes.items()},
        after,
    )


def _declared(source: Source, member: str) -> Manifest:
    """Return the manifest of a member.

    Raises:
        FleetError: there is none that is written in a file.
    """
    # Not from the declarations alone, so that a member declared elsewhere has a hint of its own.
    known = [cluster.name for cluster in source.clusters]
    if member not in known:
        meant = nearest(member, known)
        hint = f"did you mean {meant}?" if meant else f"the members are: {few(known) or 'none'}"
        raise FleetError(
            [
                Problem(
                    Message("no-member-to-drain", 'there is no member "{member}"', member=member),
                    hint=hint,
                )
            ]
        )
    declared = source.declarations.get(member)
    if declared is None:
        hint = (
            "write a MemberCluster of it with the taint, or give it the taint where it is declared"
        )
        raise FleetError(
            [
                Problem(
                    Message(
                        "member-not-membercluster-cluster-own",
                        "member {member} is not a MemberCluster or Cluster of its own",
                        member=member,
                    ),
                    hint=hint,
                )
            ]
        )
    if (
        declared.origin is None
        or declared.origin.line is None
        or not os.path.isfile(declared.origin.file)
    ):
        problem = declared.problem(
            Message("not-written-file", "is not written in a file"),
            _TAINTS,
            f"give it {DRAINED.written} where it is made",
        )
        raise FleetError([problem])
    return declared


def _taint(source: Source, declared: Manifest, here: Sequence[Decided]) -> Taint:
    """Return the taint that moves what is on a member.

    Raises:
        FleetError: there are templates of Karmada, and no taint moves these.
    """
    templates = [decided.subject.key for decided in here if not decided.subject.EVICTION]
    if not templates:
        return DRAINED
    if declared.kind != _KARMADA:
        return DRAINED  # a MemberCluster has no taint that moves them; each is named
    if not source.settings.no_execute_eviction:
        what = Message(
            "no-taint-moves-what",
            "no taint moves what Karmada has placed there: {templates}",
            templates=few(templates),
        )
        hint = (
            "write noExecuteEviction: true in a KarmadaSettings, or take the member out of the"
            " policies"
        )
        raise FleetError([declared.problem(what, _TAINTS, hint)])
    return attrs.evolve(DRAINED, effect="NoExecute")


def _tainted(drafts: Drafts, declared: Manifest, taint: Taint) -> str:
    """Give a member a taint, and return its file.

    Raises:
        FleetError: the file is written in a way in which nothing can be inserted.
    """
    assert declared.origin
    file = declared.origin.file
    item = {"key": taint.key, "effect": taint.effect}
    # The member is tainted already, perhaps with a value: a second taint changes nothing.
    if any(item.items() <= data.items() for data in declared.data["spec"].get("taints") or ()):
        return file
    try:
        drafts.put(file, inserted(drafts.text(file), declared.kind, declared.name, _TAINTS, item))
    except UnwritableError as error:
        problem = declared.problem(
            Message("cannot-changed-here", "cannot be changed here: {error}", error=error),
            _TAINTS,
            f"write {taint.written} there yourself",
        )
        raise FleetError([problem]) from error
    return file


def _with_evictions(
    drafts: Drafts, beside: str, member: str, leave: Sequence[Subject[Any]], source: Source
) -> None:
    """Add the evictions of the placements that leave."""
    kinds = {subject.EVICTION for subject in leave}
    taken = {policy.name for policy in source.policies if policy.kind in kinds}
    if leave:
        text = "---\n".join(
            subject.eviction(_name(member, subject.key, taken), member) for subject in leave
        )
        drafts.add(f"drain-{member}.yaml", beside, text)


def _name(member: str, placement: str, taken: set[str]) -> str:
    """Return a name for an eviction that no other one has: under a used name nothing would be
    evicted.
    """
    wanted = f"drain-{member}-{placement}"
    # One more than there are used names, so that one of them is free.
    names = (wanted, *(f"{wanted}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _outcome(moved: Decided, member: str) -> str:
    """Return what comes of a placement or template on the member."""
    return "; ".join(_parts(moved, member))


def _parts(moved: Decided, member: str) -> Iterator[str]:
    entry = moved.entries.get(member)
    joins = sorted(name for name, item in moved.entries.items() if item.change is Change.ADD)
    if entry is None or entry.change is Change.REMOVE:
        yield (
            f"leaves: {few(joins)} {'gets' if len(joins) == 1 else 'get'} it" if joins else "leaves"
        )
    elif moved.outcome.warnings:
        yield from moved.outcome.warnings
    else:
        yield f"stays for now: {entry.reason}" if entry.reason else "stays: nothing moves it"
        yield from [f"{few(joins)} {'gets' if len(joins) == 1 else 'get'} it"] if joins else []
    if moved.outcome.unfulfilled:
        yield f"not fulfilled: {moved.outcome.unfulfilled}"
