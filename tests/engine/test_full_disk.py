"""A disk that is full in an update: it is named, nothing is half done, and the next update goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.driver import Engine

pytestmark = pytest.mark.engine
UP = ("up", "--yes", "--skip-preview")
FULL = "no space left on device"


class Disk:
    """A small file system of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        if not shutil.which("mount") or _run(
            "mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder)
        ):
            pytest.skip("needs to be allowed to mount a file system")

    def leave(self, free: int) -> None:
        """Fill it until so many bytes are free."""
        with (self.folder / "fill").open("wb") as out:
            os.posix_fallocate(out.fileno(), 0, shutil.disk_usage(self.folder).free - free)

    def clear(self) -> None:
        """Make room again."""
        (self.folder / "fill").unlink(missing_ok=True)

    def end(self) -> None:
        """Unmount it."""
        assert _run("umount", str(self.folder)) == 0


def _run(*command: str) -> int:
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """One that tests fill."""
    made = Disk(tmp_path / "disk")
    yield made
    made.end()


def fails(engine: Engine[Any]) -> str:
    code, text = engine.command(*UP)
    assert code != 0
    assert FULL in text.lower(), text
    assert "Traceback" not in text, text
    return text


def test_the_directory_of_the_private_files(engine: Engine, disk: Disk) -> None:
    """Nothing is registered, and the directory is named."""
    assert engine.up().ok
    engine.world.image = "web:2"
    engine.environment |= {"XDG_RUNTIME_DIR": str(disk.folder)}
    disk.leave(0)
    assert f"{disk.folder}: cannot be written" in fails(engine)
    assert engine.images() == dict.fromkeys("abcd", "web:1")
    disk.clear()
    assert engine.command(*UP)[0] == 0
    assert engine.images() == dict.fromkeys("abcd", "web:2")
    assert list(disk.folder.iterdir()) == []


def test_the_backend(engine: Engine, disk: Disk) -> None:
    """A file backend may cut off the state; its backup is whole, and the next update goes on from there."""
    assert engine.up().ok
    shutil.copytree(engine.folder / "backend", disk.folder, dirs_exist_ok=True)
    engine.environment |= {"PULUMI_BACKEND_URL": f"file://{disk.folder}"}
    engine.world.image = "web:2"
    # Room for the backup of the state and for the lock, and not for another state.
    state = next(disk.folder.rglob("dev.json"))
    disk.leave(state.stat().st_size)
    fails(engine)
    disk.clear()
    state.with_name("dev.json.bak").replace(state)
    engine.command("cancel", "--yes")
    code, text = engine.command(*UP)
    assert code == 0, text
    assert engine.images() == dict.fromkeys("abcd", "web:2")
