"""The words of plans and explanations: numbers with their nouns, a reason wherever something happens, no deep chains."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.text import count, few
from fleet_components.review.documents.explanation import explanation
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.wire import as_data
from fleet_components.review.planning.past import parse_state
from fleet_components.review.planning.resources import compare
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.testing import Registration
from tests.plan.rich import exported, history
from tests.plan.test_histories import Written, surveys, worlds

ONE_OF_MANY = re.compile(
    r"(?<!/)\b1 (?!of\b)[a-z]+s\b(?<!\bis)(?<!\bhas)(?<!leaves)(?<!stays)(?<!joins)(?<!goes)"
)
MANY_OF_ONE = re.compile(
    r"\b(0|[2-9]|[1-9][0-9]+) (replica|member|cluster|object|placement|template|second)\b(?!\(s\))"
)


def texts(value: Any) -> list[str]:
    """All that is said in a document."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def check(document: dict[str, Any], explained: dict[str, Any]) -> None:
    """Everything that happens has a reason, and every number fits its noun."""
    for subject in document["subjects"]:
        for member in (*subject["clusters"], *subject["notPicked"]["shown"]):
            assert member["why"].strip(), (subject["name"], member)
        subject.pop("status")  # in the words of the real systems
    for subject in explained["subjects"]:
        assert subject["members"], subject["name"]
        for member in subject["members"]:
            assert member["summary"].strip(), (subject["name"], member)
        subject.pop("condition")
    for text in (*texts(document), *texts(explained)):
        assert not ONE_OF_MANY.search(text), text
        assert not MANY_OF_ONE.search(text), text


@pytest.mark.long
@settings(max_examples=10)
@given(st.lists(worlds, min_size=2, max_size=3))
def test_whatever_happens_has_a_reason(written: list[Written]) -> None:
    for surveyed in surveys(written):
        check(as_data(plan_document(surveyed)), as_data(explanation(surveyed.plans)))


def test_a_rich_stack_has_reasons_and_numbers_that_fit(tmp_path: Path) -> None:
    history().world.write(tmp_path)
    state = parse_state(json.dumps(exported()).encode(), "s.json")
    surveyed = survey([tmp_path], CommandLine(state=state))
    check(as_data(plan_document(surveyed)), as_data(explanation(surveyed.plans)))


COUNTS = [(0, "0 replicas"), (1, "1 replica"), (2, "2 replicas")]


@pytest.mark.parametrize(("number", "text"), COUNTS)
def test_numbers_have_their_nouns(number: int, text: str) -> None:
    assert count(number, "replica") == text


def test_nouns_of_their_own() -> None:
    assert [count(number, "policy") for number in (1, 2)] == ["1 policy", "2 policies"]
    assert [count(number, "is", "are") for number in (0, 1, 2)] == ["0 are", "1 is", "2 are"]
    assert few(["a", "b", "c"], 2) == "a, b and 1 more"


@pytest.mark.parametrize("turned", [False, True])
def test_a_chain_of_resources_may_be_long(turned: bool) -> None:
    urns = [f"urn:pulumi:s::p::t::r{number}" for number in range(3000)]
    chain = [
        Registration(
            urn,
            "t",
            urn,
            custom=True,
            inputs={},
            dependencies=(urns[number - 1],) if number else (),
        )
        for number, urn in enumerate(urns)
    ]
    found = compare(
        reversed(chain) if turned else chain, "urn:pulumi:s::p::pulumi:pulumi:Stack::root", None
    )
    assert [item.urn for item in found][-3000:] == urns


def test_resources_that_wait_for_each_other_are_shown() -> None:
    item, other = "urn:pulumi:s::p::t::one", "urn:pulumi:s::p::t::other"
    ring = [
        Registration(item, "t", "one", custom=True, inputs={}, dependencies=(other,)),
        Registration(other, "t", "other", custom=True, inputs={}, dependencies=(item,)),
    ]
    assert {
        found.urn for found in compare(ring, "urn:pulumi:s::p::pulumi:pulumi:Stack::root", None)
    } >= {item, other}
