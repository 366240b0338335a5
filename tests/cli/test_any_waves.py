"""Properties of ``fleet render --wave`` over random fleets and changes of them."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fleet_components.content.load import load
from fleet_components.content.order import phase
from fleet_components.review.rendering.manifests import PHASES
from tests.cli.fleets import run
from tests.cli.rendered_fleets import Objects, histories, written

pytestmark = pytest.mark.long

Tree = dict[str, str]
NO_SHRINK = (Phase.explicit, Phase.generate)
LOSSES = "--confirm"
_TOKEN = re.compile(r"--confirm (\S+)")
PULLED = ("--repo", "https://git.example/ops", "--path", "ops", "--topology", "pull", "--for")


def files(folder: Path) -> Tree:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def members(tree: Tree) -> dict[str, Tree]:
    """The objects of each member, by path."""
    found: dict[str, Tree] = {}
    for path, text in tree.items():
        member, _, rest = path.removeprefix("members/").partition("/")
        if path.startswith("members/") and not rest.endswith(".gitkeep"):
            found.setdefault(member, {})[rest] = text
    return found


def rendered(folder: Path, out: Path, *more: str) -> tuple[int, str]:
    """Render with all losses confirmed; the status and what is printed."""
    command = ["render", folder, "--out", out, *more]
    done = run(*command)
    if tokens := _TOKEN.findall(done.output):
        done = run(*command, *(word for token in tokens for word in (LOSSES, token)))
    return done.exit_code, done.output


def moved(text: str) -> list[set[str]]:
    """The members of each wave, as ``--wave`` tells them."""
    waves = re.findall(r"^(?:next: )?wave \d+: (.*)$", text, re.MULTILINE)
    return [set(re.findall(r"(?:: |leaves |, |and )([abcd])\b", f": {wave}")) for wave in waves]


@settings(max_examples=40, phases=NO_SHRINK)
@given(histories(), st.sampled_from(("argocd", "flux")))
def test_waves_lead_to_the_whole_and_each_changes_its_own_members(
    fleet: tuple[Objects, Objects], tool: str
) -> None:
    before, after = fleet
    with tempfile.TemporaryDirectory() as place:
        source, out, whole = (
            written(Path(place) / "fleet", before),
            Path(place) / "out",
            Path(place) / "whole",
        )
        for target in (out, whole):
            assert rendered(source, target, *PULLED, tool)[0] == 0
        written(source, after)
        status, said = rendered(source, whole)
        if status:  # two placements bring one object perhaps
            assert rendered(source, out, "--wave", "1")[0] == status
            return
        status, told = rendered(source, out, "--wave")
        assert status == 0, told
        waves, last = moved(told), members(files(out / "local"))
        begun = last
        for number, wave in enumerate(waves, 1):
            status, said = rendered(source, out, "--wave", str(number))
            assert status == 0, said
            tree = files(out / "local")
            now = members(tree)
            differs = {
                name for name in now.keys() | last.keys() if now.get(name, {}) != last.get(name, {})
            }
            assert differs <= wave, (number, told)
            later = set().union(*waves[number:]) - set().union(*waves[:number])
            assert all(now.get(name, {}) == begun.get(name, {}) for name in later)
            again = rendered(source, out, "--wave", str(number))[0]
            # Behind the last wave begins the next update, if one is left: that has waves of its own.
            assert again == 0 or (number == len(waves) and "more update" in said)
            assert files(out / "local") == tree
            agrees_with_phases(tree, tool)
            if again:
                return
            last = now
        rendered(source, out)
        assert members(files(out / "local")) == members(files(whole / "local"))
        if waves:
            assert files(out / "local")["state.json"] == files(whole / "local")["state.json"]


@settings(max_examples=30, phases=NO_SHRINK)
@given(histories())
def test_an_object_that_stays_is_on_its_member_in_every_wave(
    fleet: tuple[Objects, Objects],
) -> None:
    before, after = fleet
    with tempfile.TemporaryDirectory() as place:
        source, out = written(Path(place) / "fleet", before), Path(place) / "out"
        assert rendered(source, out, *PULLED, "flux")[0] == 0
        first = members(files(out / "local"))
        written(source, after)
        status, told = rendered(source, out, "--wave")
        if status:
            return
        seen = []
        for number, _ in enumerate(moved(told), 1):
            assert rendered(source, out, "--wave", str(number))[0] == 0
            seen.append(members(files(out / "local")))
        for name, objects in first.items():
            always = objects.keys() & (seen[-1].get(name, {}).keys() if seen else objects.keys())
            assert all(always <= tree.get(name, {}).keys() for tree in seen)
            # What leaves for good is there until the last wave, unless its placement is updated there before.
            assert all(tree.get(name) for tree in seen[:-1])


def agrees_with_phases(tree: Tree, tool: str) -> None:
    for member, objects in members(tree).items():
        for path, text in objects.items():
            folder = path.partition("/")[0]
            data = yaml.safe_load(text)
            with tempfile.TemporaryDirectory() as place:
                (Path(place) / "one.yaml").write_text(text)
                (found,) = load(Path(place))
            assert PHASES[phase(found)] == folder, (member, path)
            wave = data["metadata"]["annotations"].get("argocd.argoproj.io/sync-wave")
            assert wave == (folder[0] if tool == "argocd" else None)
