"""The completion of a shell: commands, options, choices and paths, and names of the fleet in the line; never an error."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.fleets import PROJECT, write
from tests.examples.test_examples import EXAMPLES
from tests.tools import stand_ins

pytestmark = pytest.mark.long

MAIN = (sys.executable, "-m", "fleet_components.cli")
MEMBERS = ["amsterdam", "dublin", "iowa", "virginia"]


@pytest.fixture(autouse=True)
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet in the directory, a project, and the command on PATH."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "fleet")
    write(tmp_path / "project", PROJECT)
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    for name in ("helm", "kustomize", "kubectl", "pulumi"):
        tools.add(name)
    script = tools.folder / "bin/fleet"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(MAIN)} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools.folder / 'bin'}:/usr/bin:/bin")
    return tmp_path


def script(shell: str) -> str:
    return subprocess.run(
        [*MAIN, "completion", shell], capture_output=True, text=True, check=True
    ).stdout


ASKED = """
source completion.bash
COMP_LINE={line}
COMP_POINT=${{#COMP_LINE}}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ echo "compopt $2"; }}
$(complete -p fleet | sed 's/.*-F \\([^ ]*\\) .*/\\1/') fleet
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(line: str) -> list[str]:
    """What bash offers behind a line, once it has read the script; it says nothing else."""
    Path("completion.bash").write_text(script("bash"))
    words = " ".join(shlex.quote(word) for word in shlex.split(line)) + (
        " ''" if line.endswith(" ") else ""
    )
    asked = ASKED.format(line=shlex.quote(line), words=words)
    bash = [shutil.which("bash") or "bash", "--norc", "-c", asked]
    done = subprocess.run(bash, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("fleet pl", ["plan"]),
        ("fleet dr", ["drift", "drain"]),
        ("fleet plan fleet -o ", ["table", "json", "yaml", "markdown"]),
        ("fleet plan fleet -o m", ["markdown"]),
        ("fleet plan fleet --det", ["--detailed-exitcode"]),
        ("fleet completion ", ["bash", "zsh", "fish"]),
        ("fleet plan fleet --member ", MEMBERS),
        ("fleet plan fleet --lost iowa --lost v", ["virginia"]),
        ("fleet plan --member dublin --only ", []),  # no DIR, and the directory is none
        ("fleet plan fleet --only ", ["shop"]),
        ("fleet explain fleet ", ["shop"]),
        ("fleet explain fleet shop a", ["amsterdam"]),
        ("fleet explain project/stacks/fleet shop ", MEMBERS),
        ("fleet explain project ", ["shop"]),  # what fleet:source of the stack names
        ("fleet status fleet --only ", ["shop"]),
        ("fleet drift fleet --member d", ["dublin"]),
        ("fleet rollback ", []),
        ("fleet plan nowhere --member ", []),
        ("fleet nothing --member ", []),
        ("fleet plan --nothing ", []),
    ],
)
def test_bash_offers(line: str, offered: list[str]) -> None:
    found = completed(line)
    assert [item for item in found if item and not item.startswith("compopt")] == offered


@pytest.mark.parametrize(
    "line", ["fleet plan ", "fleet plan fleet --state ", "fleet render fleet --out "]
)
def test_bash_offers_paths(line: str) -> None:
    assert completed(line)[0] == "compopt default"


def test_members_are_known_before_the_directory_is_named(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet / "fleet")
    assert completed("fleet drain ") == MEMBERS
    assert completed("fleet rollback ") == ["shop"]


def test_templates_of_karmada_are_offered(fleet: Path) -> None:
    shutil.copytree(EXAMPLES / "karmada-names", fleet / "karmada")
    offered = completed("fleet explain karmada ")
    assert offered == ["default/Deployment/nginx"]
    assert (
        subprocess.run(
            [*MAIN, "explain", "karmada", *offered], capture_output=True, check=False
        ).returncode
        == 0
    )


def test_nothing_is_run(fleet: Path) -> None:
    (fleet / "fleet/app").mkdir()
    (fleet / "fleet/app/kustomization.yaml").write_text("resources: []\n")
    (fleet / "project/stacks/__main__.py").write_text("open('ran', 'w')\n")
    assert completed("fleet plan fleet fleet/app --member ") == MEMBERS
    completed("fleet explain project --project ")
    assert not (fleet / "tools/calls").exists()
    assert not list(fleet.rglob("ran"))


def test_of_files_that_are_wrong_the_rest_is_offered(fleet: Path) -> None:
    (fleet / "fleet/wrong.yaml").write_text("a: [\n")
    (fleet / "fleet/worse.yaml").write_bytes(b"\xff\x00")
    assert completed("fleet plan fleet --member ") == MEMBERS


def test_a_name_that_a_shell_would_carry_out_is_not_offered(fleet: Path) -> None:
    member = "{apiVersion: cluster.kubernetes-fleet.io/v1, kind: MemberCluster, metadata: {name: '%s'}}\n---\n"
    (fleet / "fleet/more.yaml").write_text(
        "".join(member % name for name in ("$(touch ran)", "a b", "*", "`ran`", "x;y"))
    )
    assert completed("fleet plan fleet --member ") == MEMBERS


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_are_theirs(shell: str) -> None:
    text = script(shell)
    assert f"_FLEET_COMPLETE={shell}_complete" in text
    if found := shutil.which(shell):
        subprocess.run([found, "-n"], input=text, text=True, check=True)
    line = {
        "COMP_WORDS": "fleet plan fleet --member d",
        "COMP_CWORD": "d" if shell == "fish" else "4",
    }
    env = {**os.environ, **line, "_FLEET_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(MAIN, capture_output=True, text=True, check=True, env=env)
    assert "dublin" in done.stdout
    assert "iowa" not in done.stdout
    assert done.stderr == ""
