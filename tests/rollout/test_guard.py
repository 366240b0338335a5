"""Losses that are too large to be meant."""

from __future__ import annotations

import pytest

from fleet_components.rollout.guard import guard, loss_token


@pytest.mark.parametrize(
    ("before", "after", "limit", "refused"),
    [
        ("abcd", "ab", 0.5, False),
        ("abcd", "a", 0.5, True),
        ("abcd", "wxyz", 0.5, True),
        ("abcd", "abcdxyz", 0.5, False),
        ("a", "", 0.5, False),
        ("a", "b", 0.0, False),
        ("ab", "", 0.5, True),
        ("ab", "", 1.0, False),
        ("abcdefghij", "abcdefgh", 0.2, False),
        ("abcdefghij", "abcdefg", 0.2, True),
        ("", "", 0.5, False),
        ("", "abc", 0.0, False),
    ],
)
def test_limit(before: str, after: str, limit: float, refused: bool) -> None:
    assert (guard("placement web", before, after, limit=limit) is not None) is refused


def test_refusal_says_what_is_lost_and_how_to_allow_it() -> None:
    problem = guard("placement web", ["c", "a", "b"], ["a"])
    assert problem is not None
    assert problem.what == "placement web would lose 2 of 3 clusters (b, c), more than the 50% allowed"
    assert problem.hint == (
        f"if that is meant, allow exactly this once: fleet:confirm={loss_token('placement web', ['b', 'c'])}"
    )


def test_token_allows_exactly_this_loss() -> None:
    token = loss_token("placement web", ["b", "c", "d"])
    assert token == loss_token("placement web", ["d", "c", "b"])
    assert len(token) == 8
    assert guard("placement web", "abcd", "a", confirm=[token]) is None
    assert guard("placement web", "abcd", "axy", confirm=["other", token]) is None
    assert guard("placement web", "abcd", "b", confirm=[token])
    assert guard("placement web", "abcd", "", confirm=[token])
    assert guard("placement api", "abcd", "a", confirm=[token])


def test_many_losses_are_not_all_named() -> None:
    problem = guard("the member list", [f"m{i:02}" for i in range(30)], [])
    assert problem is not None
    assert "m09, ...)" in problem.what
