"""Every line of the examples of every help is run, in a place that has what it names."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from fleet_components.cli.command import COMMANDS, fleet
from fleet_components.cli.help import Command
from tests.cli.fleets import PLACEMENT, PROGRAM, SHOP, edit, write
from tests.cli.test_rollback import told
from tests.delivery.driver import InProcess
from tests.delivery.test_staged import staged

pytestmark = pytest.mark.long

MEMBER = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {{name: {name}, labels: {{region: {region}, environment: production}}}}
spec: {{identity: {{kind: ServiceAccount, name: {name}, namespace: fleet-system}}}}
status:
  resourceUsage: {{allocatable: {{cpu: "8"}}, capacity: {{cpu: "8"}}, available: {{cpu: "4"}}}}
  properties: {{kubernetes.azure.com/per-cpu-core-cost: {{value: "0.05"}}}}
---
"""
FILES = {
    "fleet/members.yaml": "".join(
        MEMBER.format(name=name, region=region)
        for name, region in (("east", "eu"), ("west", "us"), ("south", "us"))
    ),
    "fleet/shop.yaml": SHOP,
    "fleet/placement.yaml": PLACEMENT,
    "edited.yaml": PLACEMENT.replace("numberOfClusters: 2", "numberOfClusters: 1"),
    "Pulumi.yaml": "name: shop\nruntime: python\nmain: program/\n",
    "Pulumi.prod.yaml": "config:\n  fleet:source: ../fleet\n",
    "program/__main__.py": PROGRAM,
    "review/review.md": "nothing changes\n",
    "ci-requirements.txt": "fleet-components @ https://files.example/a.whl --hash=sha256:aa\n",
}
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: one, cluster: {server: "https://one.example:6443"}}]
users: [{name: me, user: {token: secret}}]
contexts: [{name: one, context: {cluster: one, user: me}}]
current-context: one
"""
PULUMI = """\
#!/bin/sh
case "$*" in
  *version) echo v3.300.0 ;;
  "stack export --stack prod"*) cat "$FLEET_STATE" ;;
  *) echo "no backend is here" >&2; exit 255 ;;
esac
"""
BACKEND, CLUSTER, FORGE = "no backend is here", "8 of 8 objects could not be compared", "is not set"
HUB = "its name is not known to DNS"
ENDINGS = {
    "fleet plan fleet/ -o markdown --also json=plan.json --detailed-exitcode": (2, ""),
    "fleet observe --hub ~/.kube/config --out observed": (1, HUB),
    "fleet observe --hub ~/.kube/config --out observed --update": (1, HUB),
    "fleet observe --rbac --hub ~/.kube/config": (1, HUB),
    "fleet approve --hub ~/.kube/config": (1, HUB),
    "fleet observe --members ~/.kube/config --out members": (1, HUB),
    "fleet rollout . --stack prod": (1, "nobody can be asked here"),
    "fleet rollout . --stack prod --yes -o json": (1, BACKEND),
    "fleet rollout . --stack prod --yes --wait": (1, BACKEND),
    "fleet move . --stack prod --to kubefleet": (1, BACKEND),
    "fleet move . --stack prod --to kubefleet --yes": (1, BACKEND),
    "fleet move . --stack prod --to direct --placement shop --yes": (1, BACKEND),
    "fleet status . --stack prod": (1, BACKEND),
    "fleet status . --stack prod --live --by member": (1, BACKEND),
    "fleet drift . --stack prod": (1, BACKEND),
    "fleet drift . --stack prod --only shop --member east": (1, BACKEND),
    "fleet drift . --stack prod --adopt --write": (1, BACKEND),
    "pulumi stack export --stack prod --show-secrets | fleet drift fleet/ --state -": (1, CLUSTER),
    "fleet comment review/ --on github": (1, FORGE),
    "fleet comment review/ --on gitlab --about clusters/fleet": (1, FORGE),
}
"""How a line ends that does not end with 0, and what it says then: there are no backend, cluster and forge here."""


def lines() -> list[str]:
    found = (fleet.get_command(click.Context(fleet), name) for name in COMMANDS)
    return [line for item in found if isinstance(item, Command) for line in item.examples.values()]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a fleet of which two revisions were delivered, and a project that has it as its source."""
    folder = write(tmp_path / "place", FILES)
    told(folder / "fleet", folder / "state.json")
    edit(folder / "fleet/shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    told(folder / "fleet", folder / "state.json")
    for command in (
        "init -q",
        "add .",
        "-c user.name=a -c user.email=a@b.example commit -qm first",
    ):
        subprocess.run(["git", *shlex.split(command)], cwd=folder, check=True)
    subprocess.run(
        ["git", "update-ref", "refs/remotes/origin/main", "HEAD"], cwd=folder, check=True
    )
    edit(folder / "fleet/shop.yaml", "nginx:1.28.0", "nginx:1.29.0")
    tools = write(
        tmp_path / "bin",
        {
            "pulumi": PULUMI,
            "fleet": f'#!/bin/sh\nexec {sys.executable} -m fleet_components.cli "$@"\n',
        },
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    write(
        tmp_path / "home", {".kube/config": KUBECONFIG, ".config/fish/completions/others.fish": ""}
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FLEET_STATE", str(folder / "state.json"))
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.delenv("CI", raising=False)
    return folder


def prepare(line: str, place: Path) -> None:
    """Make the place what a line is about."""
    if "fleet init" in line:
        shutil.rmtree(place / "fleet")
    if "fleet approve" in line:
        shutil.rmtree(place / "fleet")
        driver = InProcess()
        staged(driver, {"type": "Approval"})
        driver.world.write(place / "fleet")
        (place / "state.json").unlink()
        told(place / "fleet", place / "state.json")


@pytest.mark.parametrize("line", lines())
def test_the_line_works(place: Path, line: str) -> None:
    prepare(line, place)
    shell = "zsh" if "completion zsh" in line else "bash"
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not on PATH")
    begun = "autoload -U compinit && compinit" if shell == "zsh" else "set -o pipefail"
    asked = [shell, "-c", f"{begun}\n{line}"]
    done = subprocess.run(asked, cwd=place, capture_output=True, text=True, check=False)
    status, said = ENDINGS.get(line, (0, ""))
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stderr
    assert status == 1 or all(told.startswith("warning: ") for told in done.stderr.splitlines())


def test_every_ending_is_of_an_example() -> None:
    assert set(ENDINGS) <= set(lines())
