"""Stand-ins for helm and kustomize: scripts on PATH that tell how they were called."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import attrs
import pytest

HELM = pytest.mark.skipif(shutil.which("helm") is None, reason="helm is not on PATH")
KUSTOMIZE = pytest.mark.skipif(shutil.which("kustomize") is None, reason="kustomize is not on PATH")

_TELLING = """#!/bin/sh
printf '%s\\n' "${{0##*/}}" "$@" >> "{calls}"
{script}
"""


@attrs.frozen
class StandIns:
    """Scripts on PATH, and nothing else there.

    Attributes:
        folder: where they are, and what they wrote.
    """

    folder: Path

    def add(self, name: str, script: str = "") -> None:
        """A tool; what it does, in shell, is run after it has told its arguments."""
        file = self.folder / "bin" / name
        file.write_text(_TELLING.format(calls=self.folder / "calls", script=script))
        file.chmod(0o755)

    def printing(self, name: str, text: str) -> None:
        """A tool that prints a text."""
        (self.folder / f"{name}.txt").write_text(text)
        self.add(name, f'/bin/cat "{self.folder / name}.txt"')

    @property
    def calls(self) -> list[str]:
        """All names and arguments that they were called with."""
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []


def stand_ins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    """No tool on PATH but those that are added."""
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    return StandIns(folder)


def rendered(chart: str, templates: Iterable[tuple[str, str]]) -> str:
    """What helm prints: each object after the template that it comes of."""
    return "".join(f"---\n# Source: {chart}/{template}\n{text}" for template, text in templates)
