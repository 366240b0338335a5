"""Two versions of an object are merged by what they had in common: no edit is lost unnamed, nothing of the hub is either."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.content.three_way import (
    LostEdit,
    Merge,
    extended,
    shape_of,
    three_way,
    within,
)

LEAVES = st.sampled_from(["a", "b", "c", 1, 2, True, "", 1.5])
KEYS = st.sampled_from(["name", "key", "x", "y", "z"])
NAMED = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("abcd")}, optional={"v": LEAVES, "w": LEAVES}),
    max_size=4,
    unique_by=lambda dictionary: dictionary["name"],
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(KEYS, inner, max_size=3), st.lists(inner, max_size=3), NAMED
    ),
    max_leaves=8,
)
SPECS = st.dictionaries(st.sampled_from(["p", "q", "r", "s"]), VALUES, max_size=4)


def thing(spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": spec}


@st.composite
def edits(draw: st.DrawFn, value: Any) -> Any:
    """The value with some of its parts changed."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, 2))):
        at, last = value, None
        while isinstance(at, dict | list) and at and (last is None or draw(st.booleans())):
            step = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
            last, at = (at, step), at[step]
        if last is None:
            continue
        holder, step = last
        match draw(st.integers(0, 3)):
            case 0 if step != "name":
                del holder[step]
            case 1 if isinstance(holder, list) and len(holder) > 1:
                holder.reverse()
            case _ if step != "name":
                holder[step] = draw(VALUES)
    return value


@st.composite
def shuffled(draw: st.DrawFn, items: list[Any]) -> list[Any]:
    """The items in another order perhaps, some of them gone, changed or new."""
    kept = [
        {**item, **draw(st.dictionaries(st.sampled_from("vw"), LEAVES, max_size=1))}
        for item in items
    ]
    kept = [item for item in kept if draw(st.integers(0, 3))]
    new = [item for item in draw(NAMED) if item["name"] not in {each["name"] for each in items}]
    return draw(st.permutations([*kept, *new])) if draw(st.booleans()) else [*kept, *new]


