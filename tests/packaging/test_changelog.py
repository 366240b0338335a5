"""Fragments of changelog.d become a section of CHANGELOG.md, as its README says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "changelog.d"
GUIDE = (FOLDER / "README.md").read_text()
TYPES = [
    it["directory"]
    for it in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]
]


def test_the_types_are_those_of_the_guide() -> None:
    assert re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE) == TYPES


def test_every_fragment_has_a_name_that_is_read() -> None:
    name = re.compile(rf"(\d+|\+[\w-]+)\.({'|'.join(TYPES)})(\.\d+)?\.md")
    fragments = [file.name for file in FOLDER.iterdir() if file.name != "README.md"]
    assert [fragment for fragment in fragments if not name.fullmatch(fragment)] == []


def test_a_release_goes_below_the_introduction_and_removes_its_fragments(tmp_path: Path) -> None:
    for file in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / file, tmp_path)
    shutil.copytree(
        FOLDER, tmp_path / "changelog.d", ignore=lambda _, names: {*names} - {"README.md"}
    )
    (example,) = re.findall(r"```markdown\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "changelog.d" / "123.fixed.md").write_text(example)
    (tmp_path / "changelog.d" / "+drain.added.md").write_text("Members can be drained.\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    command = [
        sys.executable,
        "-m",
        "towncrier",
        "build",
        "--yes",
        "--version",
        "9.8.7",
        "--date",
        "2026-12-01",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    before = (ROOT / "CHANGELOG.md").read_text()
    introduction, heading, rest = before.partition("\n## ")
    after = (tmp_path / "CHANGELOG.md").read_text()
    assert after.startswith(f"{introduction}\n## 9.8.7 (2026-12-01)\n")
    assert after.endswith(heading + rest)
    section = after.removeprefix(introduction).removesuffix(heading + rest)
    assert "### Added\n\n- Members can be drained.\n" in section
    assert f"### Fixed\n\n- {example.strip()} (#123)\n" in section
    assert [file.name for file in (tmp_path / "changelog.d").iterdir()] == ["README.md"]
