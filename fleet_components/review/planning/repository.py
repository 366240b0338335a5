"""The git repository around a path, and the files of one of its commits, read from its objects
without a checkout.

Nothing of the repository is trusted: a tree may have names that lead anywhere, links, and more than
any disk holds.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path, PurePosixPath
from typing import IO

import attrs

from fleet_components.content.paths import resolved, within
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.review.planning.git import MOST_BYTES, Git, GitError

MOST_CONTENT = 2 * 2**30
"""Largest content of all files of a commit together, in bytes."""
_DEEPEN = "git fetch --unshallow, or actions/checkout with fetch-depth: 0"
_PARTIAL = (
    "this partial clone lacks objects, and a review fetches none: git fetch --refetch --no-filter"
)
_FOLDER, _LINK, _SUBMODULE, _PROGRAM = "040000", "120000", "160000", "100755"
_NO_LONGER = 4096
"""Largest size of a link or of a pointer of Git LFS, in bytes."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_RULES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""Places in which git looks for a name, in its order; the first one counts there."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OF_COMMIT = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})(\^\d*)?")
_ABBREVIATED = re.compile(r"[0-9a-f]{4,64}")
_END_OF_NAME = re.compile(r"[~^:]|@\{")
_PIECE = 2**20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@attrs.frozen
class TreeEntry:
    """Entry of a commit at a path: a file, a link or a submodule, by the mode that git gives it."""

    path: str
    mode: str
    object: str


