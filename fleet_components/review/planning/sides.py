"""The sides of a review: a commit, and the files as they are, in directories of their own where
that is needed.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import ModuleType

import attrs

from fleet_components.content.paths import resolved, within
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import PROGRAM
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.planning.base_memory import BaseMemory
from fleet_components.review.planning.repository import (
    Repository,
    TreeEntry,
    Written,
    below,
    is_spelled_out,
)
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.scheduler.plugins import forget_plugins


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
        notes: notes about its files, once they were read.
        given: the memory that it has instead of its own, and the observed directories that get it.
    """

    repository: Repository
    commit: str
    name: str
    label: str
    places: Sequence[PurePosixPath]
    entries: Mapping[str, TreeEntry]
    notes: tuple[str, ...] = ()
    given: tuple[BaseMemory, Sequence[str]] | None = None

    @classmethod
    def of(
        cls, repository: Repository, commit: str, ref: str, places: Sequence[PurePosixPath]
    ) -> Side:
        """Return the side of a commit on the way to a name.

        Raises:
            FleetError: the commit cannot be listed.
        """
        short, same = repository.short(commit), repository.commit(ref) == commit
        name = f"{ref} at {short}" if same else f"the merge base {short} of {ref}"
        if is_spelled_out(ref):  # 40 letters that tell a reader no more than the short form
            name, ref = f"commit {short}" if same else f"the merge base {short}", short
        return cls(
            repository, commit, name, ref if same else short, places, repository.entries(commit)
        )

    @property
    def memory(self) -> BaseMemory:
        """The memory of hubs that the commit has."""
        return BaseMemory(self.repository, self.commit, self.name, self.places, self.entries)

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
        """Return the options with the projects of other stacks as the commit has them, for its
        directory.
        """
        others = [
            attrs.evolve(other, folder=self._here(other.folder)) if other.folder else other
            for other in command.others
        ]
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
        program = any(
            place.name.startswith("Pulumi.") or self._has_project(place) for place in asked
        )
        entries = list(self.entries.values()) if program else below(asked, self.entries)
        with self.repository.written(self.commit, entries) as written:
            self.notes = tuple(f"{self.label}: {note}" for note in written.notes)
            if self.given:
                memory, folders = self.given
                memory.put_into(written.folder, folders)
            with self._located(written), apart(written.folder, at=written.folder):
                for place in asked:
                    if not within(written.folder / place, written.folder):
                        hint = "give the path that it leads to"
                        raise FleetError(
                            [
                                Problem(
                                    Message(
                                        "link-leaves-repository", "is a link that leads out of it"
                                    ),
                                    file=str(place),
                                    hint=hint,
                                )
                            ]
                        )
                yield [Path(place) for place in asked]

    def _has_project(self, place: PurePosixPath) -> bool:
        return any(str(place / name) in self.entries for name in ("Pulumi.yaml", "Pulumi.yml"))

    @contextmanager
    def _located(self, written: Written) -> Iterator[None]:
        try:
            yield
        except FleetError as error:
            raise SideError(
                [self._of_git(problem, written.folder) for problem in error.problems]
            ) from error

    def _of_git(self, problem: Problem, folder: Path) -> Problem:
        """Return a problem whose file is called as git calls it."""

        def known(text: str) -> str:
            # Files lose the folder, which stands before them; the folder itself becomes the label.
            return text.replace(f"{folder}/", "").replace(str(folder), self.label)

        file = known(problem.file)
        named = f"{self.label}:{file}" if file and file != PROGRAM.file else self.label
        advice = problem.advice
        return attrs.evolve(
            problem,
            message=problem.message.mapped(known),
            hint=known(advice) if isinstance(advice, str) else advice.mapped(known),
            file=named,
        )


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
    # Not at the end: what is reviewed is explained with its own, once it is planned.
    forget_plugins()
    try:
        os.chdir(at or before)
        yield
    finally:
        os.chdir(before)
        sys.path[:] = paths
        # In place, since a new dict would not reach the environment of child processes.
        os.environ.clear()
        os.environ.update(environment)
        # Only modules of the program: what it imports from elsewhere is the same for both sides.
        for name in sys.modules.keys() - loaded:
            if _is_in(sys.modules[name], folder):
                del sys.modules[name]
        # Finders remember what folders held, and those of the other side may have the same names.
        importlib.invalidate_caches()


