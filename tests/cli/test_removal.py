"""``fleet plan`` of a program that provisions: what is not declared any more is refused, and ``--confirm`` allows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components import Fleet
from fleet_components.testing import run_program
from tests.azure.test_refused_plan import EVERYTHING, MEMBERS, OBJECTS, OTHER, PLACEMENT, written
from tests.cli.fleets import export, run, write

SEA = "  - {name: sea-1, region: southeastasia}\n"
EUS = "  - {name: eus-1, region: eastus}\n"


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """The directory of a fleet that was provisioned; ``export.json`` beside it has the state."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    config = {"fleet:source": written(folder, EVERYTHING)}
    done = run_program(
        lambda: Fleet.from_config("shop"), project="web", stack="dev", config=config, preview=False
    )
    assert done.error is None
    (tmp_path / "export.json").write_text(json.dumps(export(done, encrypted=False)))
    return folder


@pytest.fixture
def command(fleet: Path) -> list[str]:
    """The plan of a project whose program makes that fleet."""
    project = write(
        fleet.parent / "project",
        {
            "Pulumi.yaml": "name: web\nruntime: python\n",
            "__main__.py": 'from fleet_components import Fleet\n\nFleet.from_config("shop")\n',
            "Pulumi.dev.yaml": f"config:\n  fleet:source: {fleet}\n",
        },
    )
    return ["plan", str(project), "--state", str(fleet.parent / "export.json")]


def test_a_removal_is_refused_and_allowed_by_its_token(fleet: Path, command: list[str]) -> None:
    written(fleet, {**EVERYTHING, "members": MEMBERS.replace(EUS, "")})
    refused = run(*command)
    assert refused.exit_code != 0
    assert "would delete the AKS cluster eus-1" in refused.output
    (token,) = set(re.findall("fleet:confirm[= ]([0-9a-f]{8})", refused.output))
    allowed = run(*command, "--confirm", token)
    assert "eus-1-cluster" in allowed.output
    assert "allows nothing" not in allowed.output
    assert "allows nothing" in run(*command, "--confirm", token, "--confirm", "abcdef01").output


def test_no_token_is_given_in_vain_because_another_one_is_missing(
    fleet: Path, command: list[str]
) -> None:
    written(fleet, {**EVERYTHING, "members": MEMBERS.replace(EUS, "").replace(SEA, "")})
    tokens = set(re.findall("fleet:confirm[= ]([0-9a-f]{8})", run(*command).output))
    assert len(tokens) == 3  # of the member list, of the placement, of Azure
    for token in tokens:
        partly = run(*command, "--confirm", token)
        assert partly.exit_code != 0
        assert "allows nothing" not in partly.output


def test_a_directory_says_that_it_neither_provisions_nor_guards(fleet: Path) -> None:
    state = ["--state", str(fleet.parent / "export.json")]

    def warnings(*words: str) -> list[str]:
        document = json.loads(run("plan", str(fleet), *words, "-o", "json").stdout)
        return [text for text in document["warnings"] if "project" in text]

    written(fleet, {**EVERYTHING, "members": MEMBERS.replace(EUS, "")})
    for words in ([], state):
        (text,) = warnings(*words)
        assert text.startswith(
            f"{fleet / 'hub.yaml'}:1: Hub shop, Members shop: only a project provisions that"
        )
        assert "neither shows nor guards what would be made, changed or deleted" in text
        assert "fleet plan PROJECT --stack STACK" in text
    own = "".join(f"---\n{OTHER.replace('own', name)}" for name in ("weu-1", "eus-1", "sea-1"))
    written(fleet, {"objects": OBJECTS, "placement": PLACEMENT, "own": own})
    assert warnings() == []
    (text,) = warnings(*state)
    assert text.startswith(
        f"{state[1]}: a project has provisioned clusters that nothing declares here"
    )
