"""Each example does what its table says, and what its README says."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from fleet_components import FleetError, read_source
from fleet_components.cli.command import fleet
from tests.examples.outcome import run
from tests.examples.readme import passes

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(
    path
    for path in EXAMPLES.iterdir()
    if path.is_dir() and not (path / "Pulumi.yaml").exists() and "karmada-" not in path.name
)
DIRECTORIES = [*FOLDERS, *sorted(EXAMPLES.glob("karmada-*"))]
PRINTED = sorted(EXAMPLES.glob("*/*.yaml.txt"))
EXPECTED: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "outcomes.yaml").read_text())
FURTHER = ("second", "third")
"""Names of the passes after the first one."""
every_example = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def test_every_example_has_an_expected_outcome_and_a_line_in_the_list() -> None:
    names = [folder.name for folder in FOLDERS]
    listed = (EXAMPLES / "README.md").read_text()
    assert names == sorted(EXPECTED)
    assert [name for name in names if f"[{name}]({name}/)" not in listed] == []


@every_example
def test_first_pass(folder: Path) -> None:
    assert run(folder)[0] == EXPECTED[folder.name]["first"]


@every_example
def test_further_passes_after_the_changes_of_the_readme(folder: Path, tmp_path: Path) -> None:
    _, records = run(folder)
    edited = shutil.copytree(folder, tmp_path / folder.name)
    found = {}
    for which, files in zip(FURTHER, passes(folder), strict=False):
        for name, text in files.items():
            (edited / name).write_text(text)
        found[which], records = run(edited, records)
    assert found == {
        which: outcomes for which, outcomes in EXPECTED[folder.name].items() if which in FURTHER
    }
    assert found, "a README ends with a change"


@every_example
def test_a_second_pass_without_a_change_moves_nothing(folder: Path) -> None:
    _, records = run(folder)
    assert run(folder, records)[1] == records


@every_example
def test_the_readme_tells_the_command_and_every_cluster(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert f"fleet plan examples/{folder.name}\n" in text
    told = (EXPECTED[folder.name].get(which, {}) for which in ("first", *FURTHER))
    picked = {
        entry.split()[0]
        for outcomes in told
        for outcome in outcomes.values()
        for entry in outcome["picked"]
    }
    assert [cluster for cluster in sorted(picked) if cluster not in text] == []


@every_example
def test_the_command_runs(folder: Path) -> None:
    result = CliRunner().invoke(fleet, ["plan", str(folder)])
    assert result.exit_code == 0, result.output
    assert all(name in result.output for name in EXPECTED[folder.name]["first"])


@pytest.mark.parametrize("form", PRINTED, ids=lambda form: f"{form.parent.name}-{form.name}")
def test_the_printed_form_is_refused_with_what_to_write_instead(form: Path, tmp_path: Path) -> None:
    folder, printed = form.parent, tmp_path / form.stem
    shutil.copy(form, printed)
    with pytest.raises(FleetError) as refused:
        read_source(folder / "members.yaml", folder / "app.yaml", printed)
    messages = [str(problem).removeprefix(f"{tmp_path}/") for problem in refused.value.problems]
    assert messages == EXPECTED[folder.name]["refused"][form.stem]
    fields = [
        problem for problem in refused.value.problems if not problem.what.startswith("not YAML")
    ]
    assert all(problem.line for problem in refused.value.problems)
    assert all(problem.path and problem.hint for problem in fields)


def test_what_is_refused_is_there_to_read() -> None:
    expected = {
        (name, form) for name, outcome in EXPECTED.items() for form in outcome.get("refused", ())
    }
    assert expected == {(form.parent.name, form.stem) for form in PRINTED}
