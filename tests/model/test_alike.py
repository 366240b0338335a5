"""Sentences that say the same of several things are told as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.review.showing.observed import folded

GOING = "{} is being deleted and is left out"
UNBOUND = "a policy selects {}, and it has no binding yet: a plan makes one"


@pytest.mark.parametrize(
    ("form", "things", "told"),
    [
        (GOING, ["Deployment shop/a"], "Deployment shop/a"),
        (GOING, ["Deployment shop/a", "Deployment shop/b"], "Deployment shop/a (also shop/b)"),
        (GOING, ["Deployment shop/a", "ConfigMap b"], "Deployment shop/a (also ConfigMap b)"),
        (
            GOING,
            [f"ConfigMap shop/c{n}" for n in range(9)],
            "ConfigMap shop/c0 (also shop/c1, shop/c2, shop/c3 and 5 more)",
        ),
        (UNBOUND, ["ConfigMap a", "Secret b", "Secret c"], "ConfigMap a (also Secret b, Secret c)"),
    ],
)
def test_what_differs_in_a_few_words(form: str, things: list[str], told: str) -> None:
    assert folded(map(form.format, things)) == [form.format(told)]


def test_what_says_something_else_stays() -> None:
    said = [
        GOING.format("ConfigMap a"),
        UNBOUND.format("ConfigMap a"),
        "fleet shop is Failed",
        "fleet shop is Updating",
    ]
    assert folded(said) == said


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "is", "left", "out:", "c,"]), min_size=1).map(" ".join)
    )
)
def test_each_beginning_stays_and_nothing_is_invented(said: list[str]) -> None:
    told = folded(said, most=len(said))
    assert len(told) <= len(said)
    assert all(any(word in item for item in told) for text in said for word in text.split())
