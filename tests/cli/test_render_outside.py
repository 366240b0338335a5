"""A render writes into its own folder and nowhere else, whatever a stranger has prepared; and one at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fleet_components.model.problem import FleetError
from fleet_components.review.rendering.folder import replace
from fleet_components.review.rendering.manifests import ours_in
from tests.cli.fleets import run, write

STATE = json.dumps(
    {"format": "fleet-components/render", "version": 1, "stack": "local", "resources": {}}
)
BAD = ["../east/x.yaml", "a/../../x", "/etc/x", "a//b", "./x", "a\\b", "a\0b", "a\nb", "..", ""]


@pytest.mark.parametrize("path", BAD)
def test_no_file_lies_outside(path: str, tmp_path: Path) -> None:
    target = tmp_path / "out" / "dev"
    with pytest.raises(FleetError, match="would be written out of the folder"):
        replace(target, {"a/x.yaml": "", path: "owned"}, ours=ours_in)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_names_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match=r"two files of one name: STATE\.json"):
        replace(tmp_path / "dev", {"state.json": "", "STATE.json": ""}, ours=ours_in)


@pytest.mark.parametrize("role", ["new", "old"])
def test_links_that_somebody_has_prepared_are_not_followed(role: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "state.json").write_text(STATE)
    out = tmp_path / "out"
    out.mkdir()
    (out / f".local.{role}").symlink_to(precious, target_is_directory=True)
    fleet = write(tmp_path / "fleet")
    assert run("render", fleet, "--out", out).exit_code == 0
    assert run("render", fleet, "--out", out).exit_code == 0
    assert [file.name for file in precious.iterdir()] == ["state.json"]
    assert not (out / "local").is_symlink()


@pytest.mark.parametrize(
    "files",
    [
        {"state.json": "{}", "a/1-manifest/x.yaml": ""},
        {"state.json": STATE, "thesis.doc": ""},
        {"state.json": STATE, "a/1-manifest/deep/x.yaml": ""},
        {"a/1-manifest/x.yaml": ""},
    ],
)
def test_a_folder_of_somebody_else_is_not_deleted(files: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "out" / "local"
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    refused = run("render", write(tmp_path / "fleet"), "--out", tmp_path / "out", "--fresh")
    assert refused.exit_code == 1
    assert "was not written by fleet render" in refused.stderr
    assert {path: (folder / path).read_text() for path in files} == files


def test_a_forged_state_leads_nowhere(tmp_path: Path) -> None:
    """It is read unasked, as the last render."""
    fleet, out = write(tmp_path / "fleet"), tmp_path / "out"
    assert run("render", fleet, "--out", out).exit_code == 0
    state = out / "local" / "state.json"
    state.write_text(state.read_text().replace("amsterdam", "../prod/east"))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    run("render", fleet, "--out", out)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} <= before


RENDER = (
    "import sys\nfrom pathlib import Path\nfrom fleet_components.review.rendering.folder import replace\n"
    + (
        "from fleet_components.review.rendering.manifests import ours_in\n"
        "target, one = Path(sys.argv[1]), sys.argv[2]\n"
        "files = {f'{one}/1-manifest/{n}.yaml': one for n in range(200)}\n"
        "for _ in range(5):\n"
        f"    replace(target, {{**files, 'state.json': {STATE!r}}}, ours=ours_in)\n"
    )
)


def test_two_renders_at_once_leave_the_whole_of_one(tmp_path: Path) -> None:
    target = tmp_path / "out" / "dev"
    both = [
        subprocess.Popen([sys.executable, "-c", RENDER, str(target), item]) for item in ("a", "b")
    ]
    assert [item.wait() for item in both] == [0, 0]
    files = [path.relative_to(target).as_posix() for path in target.rglob("*.yaml")]
    assert len(files) == 200
    assert len({path.partition("/")[0] for path in files}) == 1
    assert [path.name for path in target.parent.iterdir()] == ["dev"]
