"""Only regular files of a bounded size are read, wherever a path leads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.paths import LIMIT_VARIABLE, read_regular
from fleet_components.model.problem import FleetError
from fleet_components.plan.source import read_source
from tests.cli.fleets import run, write


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text\xff")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_regular(tmp_path / "a") == read_regular(tmp_path / "link") == b"text\xff"
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "b")
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


@pytest.mark.parametrize("kind", ["pipe", "device", "endless"])
def test_anything_else_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null" if kind == "device" else "/dev/zero")
    with pytest.raises(UnreadableError, match="not a regular file"):
        read_regular(path)
    with pytest.raises(FleetError, match="is not a regular file; pipe its text into -"):
        read_source(str(path))
    with pytest.raises(
        FleetError,
        match="is not a regular file" if kind == "pipe" else "is a link that leads out of",
    ):
        read_source(str(tmp_path))
    assert "is not a regular file" in run("plan", write(tmp_path / "fleet"), "--state", path).stderr


def test_the_limit_is_named_with_how_to_raise_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(b"#" * (2**20 + 1))
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    with pytest.raises(
        UnreadableError, match=f"is larger than 1 MiB; {LIMIT_VARIABLE} sets the limit"
    ):
        read_regular(path)
    monkeypatch.setenv(LIMIT_VARIABLE, "2")
    assert len(read_regular(path)) == 2**20 + 1


def test_a_kubeconfig_that_is_no_file_is_refused(tmp_path: Path) -> None:
    from fleet_components.live.kubeconfig import read_kubeconfig

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FleetError, match="the kubeconfig cannot be read: it is not a regular file"):
        read_kubeconfig(str(tmp_path / "pipe"), "a")
