"""Rollback of a placement: a kept revision put back into the source for a pull request, and what it
moves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.insertion import UnwritableError
from fleet_components.content.restoration import restored, written
from fleet_components.content.secret import is_hidden, redacted
from fleet_components.model.manifest import ObjectKey, Origin, by_key
from fleet_components.model.message import MEMORY, Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan.record import LACKS_HINT
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.edit import Drafts, FileEdit, beside, edited, written_in
from fleet_components.review.planning.survey import (
    CommandLine,
    Survey,
    gathered_from,
    survey_source,
)
from fleet_components.systems.kubefleet.plan.update_runs import runs_of

Data = Mapping[str, Any]
_IN_PROGRAM = (
    "give the objects their values of that revision; this command without --to lists the revisions"
)
_NO_DATA = Message("state-does-not-show-data", "the state does not show its data")
_SHOW_SECRETS = (
    "give a state that does: pulumi stack export --show-secrets --file FILE; that of a render has"
    " none"
)


@attrs.frozen
class Revision:
    """A kept revision.

    Attributes:
        number: its number.
        objects: how many objects it has.
        members: the members that run it.
        current: True if it is what all members are to run.
    """

    number: int
    objects: int
    members: tuple[str, ...]
    current: bool


@attrs.frozen
class Rollback:
    """The rollback of a placement.

    Attributes:
        name: the placement, as ``Kind/key``.
        revision: the revision that it goes back to.
        edits: the files that change.
        by_hand: what no file can be changed for, by object, with what to do.
        survey: the plan of the changed source.
    """

    name: str
    revision: int
    edits: tuple[FileEdit, ...]
    by_hand: dict[str, str]
    survey: Survey

    @property
    def decided(self) -> Decided:
        """The placement as it is planned with the change."""
        # A rollback changes objects and runs, so that the placement is still there.
        return next(
            subject for subject in self.survey.plans[0].subjects if subject.name == self.name
        )


def revisions(
    placement: str, paths: Sequence[Path], command: CommandLine
) -> tuple[str, tuple[Revision, ...]]:
    """Return the name of a placement as ``Kind/key``, and its kept revisions, the newest first.

    Raises:
        FleetError: there is no such placement, or the state does not show its revisions.
    """
    paths, command = written_in(paths, command, _IN_PROGRAM)
    with command.together():
        decided = _of(survey_source(gathered_from(paths, command), paths, command), placement)
        return decided.name, _kept(decided)


def rollback(
    placement: str, to: int, run: str, paths: Sequence[Path], command: CommandLine
) -> Rollback:
    """Return what takes a placement back to a kept revision, without writing anything.

    Args:
        placement: the key of the placement, ``namespace/name`` or the name alone.
        to: the number of the revision.
        run: the name of the update run, where one rolls the placement out; empty for a name of its
            own.
        paths: files and directories of a fleet, or a Pulumi project whose ``fleet:source`` names
            them.
        command: the options of the command line.

    Raises:
        FleetError: there is no such placement or revision, its content is not known, or there is no
            plan.
    """
    paths, command = written_in(paths, command, _IN_PROGRAM)
    with command.together():
        source = gathered_from(paths, command)
        decided = _of(survey_source(source, paths, command), placement)
        _check(decided, to)
        drafts, by_hand = Drafts(paths), dict[str, str]()
        if decided.subject.timed:
            _add_run(drafts, source, decided, to, run)
            # An observed directory has the numbers of the hub itself.
            if decided.hub and not command.state.observed:
                by_hand[decided.name] = _snapshot(decided, to)
        elif run:
            what = Message(
                "names-update-run-placement",
                "names an update run, and the placement rolls by itself",
            )
            raise FleetError([Problem(what, subject="--name", hint="leave it out")])
        else:
            _put_back(drafts, source, decided, to, by_hand)
        after = survey_source(edited(source, drafts.edits), paths, command)
    return Rollback(decided.name, to, drafts.edits, by_hand, after)


def _snapshot(decided: Decided, to: int) -> str:
    """Return what is to be looked at before a run names a snapshot by the number that the stack has
    counted.
    """
    space, _, name = decided.subject.key.rpartition("/")
    kind = f"resourcesnapshots -n {space}" if space else "clusterresourcesnapshots"
    ask = f"kubectl get {kind} -l kubernetes-fleet.io/parent-CRP={name} -o yaml"
    seen = f"see that its number {to} has this content, or write the one that has"
    return f"the hub counts its snapshots itself: {seen}: {ask}"


def _of(surveyed: Survey, placement: str) -> Decided:
    """Return a placement.

    Raises:
        FleetError: no placement has that key.
    """
    found = {
        subject.subject.key: subject
        for subject in surveyed.plans[0].subjects
        if subject.subject.KEEPS_REVISIONS
    }
    if placement in found:
        return found[placement]
    # Templates of Karmada have no revisions, so they are not in found.
    if any(placement == subject.subject.key for subject in surveyed.plans[0].subjects):
        hint = "put its objects back in the source, as git revert does"
        raise FleetError(
            [
                Problem(
                    Message(
                        "placed-karmada-keeps-no",
                        "{placement} is placed by Karmada, which keeps no revisions",
                        placement=placement,
                    ),
                    hint=hint,
                )
            ]
        )
    meant = nearest(placement, list(found))
    hint = (
        f"did you mean {meant}?" if meant else f"the placements are: {few(list(found)) or 'none'}"
    )
    raise FleetError(
        [
            Problem(
                Message(
                    "no-placement-to-roll-back",
                    'there is no placement "{placement}"',
                    placement=placement,
                ),
                hint=hint,
            )
        ]
    )


def _kept(decided: Decided) -> tuple[Revision, ...]:
    """Return the revisions whose content is known, the newest first.

    Raises:
        FleetError: there are some, and the state hides their contents.
    """
    before = decided.before
    if before.digests and not before.contents:
        what = Message(
            "state-does-not-show",
            "{memory} does not show the contents of its revisions",
            memory=MEMORY,
        )
        raise FleetError([Problem(what, subject=decided.name, hint=LACKS_HINT)])
    # What members run, not what was decided for them: some may be held.
    runs = {name: decided.done(name).revision for name in before.members}
    return tuple(
        Revision(
            number,
            len(objects),
            tuple(sorted(m for m, at in runs.items() if at == number)),
            number == newest,
        )
        for newest in [before.revision]
        for number, objects in sorted(before.contents.items(), reverse=True)
    )


def _check(decided: Decided, to: int) -> None:
    """Check that a revision is kept.

    Raises:
        FleetError: it is not, or its content is not known.
    """
    kept = _kept(decided)
    if to not in [revision.number for revision in kept]:
        known = (
            "; ".join(revision_text(revision) for revision in kept)
            or "none: give the --state in which they are"
        )
        raise FleetError(
            [
                Problem(
                    Message("revision-not-kept", "revision {to} is not kept", to=to),
                    subject=decided.name,
                    hint=f"kept are: {known}",
                )
            ]
        )


def revision_text(revision: Revision) -> str:
    """Return a revision in words."""
    runs = f"run by {few(revision.members)}" if revision.members else "run by none"
    return f"{revision.number}{' (the newest)' if revision.current else ''}, {runs}"


def _put_back(
    drafts: Drafts, source: Source, decided: Decided, to: int, by_hand: dict[str, str]
) -> None:
    """Put the objects of a revision back into their files; what cannot be is added to ``by_hand``.

    Raises:
        FleetError: a Secret would have to be written whose data is not known.
    """
    subject: Any = decided.subject
    back = by_key(decided.before.contents[to])
    now = by_key(subject.content)
    # Of what is selected, envelopes as they are: so the revision holds them, and so they are
    # written.
    origins = {item.key: [item.origin] for item in subject.selected if item.origin}
    _check_known(back, now)
    # From the end of the files: a change moves the lines below it.
    for key in sorted(
        back.keys() & now.keys(), key=lambda key: _line(origins.get(key, ())), reverse=True
    ):
        if is_hidden(back[key]):
            by_hand[str(key)] = (
                f"stays as it is: {_NO_DATA}, so it cannot be compared; {_SHOW_SECRETS}"
            )
        elif back[key] != now[key] and (
            why := _restore(drafts, source, origins.get(key, ()), (now[key], back[key]))
        ):
            by_hand[str(key)] = f"{why}; write there what it was in revision {to}"
    for key in sorted(now.keys() - back.keys()):
        place = few([origin.place for origin in origins.get(key, ())]) or "the program"
        by_hand[str(key)] = (
            f"came after revision {to} and stays; if it is to go as well, take it out of {place}"
        )
    # Objects of the revision that are neither selected nor in the source: they get a new file.
    gone = []
    for key in sorted(back.keys() - now.keys()):
        there = next((manifest for manifest in source.given.manifests if manifest.key == key), None)
        if there:
            where = there.origin.place if there.origin else "the program"
            by_hand[str(key)] = (
                f"is no longer selected; it is in {where}: have the placement select it again"
            )
        else:
            gone.append(back[key])
    if gone:
        policy = source.policy(subject.kind, subject.namespace, subject.key.rpartition("/")[2])
        file = f"rollback-{subject.key.replace('/', '-')}-{to}.yaml"
        drafts.add(file, beside(policy), "---\n".join(map(written, gone)))


def _line(origins: Sequence[Origin]) -> int:
    return max((origin.line or 0 for origin in origins), default=0)


def _check_known(back: Mapping[ObjectKey, Data], now: Mapping[ObjectKey, Data]) -> None:
    """Check that everything that has to be written is known.

    Raises:
        FleetError: the data of a Secret is not.
    """
    # The data is also known if the source has the same object but for its data.
    lost = [
        key for key, data in back.items() if is_hidden(data) and redacted(now.get(key, {})) != data
    ]
    if lost:
        raise FleetError([Problem(_NO_DATA, subject=str(key), hint=_SHOW_SECRETS) for key in lost])


def _restore(
    drafts: Drafts, source: Source, origins: Sequence[Origin], change: tuple[Data, Data]
) -> str:
    """Put an object back into its file, and return why it cannot be; empty if it is done."""
    # What is in an envelope is no document of its own in the file.
    if len(origins) != 1 or origins[0].envelope:
        return f"is in {few([item.place for item in origins]) or 'the program'}"
    (origin,) = origins
    if origin.line is None or not os.path.isfile(origin.file):
        return f"comes from {origin.place}, which no file holds as it is"
    # By identity: two files may hold equal objects, and the origin says which one was placed.
    manifest = next(item for item in source.given.manifests if item.origin is origin)
    now, back = change
    try:
        drafts.put(
            origin.file,
            restored(drafts.text(origin.file), manifest, _merged(manifest.data, now, back)),
        )
    except UnwritableError as error:
        return f"cannot be changed in {origin.place}: {error}"
    return ""


def _merged(written: Any, now: Any, back: Any) -> Any:
    """Return a value as it was, with what is written and never placed, such as a status."""
    if not (
        isinstance(written, Mapping) and isinstance(now, Mapping) and isinstance(back, Mapping)
    ):
        return back
    kept = {key: value for key, value in written.items() if key not in now and key not in back}
    return {
        **{key: _merged(written.get(key), now.get(key), value) for key, value in back.items()},
        **kept,
    }


def _add_run(drafts: Drafts, source: Source, decided: Decided, to: int, name: str) -> None:
    """Add an update run to a revision, with the strategy of the last one.

    Raises:
        FleetError: there is no run whose strategy it could have, or one of its name.
    """
    subject: Any = decided.subject
    runs = {
        run.name: run
        for run in runs_of(source.policies).get(
            (subject.namespace, subject.key.rpartition("/")[2]), ()
        )
    }
    if not runs:
        hint = "write the first run of it yourself, with its stagedRolloutStrategyName"
        raise FleetError(
            [
                Problem(
                    Message("no-update-run-rolled", "no update run has rolled it out"),
                    subject=decided.name,
                    hint=hint,
                )
            ]
        )
    # The run in force; if none is, the last one by its name, as only its strategy counts.
    last = runs.get(decided.outcome.runs.latest) or runs[max(runs)]
    placement = str(last.data["spec"]["placementName"])
    name = name or f"{placement}-rollback-{to}"
    if name in runs:
        what = Message("other-kind-of-this-name", "there is a {kind} of this name", kind=last.kind)
        raise FleetError([Problem(what, subject=name, hint="give another one: --name NAME")])
    spec = {"placementName": placement, "resourceSnapshotIndex": str(to), "state": "Run"}
    strategy = {"stagedRolloutStrategyName": last.data["spec"].get("stagedRolloutStrategyName", "")}
    metadata = {"name": name, **({"namespace": last.namespace} if last.namespace else {})}
    run = {
        "apiVersion": last.api_version,
        "kind": last.kind,
        "metadata": metadata,
        "spec": {**spec, **strategy},
    }
    drafts.add(f"{name}.yaml", beside(last), written(run))
