"""The ``fleet`` command: shows what an update would do to a fleet, and why, before it is run."""

from __future__ import annotations

import gc
import os
import sys
from io import TextIOWrapper

from fleet_components.cli.interrupt import as_ctrl_c
from fleet_components.model.extras import extra_of, not_installed

MOST_NEW = 1_000_000
"""Number of new values after which garbage is looked for: what a plan makes stays until the end of
the command.
"""


def main() -> None:
    """Run the command. It needs the extra ``cli``; Pulumi is loaded only for Pulumi projects."""
    as_ctrl_c()
    gc.set_threshold(MOST_NEW, *gc.get_threshold()[1:])
    for closed in ("stdin", "stdout", "stderr"):
        # Closed by the caller: there is nothing to read, and nobody who reads.
        if getattr(sys, closed) is None:
            mode = "r" if closed == "stdin" else "w"
            setattr(sys, closed, open(os.devnull, mode))  # noqa: SIM115
    try:
        try:
            _run()
        finally:
            gc.freeze()  # the process ends: nobody has to look through all that it made
            sys.stdout.flush()  # not left to the interpreter's end, where an error is nobody's
    except KeyboardInterrupt:
        sys.exit("error: interrupted")
    except OSError as error:
        # A full disk behind standard output; what is wrong with the input has errors of its own.
        # What is still buffered goes nowhere, or the interpreter would end with an error and a
        # status of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(f"error: the output cannot be written: {error.strerror}")


def _run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Escapes characters that the terminal cannot encode.
            stream.reconfigure(errors="backslashreplace")
    try:
        from fleet_components.cli.command import fleet

        fleet(prog_name="fleet")
    except ModuleNotFoundError as missing:
        if extra_of(missing.name or "") != "cli":
            raise
        problem = not_installed(missing.name or "")
        sys.exit(f"error: {problem.what}\n  hint: {problem.hint}")
