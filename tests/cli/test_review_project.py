"""The command ``fleet review`` on Pulumi projects: the programs of both sides run in one process."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from tests.cli.clone import Clone, another, failing, review
from tests.cli.fleets import PROGRAM, PROJECT, clusters, edit, plan, run, write
from tests.cli.test_other_stacks import EXPORTING, PLACING, STACK
from tests.cli.test_other_stacks import project as project_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH"),
    pytest.mark.usefixtures("nothing_left"),
]


def project(image: str) -> dict[str, str]:
    """A program with modules beside it, elsewhere in the repository, and with a plug-in of its own."""
    return {
        **PROJECT,
        "stacks/__main__.py": "import os, sys\nsys.path.insert(0, '../shared')\nimport helper\n"
        "print(helper.NAME, os.environ.get('PLANTED'))\nos.environ['PLANTED'] = 'yes'\nhelper.fleet()\n",
        "stacks/helper.py": PROGRAM.replace(
            "Fleet.from_config",
            "from shared_names import NAME\n\ndef fleet():\n    Fleet.from_config",
        ),
        "shared/shared_names.py": f"NAME = '{image}'\n",
    }


class TestProjects:
    def test_modules_of_the_base_do_not_leak(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        clone = Clone(tmp_path / "clone", project("one"), within=".")
        edit(clone.top / "shared/shared_names.py", "one", "two")
        edit(clone.top / "stacks/fleet/shop.yaml", "1.27.5", "1.28.0")
        result = run("review", clone.top, "--stack", "dev", "--base", "main", "-o", "json")
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        printed = result.stderr.splitlines()
        assert (printed[0], printed[-1]) == ("one None", "two None")
        assert "PLANTED" not in os.environ
        assert not {"helper", "shared_names"} & sys.modules.keys()

    def test_without_a_change(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within=".")
        result = run("review", clone.top, "--stack", "dev", "--base", "main", "--detailed-exitcode")
        assert (result.exit_code, result.stderr) == (0, "")

    def test_a_plugin_of_the_base_does_not_decide_for_the_head(self, tmp_path: Path) -> None:
        plugin = (
            "from fleet_components.plugins import *\n"
            "class Only(Filter):\n    name = 'Only'\n    profiles = ('kubefleet',)\n"
            "    def mask(self, state, candidates):\n"
            "        return candidates & state.inventory.mask_of_names(['amsterdam'])\n"
            "    def reason(self, state, position):\n        return 'is another'\n"
        )
        files = {**PROJECT, "stacks/own.py": plugin}
        files["stacks/Pulumi.dev.yaml"] += "  fleet:plugins: own:Only\n"
        clone = Clone(tmp_path / "clone", files, within=".")
        edit(
            clone.top / "stacks/fleet/placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1"
        )
        edit(clone.top / "stacks/own.py", "amsterdam", "dublin")
        document = review(clone.top, "--stack", "dev")
        assert document["against"].endswith("as if newly made")
        clone.commit()
        clone.git("branch", "-f", "main")
        edit(clone.top / "stacks/own.py", "'dublin'", "'iowa', 'virginia'")
        new = another("new").replace("environment: production", "region: america")
        new = new.replace("numberOfClusters: 2", "numberOfClusters: 1")
        write(clone.top, {"stacks/fleet/new.yaml": new})
        assert clusters(review(clone.top, "--stack", "dev"), "new") == {"virginia": "joins"}

    def test_a_program_is_run_for_both_sides_or_for_none(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within=".")
        assert "--no-program runs none" in failing(clone.top, "--no-program")
        assert "nothing asks to run it" in failing_as_is(clone.top)

    def test_a_commit_of_a_project(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within="infra/web")
        edit(clone.fleet / "stacks/fleet/shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        shutil.rmtree(clone.fleet / "stacks/fleet")
        saved = tmp_path / "state.json"
        document = review(clone.fleet, "--stack", "dev", "--head", "change", "--save-state", saved)
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        assert document["fleet"]["directory"] == str(clone.fleet)
        clone.git("checkout", "-q", ".")
        assert (
            plan(clone.fleet, "--stack", "dev", "--state", saved)["headline"][0]
            == "nothing changes"
        )

    def test_with_what_runs(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within=".")
        saved = tmp_path / "state.json"
        plan(clone.top, "--save-state", saved)
        clone.git("checkout", "-q", "main")
        edit(clone.top / "stacks/fleet/shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        (item,) = review(clone.top, "--stack", "dev", "--state", saved)["subjects"]
        assert item["pending"] is True

    def test_a_fault_of_the_base_program_is_named(self, tmp_path: Path) -> None:
        clone = Clone(
            tmp_path / "clone",
            {**PROJECT, "stacks/__main__.py": "raise ValueError('oh')\n"},
            within=".",
        )
        (clone.top / "stacks/__main__.py").write_text(PROGRAM)
        result = run("review", clone.top, "--stack", "dev", "--base", "main", "-o", "json")
        assert result.exit_code == 0, result.output
        assert "main:stacks/__main__.py:1" in result.stderr
        assert "temporary" not in result.stderr + result.stdout

    def test_another_project_of_the_repository_has_two_sides_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clone = Clone(tmp_path / "clone")
        project_of(clone.top / "members", "shop", EXPORTING, "exporting")
        web = project_of(clone.top / "web", "web", PLACING, "placing")
        clone.commit()
        clone.git("branch", "-f", "main")
        edit(clone.top / "members/__main__.py", '("eu", "us")', '("eu",)')
        monkeypatch.chdir(clone.top)
        for head in ([], ["--head", "HEAD"]):
            document = review(web, "--project", "--project-of", f"{STACK}=members", *head)
            assert clusters(document)["us"] == "leaves"
            clone.git("commit", "-q", "--allow-empty", "-a", "-m", "one is left")


def failing_as_is(*args: object) -> str:
    """As the command line is written, without asking for a project."""
    result = CliRunner().invoke(
        fleet, ["review", *map(str, args), "--base", "main"], catch_exceptions=False
    )
    assert result.exit_code == 1
    return result.stderr
