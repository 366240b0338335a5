"""Plans on an observed directory: the state of its hub, and warnings about the observation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.observed import observed_above, observed_in, read_part
from fleet_components.content.secret import is_hidden, is_secret, secret_fields
from fleet_components.hub.azure.fleet_resource import AZURE_FILE
from fleet_components.hub.azure.remarks import run_warnings
from fleet_components.hub.folder.header import UnansweredList, has_hub, read_header, time_text
from fleet_components.hub.folder.paths import HEADER
from fleet_components.hub.folder.reading import Remembered
from fleet_components.hub.listing import FORBIDDEN, GRANT, LATER, NOT_ASKED, in_words
from fleet_components.hub.observation import UNASKED
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import NAMESPACE_KEY
from fleet_components.plan.source import Source
from fleet_components.review.planning.past import DEFAULT_FLEET, StateFile, observed_state
from fleet_components.review.planning.project import is_project
from fleet_components.review.planning.repository import Repository, TreeEntry, below
from fleet_components.rollout.rollout import Change

_OF_CLUSTERS = (
    "a copy without the folder observed/ is the source of a new fleet, which a project delivers"
)
_SINGLE = "plan one at a time: a fleet has one hub"


def state_among(paths: Sequence[Path]) -> StateFile:
    """Return the state of the observed directory among paths and below them; that of a new fleet if
    there is none.

    One that is damaged is the state of a new fleet with its problems.
    """
    found = list(observed_in(paths))
    if not found:
        return StateFile().unread(_of_a_part(paths))
    if len(found) > 1:
        what = Message(
            "several-observed-hubs",
            "are {found} observed directories, each of a hub of its own: {hubs}",
            found=len(found),
            hubs=few(list(map(str, found))),
        )
        return StateFile(str(found[0])).unread([Problem(what, hint=_SINGLE)])
    try:
        return observed_state(found[0])
    except FleetError as error:
        return StateFile(str(found[0])).unread(error.problems)


def _of_a_part(paths: Sequence[Path]) -> Iterator[Problem]:
    """Yield a problem for each path that is only a part of an observed directory, without what the
    hub has decided.
    """
    for path in paths:
        whole = observed_above(path)
        if whole:
            what = Message(
                "part-observed-directory-what-hub",
                "is a part of an observed directory, {whole}: what the hub has decided, and hides,"
                " is not in it",
                whole=whole,
            )
            hint = (
                f"give {whole}; with --state {whole} its files are compared with what the hub has"
                " decided"
            )
            yield Problem(what, hint=hint, file=str(path))


def start_in_words(state: StateFile, paths: Sequence[Path]) -> str:
    """Return what a plan starts from, in words; empty where the file of the state says it."""
    observed = state.observed
    if observed:
        members = len(observed.past(DEFAULT_FLEET).members)
        return (
            f"{'the hub' if observed.hub else count(members, 'cluster')} as observed"
            f" {time_text(observed.as_of)}"
        )
    if state.file and any(observed_in(paths)):
        return f"the state {state.file}, not with the hub as it was observed"
    return ""


def refuse_observed(paths: Sequence[Path], state: StateFile, what: Message, hint: str) -> None:
    """Refuse what is for fleets that are delivered from here, where a hub delivers.

    Args:
        paths: the paths that are named.
        state: the state that is given.
        what: why it is refused, after ``is observed of a hub, ``.
        hint: what would do.

    Raises:
        FleetError: one of the paths is an observed directory or holds one, or the state is that of
            one.
    """
    # One may hold the source of another fleet.
    folders = (path for path in paths if not is_project(path))
    # One is enough for a refusal; the text is empty if there is none.
    found = state.file if state.observed else next(map(str, observed_in(folders)), "")
    if found and has_hub(Path(found)):
        raise FleetError(
            [
                Problem(
                    Message("observed-hub", "is observed of a hub, {what}", what=what),
                    hint=hint,
                    file=found,
                )
            ]
        )
    if found:
        what = Message(
            "observed-without-hub",
            "is observed of clusters without a hub, and nothing has been delivered from it",
        )
        raise FleetError([Problem(what, hint=_OF_CLUSTERS, file=found)])


def without_others(source: Source) -> tuple[Source, tuple[Problem, ...]]:
    """Return a source without the policies that only a hub carries out, and a warning that names
    them.
    """
    others = source.not_carried_out
    if not others:
        return source, ()
    kinds = sorted(Counter(other.kind for other in others).items())
    what = Message(
        "passed-over-only-hub",
        "passed over, as only the hub carries them out: {kinds}",
        kinds=few([count(n, kind, kind) for kind, n in kinds]),
    )
    hint = "the hub may decide otherwise where they have a say"
    return attrs.evolve(source, not_carried_out=()), (Problem(what, hint=hint),)


def observation_notes(observed: Remembered, plan: FleetPlan) -> Iterator[Problem]:
    """Yield warnings about what is not in an observation, and about what else happens where a plan
    changes objects.
    """
    if observed.fleet:
        changed = _members_changed(plan)
        yield from run_warnings(observed.fleet, changed, str(observed.folder / AZURE_FILE))
        # Without a change of the plan, an older record of Azure's update runs harms nobody.
        if changed and observed.azure:
            record = (
                f"its record is of {observed.azure.since}"
                if observed.azure.since
                else "its record is older"
            )
            what = Message(
                "azure-when-hub-observed",
                "Azure {unasked} when the hub was observed; {record}",
                unasked=UNASKED,
                record=record,
            )
            yield Problem(
                Message(
                    "update-runs-may-begun", "{what}: update runs may have begun since", what=what
                ),
                hint=observed.azure.why,
            )
    for name, silence in sorted(observed.silent.items()):
        when = "the hub was observed" if observed.hub else "the clusters were observed"
        record = (
            f"its record is of {silence.since}" if silence.since else "there is no record of it"
        )
        # A member that was left out on purpose has not failed to answer.
        asked = UNASKED if silence.why.startswith(UNASKED) else "did not answer"
        yield Problem(
            Message(
                "observed-when",
                "{name} {asked} when {when}; {record}",
                name=name,
                asked=asked,
                when=when,
                record=record,
            ),
            hint=silence.why,
        )
    given = [str(key) for key in _secrets_given(plan)]
    if given:
        what = Message(
            "data-given-here-not",
            "the data of {count} is given here and not compared: {given}",
            count=count(len(given), "Secret"),
            given=few(given),
        )
        yield Problem(what, hint="once it is applied, the hub has it, whatever it had before")
    yield from _of_namespaces(plan)
    yield from _not_answered(observed, plan)
    # Last, since notes are about all of the observation and not about this plan.
    if observed.notes:
        what = Message(
            "observation-leaves-out",
            "the observation leaves out: {notes}",
            notes=few(observed.notes, 2),
        )
        yield Problem(what, hint=f"see spec.notes in {observed.folder / HEADER}")


def _of_namespaces(plan: FleetPlan) -> Iterator[Problem]:
    """Yield a warning about namespaces that a control plane brings to its members by itself, which
    no plan shows.
    """
    # Only a control plane of Karmada hands namespaces out by itself.
    before, now = plan.past.waiting, plan.waiting if plan.handed_out else {}
    changed = sorted(
        key for key in now if key.startswith(NAMESPACE_KEY) and before.get(key) != now[key]
    )
    if changed:
        names = few([key.removeprefix(NAMESPACE_KEY) for key in changed])
        each = (
            f"{count(len(changed), 'Namespace')} that {count(len(plan.inventory), 'member')} get"
            " from the hub as it is"
        )
        yield Problem(
            Message("observed-differently", "{each}: {names}", each=each, names=names),
            hint="every member has every namespace of a control plane; what changes is not shown",
        )


def _secrets_given(plan: FleetPlan) -> list[ObjectKey]:
    """Return the Secrets that the hub has, and of which the source has the data."""
    known = (
        data
        for subject in plan.subjects
        if subject.name in plan.past.records
        for data in subject.subject.content
    )
    return sorted({Manifest(data).key for data in known if is_secret(data) and _gives(data)})


def _gives(secret: Mapping[str, Any]) -> bool:
    """Return whether a Secret has data that was not left out."""
    fields = (secret[field] for field in secret_fields(secret))
    values = (
        value
        for item in fields
        for value in (item.values() if isinstance(item, Mapping) else (item,))
    )
    return any(not is_hidden(value) for value in values)


def _not_answered(observed: Remembered, plan: FleetPlan) -> Iterator[Problem]:
    """Yield warnings about lists that the hub did not answer, with the placements that concerns."""
    alike: dict[tuple[str, str, str], list[UnansweredList]] = defaultdict(list)
    for unanswered in observed.unanswered:
        alike[
            f"{unanswered.kind}.{unanswered.query.group}", unanswered.why, unanswered.since
        ].append(unanswered)
    for (_, why, since), lists in sorted(alike.items()):
        # All of them have one kind and one reason, which is one sentence.
        (unanswered_lists,) = in_words({unanswered.query: why for unanswered in lists})
        concerned = {name for unanswered in lists for name in concerned_by(unanswered, plan)}
        named = [subject.name for subject in plan.subjects if subject.name in concerned]
        record = (
            f"what is here of them is of {since}" if since else "there is no old record of them"
        )
        may_change = f": {few(named)} may change" if named else ""
        # Any other reason may pass by itself.
        hint = {FORBIDDEN: f"before the next observation: {GRANT}", NOT_ASKED: ""}.get(why, LATER)
        yield Problem(
            Message(
                "hub-left-unanswered",
                "{lists}; {record}{may_change}",
                lists=unanswered_lists,
                record=record,
                may_change=may_change,
            ),
            hint=hint,
        )
    if observed.unknown:
        what = Message(
            "objects-unanswered",
            "what becomes of {unknown} is not known: the hub did not answer their objects",
            unknown=few(list(observed.unknown)),
        )
        yield Problem(what, hint=f"see spec.unanswered in {observed.folder / HEADER}")


def concerned_by(unanswered: UnansweredList, plan: FleetPlan) -> list[str]:
    """Return the names of the subjects that have objects of a list that the hub did not answer."""
    query = unanswered.query
    return [
        subject.name
        for subject in plan.subjects
        if any(query.asks_for(Manifest(data).key) for data in subject.subject.objects)
    ]


def headers_below(
    places: Sequence[PurePosixPath], entries: Mapping[str, TreeEntry]
) -> list[TreeEntry]:
    """Return the headers of observed directories that a commit has at paths and below them."""
    # The slash, so that a file whose name only ends alike does not count.
    return [entry for entry in below(places, entries) if f"/{entry.path}".endswith(f"/{HEADER}")]


def _members_changed(plan: FleetPlan) -> frozenset[str]:
    """Return the members on which a plan changes an object."""
    # A member that is held gets nothing now.
    still = (Change.KEEP, Change.HELD)
    moved = (
        name
        for subject in plan.subjects
        for name, entry in subject.entries.items()
        if entry.change not in still
    )
    gone = (departure.cluster for departure in plan.departures)
    return frozenset((*moved, *gone, *(replacement.cluster for replacement in plan.replacements)))


def later_observation(
    repository: Repository, ref: str, places: Sequence[PurePosixPath], as_of: datetime
) -> Iterator[str]:
    """Yield a note if a branch has an observation that was made later than one.

    Args:
        repository: the repository.
        ref: the branch.
        places: the paths that are planned, relative to the top of the repository.
        as_of: when the other observation was made.
    """
    commit = repository.commit(ref)
    headers = headers_below(places, repository.entries(commit))
    with repository.written(commit, headers) as written:
        for entry in headers:
            # A damaged observation of another branch is no concern of this plan.
            with suppress(FleetError, OSError, UnreadableError):
                found = read_header(read_part(written.folder, entry.path), entry.path)
                if found.as_of > as_of:
                    yield (
                        f"{ref} has an observation of {time_text(found.as_of)}, later than this"
                        " one: merge it in"
                    )
