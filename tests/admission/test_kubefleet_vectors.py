"""Verdicts, texts and defaults as recorded on the real API server code and the real webhooks of KubeFleet."""

from __future__ import annotations

import pytest

from tests.admission.cases import Case, expected, outcome, run
from tests.vectors import vectors

CASES: list[Case] = [*vectors("kubefleet/validation"), *vectors("kubefleet/validation-more")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_is_decided_as_recorded(case: Case) -> None:
    assert outcome(case) == expected(case)


@pytest.mark.parametrize(
    "case", [it for it in CASES if it["valid"]], ids=lambda case: str(case["name"])
)
def test_what_was_stored_is_admitted_unchanged(case: Case) -> None:
    stored = run(case).defaulted
    assert run({**case, "object": stored.data, "oldObject": stored.data}).defaulted == stored


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_every_refusal_names_a_field_and_what_would_do(case: Case) -> None:
    for refusal in run(case).refusals:
        assert refusal.problem.hint
        assert refusal.problem.path or refusal.text.startswith("<nil>")
        assert refusal.problem.what in refusal.text