@attrs.frozen
class Repository:
    """A git repository with its files.

    Attributes:
        top: the directory of its files, with links resolved.
        git: the command that reads it.
    """

    top: Path
    git: Git = attrs.field(repr=False)

    @classmethod
    def around(cls, path: Path) -> Repository:
        """Return the repository that a path is in; what the environment says of it counts if the
        path is in that one.

        Raises:
            FleetError: there is none, or git does not read it.
        """
        # A link may be one in the repository, or lead to it.
        folders = [parent for parent in (path, *path.absolute().parents) if parent.is_dir()][:2]
        asked = product((True, False) if "GIT_DIR" in os.environ else (False,), folders)
        failed = GitError("")
        for located, folder in asked:
            try:
                # Where the environment names the repository, its files are taken from the current
                # directory.
                git, at = Git(located=located), None if located else folder
                top = resolved(Path(git.line("rev-parse", "--show-toplevel", at=at)))
                directory = Path(git.line("rev-parse", "--absolute-git-dir", at=at))
            except GitError as error:
                failed = error
                continue
            if within(folder, top):
                return cls(top, Git(directory, located=located))
        raise FleetError([_unfound(path, failed)])

    def place(self, path: Path) -> PurePosixPath:
        """Return a path relative to the top, as it is written.

        Raises:
            FleetError: it leads out of the repository.
        """
        absolute = Path(os.path.abspath(path))
        # By the resolved path: the path as it is written may lead through links to the same folder.
        top = next(
            (parent for parent in (absolute, *absolute.parents) if resolved(parent) == self.top),
            None,
        )
        if top is None or not within(absolute, self.top):
            hint = "give paths of one repository, which no link leads out of"
            raise FleetError(
                [
                    Problem(
                        Message("not-repository", "is not in the repository {top}", top=self.top),
                        file=str(path),
                        hint=hint,
                    )
                ]
            )
        return PurePosixPath(absolute.relative_to(top).as_posix())

    def commit(self, ref: str) -> str:
        """Return the commit that a name stands for.

        Raises:
            FleetError: there is none, or it stands for several: a tag that somebody pushes could
                shadow a branch.
        """
        # git prefers a tag to a branch of the same name, and only warns.
        meant = self._meanings(ref)
        if len(meant) > 1:
            what = Message(
                "ambiguous-clone-may",
                '"{ref}" is ambiguous in this clone: it may be {meant}',
                ref=ref,
                meant=few(meant),
            )
            raise FleetError([Problem(what, hint=f"give one of them in full, as {meant[-1]}")])
        found = self._commit(ref)
        if found:
            return found
        raise FleetError(
            [
                Problem(
                    Message("no-commit-clone", 'there is no commit "{ref}" in this clone', ref=ref),
                    hint=self._fetching(ref),
                )
            ]
        )

    def merge_base(self, ref: str, head: str) -> str:
        """Return the commit where two histories part.

        Raises:
            FleetError: one of the names stands for no commit, or the clone does not have where they
                part.
        """
        commits = [self.commit(head), self.commit(ref)]
        try:
            return self.git.line("merge-base", *commits)
        except GitError as error:
            what = Message(
                "no-commit-common", "{ref} and {head} have no commit in common", ref=ref, head=head
            )
            # In a shallow clone the common commit may be there and not fetched.
            if self._shallow:
                raise FleetError(
                    [
                        Problem(
                            Message("shallow-clone", "{what} in this shallow clone", what=what),
                            hint=_DEEPEN,
                        )
                    ]
                ) from error
            raise FleetError(
                [Problem(what, hint=error.message or "name a branch that both come from")]
            ) from error

    def short(self, commit: str) -> str:
        """Return the short form of a commit."""
        return self.git.line("rev-parse", "--short", commit)

    def entries(self, commit: str) -> Mapping[str, TreeEntry]:
        """Return what a commit has, by path.

        Raises:
            FleetError: it cannot be listed, or is too large.
        """
        with (
            _explained(commit),
            self.git.reading(["ls-tree", "-r", "-z", "--full-tree", commit]) as answer,
        ):
            listed = answer.read(MOST_BYTES + 1)
        if len(listed) > MOST_BYTES:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "lists-more-than-mib",
                            "lists more than {most_bytes} MiB of names",
                            most_bytes=MOST_BYTES // 2**20,
                        ),
                        file=commit[:12],
                    )
                ]
            )
        # Each entry ends with a NUL, so that the last part is empty.
        return {entry.path: entry for entry in map(_entry, listed.split(b"\0")[:-1])}

    @contextmanager
    def written(self, commit: str, entries: Iterable[TreeEntry]) -> Iterator[Written]:
        """Yield a private directory with files of a commit, which is removed afterwards.

        Raises:
            FleetError: they cannot be read or written.
        """
        place = Path(tempfile.gettempdir())
        # A plan reads what is below its paths, and would find the copy.
        if within(place, self.top):
            hint = "set TMPDIR to a directory outside of it"
            raise FleetError(
                [
                    Problem(
                        Message(
                            "hold-base-repository", "is to hold the base, and is in the repository"
                        ),
                        file=str(place),
                        hint=hint,
                    )
                ]
            )
        with tempfile.TemporaryDirectory(
            prefix="fleet-review-", ignore_cleanup_errors=True
        ) as folder:
            with _explained(commit):
                found = _write(self.git, resolved(Path(folder)), list(entries))
            yield found

    def _commit(self, ref: str) -> str:
        """Return the commit that a name stands for; empty if there is none."""
        # A name never begins with a dash, so it is not taken for an option; and ":/TEXT" searches
        # what others write.
        if not ref or ref.startswith(("-", ":")) or not ref.isprintable():
            return ""
        name = _name_in(ref)
        if name.startswith("refs/") and name not in self._refs([name]):
            return ""  # a tag could have this whole name
        with suppress(GitError):
            return self.git.line("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return ""

    def _meanings(self, ref: str) -> list[str]:
        """Return all that a name may stand for, by the rules of gitrevisions: full names, and
        objects.

        ``HEAD``, a name below ``refs/`` and a whole commit come first by these rules, so that
        nothing shadows them.
        """
        name = _name_in(ref)
        if name in ("", "HEAD") or _COMMIT.fullmatch(name) or name.startswith("refs/"):
            return []
        refs = self._refs([rule.format(name) for rule in _RULES])
        if refs and _ABBREVIATED.fullmatch(name):
            with suppress(GitError):
                refs += filter(
                    None, self.git.line("rev-parse", f"--disambiguate={name}").split("\n")
                )
        return refs

    def _refs(self, names: Sequence[str]) -> list[str]:
        """Return those of some full names that there are, in their order."""
        with suppress(GitError):
            found = self.git.line("for-each-ref", "--format=%(refname)", *names).split("\n")
            return [name for name in names if name in found]
        return []

    def _fetching(self, ref: str) -> str:
        """Return how to get what a name stands for."""
        if ref == "HEAD":
            return "commit something first"
        if self._commit(f"origin/{ref}"):
            return f"there is origin/{ref}: --base origin/{ref}"
        name = ref.removeprefix("origin/")
        fetch = f"git fetch origin {name}" if _PLAIN.fullmatch(name) else "git fetch"
        return f"{fetch}; this clone is shallow: {_DEEPEN}" if self._shallow else fetch

    @property
    def _shallow(self) -> bool:
        with suppress(GitError):
            return self.git.line("rev-parse", "--is-shallow-repository") == "true"
        return False


@attrs.frozen
class Written:
    """A directory with files of a commit.

    Attributes:
        folder: the directory, with links resolved.
        notes: what was asked for and is not there as git would check it out, in words.
    """

    folder: Path
    notes: tuple[str, ...] = ()


def _name_in(ref: str) -> str:
    """Return the name in a revision, without what follows it: ``main`` of ``main~2``."""
    return _END_OF_NAME.split(ref, maxsplit=1)[0]


def is_spelled_out(ref: str) -> bool:
    """Return whether a name is a whole commit, or a parent of one: no branch and no tag is
    meant.
    """
    return bool(_OF_COMMIT.fullmatch(ref))


def below(paths: Sequence[PurePosixPath], entries: Mapping[str, TreeEntry]) -> list[TreeEntry]:
    """Return what a commit has at some paths and below; all of it where one of them leads through a
    link.
    """
    wanted = [str(path) for path in paths]
    links = [path for path, entry in entries.items() if entry.mode == _LINK]
    through = any(_holds(link, path) for link in links for path in wanted)
    return [
        entry
        for path, entry in entries.items()
        if through or any(_holds(text, path) for text in wanted)
    ]


def _holds(folder: str, path: str) -> bool:
    return folder in (".", path) or path.startswith(f"{folder}/")


def _unfound(path: Path, failed: GitError) -> Problem:
    # git gives this case no exit status of its own.
    if "dubious ownership" in failed.message:
        hint = "if it is yours: git config --global --add safe.directory DIR"
        return Problem(
            Message(
                "git-repository-somebody-else",
                "is in a git repository of somebody else, which git does not read",
            ),
            file=str(path),
            hint=hint,
        )
    hint = "give a path in a clone; fleet plan takes any directory"
    return Problem(
        Message("no-git-repository-files", "is in no git repository with files"),
        file=str(path),
        hint=hint,
    )


@contextmanager
def _explained(commit: str) -> Iterator[None]:
    """Turn an error of git, or of the disk, into a problem of the commit."""
    try:
        yield
    except GitError as error:
        hint = ""
        # Words of git for objects that a partial clone would have to fetch.
        if "promisor" in error.message or "fetch" in error.message:
            hint = _PARTIAL
        raise FleetError(
            [
                Problem(
                    Message(
                        "repository-cannot-be-read",
                        "cannot be read: {message}",
                        message=error.message,
                    ),
                    file=commit[:12],
                    hint=hint,
                )
            ]
        ) from error
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-written", "cannot be written: {strerror}", strerror=error.strerror
                    ),
                    file=commit[:12],
                )
            ]
        ) from error


