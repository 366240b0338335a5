"""What was recorded of the real Karmada comes out: all shared cases, and copies of the telling ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.karmada_cases import SUBJECTS
from tests.shared import shared

DATA = Path(__file__).parent / "karmada_data"
COPIES = sorted(file.stem for file in DATA.glob("*.json") if f"karmada/{file.stem.removesuffix('-more')}" in SUBJECTS)


def _mismatches(subject: str, file: Path) -> dict[str, Any]:
    cases = json.loads(file.read_text())
    assert cases
    return {case["name"]: pair for case in cases for pair in SUBJECTS[subject](case) if pair[0] != pair[1]}


@pytest.mark.parametrize("name", COPIES)
def test_the_copied_outcomes_come_out(name: str) -> None:
    assert _mismatches(f"karmada/{name.removesuffix('-more')}", DATA / f"{name}.json") == {}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_shared_outcomes_come_out(subject: str) -> None:
    assert _mismatches(subject, shared(f"vectors/{subject}.json")) == {}


def test_a_changed_outcome_is_noticed() -> None:
    """The comparison above can fail."""
    case: dict[str, Any] = json.loads((DATA / "graceful.json").read_text())[0]
    wrong = {**case, "outcome": {"kept": [], "removed": ["old"]}}
    assert [expected == found for expected, found in SUBJECTS["karmada/graceful"](wrong)] == [False]
