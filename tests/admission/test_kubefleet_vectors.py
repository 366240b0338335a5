"""Verdicts, texts and defaults as recorded on the real API server code and the real webhooks of KubeFleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.admission.cases import Case, expected, outcome, run
from tests.shared import SHARED, shared

_RECORDED = "vectors/kubefleet/validation.json"
_DATA = Path(__file__).parent / "data"
# Some of the recordings, and further outcomes of the same code for rules that they do not reach.
_GOLDEN: list[Case] = [
    case for file in ("kubefleet.json", "kubefleet-more.json") for case in json.loads((_DATA / file).read_text())
]
_CASES: list[Case] = json.loads((SHARED / _RECORDED).read_text()) if (SHARED / _RECORDED).exists() else []


def test_the_recordings_are_there() -> None:
    assert shared(_RECORDED)


@pytest.mark.parametrize("case", [*_GOLDEN, *_CASES], ids=lambda case: str(case["name"]))
def test_is_decided_as_recorded(case: Case) -> None:
    assert outcome(case) == expected(case)


@pytest.mark.parametrize("case", [it for it in _GOLDEN if it["valid"]], ids=lambda case: str(case["name"]))
def test_what_was_stored_is_admitted_unchanged(case: Case) -> None:
    stored = run(case).defaulted
    assert run({**case, "object": stored.data, "oldObject": stored.data}).defaulted == stored


@pytest.mark.parametrize("case", _GOLDEN, ids=lambda case: str(case["name"]))
def test_every_refusal_names_a_field_and_what_would_do(case: Case) -> None:
    for refusal in run(case).refusals:
        assert refusal.problem.hint
        assert refusal.problem.path or refusal.text.startswith("<nil>")
        assert refusal.problem.what in refusal.text
