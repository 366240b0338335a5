"""The cases that this repository keeps of its own, one test each, and all the measured ones where they are there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import Case, check_case, check_file
from tests.conformance.subjects import RECORDINGS, SUBJECTS
from tests.shared import shared

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(file for file in GOLDEN.glob("*/*.json") if file.parent.name not in RECORDINGS)


def cases(file: Path) -> list[Case]:
    """The cases of a file."""
    found: list[Case] = json.loads(file.read_text())
    return found


def golden() -> Iterator[Any]:
    """Every case, named by its file and itself."""
    for file in FILES:
        subject = f"{file.parent.name}/{file.stem}"
        for case in cases(file):
            yield pytest.param(subject, case, id=f"{subject}:{case['name']}")


@pytest.mark.parametrize(("subject", "case"), list(golden()))
def test_golden(subject: str, case: Case) -> None:
    assert check_case(case, SUBJECTS[subject]) == ""


@pytest.mark.parametrize("system", RECORDINGS)
def test_the_golden_recordings_come_out(system: str) -> None:
    files = sorted((GOLDEN / system).glob("*.json"))
    checked = {file.stem: check_file(file) for file in files}
    assert {name for name, outcome in checked.items() if outcome != (1, 0)} <= {"members"}
    assert len(checked) > 3


def test_the_golden_set_covers_kubefleet_scheduling() -> None:
    found = cases(GOLDEN / "kubefleet" / "scheduling.json")
    tags = {tag for case in found for tag in case["tags"]}
    assert len(found) >= 60
    assert tags >= {"PickAll", "PickFixed", "PickN", "ResourcePlacement", "multiStep", "singleStep", "schedulingError"}
    assert tags >= {"labelSelector", "propertySelector", "required", "preferred", "negativeWeight", "propertySorter"}
    assert tags >= {"spreadDoNotSchedule", "spreadScheduleAnyway", "taints", "tolerations", "leaving"}
    rollouts = {step.get("rollout", "full") for case in found for step in case.get("steps", ())}
    assert rollouts == {"full", "bindOnly", "none"}


@pytest.mark.parametrize("subject", sorted(SUBJECTS))
def test_every_measured_case_matches(subject: str) -> None:
    found = cases(shared(f"vectors/{subject}.json"))
    assert found
    assert [mismatch for case in found if (mismatch := check_case(case, SUBJECTS[subject]))] == []
