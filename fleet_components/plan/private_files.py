"""Files that only this run and its providers read; they may hold the data of Secrets.

Their directory is readable by its owner alone, in memory where the system has a directory for that,
and is removed when the program ends. If the program is killed, the next one removes it: the lock on
it is gone then.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where an open file cannot be deleted
    fcntl = None  # type: ignore[assignment]

_PREFIX, _LOCK = "fleet-components-", "lock"
_ROOM = "make room there, or set XDG_RUNTIME_DIR to another directory that nobody else reads"
_GONE = "run it again, and let nothing clean up that directory meanwhile"


def write(value: Any) -> str:
    """Write a value to a file of its own, and return its path.

    Raises:
        FleetError: the file cannot be written: the disk is full, for example.
    """
    try:
        handle, path = tempfile.mkstemp(dir=_folder()[0], suffix=".json")
        with open(handle, "w", encoding="utf-8") as out:
            json.dump(value, out)
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-written", "cannot be written: {strerror}", strerror=error.strerror
                    ),
                    file=str(_parent()),
                    hint=_ROOM,
                )
            ]
        ) from None
    return path


def read(path: str) -> Any:
    """Return the value of a file.

    Raises:
        FleetError: the file is gone.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FleetError(
            [
                Problem(
                    Message("removed-while-program-ran", "was removed while the program ran"),
                    file=path,
                    hint=_GONE,
                )
            ]
        ) from None


def remove() -> None:
    """Remove all files, which happens at the end of the program unless it is killed."""
    # Not if nothing was ever written: the call below would make a folder.
    if _folder.cache_info().currsize:
        folder, lock = _folder()
        lock.close()  # first, as Windows needs it
        shutil.rmtree(folder, ignore_errors=True)
        _folder.cache_clear()


@cache
def _folder() -> tuple[Path, IO[str]]:
    for abandoned in _abandoned(_parent()):
        shutil.rmtree(abandoned, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
    atexit.register(remove)
    return folder, _locked(folder)


def _parent() -> Path:
    home = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(home if os.access(home, os.W_OK) else tempfile.gettempdir())


def _abandoned(parent: Path) -> Iterator[Path]:
    """Yield the directories of programs that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            # In a shared directory another user may have put anything under this prefix. A folder
            # without a lock may be one that another program has just made.
            if _is_own(folder):
                # An error, with which the folder is left alone, if its program still runs.
                _locked(folder).close()
                if not fcntl:
                    (folder / _LOCK).unlink()  # fails while the program that has opened it runs
                yield folder


def _is_own(folder: Path) -> bool:
    """Return whether a folder and its lock are what this module has made for this user, and no
    links.

    Raises:
        OSError: one of them is not there.
    """
    made, lock = folder.lstat(), (folder / _LOCK).lstat()
    return (
        stat.S_ISDIR(made.st_mode)
        and stat.S_ISREG(lock.st_mode)
        and made.st_uid == lock.st_uid == _user()
    )


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _locked(folder: Path) -> IO[str]:
    """Return the open lock file of a directory.

    Raises:
        OSError: another program has locked it.
    """
    # Nothing is written to it, so that nothing is emptied if it is not what it seems.
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    # It stays open as long as the program runs.
    lock = open(handle, "r+", encoding="utf-8")  # noqa: SIM115
    if fcntl:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise
    return lock