def _entry(line: bytes) -> TreeEntry:
    about, _, path = line.partition(b"\t")
    mode, _, name = about.decode().split(" ")
    return TreeEntry(os.fsdecode(path), mode, name)


def _write(git: Git, folder: Path, entries: list[TreeEntry]) -> Written:
    """Write entries below a folder: all folders first, so that no link takes the place of one and
    is gone through.

    Raises:
        GitError: git fails.
        OSError: the disk is full.
    """
    left = {
        entry.path: "its name could lead elsewhere" for entry in entries if not _plain(entry.path)
    }
    asked = [entry for entry in entries if entry.path not in left and entry.mode != _SUBMODULE]
    for entry in asked:
        with suppress(OSError):  # the file itself then fails, and is reported
            (folder / entry.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pointers, lacking = list[str](), list[str]()
    names = "".join(f"{entry.object}\n" for entry in asked).encode()
    with git.reading(["cat-file", "--batch"], names) as answer:
        room = MOST_CONTENT
        for entry in asked:
            header = answer.readline().split()
            # "OBJECT missing" stands for what git does not have, "OBJECT TYPE SIZE" for all else.
            if len(header) < 3:
                if not header:
                    break  # git says why
                lacking.append(entry.path)
                continue
            size = int(header[2])
            room -= size
            if room < 0:
                raise GitError(f"its files are larger than {MOST_CONTENT // 2**30} GiB")
            # Enough to tell a pointer of Git LFS, and all of a link.
            head = answer.read(min(size, _NO_LONGER))
            if head.startswith(_POINTER):
                pointers.append(entry.path)
            if not _placed(folder / entry.path, entry.mode, head, answer, size - len(head)):
                left[entry.path] = "this system does not take its name"
            # The line end that git writes behind each content.
            answer.read(1)
    if lacking:  # git 2.38 goes on without what it may not fetch
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-read-no-content",
                        "cannot be read: there is no content of {lacking}",
                        lacking=few(lacking),
                    ),
                    hint=_PARTIAL,
                )
            ]
        )
    return Written(folder, tuple(_notes(entries, left, pointers)))


