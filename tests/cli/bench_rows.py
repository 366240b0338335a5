"""Rows for ``tests.bench``: ``fleet plan --state`` as a process, where a fleet stands and the image of one app changes.

The bytecode is compiled, as a user has it.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from tests.growth import FLEETS

Run = Callable[[], object]

SIZES = ((60, 40), (1_000, 100))
"""Members and apps."""
_RUNS = 3
_OLD, _NEW = "nginx:1.27.5", "nginx:1.28.0"
_LOADS_ONLY = "import fleet_components.cli.command, fleet_components.cli.plan"
_FOLDER = TemporaryDirectory(prefix="fleet-bench-")
_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


def _python(*words: object) -> None:
    subprocess.run(
        [sys.executable, *map(str, words)], check=True, stdout=subprocess.DEVNULL, env=_ENVIRONMENT
    )


@cache
def _standing(system: str, members: int, apps: int) -> tuple[Path, Path]:
    """Write a fleet with a new image, and the state in which it stands with the old one."""
    fleet = Path(_FOLDER.name) / f"{system}-{members}x{apps}.yaml"
    state = fleet.with_suffix(".state")
    for image in (_OLD, _NEW):
        fleet.write_text(yaml.safe_dump_all(FLEETS[system](members, apps, image)))
        if image == _OLD:
            _python("-m", "fleet_components.cli", "plan", fleet, "--save-state", state)
    return fleet, state


def plan(system: str, members: int, apps: int) -> Run:
    """Set up the command for a fleet."""
    fleet, state = _standing(system, members, apps)
    return partial(_python, "-m", "fleet_components.cli", "plan", fleet, "--state", state)


def user_seconds(run: Run) -> float:
    """Return the processor time of the processes that a call waits for: the median of some calls."""
    return statistics.median(_user_seconds(run) for _ in range(_RUNS))


def _user_seconds(run: Run) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def told(system: str, members: int, apps: int) -> str:
    """Return what the command takes, and how much more that is than to start Python and to load the command."""
    takes = user_seconds(plan(system, members, apps))
    starts, loads = (user_seconds(partial(_python, "-c", code)) for code in ("pass", _LOADS_ONLY))
    return f"{takes - starts:.2f} s of processor time after Python's start, {takes / loads:.1f} x loading the command"
