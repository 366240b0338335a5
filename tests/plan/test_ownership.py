"""Whose the objects are that come to members and are there already."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pytest

from fleet_components import Options, Past, plan_fleet, source_of
from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION, STACK_ANNOTATION, manager_of
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.observed import FieldDifference, ObservedObject
from fleet_components.plan.apply_mode import ABORTS, OVERWRITES, ApplyMode, TakeOver
from fleet_components.plan.delivered import delivered
from fleet_components.plan.describe import describe_plan
from fleet_components.plan.options import Settings
from fleet_components.plan.ownership import (
    Arrival,
    anothers,
    compared_first,
    found_there,
    not_taken_over,
    overwriting,
    rewritten,
    spaces_of,
    taken_over,
    vanishing,
)
from tests.fields.kubefleet import CONTENT, MEMBERS, placed

STACK = "organization/shop/dev"
PLAN = plan_fleet(source_of([]), Past(), Options(stack=STACK))


def arrival(cluster: str = "a", *, adopts: bool = True, **data: Any) -> Arrival:
    whole = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "shop"},
        **data,
    }
    return Arrival(cluster, whole, OVERWRITES if adopts else ABORTS)


def owned(stack: str | None, **data: Any) -> dict[str, Any]:
    return {"metadata": {"annotations": {STACK_ANNOTATION: stack} if stack else None}, **data}


@pytest.mark.parametrize(
    ("owner", "manager", "refused"),
    [
        (None, "", False),
        (STACK, "", False),
        ("organization/shop/prod", "", True),
        # The stack was called otherwise when it left the object behind, and has kept its field manager.
        ("organization/shop/old", manager_of("organization/shop/old"), False),
        ("x\x1b[31m" * 1000, "", True),
    ],
)
def test_an_object_of_another_stack(owner: str | None, manager: str, refused: bool) -> None:
    plan = attrs.evolve(PLAN, manager=manager or PLAN.manager)
    found = list(anothers([arrival("b"), arrival("a")], lambda _: owned(owner), plan, {}))
    assert bool(found) is refused
    for problem in found:
        assert str(problem).startswith(
            "Secret shop/s: is on a, b already, and belongs to the stack "
        )
        assert "\x1b" not in str(problem)
        assert len(str(problem)) < 2000


def test_what_is_being_deleted() -> None:
    """Nothing can stop that: what is written to it vanishes with it."""
    ends: dict[str, Any] = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    arriving = [arrival("a"), arrival("b"), arrival("c")]
    live: dict[str, dict[str, Any] | None] = {"a": ends, "b": {"metadata": {}}, "c": None}
    (problem,) = vanishing(arriving, lambda item: live[item.cluster], {})
    assert str(problem).startswith("Secret shop/s: is being deleted on a: it would vanish")


@pytest.mark.parametrize("comes", [True, False])
def test_a_namespace_that_is_being_deleted(comes: bool) -> None:
    """Nothing can be created in it; where it comes as well, it is named itself."""
    space: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    arriving = [arrival("a"), arrival("b"), *([arrival("a", **space)] if comes else [])]

    def live(item: Arrival) -> dict[str, Any] | None:
        ends = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if item.cluster == "a" else {}
        return {"metadata": ends} if item.key.kind == "Namespace" else None

    assert [item.pair for item in spaces_of(arriving)] == [
        (name, ObjectKey("", "Namespace", "", "shop")) for name in "ab"
    ]
    (problem,) = vanishing(arriving, live, {})
    named = (
        "Namespace shop: is being"
        if comes
        else "Secret shop/s: comes into a Namespace that is being"
    )
    assert str(problem).startswith(f"{named} deleted on a: ")


def test_what_somebody_else_made() -> None:
    wanted: dict[str, Any] = {
        "stringData": {"k": "one"},
        "type": "Opaque",
        "list": [{"x": 1, "y": 2}, {}],
        "longer": [1],
    }
    live = owned(
        None,
        data={"k": "dHdv", "more": ""},
        type="Opaque",
        list=[{"x": 3, "z": 4}, {}],
        longer=[1, 2],
    )
    arriving = [arrival("a", **wanted), arrival("b"), arrival("c", adopts=False)]
    found = list(map(str, taken_over(arriving, lambda _: live)))
    made = "Secret shop/s: somebody else has made it on {}: it is taken over{}"
    assert found == [
        made.format("b", ""),
        made.format("a", ", and changed in data.k, list[0].x, longer"),
    ]
    assert list(taken_over(arriving, lambda _: owned(STACK))) == []


IF_NO_DIFF = ApplyMode(takes_over=TakeOver.IF_NO_DIFF)
UNFORCED = ApplyMode(forces=False)
KEY = ObjectKey("", "Secret", "shop", "s")
DIFFERS = FieldDifference("/spec/replicas", "1", None)
OWNED = {"ownerReferences": [{"kind": "ReplicaSet", "name": "x\x1b[31m"}]}


@pytest.mark.parametrize(
    ("mode", "compared", "live", "told"),
    [
        (ApplyMode(), ObservedObject(KEY, "v1", differences=(DIFFERS,)), {}, ""),
        (
            attrs.evolve(ABORTS, co_owned=False),
            None,
            OWNED,
            "whenToTakeOver of ResourcePlacement/shop/s is Never",
        ),
        (IF_NO_DIFF, ObservedObject(KEY, "v1"), {}, ""),
        (
            IF_NO_DIFF,
            ObservedObject(KEY, "v1", differences=(DIFFERS,)),
            {},
            "is IfNoDiff, and it differs: /spec/replicas: nothing there, 1 wanted",
        ),
        (
            IF_NO_DIFF,
            ObservedObject(KEY, "v1", error="no\x1b[1m"),
            {},
            "it could not be compared: no",
        ),
        (UNFORCED, ObservedObject(KEY, "v1", differences=(DIFFERS,)), {}, ""),
        (
            UNFORCED,
            ObservedObject(KEY, "v1", error="1 conflict"),
            {},
            "does not force what others have set: 1 conflict",
        ),
        (ApplyMode(co_owned=False), None, OWNED, "has owners there: ReplicaSet x"),
        (ApplyMode(co_owned=True), None, OWNED, ""),
    ],
)
def test_what_is_not_to_be_taken_over(
    mode: ApplyMode, compared: ObservedObject | None, live: dict[str, Any], told: str
) -> None:
    arriving = [
        attrs.evolve(arrival(item), mode=mode, subject="ResourcePlacement/shop/s") for item in "ba"
    ]
    for there, made in ((owned(None), True), (owned(STACK), False), (None, False)):
        standing = there and {"metadata": {**there["metadata"], **live}}
        live_there = partial(_there, standing)
        found = list(not_taken_over(arriving, live_there, lambda _: compared, PLAN, {}))
        if standing and not made and not mode.adopts:
            assert [item.what for item in found] == [
                "is on a, b already: this stack has left it there, and ResourcePlacement/shop/s takes nothing over"
            ]
            continue
        assert bool(found) is bool(told and made)
        assert bool(compared_first(arriving, live_there)) is (
            made and mode in (IF_NO_DIFF, UNFORCED)
        )
        for problem in found:
            assert str(problem).startswith("Secret shop/s: is on a, b already, ")
            assert told in str(problem)
            assert problem.hint
            assert "\x1b" not in str(problem)


def _there(data: dict[str, Any] | None, _: Arrival) -> dict[str, Any] | None:
    return data


def test_a_policy_of_karmada_is_named_in_its_own_words() -> None:
    item = attrs.evolve(arrival(adopts=False), subject="Template/shop/Secret/s")
    (problem,) = not_taken_over([item], lambda _: owned(None), lambda _: None, PLAN, {})
    assert "conflictResolution of Template/shop/Secret/s is Abort" in problem.what


@pytest.mark.parametrize(
    ("stack", "marked", "found"),
    [(None, False, True), (STACK, False, False), (STACK, True, True), ("", False, True)],
)
def test_what_stood_there_before(stack: str | None, marked: bool, found: bool) -> None:
    """Also what the stack has taken over, left behind, and takes up again."""
    live = owned(stack)
    if marked:
        live["metadata"]["annotations"][FOUND_ANNOTATION] = FOUND
    assert found_there([arrival()], lambda _: live) == ({("a", KEY)} if found else set())


@pytest.mark.parametrize("keeps", [True, False])
def test_what_stood_there_before_stays_when_it_leaves(keeps: bool) -> None:
    options = Options(stack=STACK, settings=Settings(limit=1, keep_found=keeps))
    written = [*MEMBERS[:1], *CONTENT, *placed()]
    first = plan_fleet(source_of(map(Manifest, written)), Past(), options)
    past = Past.of(delivered(first, redacted=False), "fleet")
    key = ObjectKey("", "ConfigMap", "shop", "app")
    standing = tuple(
        attrs.evolve(item, found=True, kept=keeps) if item.key == key else item
        for item in past.standing
    )
    past = attrs.evolve(past, standing=standing)
    again = plan_fleet(source_of(map(Manifest, written)), past, options)
    assert not again.changes
    maps = next(
        subject for subject in again.subjects if subject.name == "ResourcePlacement/shop/maps"
    )
    (sent,) = again.emitted(maps, "a")
    assert sent["metadata"]["annotations"][FOUND_ANNOTATION] == FOUND
    assert Past.of(delivered(again, redacted=False), "fleet").standing == past.standing
    gone = plan_fleet(
        source_of(map(Manifest, [*MEMBERS[:1], *CONTENT, *placed()[:1]])), past, options
    )
    told = [line.text for line in describe_plan(gone)]
    after = "kept on the member, no longer managed; it stood there before" if keeps else "deleted"
    assert f"ConfigMap shop/app of ResourcePlacement/shop/maps on a: {after}" in told
    other = attrs.evolve(options, settings=Settings(limit=1, keep_found=not keeps))
    switched = describe_plan(plan_fleet(source_of(map(Manifest, written)), past, other))
    assert ["deleted from now on" in line.text for line in switched] == [keeps]


@pytest.mark.parametrize("force", [False, True])
def test_what_stands_is_judged_where_it_is_written_anew_without_force(force: bool) -> None:
    apply = {"type": "ServerSideApply", "serverSideApplyConfig": {"force": force}}
    written = [
        *MEMBERS[:1],
        *CONTENT,
        *placed(None, {"type": "RollingUpdate", "applyStrategy": apply}),
    ]
    options = Options(stack=STACK, fleet="fleet")
    first = plan_fleet(source_of(map(Manifest, written)), Past(), options)
    assert rewritten(first, "a") == ()
    past = Past.of(delivered(first, redacted=False), "fleet")
    assert rewritten(plan_fleet(source_of(map(Manifest, written)), past, options), "a") == ()
    other = [
        {**item, "data": {"key": "another"}} if item["kind"] == "ConfigMap" else item
        for item in written
    ]
    again = rewritten(plan_fleet(source_of(map(Manifest, other)), past, options), "a")
    assert bool(again) is not force
    conflict = ObservedObject(
        ObjectKey("", "", "", ""), "v1", applied="ManifestApplyFailed", error="conflict\x1b with x"
    )
    told = list(map(str, overwriting(again, lambda _: conflict, {})))
    assert all(
        "on a somebody has changed it" in text and "conflict\\x1b with x" in text for text in told
    )
    assert list(overwriting(again, lambda _: attrs.evolve(conflict, applied="Applied"), {})) == []
