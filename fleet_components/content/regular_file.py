"""Reads regular files up to a size: no device, no pipe, and nothing that would fill the memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from fleet_components.content.guarded import UnreadableError
from fleet_components.model.digits import integer

LIMIT_VARIABLE = "FLEET_MAX_FILE_MIB"
"""Environment variable that sets the largest size of a file, in MiB."""
_DEFAULT_LIMIT = 256
_MIB = 2**20


def read_regular(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: the file cannot be opened or read.
        UnreadableError: it is not a regular file, or is larger than allowed.
    """
    # Without O_NONBLOCK the open of a named pipe would wait for somebody to write into it.
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a folder has an error of its own
            raise UnreadableError("is not a regular file; pipe its text into -")
        return read_stream(file)


def read_stream(stream: IO[bytes]) -> bytes:
    """Return what a stream has, standard input for example.

    Raises:
        OSError: it cannot be read.
        UnreadableError: it is larger than a file may be.
    """
    most = limit_mib() * _MIB
    content = bytearray()
    # In pieces: a buffer for the most that is allowed would be made before there is anything.
    while piece := stream.read(_MIB):
        content += piece
        if len(content) > most:
            raise UnreadableError(f"is larger than {limit_mib()} MiB; {LIMIT_VARIABLE} sets the limit")
    return bytes(content)


def limit_mib() -> int:
    """Return the largest size of a file in MiB."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    return number if text.isdecimal() and 0 < (number := integer(text)) < _MIB else _DEFAULT_LIMIT
