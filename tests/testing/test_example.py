"""The example test-suite of the documentation passes, as a user runs it: in a project of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parents[2] / "examples" / "testing"


def suite(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        str(folder),
    ]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_example_suite_passes() -> None:
    done = suite(EXAMPLE)
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


def test_it_notices_a_shop_that_leaves_europe(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(EXAMPLE, folder)
    shop = folder / "shop" / "shop.yaml"
    shop.write_text(shop.read_text().replace("region: europe", "region: america"))
    done = suite(folder)
    assert "FAILED" in done.stdout
    assert "test_the_shop_stays_in_europe" in done.stdout
