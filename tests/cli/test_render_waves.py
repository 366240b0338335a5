"""``fleet render --wave``: a commit for each wave, which begins anew where the plan has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.fleets import PLACEMENT, clusters, edit, plan, run, write
from tests.precedence import EXTERNAL, ROLLING, Files, in_stages, named, placement, select, staged

IMAGE = "1-manifest/apps_v1-deployment-shop-storefront.yaml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet that is rendered, and that asks for another image then: amsterdam first, dublin next."""
    monkeypatch.chdir(tmp_path)
    found = write(tmp_path / "fleet")
    assert run("render", found, "--out", "out").exit_code == 0
    edit(found / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    return found


def images() -> dict[str, str]:
    """The image on each member that has a folder."""
    found: dict[str, str] = {}
    for file in sorted(Path("out/local").glob(f"*/{IMAGE}")):
        data: dict[str, Any] = yaml.safe_load(file.read_text())
        (container,) = data["spec"]["template"]["spec"]["containers"]
        found[file.parts[2]] = container["image"].removeprefix("nginx:")
    return found


def tree() -> dict[str, str]:
    return {str(path): path.read_text() for path in Path("out").rglob("*") if path.is_file()}


def wave(folder: Path, *more: object) -> str:
    done = run("render", folder, "--out", "out", "--wave", *more)
    assert done.exit_code == 0, done.output
    return done.output


def refused(folder: Path, *more: object) -> str:
    before = tree()
    done = run("render", folder, "--out", "out", "--wave", *more)
    assert done.exit_code == 1
    assert tree() == before
    return done.stderr


def test_each_wave_is_a_render_of_its_own(folder: Path) -> None:
    told = wave(folder, 1)
    assert "wave 1 of 2: shop: amsterdam\nnext: wave 2: shop: dublin\n" in told
    assert images() == {"amsterdam": "1.28.0", "dublin": "1.27.5"}
    assert "wave 2 of 2: shop: dublin\nno wave is left\n" in wave(folder, 2)
    assert images() == {"amsterdam": "1.28.0", "dublin": "1.28.0"}
    assert "nothing is left to be rolled out" in wave(folder)


def test_without_a_number_nothing_is_written(folder: Path) -> None:
    before = tree()
    assert (
        "wrote nothing\n2 waves left\nnext: wave 1: shop: amsterdam\nwave 2: shop: dublin\n"
        in wave(folder)
    )
    assert tree() == before
    wave(folder, 1)
    before = tree()
    assert "wave 1 of 2: shop: amsterdam\nnext: wave 2: shop: dublin\n" in wave(folder)
    assert tree() == before


def test_the_last_wave_is_the_whole_render(folder: Path) -> None:
    wave(folder, 1)
    wave(folder, 2)
    by_wave = tree()
    assert run("render", folder, "--out", "out").exit_code == 0
    assert tree() == by_wave


def test_a_wave_can_be_rendered_again_and_taken_back(folder: Path) -> None:
    edit(folder / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 3")
    edit(
        folder / "members.yaml",
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    wave(folder, 1)
    first = tree()
    wave(folder, 2)
    second = tree()
    wave(folder, 1)
    assert tree() == first != second
    wave(folder, 2)
    assert tree() == second


def test_waves_come_in_turn(folder: Path) -> None:
    assert "wave 1 comes before wave 2" in refused(folder, 2)
    wave(folder, 1)
    assert "there is no wave 3: the plan has 2 waves" in refused(folder, 3)


def test_without_a_wave_all_that_is_left_comes_at_once(folder: Path) -> None:
    wave(folder, 1)
    done = run("render", folder, "--out", "out")
    assert "1 is updated, 1 stays" in done.stdout
    assert images() == {"amsterdam": "1.28.0", "dublin": "1.28.0"}
    assert "rollout" not in json.loads(Path("out/local/state.json").read_text())


def test_a_change_on_the_way_begins_another_rollout(folder: Path) -> None:
    wave(folder, 1)
    edit(folder / "shop.yaml", "nginx:1.28.0", "nginx:1.29.0")
    assert (
        "is another one than that of which wave 1 is rendered, and begins with wave 1"
        in refused(folder, 2)
    )
    assert "2 waves left" in wave(folder)
    wave(folder, 1)
    assert images() == {"amsterdam": "1.29.0", "dublin": "1.27.5"}
    wave(folder, 2)
    assert images() == {"amsterdam": "1.29.0", "dublin": "1.29.0"}


def test_the_state_on_the_way_is_what_members_run(folder: Path) -> None:
    wave(folder, 1)
    assert clusters(plan(folder, "--state", "out/local/state.json")) == {
        "amsterdam": "stays",
        "dublin": "updated",
    }


def test_a_member_is_left_in_the_last_wave(folder: Path) -> None:
    edit(
        folder / "members.yaml",
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    edit(folder / "members.yaml", "name: amsterdam\n", "name: zurich\n")
    told = wave(folder)
    *_, last = told.splitlines()
    assert last.endswith("shop leaves amsterdam")
    number = len(told.split("left\n")[1].splitlines())
    for item in range(1, number):
        wave(folder, item)
        assert images()["amsterdam"] == "1.27.5"
    wave(folder, number)
    assert set(images()) == {"dublin", "iowa"}


def test_a_placement_that_goes_is_there_until_the_last_wave(folder: Path) -> None:
    (folder / "placement.yaml").write_text(
        PLACEMENT.replace("{name: shop}\nspec", "{name: store}\nspec")
    )
    assert wave(folder).splitlines()[-1] == "wave 2: shop leaves amsterdam, dublin"
    wave(folder, 1)
    assert set(images()) == {"amsterdam", "dublin"}


def test_a_given_state_is_given_again(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_bytes(Path("out/local/state.json").read_bytes())
    wave(folder, 1, "--state", state)
    assert "--state FILE, with the file that the rollout began with" in refused(folder, 2)
    wave(folder, 2, "--state", state)
    assert images() == {"amsterdam": "1.28.0", "dublin": "1.28.0"}


@pytest.mark.parametrize("damage", [{"wave": 0}, {"before": {"version": 2}}, {"goal": 1}])
def test_a_damaged_memory_is_refused(damage: dict[str, Any], folder: Path) -> None:
    wave(folder, 1)
    file = Path("out/local/state.json")
    data = json.loads(file.read_text())
    data["rollout"].update(damage)
    file.write_text(json.dumps(data))
    assert "out/local/state.json" in refused(folder, 1)


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_wave_is_a_number_from_1(number: str, folder: Path) -> None:
    assert run("render", folder, "--out", "out", "--wave", number).exit_code == 1


def test_no_object_comes_before_its_namespace(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A placement brings the namespace in stages, another what is in it, in a single wave."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "fleet"
    Files(objects=in_stages(None)).write(source)
    for number in (1, 2, 3):
        assert run("render", source, "--out", "out", "--wave", number).exit_code == 0
        assert kinds() == {member: {"ConfigMap", "Namespace"} for member in "abc"[:number]}


def kinds() -> dict[str, set[str]]:
    """The kinds of objects on each member that has any."""
    found: dict[str, set[str]] = {}
    for file in Path("out/local").glob("[abc]/1-manifest/*.yaml"):
        found.setdefault(file.parts[2], set()).add(yaml.safe_load(file.read_text())["kind"])
    return found


def test_waves_that_need_each_other_are_rendered_in_a_single_commit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each placement needs the class of the next; two of them move in opposite orders."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "fleet"
    names = ("first", "second", "third")
    objects = []
    for number, name in enumerate(names):
        home = named("storage.k8s.io/v1", "StorageClass", name, provisioner="example.com/disk")
        volume = {"storageClassName": names[(number + 1) % 3]}
        disk = named("v1", "PersistentVolume", name, spec=volume)
        rolls = ROLLING if name == "second" else EXTERNAL
        objects += [home, disk, placement(name, select(home), select(disk), strategy=rolls)]
    objects += [*staged("first", "a", "b", "c"), *staged("third", "b", "a", "c")]
    Files(objects=objects).write(source)
    done = run("render", source, "--out", "out", "--wave", 1)
    assert done.exit_code == 1
    assert "which no order of their waves brings in time" in done.stderr
    assert run("render", source, "--out", "out").exit_code == 0
    assert kinds() == {member: {"StorageClass", "PersistentVolume"} for member in "abc"}
