"""The inventory: order, names, columns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster, Taint, Usage
from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError
from fleet_components.model.quantity import parse_quantity
from tests.strategies import COST, CPU, fleets, keys


def test_members_are_sorted_by_name() -> None:
    inventory = Inventory([Cluster("c"), Cluster("a"), Cluster("b")])
    assert inventory.names == ("a", "b", "c")
    assert [inventory.position(name) for name in ("a", "c", "z")] == [0, 2, None]
    assert len(inventory) == 3
    assert inventory.everything == 0b111
    assert inventory.mask_of_names(["c", "nobody", "a"]) == 0b101


def test_names_are_unique() -> None:
    with pytest.raises(FleetError) as refused:
        Inventory([Cluster("b"), Cluster("a"), Cluster("b"), Cluster("a"), Cluster("c")])
    assert [str(problem) for problem in refused.value.problems] == [
        'metadata.name: there are several members named "a" (give each member a name of its own)',
        'metadata.name: there are several members named "b" (give each member a name of its own)',
    ]


@settings(max_examples=50)
@given(fleets(), keys)
def test_columns_hold_what_the_members_say(members: list[Cluster], key: str) -> None:
    inventory = Inventory(members)
    for value, mask in inventory.domains(key).items():
        assert masks.positions(mask) == [
            p for p, c in enumerate(inventory.clusters) if c.labels.get(key) == value
        ]
    assert set(inventory.domains(key)) == {c.labels[key] for c in members if key in c.labels}
    assert list(inventory.domains(key)) == sorted(inventory.domains(key))
    for taint, mask in inventory.taints.items():
        assert masks.positions(mask) == [
            p for p, c in enumerate(inventory.clusters) if taint in c.taints
        ]
    assert set(inventory.taints) == {taint for cluster in members for taint in cluster.taints}
    assert masks.positions(inventory.leaving) == [
        p for p, c in enumerate(inventory.clusters) if c.leaving
    ]
    for name, amounts in (
        (COST, [c.properties.get(COST) for c in inventory.clusters]),
        (CPU, [c.usage.available.get("cpu") for c in inventory.clusters]),
    ):
        column = inventory.property(name)
        assert list(column.texts) == amounts
        assert list(column.values) == [
            None if text is None else parse_quantity(text) for text in amounts
        ]
        assert masks.positions(column.present) == [
            p for p, text in enumerate(amounts) if text is not None
        ]
        assert not column.errors


def test_values_that_are_no_quantities() -> None:
    inventory = Inventory(
        [Cluster("a", properties={"p": "x"}), Cluster("b", properties={"p": "1"}), Cluster("c")]
    )
    column = inventory.property("p")
    assert column.present == 0b010
    assert list(column.errors) == [0]
    assert column.errors[0].startswith(
        "value x of property p from cluster a is not a valid quantity: quantities must"
    )
    assert column.texts == ("x", "1", None)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("total-", "invalid resource property name: total-"),
        ("-cpu", "invalid resource property name: -cpu"),
        ("cpu", "invalid resource property name: cpu"),
        ("total-nvidia-gpu", "invalid resource property name: total-nvidia-gpu"),
        ("Total-cpu", "invalid capacity type Total in resource property name Total-cpu"),
    ],
)
def test_names_of_resource_properties(name: str, error: str) -> None:
    column = Inventory([Cluster("m", usage=Usage({"cpu": "1"}))]).property(
        f"resources.kubernetes-fleet.io/{name}"
    )
    assert column.errors == {
        0: f"failed to retrieve resource property value for {name} from cluster m: {error}"
    }
    assert (column.values, column.texts, column.present) == ((None,), (None,), 0)


def test_usage_by_kind() -> None:
    inventory = Inventory([Cluster("m", usage=Usage({"cpu": "3"}, {"cpu": "2"}, {"cpu": "1"}))])
    found = [
        inventory.property(f"resources.kubernetes-fleet.io/{kind}-cpu").texts
        for kind in ("total", "allocatable", "available")
    ]
    assert found == [("3",), ("2",), ("1",)]


def test_usage_that_is_no_quantity() -> None:
    column = Inventory([Cluster("m", usage=Usage({"cpu": "many"}))]).property(
        "resources.kubernetes-fleet.io/total-cpu"
    )
    assert column.errors[0].startswith(
        "failed to retrieve resource property value for total-cpu from cluster m: quant"
    )


def test_derived_columns_are_built_once() -> None:
    inventory = Inventory([Cluster("m", taints=(Taint("k"),))])
    numbers = iter([7, 8])
    assert [inventory.column("key", lambda: next(numbers)) for _ in range(2)] == [7, 7]
    assert inventory.property("p") is inventory.property("p")
    assert inventory.grouped("name", lambda cluster: [cluster.name, "all"]) == {"all": 1, "m": 1}


def test_an_empty_fleet() -> None:
    inventory = Inventory([])
    assert inventory.everything == inventory.leaving == 0
    assert inventory.domains("k") == {}
    assert inventory.property("p").values == ()
