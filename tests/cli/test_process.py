"""The command as a process: what it loads, how it ends, and what it does at the end of a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet_components.cli.command import COMMANDS
from tests.cli.fleets import FLEET, PROJECT, write

pytestmark = pytest.mark.long

MAIN = [sys.executable, "-m", "fleet_components.cli"]


def execute(*args: object, code: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, args)] if code else [*MAIN, *map(str, args)]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, **env}
    )


def test_ends_with_0_or_1(tmp_path: Path) -> None:
    folder = write(tmp_path)
    done, refused, wrong = (
        execute("plan", folder),
        execute("plan", tmp_path / "nowhere"),
        execute("plan"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: ")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("Usage: ")


def test_a_project_leaves_no_noise(tmp_path: Path) -> None:
    done = execute("plan", write(tmp_path, PROJECT), "--project")
    assert (done.returncode, done.stderr) == (0, "")


LOADED = """
import sys
from fleet_components.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


NOT_LOADED = {
    *(
        "pulumi",
        "pulumi_kubernetes",
        "grpc",
        "kubernetes",
        "importlib.metadata",
        "email.message",
        "http.client",
        "ssl",
    ),
    *(
        f"fleet_components.{part}"
        for part in ("components", "azure", "automation", "testing", "live", "dynamic")
    ),
}


def test_a_directory_is_planned_with_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    loaded = execute("plan", write(tmp_path), code=LOADED).stderr.split()
    assert "click" in loaded
    assert not NOT_LOADED.intersection(loaded)


def test_the_other_commands_are_not_loaded(tmp_path: Path) -> None:
    loaded = execute("plan", write(tmp_path), code=LOADED).stderr.split()
    assert [name for name in COMMANDS if f"fleet_components.cli.{name}" in loaded] == ["plan"]


MISSING = "import sys\nsys.modules['{}'] = None\nfrom fleet_components.cli import main\nmain()\n"


def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    project = execute("plan", write(tmp_path, PROJECT), "--project", code=MISSING.format("pulumi"))
    assert project.returncode == 1
    assert "is a Pulumi project, and pulumi is not installed here" in project.stderr
    assert "pip install 'fleet-components[kubernetes]'" in project.stderr
    terminal = execute("plan", tmp_path, "--project", code=MISSING.format("rich"))
    assert terminal.returncode == 1
    assert (
        terminal.stderr
        == "error: rich is not installed\n  hint: pip install 'fleet-components[cli]'\n"
    )


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path, form: str) -> None:
    many = "".join(
        f"---\n{FLEET['members.yaml'].split('---')[0].replace('amsterdam', f'm{n:04}')}"
        for n in range(600)
    )
    folder = write(tmp_path, {**FLEET, "many.yaml": many})
    (folder / "all.yaml").write_text(
        FLEET["placement.yaml"]
        .partition("  policy:")[0]
        .replace("name: shop}\nspec", "name: all}\nspec")
    )
    with subprocess.Popen(
        [*MAIN, "plan", str(folder), "-o", form], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_text_that_the_output_cannot_say_is_shown_somehow(tmp_path: Path) -> None:
    folder = write(
        tmp_path, {name: text.replace("storefront", "storefront") for name, text in FLEET.items()}
    )
    (folder / "odd.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: überall, namespace: shop}\n"
    )
    ended = execute("plan", folder, PYTHONIOENCODING="ascii")
    assert "Traceback" not in ended.stderr


def test_says_its_version() -> None:
    assert execute("--version").stdout.startswith("fleet, version ")


def test_an_error_that_leads_to_itself_is_looked_through_once() -> None:
    from fleet_components.review.planning.program import fault, refused_plans

    item, other = ValueError("one"), ValueError("other")
    item.__context__, other.__context__ = other, item
    assert refused_plans(item) == ()
    assert fault(item, Path()).what.count("ValueError: one") < 4


def test_a_render_that_finds_no_room_leaves_what_was_there(tmp_path: Path) -> None:
    folder, out = write(tmp_path / "fleet"), tmp_path / "out"
    assert execute("render", folder, "--out", out).returncode == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    limit = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (100, 100))\nfrom fleet_components.cli import main\nmain()"
    done = execute("render", folder, "--out", out, code=limit)
    assert done.returncode == 1
    assert "cannot be written: File too large" in done.stderr
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert execute("render", folder, "--out", out).returncode == 0


@pytest.mark.parametrize(("stream", "status"), [(">&-", 0), (">/dev/full", 1), ("2>&-", 0)])
def test_a_stream_that_takes_nothing_is_no_fault(tmp_path: Path, stream: str, status: int) -> None:
    command = f"{' '.join(MAIN)} plan {write(tmp_path / 'fleet')} {stream}"
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
