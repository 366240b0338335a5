"""Fixtures of the tests of ``fleet review``."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.clone import Clone


@pytest.fixture
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No review leaves anything behind: neither files, nor modules, nor another directory."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    before = list(sys.path)
    yield
    # What a program hands to its providers is there until the process ends.
    assert {
        path.name for path in place.iterdir() if not path.name.startswith("fleet-components-")
    } == set()
    assert sys.path == before


@pytest.fixture
def clone(tmp_path: Path, nothing_left: None) -> Clone:
    return Clone(tmp_path / "clone")
