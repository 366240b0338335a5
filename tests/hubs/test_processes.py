"""Programs beside a test: they end with it, and what they said before they ended too early is shown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hubs.processes import Program, until


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a program with its parent")
def test_a_program_ends_with_its_parent(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from tests.hubs.processes import Program;"
        "it = Program(['sh', '-c', 'echo $$; exec sleep 600'], Path(sys.argv[1])); it.start(); time.sleep(600)"
    )
    log = tmp_path / "log"
    with subprocess.Popen([sys.executable, "-c", script, str(log)]) as parent:
        until(lambda: log.exists() and log.read_text().endswith("\n"), "started")
        pid = int(log.read_text())
        assert runs(pid)
        parent.send_signal(signal.SIGKILL)
    until(lambda: not runs(pid), "ended")


def test_it_is_stopped_and_started_again(tmp_path: Path) -> None:
    program = Program(["sh", "-c", "echo $WORD; exec sleep 600"], tmp_path / "log", {"WORD": "up"})
    for times in (1, 2):
        program.start()
        program.start()
        program.until(lambda expected="up\n" * times: program.tail() == expected, "up")  # type: ignore[misc]
        program.stop()
        assert not program.running


def test_what_it_said_before_it_ended(tmp_path: Path) -> None:
    program = Program(["sh", "-c", "echo no room >&2; exit 3"], tmp_path / "log")
    program.start()
    with pytest.raises(RuntimeError, match="sh has ended, not ready: no room"):
        program.until(lambda: False, "ready")


def runs(pid: int) -> bool:
    """Whether a process is there, and no zombie whose parent has not asked for it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
