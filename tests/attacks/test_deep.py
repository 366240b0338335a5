"""Folders in folders, links under the names of our own files, and a machine that has no memory left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from fleet_components.content import load
from fleet_components.plan import private_files
from tests.cli.fleets import FLEET, write
from tests.tools import stand_ins

DEEP = 1500


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(write(tmp_path, {f"fleet/{name}": text for name, text in FLEET.items()}))
    stand_ins(tmp_path / "tools", monkeypatch).printing("helm", "")
    yield tmp_path
    # pytest, too, could not follow them.
    subprocess.run(["/bin/rm", "-rf", *tmp_path.iterdir()], check=True)


def deep(folder: Path) -> None:
    """Make folders in one another; no path of them is as long as systems allow."""
    here = os.getcwd()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for _ in range(DEEP):
        os.mkdir("a")
        os.chdir("a")
    os.chdir(here)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("fleet/deep", ("plan", "fleet")),
        ("fleet/deep", ("render", "fleet", "--out", "out")),
        ("fleet/deep", ("plan", "fleet", "--no-program")),
        ("shop/deep", ("plan", "shop")),
        ("fleet/observed/deep", ("plan", "fleet")),
        ("out/local/deep", ("render", "fleet", "--out", "out")),
        ("fleet/deep", ("simulate", "fleet")),
        ("fleet/deep", ("fields", "fleet")),
    ],
)
def test_folders_in_folders_end_in_a_message(
    place: Path, where: str, words: tuple[str, ...]
) -> None:
    write(place / "shop", {"Chart.yaml": "name: shop"})
    deep(place / where)
    done = CliRunner().invoke(fleet, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert done.exit_code in (1, 2)
    assert "error" in done.output.casefold()


def test_a_machine_without_memory_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(load, "documents", none_left)
    done = CliRunner().invoke(fleet, ["plan", "fleet"])
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code == 1
    assert "error: there is not enough memory" in done.output


@pytest.mark.parametrize("linked", ["the lock", "the folder"])
def test_a_lock_that_is_a_link_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: str
) -> None:
    """In a shared folder somebody else has made it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    private_files.remove()
    mine = write(tmp_path / "mine", {"lock": "kept"})
    (tmp_path / "run").mkdir()
    planted = tmp_path / "run/fleet-components-x"
    if linked == "the folder":
        planted.symlink_to(mine)
    else:
        planted.mkdir()
        (planted / "lock").symlink_to(mine / "lock")
    private_files.write({})
    private_files.remove()
    assert (mine / "lock").read_text() == "kept"
