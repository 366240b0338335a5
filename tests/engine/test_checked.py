"""The check of a step finds what a plan does not name."""

from __future__ import annotations

import pytest

from tests.engine.checked import Called, Live, Pair, compare

C, D = ("a", "ConfigMap shop/c"), ("a", "ConfigMap shop/d")
OLD = {C: Live("1", {"data": 1}), D: Live("2", {})}
NOTHING = frozenset[Pair]()


def called(**kinds: frozenset[Pair]) -> Called:
    return Called(
        **{**dict.fromkeys(("deleted", "replaced", "created", "updated"), NOTHING), **kinds}
    )


@pytest.mark.parametrize(
    ("after", "kind", "words"),
    [
        ({D: OLD[D]}, "deleted", "gone"),
        ({**OLD, C: Live("3", {"data": 1})}, "replaced", "made anew"),
        ({**OLD, C: Live("1", {"data": 2})}, "updated", "changed"),
        ({**OLD, ("b", "ConfigMap shop/c"): Live("9", {})}, "created", "new"),
    ],
)
def test_what_was_not_named_fails(after: dict[Pair, Live], kind: str, words: str) -> None:
    with pytest.raises(AssertionError, match=f"^{words}, and not called so"):
        compare(called(), OLD, after, complete=True)
    moved = frozenset({next(iter(after.keys() - OLD.keys()), C)})
    compare(called(**{kind: moved}), OLD, after, complete=True)


@pytest.mark.parametrize("kind", ["deleted", "replaced", "created"])
def test_what_was_named_has_to_happen(kind: str) -> None:
    wanted = frozenset({("b", "ConfigMap shop/c") if kind == "created" else C})
    compare(called(**{kind: wanted}), OLD, OLD, complete=False)
    with pytest.raises(AssertionError, match=r"^called .*(still there|the same|not there)"):
        compare(called(**{kind: wanted}), OLD, OLD, complete=True)
