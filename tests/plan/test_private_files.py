"""Files for the providers: nobody else reads them, their names tell nothing, and none is left behind."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_components.model.problem import FleetError
from fleet_components.plan import private_files

pytestmark = pytest.mark.long

Start = Callable[[], tuple["subprocess.Popen[str]", Path]]
WRITER = """
import sys
from fleet_components.plan import private_files
print(private_files.write({"pin": 1234}), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start programs that write a file and wait; each is ended with the test."""
    running: list[subprocess.Popen[str]] = []

    def started() -> tuple[subprocess.Popen[str], Path]:
        program = subprocess.Popen(
            [sys.executable, "-c", WRITER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        running.append(program)
        assert program.stdout
        return program, Path(program.stdout.readline().strip())

    yield started
    for program in running:
        program.kill()
        program.communicate()


def test_what_is_written_is_read() -> None:
    values: list[Any] = [{"a": [1, None, "ü"]}, [], "text", {"a": [1, None, "ü"]}]
    for value in values:
        assert private_files.read(private_files.write(value)) == value


def test_names_tell_nothing_of_what_is_in_a_file() -> None:
    same = {Path(private_files.write({"pin": 1234})).name for _ in range(20)}
    assert len(same) == 20


def test_only_the_owner_may_read() -> None:
    file = Path(private_files.write({"pin": 1234}))
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0


def test_a_directory_in_memory_is_preferred(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WRITER],
        input="\n",
        capture_output=True,
        text=True,
        check=True,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert Path(run.stdout.strip()).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_they_are_removed_when_the_program_ends(start: Start, tmp_path: Path) -> None:
    program, file = start()
    assert json.loads(file.read_text()) == {"pin": 1234}
    program.communicate("\n")
    assert list(tmp_path.iterdir()) == []


def test_those_of_a_killed_program_are_removed_by_the_next_one_and_no_others(
    start: Start, tmp_path: Path
) -> None:
    killed, left_behind = start()
    _, in_use = start()
    killed.kill()
    killed.wait()
    assert left_behind.exists()
    _, third = start()
    assert not left_behind.parent.exists()
    assert in_use.exists()
    assert third.exists()


def test_they_can_be_removed_before_and_written_again() -> None:
    before = Path(private_files.write({"pin": 1234}))
    private_files.remove()
    private_files.remove()
    assert not before.parent.exists()
    assert private_files.read(private_files.write({"pin": 1234})) == {"pin": 1234}


def test_a_full_disk_is_told_by_its_directory() -> None:
    private_files.write({})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, limits[1]))
    try:
        with pytest.raises(FleetError, match="cannot be written: File too large"):
            private_files.write({"pin": 1234})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
