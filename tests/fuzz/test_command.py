"""No directory and no state breaks a command: it ends with a status of the table, and its errors name the file."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.cli.exit_status import ExitStatus
from tests.cli.fleets import run
from tests.fuzz.mutations import changed, cut
from tests.fuzz.readers import CORPUS, READERS, corpus
from tests.fuzz.test_readers import OF_PYTHON

pytestmark = pytest.mark.long

COMMANDS = [
    ("plan", "--output", "table", "--as-of", "2026-11-21T10:01:00Z"),
    ("plan", "--output", "json", "--diff"),
    ("plan", "--output", "yaml", "--strict"),
    ("plan", "--output", "markdown", "--diff"),
    ("explain", "--output", "tree", "--as-of", "2026-12-21T10:00:00Z"),
    ("explain", "--output", "json"),
    ("render", "--out", "out"),
]
WRITTEN_BY = {
    "stages.json": "stages.yaml",
    "overriders.json": "overriders.yaml",
    "export.json": "stages.yaml",
}
"""Of each state the fleet that has left it."""

Runs = Callable[..., None]
commands = st.sampled_from(COMMANDS)
few = settings(max_examples=settings().max_examples // 5)


def runs_in(place: Path) -> Runs:
    """A function that runs a command on texts, which it writes into files of a folder."""

    def runs(command: tuple[str, ...], fleet: str, state: str | None = None) -> None:
        shutil.rmtree(place / "out", ignore_errors=True)
        (place / "fleet.yaml").write_text(fleet)
        name, *options = (str(place / "out") if word == "out" else word for word in command)
        if state is not None:
            (place / "state.json").write_text(state)
            options += ["--any-state", "--state", str(place / "state.json")]
        ends_well(place, name, place / "fleet.yaml", *options)

    return runs


def ends_well(place: Path, *command: object) -> None:
    """Run a command; its errors, if it has any, name a file of this folder."""
    result = run(*command)
    assert result.exit_code in ExitStatus.__members__.values()
    assert not OF_PYTHON.search(result.output)
    if result.exit_code == ExitStatus.ERROR:
        errors = re.findall("^error: (.*)", result.stderr, re.MULTILINE)
        assert errors
        assert [error for error in errors if str(place) not in error] == []


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return runs_in(tmp_path_factory.mktemp("fuzz"))


@few
@given(command=commands, fleet=READERS["fleets"].hostile(corpus("fleets")))
def test_a_fleet_is_planned_or_refused(runs: Runs, command: tuple[str, ...], fleet: str) -> None:
    runs(command, fleet)


@pytest.mark.parametrize("name", WRITTEN_BY)
@few
@given(data=st.data(), command=commands)
def test_a_state_is_heard_or_refused(
    runs: Runs, name: str, data: st.DataObject, command: tuple[str, ...]
) -> None:
    written = (CORPUS / "states" / name).read_text()
    state = data.draw(cut([written]) | changed([json.loads(written)]).map(json.dumps))
    runs(command, (CORPUS / "fleets" / WRITTEN_BY[name]).read_text(), state)


LINKS = [
    "a.yaml",
    "Chart.yaml",
    "kustomization.yaml",
    "Pulumi.yaml",
    "in/a.yaml",
    "in/Chart.yaml",
    "values.yaml",
]


@pytest.mark.parametrize("link", LINKS)
def test_a_link_to_itself_is_refused(link: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/kustomization.yaml").write_text("resources: []\n")
    (tmp_path / "fleet.yaml").write_text((CORPUS / "fleets/stages.yaml").read_text())
    (tmp_path / link).symlink_to((tmp_path / link).name)
    ends_well(tmp_path, "plan", tmp_path)
    ends_well(tmp_path, "plan", tmp_path / link)


def test_a_long_name_of_a_stack_is_refused(tmp_path: Path) -> None:
    state = (
        (CORPUS / "states/stages.json")
        .read_text()
        .replace("urn:pulumi:local::", f"urn:pulumi:{'x' * 300}::")
    )
    (tmp_path / "state.json").write_text(state)
    ended = run(
        "render",
        CORPUS / "fleets/stages.yaml",
        "--out",
        tmp_path,
        "--state",
        tmp_path / "state.json",
    )
    assert ended.exit_code == 1
    assert (
        ended.stderr.splitlines()[0]
        == f"error: {tmp_path / 'state.json'}: the name of the stack is longer than 200 bytes"
    )
