"""Losses that are too large to be meant."""

from __future__ import annotations

import pytest

from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.guard import Guard, Pair, loss_token


def pairs(clusters: str, name: str = "web") -> set[Pair]:
    return {(cluster, ObjectKey("apps", "Deployment", "shop", name)) for cluster in clusters}


def lost(before: str, after: str) -> set[Pair]:
    return pairs(before) - pairs(after)


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
def test_members_and_pairs_have_one_limit(
    before: str, after: str, limit: float, refused: bool
) -> None:
    guard = Guard(limit)
    assert (guard.members(before, after) is not None) is refused
    assert bool(list(guard.pairs({"web": pairs(before)}, {"web": lost(before, after)}))) is refused


def test_a_refusal_says_what_is_lost_and_how_to_allow_it() -> None:
    (problem,) = Guard().pairs(
        {"ClusterResourcePlacement/web": pairs("abc")},
        {"ClusterResourcePlacement/web": pairs("bc")},
    )
    assert problem.subject == "ClusterResourcePlacement/web"
    assert problem.what == (
        "would lose 2 objects on 2 members (b, c), 2 of the 3 that it has there: more than the 50% allowed"
    )
    assert problem.hint.startswith("if that is meant, allow exactly this once: fleet:confirm=")


def test_a_token_allows_exactly_this_loss() -> None:
    (problem,) = Guard().pairs({"web": pairs("abcd")}, {"web": pairs("bcd")})
    token = problem.hint.rpartition("=")[2]
    assert len(token) == 8
    confirmed = Guard(confirm=frozenset({"other", token}))
    assert not list(confirmed.pairs({"web": pairs("abcd")}, {"web": pairs("bcd")}))
    assert list(confirmed.pairs({"web": pairs("abcd")}, {"web": pairs("acd")}))
    assert list(confirmed.pairs({"web": pairs("abcd")}, {"web": pairs("abcd")}))
    assert list(confirmed.pairs({"api": pairs("abcd")}, {"api": pairs("bcd")}))
    assert list(confirmed.pairs({"web": pairs("abcd", "db")}, {"web": pairs("bcd", "db")}))
    assert loss_token("web", ["b", "c"]) == loss_token("web", ["c", "b"])


def test_what_takes_most_of_the_fleet_needs_one_token() -> None:
    standing = {name: pairs("ab", name) for name in ("web", "api", "db")}
    (problem,) = Guard().pairs(standing, {name: standing[name] for name in ("web", "api")})
    assert problem.subject == "the fleet"
    assert "4 of the 6" in problem.what


def test_what_takes_most_of_one_placement_is_refused_in_a_large_fleet_too() -> None:
    standing = {name: pairs("abcd", name) for name in ("web", "api", "db")}
    refused = Guard().pairs(standing, {"web": pairs("abc", "web"), "api": pairs("a", "api")})
    assert [problem.subject for problem in refused] == ["web"]


def test_what_goes_along_with_others_counts_for_the_fleet_alone() -> None:
    standing = {"": pairs("ab", "config"), "web": pairs("abcdef")}
    assert not list(Guard().pairs(standing, {"": pairs("ab", "config")}))


def test_many_losses_are_not_all_named() -> None:
    problem = Guard().members([f"m{i:02}" for i in range(30)], [])
    assert problem is not None
    assert "m09 and 20 more)" in problem.what
