"""Files of an observed directory that ``kubectl apply -R`` brings to the hub: each is read here, or refused by name."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_components.content.load import load
from fleet_components.content.paths import MOST_FOLDERS
from fleet_components.hub.folder.writing import write_observation
from fleet_components.model.problem import FleetError
from tests.attacks.planted import CANARY
from tests.cli.clone import Clone
from tests.cli.fleets import run, write
from tests.hub.folder.hubs import kubefleet, observed

APPLIED = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: evil, namespace: shop}}\ndata: {{a: {CANARY}}}\n"
HIDDEN = (
    ".evil.yaml",
    ".evil.yml",
    ".evil.json",
    ".yaml",
    ".yml",
    ".json",
    ".git/evil.yaml",
    ".a/b/evil.yaml",
    "a/.evil.yml",
)
PARTS = ("objects", "objects/shop", "policies", "policies/ClusterResourcePlacement", "members")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "fleet"
    write_observation(folder, observed(kubefleet()), update=False)
    return folder


@pytest.fixture
def clone(hub: Path, tmp_path: Path) -> Clone:
    shutil.copytree(hub, tmp_path / "clone/fleet")
    return Clone(tmp_path / "clone", {})


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", HIDDEN)
def test_a_hidden_file_is_refused_by_name(name: str, part: str, hub: Path, tmp_path: Path) -> None:
    shutil.copytree(hub, tmp_path / "fleet")
    write(tmp_path / "fleet" / part, {name: APPLIED})
    for place in (tmp_path / "fleet", tmp_path):
        result = run("plan", place)
        assert result.exit_code == 1, result.output
        assert f"fleet/{part}/{name}: is hidden by a dot" in result.stderr


def test_hidden_folders_that_are_too_deep_end_in_a_message(hub: Path, tmp_path: Path) -> None:
    shutil.copytree(hub, tmp_path / "fleet")
    (tmp_path / "fleet/objects" / "/".join([".a"] * (MOST_FOLDERS + 2))).mkdir(parents=True)
    assert (
        f"has more than {MOST_FOLDERS} folders in one another"
        in run("plan", tmp_path / "fleet").stderr
    )


def nested(fleet: Path) -> None:
    shutil.copytree(fleet / "observed", fleet / "objects/shop/observed")
    write(fleet / "objects/shop/observed", {"evil.yaml": APPLIED})


def linked(fleet: Path) -> None:
    (fleet / "policies").rename(fleet / "settings-of-old")
    (fleet / "policies").symlink_to("settings-of-old")


WAYS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a hidden file": (
        lambda fleet: write(fleet, {"objects/.evil.yaml": APPLIED}),
        "objects/.evil.yaml: is hidden",
    ),
    "a hub in a hub": (nested, "fleet/objects/shop"),
    "a part that is a link": (linked, "policies: is a link, which is not followed here"),
}


@pytest.mark.parametrize("head", [(), ("--head", "change")], ids=["files", "commit"])
@pytest.mark.parametrize("way", WAYS)
def test_a_review_refuses_it_too(way: str, head: tuple[str, ...], clone: Clone) -> None:
    make, said = WAYS[way]
    make(clone.fleet)
    clone.commit()
    result = run("review", clone.fleet, "--base", "main", *head)
    assert (result.exit_code, said in result.stderr) == (1, True), result.output


def test_what_kubectl_does_not_apply_may_stay(hub: Path, tmp_path: Path) -> None:
    shutil.copytree(hub, tmp_path / "fleet")
    names = (
        "objects/.gitkeep",
        "objects/.evil.YAML",
        "objects/.a/evil.txt",
        ".github/evil.yaml",
        ".evil.yaml",
    )
    write(tmp_path / "fleet", dict.fromkeys(names, APPLIED))
    assert run("plan", tmp_path / "fleet").stdout.startswith("nothing changes\n")


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")
def test_the_same_files_are_read_as_by_kubectl(hub: Path, tmp_path: Path) -> None:
    """Every name of a file, by itself: what kubectl reads is read here, or refused; and nothing else is read."""
    names = [
        *HIDDEN,
        "a.yaml",
        "a.yml",
        "a.json",
        "a.YAML",
        "a",
        "a.yaml~",
        "a.yaml.bak",
        "d.yaml/a.yml",
        "..yml",
        "a.yaml.",
        "é.yaml",
    ]
    for place, name in enumerate(names):
        fleet = shutil.copytree(hub, tmp_path / str(place))
        write(fleet / "objects/new", {name: APPLIED})
        command = [
            "kubectl",
            "label",
            "--local",
            "-R",
            "-f",
            str(fleet / "objects/new"),
            "a=b",
            "-o",
            "name",
        ]
        applied = "configmap/evil" in subprocess.run(command, capture_output=True, text=True).stdout
        try:
            seen = any(item.name == "evil" for item in load(fleet))
        except FleetError:
            seen = True
        assert seen == applied, name
