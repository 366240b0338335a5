"""The command in a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

MAIN = (sys.executable, "-m", "fleet_components.cli")

# Ctrl-C is heard again, which what runs in the background of a shell inherits as ignored.
INTERRUPTIBLE = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"

ERASE = "\r\x1b[K"


def in_terminal(
    *args: object,
    where: Path | None = None,
    both: bool = True,
    interrupted_at: str = "",
    env: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """Run the command in a terminal of 80 columns.

    Args:
        args: its arguments.
        where: the working directory.
        both: False if standard output is a pipe, and only standard error the terminal.
        interrupted_at: what is read before Ctrl-C; empty for none.
        env: further environment variables; none for None.

    Returns:
        The exit status, what the terminal got, and what the pipe got.
    """
    main, secondary = pty.openpty()
    surroundings = {
        name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")
    }
    surroundings |= {"TERM": "xterm-256color", "COLUMNS": "80", **(env or {})}
    out = secondary if both else subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *MAIN, *map(str, args)],
        cwd=where,
        stdout=out,
        stderr=secondary,
        env=surroundings,
    ) as process:
        os.close(secondary)
        text = _read(main, process, interrupted_at)
        piped = process.stdout.read().decode() if process.stdout else ""
    os.close(main)
    return process.returncode, text.replace("\r\n", "\n"), piped


def _read(main: int, process: subprocess.Popen[bytes], interrupted_at: str) -> str:
    text = b""
    try:
        while chunk := os.read(main, 65536):
            text += chunk
            if interrupted_at and interrupted_at.encode() in text:
                interrupted_at = ""
                process.send_signal(signal.SIGINT)
    except OSError:
        pass  # how Linux says that the other side is closed
    return text.decode()


def left_of(text: str) -> str:
    """What is still to be seen of what a terminal got: without the lines that were erased."""
    return "\n".join(line.rpartition(ERASE)[2] for line in text.split("\n"))
