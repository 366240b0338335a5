"""Files that are written alone: no other run writes there meanwhile, and nobody else opens a private one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # Windows, which cannot lock a directory
    fcntl = None  # type: ignore[assignment]

_OPEN, _PRIVATE = 0o666, 0o600


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other run writes into a folder, and keep others waiting.

    Raises:
        OSError: the folder cannot be opened.
    """
    with ExitStack() as held:
        if fcntl:
            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def create(file: Path, text: str, *, private: bool = False) -> None:
    """Write a text into a new file, and make the folders that it is in.

    Args:
        file: the file.
        text: the text; lines end as in it.
        private: True to let only the owner read it.

    Raises:
        OSError: the file exists, or cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    # The mode is set on creation, so that nobody else can open a private file in between.
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE if private else _OPEN)
    with open(opened, "w", encoding="utf-8", newline="\n") as out:
        out.write(text)
