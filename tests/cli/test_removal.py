"""``fleet plan`` of a program that provisions: what is not declared any more is refused, and ``--confirm`` allows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components import Fleet
from fleet_components.testing import run_program
from tests.azure.test_refused_plan import EVERYTHING, MEMBERS, written
from tests.cli.fleets import export, run, write

SEA = "  - {name: sea-1, region: southeastasia}\n"
EUS = "  - {name: eus-1, region: eastus}\n"


def test_a_removal_is_refused_and_allowed_by_its_token(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    config = {"fleet:source": written(fleet, EVERYTHING)}
    done = run_program(lambda: Fleet.from_config("shop"), project="web", stack="dev", config=config, preview=False)
    assert done.error is None
    (tmp_path / "export.json").write_text(json.dumps(export(done, encrypted=False)))
    project = write(
        tmp_path / "project",
        {
            "Pulumi.yaml": "name: web\nruntime: python\n",
            "__main__.py": 'from fleet_components import Fleet\n\nFleet.from_config("shop")\n',
            "Pulumi.dev.yaml": f"config:\n  fleet:source: {fleet}\n",
        },
    )
    written(fleet, {**EVERYTHING, "members": MEMBERS.replace(EUS, "")})
    command = ["plan", str(project), "--state", str(tmp_path / "export.json")]
    refused = run(*command)
    assert refused.exit_code != 0
    assert "would delete the AKS cluster eus-1" in refused.output
    (token,) = set(re.findall("fleet:confirm[= ]([0-9a-f]{8})", refused.output))
    allowed = run(*command, "--confirm", token)
    assert "eus-1-cluster" in allowed.output
    assert "allows nothing" not in allowed.output
    assert "allows nothing" in run(*command, "--confirm", token, "--confirm", "abcdef01").output


def test_a_token_of_azure_is_not_given_in_vain_if_another_one_is_missing(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    config = {"fleet:source": written(fleet, EVERYTHING)}
    done = run_program(lambda: Fleet.from_config("shop"), project="web", stack="dev", config=config, preview=False)
    (tmp_path / "export.json").write_text(json.dumps(export(done, encrypted=False)))
    project = write(
        tmp_path / "project",
        {
            "Pulumi.yaml": "name: web\nruntime: python\n",
            "__main__.py": 'from fleet_components import Fleet\n\nFleet.from_config("shop")\n',
            "Pulumi.dev.yaml": f"config:\n  fleet:source: {fleet}\n",
        },
    )
    written(fleet, {**EVERYTHING, "members": MEMBERS.replace(EUS, "").replace(SEA, "")})
    command = ["plan", str(project), "--state", str(tmp_path / "export.json")]
    tokens = set(re.findall("fleet:confirm[= ]([0-9a-f]{8})", run(*command).output))
    assert len(tokens) == 3  # of the member list, of the placement, of Azure
    for token in tokens:
        half = run(*command, "--confirm", token)
        assert half.exit_code != 0
        assert "allows nothing" not in half.output
