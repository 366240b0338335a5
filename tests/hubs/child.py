"""Becomes another program, which ends with its parent: ``child.py PARENT PROGRAM ARGUMENT...``

It imports nothing of the project, so that it takes no time.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl, which Linux alone has

if __name__ == "__main__":
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() == int(sys.argv[1]):  # else it has gone meanwhile
        os.execvp(sys.argv[2], sys.argv[2:])