def _is_in(module: ModuleType, folder: Path) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place and within(Path(place), folder) for place in places)


@attrs.frozen
class Copy:
    """The files as they are in the directory, in a private copy whose hubs have the memory of the
    base.

    Attributes:
        top: the directory of the repository's files.
        memory: the memory of the base.
        folders: the observed directories that get it.
    """

    top: Path
    memory: BaseMemory
    folders: Sequence[str]
    name: str = "the files as they are"
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The paths that are not there: none of a copy, since reading reports what is missing."""
        return []

    def planned(self, command: CommandLine) -> Survey:
        """Plan the copy; raises a FleetError if it cannot be planned."""
        with command.watch(self.name), self.inside() as paths:
            return survey(paths, command)

    @contextmanager
    def inside(self) -> Iterator[list[Path]]:
        """Run the body in the copy, and yield the paths there.

        Raises:
            FleetError: the files cannot be copied.
        """
        places = self.memory.places
        with tempfile.TemporaryDirectory(
            prefix="fleet-review-", ignore_cleanup_errors=True
        ) as temporary:
            # On macOS, the folder of temporary files is below a link.
            folder = resolved(Path(temporary))
            try:
                for place in places:
                    _copy(self.top / place, folder / place)
            except OSError as error:
                # shutil.Error has no strerror: its first argument lists the files.
                why = error.strerror or f"{count(len(error.args[0]), 'file')}"
                raise FleetError(
                    [
                        Problem(
                            Message("cannot-copied", "cannot be copied: {why}", why=why),
                            file=str(self.top),
                        )
                    ]
                ) from error
            self.memory.put_into(folder, self.folders)
            with apart(folder, at=folder):
                yield [Path(place) for place in places]


def _copy(place: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.copytree(
            place, to, symlinks=True, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True
        )
    elif os.path.lexists(place):
        shutil.copy2(place, to, follow_symlinks=False)


# Members that a pull request changes.


def members_changed(base: Sequence[FleetPlan], head: Sequence[FleetPlan]) -> Iterator[str]:
    """Yield in words which members have other labels or taints on the two sides of a pull request.

    That need not move anything, since what is picked may stay; it is a change still.

    Args:
        base: the plans of what is compared with.
        head: the plans that are reviewed.
    """
    before = {
        (plan.options.fleet, cluster.name): cluster
        for plan in base
        for cluster in plan.inventory.clusters
    }
    changed = []
    for plan in head:
        for item in plan.inventory.clusters:
            other = before.get((plan.options.fleet, item.name))
            if other and (words := [*_labels_changed(other, item), *_taints_changed(other, item)]):
                changed.append(f"{item.name} ({', '.join(words)})")
    if changed:
        yield f"changed {'members are' if changed[1:] else 'is member'} {few(changed)}"


def _labels_changed(before: Cluster, now: Cluster) -> Iterator[str]:
    for key in sorted({*before.labels, *now.labels}):
        old, new = before.labels.get(key), now.labels.get(key)
        if old != new:
            yield (
                f"{key}: {old if old is not None else '(none)'} ->"
                f" {new if new is not None else '(none)'}"
            )


def _taints_changed(before: Cluster, now: Cluster) -> Iterator[str]:
    old, new = (
        {f"{taint.key}={taint.value}:{taint.effect}" for taint in cluster.taints}
        for cluster in (before, now)
    )
    yield from (f"taint {text} new" for text in sorted(new - old))
    yield from (f"taint {text} gone" for text in sorted(old - new))
