"""Texts and targets of which the real scheduler gives any one: each passes, and nothing else does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance import karmada_scheduling
from tests.conformance.__main__ import check_case
from tests.conformance.karmada_scheduling import each_text
from tests.vectors import vectors

CASES = vectors("karmada/scheduling")
JOINED = [
    case
    for case in CASES
    if any(" || " in text for item in case["outcomes"] for text in item.get("errorVariants", ()))
]


def passes(case: Any) -> bool:
    return check_case(case, karmada_scheduling.run) == ""


def test_joined_texts_are_those_of_each_group() -> None:
    assert len(JOINED) >= 4
    assert each_text(["a || b", "c || b"]) == ["a", "b", "c"]


@pytest.mark.parametrize("case", JOINED, ids=lambda case: case["name"])
def test_any_text_of_a_group_passes_and_no_other(case: Any) -> None:
    if case["outcomes"][0]["condition"]["status"] == "True":
        case = {**case, "outcomes": case["outcomes"][:1], "steps": []}
    assert passes(case)
    variants = case["outcomes"][0]["errorVariants"]
    failed = [attempt["error"] for attempt in case["outcomes"][0]["attempts"] if "error" in attempt]
    for text in each_text(variants):
        assert passes(_with(case, failed[0], text))
    for other in ("another text", " || ".join(failed), f"{failed[0]} "):
        assert not passes(_with(case, failed[0], other))


def _with(case: Any, old: str, new: str) -> Any:
    """The case, in which the events and the condition of the first run say another text; its variants stay."""
    first = case["outcomes"][0]
    said = {name: first[name] for name in ("events", "condition")}
    changed = json.loads(json.dumps(said).replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1]))
    return {**case, "outcomes": [{**first, **changed}, *case["outcomes"][1:]]}


def test_targets_are_among_the_variants() -> None:
    (case,) = [case for case in CASES if case["name"] == "dev-edge-042-agg-unstable-merge-order"]
    assert passes(case)
    outcomes = [
        {**item, "variants": [[{"name": "other", "replicas": 1}]]} if "variants" in item else item
        for item in case["outcomes"]
    ]
    assert not passes({**case, "outcomes": outcomes})
