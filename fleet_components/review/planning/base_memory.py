"""The memory of a hub in a review: that of the base counts on both sides, whatever a branch says of
the hub.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import attrs

from fleet_components.content.observed import MEMORY, PARTS, STAGED, observed_in
from fleet_components.content.paths import files_below
from fleet_components.hub.folder.paths import HEADER
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.repository import Repository, TreeEntry, below


@attrs.frozen
class BaseMemory:
    """Memory of hubs as the base has it.

    Attributes:
        repository: the repository.
        commit: the commit of the base.
        name: how the base is called in words.
        places: the paths that are planned, relative to the top of the repository.
        entries: what the base has.
    """

    repository: Repository
    commit: str
    name: str
    places: Sequence[PurePosixPath]
    entries: Mapping[str, TreeEntry]

    def concerns(self, entries: Mapping[str, TreeEntry]) -> bool:
        """Return whether the base or another commit may remember something of a hub."""
        return any(_of_memory(self.places, data) for data in (self.entries, entries))

    def against_commit(self, commit: str, entries: Mapping[str, TreeEntry]) -> dict[str, str]:
        """Return what another commit says of hubs otherwise, as :meth:`against` does."""
        with self.repository.written(commit, _of_memory(self.places, entries)) as written:
            return self.against(written.folder)

    def against(self, tree: Path) -> dict[str, str]:
        """Return what the files of a repository say of hubs otherwise, in words, by observed
        directory.

        Args:
            tree: the top of the files.

        Raises:
            FleetError: the base cannot be read.
        """
        with self.repository.written(self.commit, _of_memory(self.places, self.entries)) as written:
            known, stated = (self._observed(top) for top in (written.folder, tree))
            # One in the files of another one stays, and is refused: what is in it would be applied
            # to the hub.
            stated = {
                path
                for path in stated
                if not any(path.is_relative_to(of / part) for of in known for part in PARTS)
            }
            return {
                str(folder): self._words(folder, known=folder in known)
                for folder in sorted(known | stated)
                if _content(written.folder / folder / MEMORY) != _content(tree / folder / MEMORY)
            }

    def put_into(self, tree: Path, folders: Sequence[str]) -> None:
        """Give private files of a repository the memory that the base has.

        Args:
            tree: the top of the files.
            folders: the observed directories.

        Raises:
            FleetError: the base cannot be read, or there is a link instead of a folder.
        """
        with self.repository.written(self.commit, _of_memory(self.places, self.entries)) as written:
            for folder in folders:
                # Before anything is removed: a link on the way would lead to files outside of the
                # copy.
                _check_links(tree, folder)
                place, known = tree / folder / MEMORY, written.folder / folder / MEMORY
                _remove(place)
                if known.is_dir():
                    # Links stay links: what they lead to is not read.
                    shutil.copytree(known, place, symlinks=True)

    def check_parts(self, state: StateFile) -> None:
        """Check that no path is a part of what the base knows as an observed directory.

        Raises:
            FleetError: one is, and no state is given.
        """
        if state.file:
            return
        for place in self.places:
            # The nearest folder above with a header is the observed directory itself.
            whole = next(
                (parent for parent in place.parents if str(parent / HEADER) in self.entries), None
            )
            if whole is not None:
                what = Message(
                    "part-observed-directory-what",
                    "is a part of an observed directory of {name}: what the hub has decided is not"
                    " in it",
                    name=self.name,
                )
                raise FleetError([Problem(what, hint=f"give {whole}", file=str(place))])

    def check_state(self, state: StateFile, entries: Mapping[str, TreeEntry]) -> None:
        """Check that what is reviewed does not change the state that it is planned on.

        Args:
            state: the state that is given.
            entries: what the reviewed commit has.

        Raises:
            FleetError: it does.
        """
        try:
            place = self.repository.place(Path(state.file))
        except FleetError:
            return  # it is in no repository, or in another one
        paths = [place / MEMORY] if state.observed else [place]
        if below(paths, self.entries) != below(paths, entries):
            what = Message(
                "changed-what-reviewed-what",
                "is changed by what is reviewed, and what a branch says of what runs is not"
                " believed",
            )
            hint = f"give that of the base: git show {self.commit[:12]}:{place}"
            raise FleetError([Problem(what, hint=hint, file=state.file)])

    def _observed(self, top: Path) -> set[PurePosixPath]:
        places = [top / place for place in self.places]
        return {PurePosixPath(path.relative_to(top).as_posix()) for path in observed_in(places)}

    def _words(self, folder: PurePosixPath, *, known: bool) -> str:
        if known:
            return (
                f"{folder / MEMORY} is changed here, and not believed: what the hub has is taken"
                f" from {self.name}"
            )
        return f"{folder / MEMORY} is not in {self.name}, and ignored: nothing says what a hub has"


def _of_memory(
    places: Sequence[PurePosixPath], entries: Mapping[str, TreeEntry]
) -> list[TreeEntry]:
    """Return what makes an observed directory, and what it remembers."""
    return [entry for entry in below(places, entries) if _is_of_memory(entry.path)]


def _is_of_memory(path: str) -> bool:
    # An observation is staged beside its folder while it is written.
    return any(part == MEMORY or part.startswith(STAGED) for part in path.split("/"))


def _content(folder: Path) -> dict[str, str]:
    """Return what a folder has, by path: digests of files, and what links lead to."""
    if folder.is_symlink() or not folder.is_dir():
        return {"": _digest(folder)} if os.path.lexists(folder) else {}
    return {path.relative_to(folder).as_posix(): _digest(path) for path in files_below(folder)}


def _digest(path: Path) -> str:
    """Return what a path has, in words that are equal for equal content only."""
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if not path.is_file():
        return "no file"
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _check_links(tree: Path, folder: str) -> None:
    way = [
        parent
        for parent in (tree / folder, *(tree / folder).parents)
        if parent != tree and parent.is_relative_to(tree)
    ]
    for path in way:
        if path.is_symlink() or (os.path.lexists(path) and not path.is_dir()):
            what = Message(
                "not-folder-base-observed",
                "is not a folder, and the base has an observed directory there",
            )
            raise FleetError(
                [Problem(what, hint="make it a folder", file=str(path.relative_to(tree)))]
            )


def _remove(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.exists():
        shutil.rmtree(place)
