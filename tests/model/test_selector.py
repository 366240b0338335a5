"""Label selectors: operators, invalid ones, and the same answer from columns and from one member's labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.model.selector import LabelSelector, Requirement
from tests.strategies import label_selectors, labels


@pytest.mark.parametrize(
    ("operator", "values", "present", "other", "absent"),
    [
        ("In", ("a", "b"), True, False, False),
        ("NotIn", ("a", "b"), False, True, True),
        ("Exists", (), True, True, False),
        ("DoesNotExist", (), False, False, True),
    ],
)
def test_operators(
    operator: str, values: tuple[str, ...], present: bool, other: bool, absent: bool
) -> None:
    requirement = Requirement("k", operator, values)
    fleet: list[dict[str, str]] = [{"k": "a"}, {"k": "z"}, {"j": "a"}]
    expected = [present, other, absent]
    assert [requirement.matches(labels) for labels in fleet] == expected
    inventory = Inventory(
        Cluster(f"m{number}", labels=labels) for number, labels in enumerate(fleet)
    )
    column = inventory.matching(LabelSelector({}, (requirement,)))
    assert [masks.has(column, position) for position in range(3)] == expected


def test_everything_that_is_asked_for_must_hold() -> None:
    wire = {
        "matchLabels": {"env": "prod", "zone": ""},
        "matchExpressions": [{"key": "region", "operator": "In", "values": ["a"]}],
    }
    selector = decode(LabelSelector, wire)
    right = {"env": "prod", "zone": "", "region": "a", "more": "x"}
    assert selector.matches(right)
    for key in ("env", "zone", "region"):
        assert not selector.matches({**right, key: "other"})
        assert not selector.matches({k: v for k, v in right.items() if k != key})
    assert LabelSelector().matches({})


@settings(max_examples=150)
@given(label_selectors, st.lists(labels, max_size=12))
def test_columns_answer_as_each_member_would(
    selector: LabelSelector, fleet: list[dict[str, str]]
) -> None:
    inventory = Inventory(
        Cluster(f"m{number:02}", labels=each) for number, each in enumerate(fleet)
    )
    expected = [position for position, each in enumerate(fleet) if selector.matches(each)]
    assert masks.positions(inventory.matching(selector)) == expected
    assert inventory.matching(None) == inventory.everything


def test_unknown_operators_are_errors() -> None:
    selector = LabelSelector({}, (Requirement("k", "Is"),))
    with pytest.raises(ValueError, match='"Is" is not a valid label selector operator'):
        selector.matches({})
    with pytest.raises(ValueError, match='"Is" is not a valid label selector operator'):
        Inventory([Cluster("m")]).matching(selector)


@pytest.mark.parametrize(
    ("requirement", "errors"),
    [
        (Requirement("example.com/k", "In", ("a", "")), []),
        (Requirement("k", "Exists"), []),
        (Requirement("k", "Is", ("a b",)), ['"Is" is not a valid label selector operator']),
        (
            Requirement("k", "In"),
            ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"],
        ),
        (
            Requirement("k", "NotIn"),
            ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"],
        ),
        (
            Requirement("k", "DoesNotExist", ("x",)),
            [
                'values: Invalid value: ["x"]: values set must be empty for exists and does not exist'
            ],
        ),
        (
            Requirement("", "Exists"),
            ['key: Invalid value: "": name part must be non-empty; name part must consist of'],
        ),
        (
            Requirement("k", "In", ("-" * 64,)),
            [
                'values[0][k]: Invalid value: "----',
                '": must be no more than 63 characters; a valid label must',
            ],
        ),
        (
            Requirement("k", "Exists", ("x", "y")),
            [
                'values: Invalid value: ["x","y"]: values set must be empty for exists and does not exist'
            ],
        ),
        (
            Requirement("a b", "NotIn", ("ok", "-z")),
            [
                '[key: Invalid value: "a b": name part must',
                ', values[1][a b]: Invalid value: "-z": a valid label must',
            ],
        ),
    ],
)
def test_what_the_api_machinery_refuses(requirement: Requirement, errors: list[str]) -> None:
    for selector in (
        LabelSelector({"k": "v"}, (requirement,)),
        LabelSelector({}, (requirement, requirement)),
    ):
        assert all(part in selector.error for part in errors)
        assert bool(selector.error) is bool(errors)
    assert requirement.valid is not bool(errors)


def test_labels_to_match_are_checked_too() -> None:
    assert LabelSelector({"k": "a b"}).error.startswith(
        'values[0][k]: Invalid value: "a b": a valid label must be'
    )
