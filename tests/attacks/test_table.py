"""Attacks by name: what a stranger's files do to the commands, each once, by the command line.

The parts that they meet have tests of their own; this table holds the whole: the exit status, what is said, that
nothing ends in a traceback, and that nothing outside of the given directory and of ``--out`` is touched.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from tests.attacks.planted import CANARY, NAMESPACE, PLACED_BY_KUBEFLEET, SYSTEMS, secret
from tests.cli.fleets import FLEET, MEMBERS, write

RENDER = ("render", "fleet", "--out", "out")
ERROR, REFUSED = 1, 3
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n"
RAN = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
DEPLOYMENT = FLEET["shop.yaml"].split("---")[3].lstrip()


@attrs.frozen
class Attack:
    """What lies there, and what comes of it.

    Attributes:
        said: a part of what is said.
        files: files beside those of a small fleet, in ``fleet/``; with None, a file of the fleet is not there.
        prepare: does the rest, in the folder that holds ``fleet/``.
        words: the command.
        status: its exit status.
        again: whether the fleet is rendered to ``out/`` first.
    """

    said: str
    files: Mapping[str, str | None] = attrs.field(factory=dict)
    prepare: Callable[[Path], object] = lambda _: None
    words: tuple[str, ...] = ("plan", "fleet")
    status: int = ERROR
    again: bool = False


def named(name: str) -> str:
    """Another member, under a name."""
    return MEMBERS.split("---")[0].replace("amsterdam", name)


def _proxied(user: str) -> str:
    """A member of Karmada behind a proxy."""
    spec = {"syncMode": "Push", "proxyURL": f"http://{user}proxy:3128"}
    return json.dumps(
        {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": "c"},
            "spec": spec,
        }
    )


def link(name: str, to: str) -> Callable[[Path], object]:
    """Make a link to a file or folder."""

    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(folder / to)

    return make


def forged(**changes: tuple[str, str]) -> Callable[[Path], object]:
    """Change texts of the state of the last render."""

    def change(folder: Path) -> None:
        file = folder / "out/local/state.json"
        text = file.read_text()
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        file.write_text(text)

    return change


def damaged(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """Change the record of the placement in the state of the last render."""

    def damage(folder: Path) -> None:
        file = folder / "out/local/state.json"
        state = json.loads(file.read_text())
        (record,) = [
            item for urn, item in state["resources"].items() if "dynamic/fleet:Placement::" in urn
        ]
        change(record["outputs"])
        file.write_text(json.dumps(state))

    return damage


BOMB = base64.b64encode(zlib.compress(b"[" + b" " * (17 * 2**20))).decode()
ATTACKS: Mapping[str, Attack] = {
    # Secrets
    "a value as binary": Attack("is !!binary", {"a.yaml": secret(f"!!binary {CANARY}")}),
    "a value that is an alias": Attack("an alias without an anchor", {"a.yaml": secret(f"*{CANARY}")}),
    "a value of another type": Attack("is not of the type !!int", {"a.yaml": secret(f"!!int {CANARY}")}),
    "a Secret of a strange version": Attack(
        "is not group/version", {"shop.yaml": FLEET["shop.yaml"].replace("v1\nkind: Secret", "/v1\nkind: Secret")}
    ),
    "an item without kind in an envelope": Attack(
        "Object 'Kind' is missing\n",
        {"a.yaml": "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ResourceEnvelope\n"
                   f"metadata: {{name: e, namespace: shop}}\ndata: {{a: {{data: {{pin: {CANARY}}}}}}}\n"},
    ),
    "a custom kind that is a Secret": Attack(
        "", {"a.yaml": "apiVersion: fleet-components/v1\nkind: KarmadaSettings\nmetadata: {name: k}\n"
                       "spec: {customWorkloads: [{apiVersion: v1, kind: Secret, replicas: data.pin}]}\n---\n" + secret(CANARY)},
    ),
    **{
        f"an override of {what}": Attack(
            "an override fails", {**dict.fromkeys(FLEET), **SYSTEMS[f"Karmada, overriding {what}"], "a.yaml": secret(CANARY)}, status=0
        )
        for what in ("the kind", "no kind", "below the value")
    },
    **{
        f"the password of a proxy, {user}": Attack(
            "has no effect: a member is reached by its kubeconfig",
            {**dict.fromkeys(FLEET), **SYSTEMS["Karmada, overriding no kind"], "a.yaml": _proxied(user), "s.yaml": secret("x")},
            status=0,
        )
        for user in (f"me:{CANARY}@", f"{CANARY}@", f"me:{CANARY}@x@", f"me:a/{CANARY}?@", f"me:p%40{CANARY}@")
    },
    # Outside
    "a name that leads out, in a state": Attack("not the name of a member", prepare=forged(a=("amsterdam", "../prod/east")),
        words=RENDER, again=True),
    "a link in the place of the new folder": Attack("wrote 8 manifests",
        prepare=link("out/.local.new", "prod"), words=RENDER, status=0, again=True),
    "a link in the place of the old folder": Attack("wrote 8 manifests",
        prepare=link("out/.local.old", "prod"), words=RENDER, status=0, again=True),
    "a folder of somebody else": Attack("was not written by fleet render",
        prepare=lambda folder: write(folder, {"out/local/state.json": "{}", "out/local/mine": "x"}), words=(*RENDER, "--fresh")),
    "a link in the place of a further form": Attack("review.md: is a link, which would lead elsewhere",
        prepare=link("review.md", "prod/kept"), words=("plan", "fleet", "--also", "markdown=review.md")),
    "a link on the way to a further form": Attack("review: is a link, which would lead elsewhere",
        prepare=link("review", "prod"), words=("plan", "fleet", "--also", "markdown=review/kept")),
    "a link on the way to a state that is saved": Attack("review: is a link, which would lead elsewhere",
        prepare=link("review", "prod"), words=("plan", "fleet", "--save-state", "review/state.json")),
    "a further form in the place of a source": Attack("is among what is read",
        words=("plan", "fleet", "--also", "markdown=fleet/shop.yaml")),
    "a further form in the place of a state": Attack("is among what is read", again=True,
        prepare=lambda folder: write(folder, {"state.json": (folder / "out/local/state.json").read_text()}),
        words=("plan", "fleet", "--state", "state.json", "--also", "json=state.json")),
    "a folder that is a link": Attack("is not a folder",
        prepare=link("out/local", "prod"), words=RENDER),
    "a member with the name of a file": Attack("would be a file and a folder: decisions.yaml",
        {"a.yaml": named("decisions.yaml"), "placement.yaml": PLACED_BY_KUBEFLEET}, words=RENDER),
    "kinds that differ in case alone": Attack("would be one file with",
        {"a.yaml": "".join(f"---\napiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\n" for kind in ("Farm", "FARM"))},
        words=RENDER),
    "an object with a path as name": Attack('"../../a" cannot be a name', {"a.yaml": CONFIG_MAP.replace("name: a", "name: ../../a")}, words=RENDER),
    "a stack with a path as name": Attack("cannot be the name of a folder", words=(*RENDER, "--stack", "..")),
    "a program": Attack("is a Pulumi project, and nothing asks to run it",
        {"Pulumi.yaml": "{name: a, runtime: python}", "__main__.py": RAN}),
    "a program, where none may be run": Attack("--no-program runs none",
        {"Pulumi.yaml": "{name: a, runtime: python}", "__main__.py": RAN}, words=("plan", "fleet", "--stack", "dev", "--no-program")),
    "a program beside YAML": Attack("is the file of a Pulumi project",
        {"deep/Pulumi.yaml": "{name: a, runtime: python}", "deep/__main__.py": RAN}, words=("plan", "fleet", "--stack", "dev")),
    "a link that leads out": Attack("is a link that leads out of fleet",
        prepare=link("fleet/a.yaml", "prod/kept")),
    "a link to a device": Attack("is not a regular file",
        prepare=link("a.yaml", "/dev/zero"), words=("plan", "a.yaml")),
    "a pipe": Attack("is not a regular file", prepare=lambda folder: os.mkfifo(folder / "fleet/a.yaml")),
    "a link in the place of the output": Attack("is a link that leads out of", prepare=link("out", ".."), words=RENDER),
    "leftovers of somebody else": Attack("wrote 8 manifests",
        prepare=lambda folder: write(folder, {"out/.local.new-x/mine": "x", "out/.prod.new-x/mine": "x"}), words=RENDER, status=0),
    "a pattern as the name of a stack": Attack("a stack is called", words=(*RENDER, "--stack", "*")),
    "a kustomization where none may be built": Attack("would be built by a program",
        {"kustomization.yaml": "resources: [../prod]"}, words=("plan", "fleet", "--no-program")),
    # Bounded work
    "brackets": Attack("nested more than 200 levels deep", {"a.yaml": "a: " + "[" * 30_000}),
    "brackets in a state": Attack("is nested more than", prepare=lambda folder: write(folder, {"s.json": "[" * 30_000}),
        words=("plan", "fleet", "--state", "s.json")),
    "aliases of aliases": Attack("excessive aliasing",
        {"a.yaml": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 20)}]\n" for n in range(1, 9))}),
    "a quantity of zeros": Attack("more characters\n", {"a.yaml": named("zeros").replace('"0.058"', f'"{"0" * 4000}x"')}),
    "more replicas than there are": Attack("replicas",
        {"shop.yaml": NAMESPACE + "---\n" + DEPLOYMENT.replace("replicas: 3", "replicas: 1e300")}),
    "a number of thousands of digits": Attack("replicas",
        {"shop.yaml": NAMESPACE + "---\n" + DEPLOYMENT.replace("replicas: 3", f"replicas: {'9' * 5000}")}),
    "a content that is a bomb": Attack("stands for more than 16 MiB", words=RENDER, again=True,
        prepare=damaged(lambda record: record["contents"].update({"0": BOMB}))),
    # Output that lies
    "a command of a terminal": Attack('"\\x1b]0;owned\\x07" cannot be a kind', {"a.yaml": CONFIG_MAP.replace("ConfigMap", '"\\e]0;owned\\a"')}),
    "a command of a CI system": Attack("cannot be a kind", {"a.yaml": CONFIG_MAP.replace("ConfigMap", '"\\n::error::owned"')}),
    "a line of its own": Attack("cannot be a kind", {"a.yaml": CONFIG_MAP.replace("ConfigMap", '"x\\nerror: all is well"')}),
    # States
    "a decision about nobody": Attack("decides about nowhere", words=RENDER, again=True,
        prepare=damaged(lambda record: record["decisions"].update(nowhere={"rank": 0, "wave": 1, "revision": 0}))),
    "a negative rank": Attack("is not a number from 0", words=RENDER, again=True,
        prepare=damaged(lambda record: record["decisions"]["amsterdam"].update(rank=-1))),
    "a huge revision": Attack("is not a number from -1", words=RENDER, again=True,
        prepare=damaged(lambda record: record.update(revision=10**15))),
    "an unknown state of a binding": Attack("is not Scheduled or Bound or Unscheduled", words=RENDER, again=True,
        prepare=damaged(lambda record: record["memory"]["bindings"]["amsterdam"].update(state="Owned"))),
    "a wrong type": Attack("is a list, not a map", words=RENDER, again=True,
        prepare=damaged(lambda record: record.update(memory=[1]))),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nothing_comes_of_it(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(
        write(
            tmp_path,
            {"prod/kept": "kept", **{f"fleet/{name}": text for name, text in FLEET.items()}},
        )
    )
    monkeypatch.setenv("FLEET_MAX_FILE_MIB", "16")
    if attack.again:
        assert CliRunner().invoke(fleet, RENDER).exit_code == 0
    for name, text in attack.files.items():
        if text is None:
            (tmp_path / "fleet" / name).unlink(missing_ok=True)
    write(
        tmp_path / "fleet", {name: text for name, text in attack.files.items() if text is not None}
    )
    attack.prepare(tmp_path)
    before = outside(tmp_path)
    done = CliRunner().invoke(fleet, attack.words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    said = (done.output, " ".join(done.output.split()))  # a table is as wide as the terminal
    assert (done.exit_code, any(attack.said in item for item in said)) == (attack.status, True), (
        done.output
    )
    assert CANARY not in "".join(done.output.split())
    assert all(
        line.isprintable() and not line.startswith("::") for line in done.output.splitlines()
    )
    assert outside(tmp_path) == before
    assert not list(tmp_path.rglob("ran"))


def test_leftovers_of_somebody_else_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, {f"fleet/{name}": text for name, text in FLEET.items()}))
    theirs = write(
        tmp_path / "out",
        {".local.new-x/mine": "x", ".locals.new-x/mine": "x", ".local.old/mine": "x"},
    )
    CliRunner().invoke(fleet, RENDER)
    CliRunner().invoke(fleet, RENDER)
    assert sorted(path.read_text() for path in theirs.rglob("mine")) == ["x"] * 3


def outside(folder: Path) -> dict[str, str]:
    """The files beside those of the output, with their texts."""
    found = (
        path
        for path in folder.rglob("*")
        if path.is_file() and "out" not in path.relative_to(folder).parts
    )
    return {str(path): path.read_text() for path in found if not path.is_symlink()}