def _placed(place: Path, mode: str, head: bytes, answer: IO[bytes], rest: int) -> bool:
    """Write one entry; False if the system does not take its name, or something of its name is
    there.
    """
    try:
        if mode == _LINK:
            _skipped(answer, rest)
            os.symlink(head, os.fsencode(place))
            return True
        # Made, never opened: what is there already differs in upper and lower case alone.
        target = os.open(
            place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700 if mode == _PROGRAM else 0o600
        )
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise
        # The content has to be read in any case: the header of the next object follows it.
        _skipped(answer, rest if mode != _LINK else 0)
        return False
    with open(target, "wb") as file:
        file.write(head)
        while rest > 0 and (piece := answer.read(min(rest, _PIECE))):
            file.write(piece)
            rest -= len(piece)
    return True


def _skipped(answer: IO[bytes], rest: int) -> None:
    while rest > 0 and (piece := answer.read(min(rest, _PIECE))):
        rest -= len(piece)


_OF_GIT = re.compile(r"\.git|git~\d+")


def _plain(path: str) -> bool:
    """Return whether a path of a tree stays below the folder that it is written to, and out of a
    ``.git``.
    """
    parts = path.split("/")
    return all(
        part not in ("", ".", "..") and not _OF_GIT.fullmatch(_folded(part)) for part in parts
    ) and (os.name != "nt" or not set("\\:") & set(path))


def _folded(part: str) -> str:
    """Return a name as file systems may see it that ignore case, invisible characters, and dots at
    its end.
    """
    seen = "".join(char for char in part if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold().partition(":")[0].rstrip(". ")


def _notes(
    entries: Iterable[TreeEntry], left: Mapping[str, str], pointers: Sequence[str]
) -> Iterator[str]:
    submodules = [entry.path for entry in entries if entry.mode == _SUBMODULE]
    if submodules:
        yield (
            f"{count(len(submodules), 'submodule is', 'submodules are')} not read:"
            f" {few(submodules)}"
        )
    if pointers:
        yield (
            f"{count(len(pointers), 'file of Git LFS is', 'files of Git LFS are')} read as"
            f" pointers: {few(pointers)}"
        )
    for why in dict.fromkeys(left.values()):
        yield (
            f"left out, since {why}:"
            f" {few([path for path, reason in left.items() if reason == why])}"
        )
