"""The two sides of a pull request: where its branch has parted from another one, and what it makes of that."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import attrs

from fleet_components.content.confined import within
from fleet_components.model.manifest import PROGRAM
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.karmada.subject import TemplateSubject
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.plan.remainder import MOST_UPDATES, together
from fleet_components.plan.state import StackState
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.member_changes import members_changed
from fleet_components.review.planning.observed import headers_below, later_observation
from fleet_components.review.planning.past import MADE_UP, StateFile, parse_state
from fleet_components.review.planning.repository import Entry, Repository, Written, below
from fleet_components.review.planning.standing import changed_by_both, on_both
from fleet_components.review.planning.survey import (
    PIPED,
    CommandLine,
    Survey,
    on_hub,
    project_among,
    survey,
)
from fleet_components.scheduler.plugins import forget_plugins


@attrs.frozen
class Review:
    """Result of a review.

    Attributes:
        survey: the plan of what the pull request makes of the fleet.
        notes: what is to be said of the commits that were read, in words.
        warnings: why the base is not what is compared with.
    """

    survey: Survey
    notes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()


def review(paths: Sequence[Path], command: CommandLine, base: str, head: str = "") -> Review:
    """Plan where a branch has parted from another one, and then the branch on top of it, or on what
    really runs.

    Args:
        paths: a project, or files and directories of YAML, in a git repository.
        command: the options of the command line; its state is what really runs.
        base: the branch that the pull request is for.
        head: the commit to be reviewed; empty for the files as they are in the directory.

    Raises:
        FleetError: there is no such base, or the reviewed side cannot be planned.
    """
    if PIPED in paths:
        raise FleetError(
            [
                Problem(
                    "standard input has no base",
                    hint="give files and directories of the repository",
                )
            ]
        )
    repository = Repository.around(paths[0])
    places = [repository.place(path) for path in paths]
    commit = repository.merge_base(base, head or "HEAD")
    side = Side.of(repository, commit, base, places)
    reviewed = Side.of(repository, repository.commit(head), head, places) if head else None
    command = _on_its_hub(paths, command, reviewed)
    mine = _Reviewed(paths, command, repository.top, reviewed)
    found = _on_what_runs(mine, side) if command.state.file else _as_if_new(mine, side)
    observed = command.state.observed
    later = later_observation(repository, base, places, observed.as_of) if observed else ()
    notes = (*found.notes, *(reviewed.notes if reviewed else ()), *later)
    return attrs.evolve(found, notes=tuple(dict.fromkeys(notes)))


def _on_its_hub(paths: Sequence[Path], command: CommandLine, reviewed: Side | None) -> CommandLine:
    """Return the options with the state that the reviewed side remembers of its hub, if it is an
    observed directory.

    Raises:
        FleetError: the side cannot be read, or what it remembers is damaged.
    """
    if reviewed and (reviewed.missing or not headers_below(reviewed.places, reviewed.entries)):
        return command
    with reviewed.inside() if reviewed else nullcontext(paths) as there:
        found = command if project_among(there, command) else on_hub(there, command)
        if found.state is not command.state and found.state.problems:
            raise FleetError(found.state.problems)
    return found


class SideError(FleetError):
    """A commit that was read cannot be planned; the problems name its files as git does."""


@attrs.define
class Side:
    """One commit of the repository, with the paths that are planned.

    Attributes:
        repository: the repository.
        commit: the commit.
        name: how it is called in words: ``the merge base 1a2b3c4 of main``.
        label: what its files are called by, as for ``git show LABEL:FILE``.
        places: the paths, relative to the top of the repository.
        entries: what the commit has.
        notes: what is to be said of its files, once they were read.
    """

    repository: Repository
    commit: str
    name: str
    label: str
    places: Sequence[PurePosixPath]
    entries: Mapping[str, Entry]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, repository: Repository, commit: str, ref: str, places: Sequence[PurePosixPath]) -> Side:
        """Return the side of a commit on the way to a name.

        Raises:
            FleetError: the commit cannot be listed.
        """
        short, same = repository.short(commit), repository.commit(ref) == commit
        name = f"{ref} at {short}" if same else f"the merge base {short} of {ref}"
        return cls(repository, commit, name, ref if same else short, places, repository.entries(commit))

    @property
    def missing(self) -> list[str]:
        """The paths that the commit does not have."""
        return [str(place) for place in self.places if not below([place], self.entries)]

    def planned(self, command: CommandLine) -> Survey:
        """Plan the commit.

        Raises:
            FleetError: it cannot be read.
            SideError: it cannot be planned.
        """
        asked = self.asked(command)
        with command.watch(self.name), self.inside() as paths:
            return survey(paths, asked)

    def asked(self, command: CommandLine) -> CommandLine:
        """Return the options with the projects of other stacks as the commit has them, for its directory."""
        others = [attrs.evolve(one, folder=self._here(one.folder)) if one.folder else one for one in command.others]
        return attrs.evolve(command, others=tuple(others))

    def _here(self, folder: Path) -> Path:
        try:
            return Path(self.repository.place(folder))
        except FleetError:  # a project of another repository has one side only
            return folder.absolute()

    @contextmanager
    def inside(self) -> Iterator[list[Path]]:
        """Run the body in a directory that has what the commit has, and yield the paths there.

        Raises:
            FleetError: the commit cannot be read.
            SideError: the body has raised a FleetError, whose problems are those of this commit.
        """
        asked = [place for place in self.places if str(place) not in self.missing]
        # A program may import whatever the repository has.
        program = any(place.name.startswith("Pulumi.") or self._has_project(place) for place in asked)
        entries = list(self.entries.values()) if program else below(asked, self.entries)
        with self.repository.written(self.commit, entries) as written:
            self.notes = tuple(f"{self.label}: {note}" for note in written.notes)
            with self._told(written), apart(written.folder, at=written.folder):
                for place in asked:
                    if not within(written.folder / place, written.folder):
                        hint = "give the path that it leads to"
                        raise FleetError([Problem("is a link that leads out of it", file=str(place), hint=hint)])
                yield [Path(place) for place in asked]

    def _has_project(self, place: PurePosixPath) -> bool:
        return any(str(place / name) in self.entries for name in ("Pulumi.yaml", "Pulumi.yml"))

    @contextmanager
    def _told(self, written: Written) -> Iterator[None]:
        try:
            yield
        except FleetError as error:
            raise SideError([self._of_git(problem, written.folder) for problem in error.problems]) from error

    def _of_git(self, problem: Problem, folder: Path) -> Problem:
        """Return a problem whose file is called as git calls it."""

        def known(text: str) -> str:
            return text.replace(f"{folder}/", "").replace(str(folder), self.label)

        file = known(problem.file)
        named = f"{self.label}:{file}" if file and file != PROGRAM.file else self.label
        return attrs.evolve(problem, what=known(problem.what), hint=known(problem.hint), file=named)


@contextmanager
def apart(folder: Path, *, at: Path | None = None) -> Iterator[None]:
    """Run the body, and forget what programs have changed of the process: those of the other side
    have equal names.

    Args:
        folder: the directory that the programs and their modules are in.
        at: the directory to run in; the current one by default.
    """
    before, loaded, paths, environment = (
        Path.cwd(),
        set(sys.modules),
        list(sys.path),
        dict(os.environ),
    )
    forget_plugins()  # not at the end: what is reviewed is explained with its own, once it is planned
    try:
        os.chdir(at or before)
        yield
    finally:
        os.chdir(before)
        sys.path[:] = paths
        os.environ.clear()
        os.environ.update(environment)
        for name in sys.modules.keys() - loaded:
            if _is_in(sys.modules[name], folder):
                del sys.modules[name]
        importlib.invalidate_caches()


def _is_in(module: ModuleType, folder: Path) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place and within(Path(place), folder) for place in places)


@attrs.frozen
class _Reviewed:
    """Reviewed side: a commit, or the files as they are in the directory."""

    paths: Sequence[Path]
    command: CommandLine
    top: Path
    side: Side | None

    def planned(self, command: CommandLine) -> Survey:
        """Plan it; raises a FleetError if it cannot be planned."""
        if self.side is None:
            with apart(self.top):
                return survey(self.paths, command)
        if missing := self.side.missing:
            raise FleetError([Problem(f"is not in {self.side.name}", file=path) for path in missing])
        planned = self.side.planned(command)
        shown = {"directory": str(self.paths[0])} if planned.of_project else {"paths": list(map(str, self.paths))}
        return attrs.evolve(planned, subject={**planned.subject, **shown}, after=_there(self.side, planned.after))


def _there(side: Side, after: Callable[[], Mapping[str, Any]]) -> Callable[[], Mapping[str, Any]]:
    """Return a function that is called where the files of a side are: a program is run once more."""

    def called() -> Mapping[str, Any]:
        with side.inside():
            return after()

    return called


@attrs.frozen
class _Delivered:
    """Delivery of the base to clusters that had nothing before.

    Attributes:
        state: the state after it; that of a new fleet if the base cannot be delivered.
        approve: the approvals that it needs.
        waits: what even so it waits for, in words, by subject.
        plans: the plans of the last update of it.
        problems: why it cannot be delivered.
    """

    state: StateFile = StateFile()
    approve: frozenset[str] = frozenset()
    plans: tuple[FleetPlan, ...] = ()
    waits: Mapping[str, str] = attrs.field(factory=dict)
    problems: tuple[Problem, ...] = ()


def _as_if_new(mine: _Reviewed, side: Side) -> Review:
    """Review on top of the base, as if that had been delivered to clusters that had nothing before."""
    missing, base = few(side.missing), _Delivered()
    against = f"{side.name}, as if newly made"
    if len(side.missing) == len(side.places):
        against = f"nothing: {side.name} has no {missing}, so all of it is new"
    else:
        against += f"; it has no {missing}, so that is new" if missing else ""
        try:
            base = _delivered(side, mine.command)
        except SideError as error:
            base = _Delivered(problems=error.problems)
            more = f", and {count(len(error.problems) - 1, 'more error')}" if error.problems[1:] else ""
            first = attrs.evolve(error.problems[0], hint="")
            against = f"nothing: {side.name} cannot be planned: {first}{more}"
    approve = mine.command.approve | base.approve
    surveyed = mine.planned(attrs.evolve(mine.command, state=base.state, approve=approve))
    unsure = {**_unsure(surveyed.plans, failed=bool(base.problems)), **base.waits}
    standing = on_both(base.plans, surveyed.plans)
    against = "; ".join([against, *members_changed(base.plans, surveyed.plans)])
    surveyed = attrs.evolve(surveyed, file="", against=against, unsure=unsure, standing=standing)
    return Review(surveyed, side.notes, base.problems)


def _delivered(side: Side, command: CommandLine) -> _Delivered:
    """Return what the updates lead to that deliver the base, with all approvals that they need.

    Raises:
        FleetError: the base cannot be read.
        SideError: it cannot be planned, or would be refused.
    """
    # What is confirmed, approved, lost or returned is that in the update that is reviewed.
    nobody = frozenset[str]()
    asked = attrs.evolve(side.asked(command), state=StateFile(), problems=())
    alone = attrs.evolve(asked, confirm=nobody, approve=nobody, lost=nobody, returned=nobody)
    with command.watch(side.name), side.inside() as paths:
        for _ in range(MOST_UPDATES):
            planned = survey(paths, alone)
            remainders = {name: one for plan in planned.plans for name, one in plan.remainders.items()}
            left = together(remainders.values())
            alone = attrs.evolve(alone, state=_after(planned, side), approve=alone.approve.union(left.approvals))
            if not (left.updates or left.approvals):
                break
    waits = {name: f"{side.name} waits: {one.words}" for name, one in remainders.items() if one.words}
    return _Delivered(alone.state, alone.approve, planned.plans, waits)


def _after(planned: Survey, side: Side) -> StateFile:
    """Return the state after an update; of directories with the data of Secrets, which goes nowhere
    from here.

    Raises:
        FleetError: the update would be refused.
    """
    if planned.refused:
        raise FleetError(planned.refused)
    if not planned.of_project:
        resources = (one for plan in planned.plans for one in delivered(plan, redacted=False))
        return StateFile(side.name, StackState.of(resources))
    after = {key: value for key, value in planned.after().items() if key != MADE_UP}
    return parse_state(json.dumps(after).encode(), side.name)


def _on_what_runs(mine: _Reviewed, side: Side) -> Review:
    """Review on top of what really runs, and find what the base would change there as well."""
    base, warnings = tuple[FleetPlan, ...](), tuple[Problem, ...]()
    if len(side.missing) < len(side.places) and not mine.command.state.problems:
        try:
            base = side.planned(attrs.evolve(mine.command, problems=())).plans
        except SideError as error:
            warnings = error.problems
    surveyed = mine.planned(mine.command)
    shared = changed_by_both(base, surveyed.plans)
    pending = frozenset(name for name, alike in shared.items() if alike)
    parts = [surveyed.against or f"what runs, by {mine.command.state.file}"]
    if warnings:
        parts.append(f"{side.name} cannot be planned, so what it changes as well is not known")
    if pending:
        alike = count(len(pending), "of these changes comes", "of these changes come")
        parts.append(f"{alike} from {side.name} as well")
    if others := sorted(name.partition("/")[2] for name, alike in shared.items() if not alike):
        parts.append(f"{side.name} changes {few(others)} too, in another way")
    parts += members_changed(base, surveyed.plans)
    standing = on_both(base, surveyed.plans) if base else surveyed.standing
    surveyed = attrs.evolve(surveyed, against="; ".join(parts), pending=pending, standing=standing)
    return Review(surveyed, side.notes, warnings)


def _unsure(plans: Sequence[FleetPlan], *, failed: bool) -> dict[str, str]:
    """Return what another memory could change, by subject.

    Args:
        plans: the plans of the reviewed side; what their past does not have is newly made indeed.
        failed: whether there is a base that cannot be planned, so that nothing is known to be new.
    """
    found: dict[str, str] = {}
    for plan in plans:
        for subject in plan.subjects:
            if failed or subject.name in plan.past.records:
                parents = (name for key in _needing(subject) if (name := f"{TEMPLATE_KIND}/{key}") in found)
                along = next((f"it goes where {name} goes: {found[name]}" for name in parents), "")
                if words := subject.subject.sticky(subject.outcome) or along:
                    found[subject.name] = words
    return found


def _needing(one: Decided) -> Mapping[str, Mapping[str, int]]:
    """Return the templates that a template goes along with, by key."""
    subject = one.subject
    return subject.needs.required_by if isinstance(subject, TemplateSubject) else {}
