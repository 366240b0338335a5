"""What the engine and its providers leave in the folder for temporary files is gone with each command."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import pytest

from fleet_components.automation.pulumi_command import PulumiCommand

SCRIPT = """#!/bin/sh
case "$*" in
*version*) echo v3.999.0; exit;;
esac
for folder in "$TMPDIR" "$TMP" "$TEMP"; do echo kubeconfig > "$folder/left-$$-$RANDOM"; done
mkdir "$TMPDIR/deep"
ls -ld "$TMPDIR" > "{seen}"
case "$*" in
*fails*) exit 3;;
*hangs*) exec /bin/sleep 60;;
esac
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PulumiCommand:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/pulumi"
    script.write_text(SCRIPT.format(seen=tmp_path / "seen"))
    script.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for name in ("TMPDIR", "TMP", "TEMP"):
        monkeypatch.setenv(name, str(tmp_path / "temporary"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return PulumiCommand(tmp_path)


@pytest.mark.parametrize("what", ["up", "fails", "hangs"])
def test_nothing_stays(command: PulumiCommand, what: str, tmp_path: Path) -> None:
    def kill() -> None:
        while not (tmp_path / "seen").exists():
            time.sleep(0.05)
        command.kill()

    ending = threading.Thread(target=kill)
    if what == "hangs":
        ending.start()
    ended = command.run(what)
    if what == "hangs":
        ending.join()
    assert ended.status == {"up": 0, "fails": 3, "hangs": -9}[what]
    assert (tmp_path / "seen").read_text().startswith("drwx------")
    assert list((tmp_path / "temporary").iterdir()) == []
