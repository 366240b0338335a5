"""Replaces a folder of files by another one at once.

The new folder is written beside the old one, then the two change places by renaming. An interrupted
run leaves the old folder in place. Between the two renames the old folder is set aside, and the
next run puts it back. Runs that write to the same place wait for each other.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Mapping
from errno import ENOTDIR
from glob import escape
from pathlib import Path, PurePosixPath

from fleet_components.content.paths import alone, create, files_below
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

Ours = Callable[[Path], Callable[[str], bool]]
"""Function that returns, for a folder, which files in it may go, by their paths in it."""
_ELSEWHERE = "move it away, or write to another place with --out"


def recover(target: Path) -> None:
    """Put back the folder that an interrupted run set aside."""
    old = _aside(target)
    # A link under this name is not followed: anybody may have made it.
    if old.is_dir() and not old.is_symlink() and not target.exists():
        old.rename(target)


def replace(target: Path, files: Mapping[str, str], *, ours: Ours, private: bool = False) -> None:
    """Replace a folder by one with these files and nothing else.

    Args:
        target: the folder.
        files: the text of each file, by path in the folder; a path that ends in a slash is an empty
            folder.
        ours: returns which files of the present folder may go.
        private: True to create files that only their owner can read.

    Raises:
        FleetError: a path leads out of the folder or is there twice, the folder holds other files,
            or it cannot be written.
    """
    _check_paths(target, files)
    try:
        if target.parent.exists() and not target.parent.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone(target.parent):
            recover(target)
            _refuse_foreign(target, files, ours)
            # Folders of runs that were killed; nobody else writes here now, as the lock is held.
            for leftover in target.parent.glob(f".{escape(target.name)}.new-*"):
                _remove(leftover, ours)
            # A name that nobody can have prepared: a link under a known name would be followed.
            new = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
            try:
                new.chmod(0o700 if private else 0o777 & ~_umask())
                _write(new, files, private)
                _swap(new, target, ours)
            finally:
                shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        hint = "nothing was changed; write to another place with --out"
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-written", "cannot be written: {strerror}", strerror=error.strerror
                    ),
                    file=str(target),
                    hint=hint,
                )
            ]
        ) from error


def _check_paths(target: Path, files: Mapping[str, str]) -> None:
    """Check that all files lie in the folder, and that no two of them are one where case does not
    count.

    Raises:
        FleetError: a file does not.
    """
    problems = [
        Problem(
            Message("written-out-folder", "would be written out of the folder: {path}", path=path),
            file=str(target),
            hint="names have no / in them",
        )
        for path in files
        if not all(_is_name(part) for part in path.removesuffix("/").split("/"))
    ]
    # macOS and Windows take names that differ in case alone for one.
    folded = Counter(path.removesuffix("/").casefold() for path in files)
    problems += [
        Problem(
            Message("hold-two-files-one", "would hold two files of one name: {path}", path=path),
            file=str(target),
            hint="rename one of the two",
        )
        for path in files
        if folded[path.removesuffix("/").casefold()] > 1
    ]
    folders = {
        "/".join(parts[:end])
        for path in folded
        for parts in [path.split("/")]
        for end in range(1, len(parts))
    }
    problems += [
        Problem(
            Message("file-folder", "would be a file and a folder: {path}", path=path),
            file=str(target),
            hint="rename the member or the object",
        )
        for path in files
        if not path.endswith("/") and path.casefold() in folders
    ]
    if problems:
        raise FleetError(problems)


def _is_name(part: str) -> bool:
    return part not in ("", ".", "..") and part.isprintable() and not set(part) & {"/", "\\"}


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _refuse_foreign(target: Path, files: Mapping[str, str], ours: Ours) -> None:
    """Raise an error if the folder holds a file that is neither ours nor written again, or is
    none.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise FleetError(
            [Problem(Message("not-folder", "is not a folder"), file=str(target), hint=_ELSEWHERE)]
        )
    foreign = _foreign(target, files, ours)
    if foreign:
        what = Message(
            "not-written-fleet-render",
            "was not written by fleet render: it holds {foreign}",
            foreign=foreign,
        )
        raise FleetError([Problem(what, file=str(target), hint=_ELSEWHERE)])


def _foreign(folder: Path, files: Container[str], ours: Ours) -> str | None:
    """Return the path of a file that is neither ours nor among the given ones; None if there is
    none.
    """
    there = files_below(folder)
    names = (PurePosixPath(path.relative_to(folder)).as_posix() for path in there)
    may_go = ours(folder)
    return next((name for name in names if not (name in files or may_go(name))), None)


def _write(folder: Path, files: Mapping[str, str], private: bool) -> None:
    for path, text in files.items():
        if path.endswith("/"):
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            create(folder / path, text, private=private)


def _remove(folder: Path, ours: Ours) -> None:
    """Remove what an interrupted run has left; a folder with any other file stays."""
    if folder.is_dir() and not folder.is_symlink() and _foreign(folder, (), ours) is None:
        shutil.rmtree(folder, ignore_errors=True)


def _swap(new: Path, target: Path, ours: Ours) -> None:
    if not target.exists():
        new.rename(target)
        return
    old = _aside(target)
    # rmtree refuses a link, and a rename would fail on it.
    if old.is_symlink():
        old.unlink()
    _remove(old, ours)
    target.rename(old)
    try:
        new.rename(target)
    # Ctrl-C too: between the two renames the folder is not there.
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
