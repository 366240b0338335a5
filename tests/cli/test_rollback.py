"""``fleet rollback``: what is put back, that nothing else changes, and that the plan has the content of the revision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_components.plan.delivered import delivered
from fleet_components.review.planning.past import read_state
from fleet_components.review.planning.survey import CommandLine, survey
from tests.cli.fleets import FLEET, PLACEMENT, run, write

# Every member is held on what it runs, which is therefore kept.
HELD = PLACEMENT.replace("maxUnavailable: 1, maxSurge: 1", "maxUnavailable: 0, maxSurge: 0")


def told(folder: Path, file: Path) -> None:
    """Let what is planned now count as delivered, Secrets included, in the form of an export."""
    known = CommandLine(state=read_state(file)) if file.exists() else CommandLine()
    plan = survey([folder], known).plans[0]
    resources = [
        {"urn": one.urn, "type": one.type, "custom": True, "inputs": {}, "outputs": dict(one.outputs)}
        for one in delivered(plan, redacted=False)
    ]
    file.write_text(json.dumps({"version": 3, "deployment": {"resources": resources}}, default=str))


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    folder = write(tmp_path / "fleet", {**FLEET, "placement.yaml": HELD})
    told(folder, tmp_path / "state.json")
    return folder


def rolled(folder: Path, *args: object) -> Any:
    return run("rollback", "shop", folder, "--state", folder.parent / "state.json", *args)


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in folder.iterdir()}


def contents(folder: Path, state: Path) -> dict[int, Any]:
    (decided,) = survey([folder], CommandLine(state=read_state(state))).plans[0].subjects
    return {"revision": decided.record.revision, **decided.record.contents}