@st.composite
def three(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    if draw(st.booleans()):
        items = draw(NAMED)
        return (
            thing({"p": items}),
            thing({"p": draw(shuffled(items))}),
            thing({"p": draw(shuffled(items))}),
        )
    base = draw(SPECS)
    return thing(base), thing(draw(edits(base))), thing(draw(edits(base)))


def plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """The leaves below maps alone: a list is one."""
    if isinstance(value, dict) and value:
        return {at: leaf for key in value for at, leaf in leaves(value[key], (*path, key)).items()}
    return {path: value}


@given(three())
def test_without_an_edit_it_is_what_the_hub_has(sides: tuple[Any, Any, Any]) -> None:
    base, _, hub = sides
    found = three_way(shape_of(base), base, hub)
    assert (plain(found.whole), found.edited, found.lost) == (plain(hub), False, ())


@given(three())
def test_where_the_hub_is_as_it_was_the_file_stays(sides: tuple[Any, Any, Any]) -> None:
    base, mine, _ = sides
    found = three_way(shape_of(base), mine, base)
    assert (plain(found.whole), plain(found.stated), found.lost) == (plain(mine), plain(mine), ())
    assert found.edited == (plain(mine) != plain(base))


@settings(max_examples=4 * settings().max_examples)
@given(three())
def test_an_edit_is_kept_or_named_and_so_is_a_change_of_the_hub(
    sides: tuple[Any, Any, Any],
) -> None:
    base, mine, hub = sides
    found = three_way(shape_of(base), mine, hub)
    was, here, there, merged = (leaves(item) for item in (base, mine, hub, found.whole))
    for path in {*was, *here, *there}:
        edit, change = here.get(path), there.get(path)
        named = any(
            path[: len(item.path)] == item.path or item.path[: len(path)] == path
            for item in found.lost
        )
        inner = any(isinstance(side.get(path), list) for side in (was, here, there))
        above = any(
            other[: len(path)] == path or path[: len(other)] == other
            for side in (was, here, there)
            for other in side
            if other != path
        )
        if named or inner or above:
            continue
        if plain(edit) != plain(was.get(path)) and plain(change) == plain(was.get(path)):
            assert plain(merged.get(path)) == plain(edit), path
        elif plain(change) != plain(was.get(path)):
            assert plain(merged.get(path)) == plain(change), path


@settings(max_examples=4 * settings().max_examples)
@given(three())
def test_a_lost_edit_is_one_of_both_sides(sides: tuple[Any, Any, Any]) -> None:
    base, mine, hub = sides
    found = three_way(shape_of(base), mine, hub)
    if found.lost:
        assert plain(mine) != plain(base)
        assert plain(hub) != plain(base)
        assert all(plain(item.had) != plain(item.has) for item in found.lost)


@settings(max_examples=4 * settings().max_examples)
@given(three())
def test_twice_is_as_once(sides: tuple[Any, Any, Any]) -> None:
    base, mine, hub = sides
    once = three_way(shape_of(base), mine, hub)
    for stated, now in ((once.whole, shape_of(hub)), (once.stated, once.base)):
        again = three_way(now, stated, hub)
        assert (plain(again.whole), plain(again.stated)) == (plain(once.whole), plain(stated))
        assert (again.edited, again.lost) == (once.edited, ())
    assert once.edited == (plain(once.whole) != plain(hub))


@given(three())
def test_nothing_is_lost_where_it_is_not_known_what_there_was(sides: tuple[Any, Any, Any]) -> None:
    _, mine, hub = sides
    found = three_way(None, mine, hub)
    assert within(shape_of(mine), shape_of(found.whole))
    assert found.lost == ()
    assert found.edited == (not within(shape_of(mine), shape_of(hub)))


@st.composite
def with_defaults(draw: st.DrawFn, value: Any) -> Any:
    """What a server makes of a value: it adds fields to maps."""
    match value:
        case dict():
            found = {key: draw(with_defaults(item)) for key, item in value.items()}
            return {
                **found,
                **draw(st.dictionaries(st.sampled_from(["d1", "d2"]), VALUES, max_size=1)),
            }
        case list():
            return [draw(with_defaults(item)) for item in value]
    return value


@pytest.mark.long
@settings(max_examples=3 * settings().max_examples)
@given(three(), st.data())
def test_what_the_hub_has_taken_over_with_defaults_stays_as_it_is_written(
    sides: tuple[Any, Any, Any], data: st.DataObject
) -> None:
    _, mine, _ = sides
    hub = thing(data.draw(with_defaults(mine["spec"])))
    found = three_way(None, mine, hub)
    assert (plain(found.whole), plain(found.stated)) == (plain(hub), plain(mine))
    assert (found.edited, found.lost) == (False, ())
    later = thing(data.draw(edits(mine["spec"])))
    again = three_way(found.base, later, hub)
    assert (plain(again.stated), again.lost) == (plain(later), ())
    assert again.edited == (plain(later) != plain(mine))
    assert three_way(again.base, again.stated, hub) == again


@settings(max_examples=3 * settings().max_examples)
@given(SPECS, st.data())
def test_a_field_that_the_file_says_only_now_is_an_edit_wherever_the_hub_is_as_it_was(
    spec: Any, data: st.DataObject
) -> None:
    stated = thing(spec)
    hub = thing(data.draw(with_defaults(spec)))
    now = thing(data.draw(edits(hub["spec"])))
    found = three_way(extended(shape_of(stated), shape_of(hub), shape_of(now)), now, hub)
    assert within(shape_of(now), shape_of(found.whole))
    assert (found.lost, found.edited) == ((), plain(found.whole) != plain(hub))
    assert within(shape_of(stated), extended(shape_of(stated), shape_of(hub), shape_of(stated)))


@pytest.mark.parametrize(
    ("stated", "full", "now", "whole"),
    [
        pytest.param({}, {"d": 7}, {"d": 8}, {"d": 8}, id="a leaf"),
        pytest.param(
            {},
            {"d": {"x": 7, "y": 7}},
            {"d": {"x": 8}},
            {"d": {"x": 8, "y": 7}},
            id="in a map that is new",
        ),
        pytest.param(
            [{"a": 1}],
            [{"a": 1, "d": 7}],
            [{"a": 1, "d": 8}],
            [{"a": 1, "d": 8}],
            id="an item by index",
        ),
        pytest.param(
            [{"a": 1, "b": 2}],
            [{"a": 1, "b": 2, "d": 7}],
            [{"a": 1, "d": 8}],
            [{"a": 1, "d": 8}],
            id="another removed",
        ),
        pytest.param(
            [{"name": "x"}],
            [{"name": "x", "d": 7}, {"name": "y", "d": 7}],
            [{"name": "x", "d": 8}, {"name": "y", "d": 8}],
            [{"name": "x", "d": 8}, {"name": "y", "d": 8}],
            id="an item that only the hub had",
        ),
        pytest.param(
            None,
            [{"name": "x", "d": 7, "e": 7}, {"name": "y"}],
            [{"name": "x", "d": 8}],
            [{"name": "x", "d": 8, "e": 7}],
            id="a list that is new counts whole",
        ),
        pytest.param(
            None,
            [{"d": 7, "e": 7}],
            [{"d": 8}],
            [{"d": 8, "e": 7}],
            id="a list that is new, by index",
        ),
        pytest.param([1], [1, 2], [1, 3], [1, 3], id="values that the hub had added to"),
        pytest.param([1], [1, 2], [1], [1, 2], id="values that are said as before"),
    ],
)
def test_lists_and_maps_with_what_the_file_says_only_now(
    stated: Any, full: Any, now: Any, whole: Any
) -> None:
    then, hub, file = (thing({} if item is None else {"p": item}) for item in (stated, full, now))
    found = three_way(extended(shape_of(then), shape_of(hub), shape_of(file)), file, hub)
    assert (found.whole["spec"]["p"], found.lost) == (whole, ())


def test_a_field_that_the_file_says_only_now_is_lost_by_name_where_the_hub_has_changed_it() -> None:
    then, now, hub = thing({"a": 1, "d": 7}), thing({"a": 1, "d": 8}), thing({"a": 1, "d": 9})
    found = three_way(extended(shape_of(thing({"a": 1})), shape_of(then), shape_of(now)), now, hub)
    assert (found.whole, found.lost) == (hub, (LostEdit(("spec", "d"), 8, 9),))


WEB = {"containers": [{"name": "web", "image": "nginx:1"}], "replicas": 2}
SIDECAR = {"name": "proxy", "image": "envoy:1"}
CASES: dict[str, tuple[Any, Any, Any, Any, tuple[LostEdit, ...]]] = {
    "an image here, replicas there": (
        WEB,
        {"containers": [{"name": "web", "image": "nginx:2"}], "replicas": 2},
        {**WEB, "replicas": 5},
        {"containers": [{"name": "web", "image": "nginx:2"}], "replicas": 5},
        (),
    ),
    "an image here, a sidecar before it there": (
        WEB,
        {**WEB, "containers": [{"name": "web", "image": "nginx:2"}]},
        {**WEB, "containers": [SIDECAR, *WEB["containers"]]},  # type: ignore[misc]
        {**WEB, "containers": [SIDECAR, {"name": "web", "image": "nginx:2"}]},
        (),
    ),
    "items without names, by index": (
        {"a": [{"x": 1}, {"x": 2}]},
        {"a": [{"x": 1}, {"x": 3}]},
        {"a": [{"x": 4}, {"x": 2}]},
        {"a": [{"x": 4}, {"x": 3}]},
        (),
    ),
    "items without names and of another number are one value": (
        {"a": [1]},
        {"a": [1, 2]},
        {"a": [3]},
        {"a": [3]},
        (LostEdit(("spec", "a"), [1, 2], [3]),),
    ),
    "both to the same": ({"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}, ()),
    "both to something else": (
        {"a": 1},
        {"a": 2},
        {"a": 3},
        {"a": 3},
        (LostEdit(("spec", "a"), 2, 3),),
    ),
    "removed here, changed there": (
        {"a": 1},
        {},
        {"a": 3},
        {"a": 3},
        (LostEdit(("spec", "a"), None, 3),),
    ),
    "changed here, removed there": (
        {"a": 1},
        {"a": 2},
        {},
        {},
        (LostEdit(("spec", "a"), 2, None),),
    ),
    "the same list, and the hub adds defaults": (
        {"a": [{"x": 1}]},
        {"a": [{"x": 1}, {"x": 2}]},
        {"a": [{"x": 1, "d": 0}, {"x": 2, "d": 0}]},
        {"a": [{"x": 1, "d": 0}, {"x": 2, "d": 0}]},
        (),
    ),
    "true is not 1": ({"a": 1}, {"a": True}, {"a": 1}, {"a": True}, ()),
    "null is no value": ({"a": 1}, {"a": 1, "b": None}, {"a": 2}, {"a": 2}, ()),
}


@pytest.mark.parametrize(("base", "mine", "hub", "merged", "lost"), CASES.values(), ids=CASES)
def test_fields(base: Any, mine: Any, hub: Any, merged: Any, lost: tuple[LostEdit, ...]) -> None:
    found = three_way(shape_of(thing(base)), thing(mine), thing(hub))
    assert plain(found.whole) == plain(thing(merged))
    assert found.lost == lost


def left_out(found: Merge) -> Any:
    return found.stated["spec"]


def test_what_a_file_leaves_out_is_the_hubs_and_is_not_written_into_it() -> None:
    mine = thing({"a": 1})
    first = three_way(None, mine, thing({"a": 1, "d": 7}))
    assert (left_out(first), first.whole["spec"], first.edited) == (
        {"a": 1},
        {"a": 1, "d": 7},
        False,
    )
    then = three_way(first.base, mine, thing({"a": 2, "d": 8}))
    assert (left_out(then), then.whole["spec"], then.lost) == ({"a": 2}, {"a": 2, "d": 8}, ())


def test_what_a_file_has_said_and_says_no_more_was_removed() -> None:
    hub = thing({"a": 1, "b": 2, "d": 7})
    first = three_way(None, thing({"a": 1, "b": 2}), hub)
    then = three_way(first.base, thing({"a": 1}), hub)
    assert (then.whole["spec"], then.edited) == ({"a": 1, "d": 7}, True)


def secret(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data}


def test_of_a_secret_that_differs_the_hubs_counts_and_no_value_is_told() -> None:
    found = three_way(
        shape_of(secret(a="old", b="same")), secret(a="mine", b="same"), secret(a="new", b="same")
    )
    assert found.whole == secret(a="new", b="same")
    assert found.lost == (LostEdit(("data", "a"), "[secret]", "[secret]", sealed=True),)
    assert shape_of(secret(a="1")) == shape_of(secret(a="2"))
