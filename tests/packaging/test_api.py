"""The public API: one list for each package, true for type checkers and at run time, and all that the pages use."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import fleet_components
from fleet_components import (
    Cluster,
    Estimates,
    Inventory,
    PlacementPolicy,
    Template,
    azure,
    explain,
    schedule,
)
from fleet_components.karmada import Placement, ReplicaScheduling
from tests.packaging.test_readme import PAGES, REPOSITORY

PUBLIC = (
    "fleet_components",
    *(
        f"fleet_components.{name}"
        for name in ("azure", "karmada", "kubefleet", "plugins", "testing")
    ),
)
PROGRAMS = [
    *sorted((REPOSITORY / "examples").glob("**/*.py")),
    REPOSITORY / "stacks" / "__main__.py",
]


@pytest.mark.parametrize("package", [fleet_components, azure])
def test_type_checkers_and_programs_find_the_same(package: object) -> None:
    file = Path(str(package.__file__))  # type: ignore[attr-defined]
    told = {
        (str(node.module).removeprefix("fleet_components."), alias.name)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.col_offset
        for alias in node.names
        if alias.asname == alias.name
    }
    homes = package._HOMES  # type: ignore[attr-defined]
    assert told == {(home, name) for home, names in homes.items() for name in names}


@pytest.mark.parametrize("name", PUBLIC)
def test_all_that_is_offered_is_there_and_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__all__ == sorted(set(module.__all__))
    assert [it for it in module.__all__ if not getattr(module, it).__doc__] == []


def test_a_name_that_is_not_offered_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Flet'"):
        fleet_components.Flet  # noqa: B018


@pytest.mark.parametrize("page", [*PAGES, *PROGRAMS], ids=lambda page: page.name)
def test_pages_and_examples_use_the_public_api_alone(page: Path) -> None:
    for module, names in re.findall(
        r"^ *from (fleet_components\S*) import ([^(\n]+|\([^)]*\))", page.read_text(), re.M
    ):
        assert module in PUBLIC
        offered = importlib.import_module(module).__all__
        assert [name for name in re.findall(r"\w+", names) if name not in offered] == []


def test_both_systems_are_asked_in_one_way() -> None:
    inventory = Inventory([Cluster("a"), Cluster("b")])
    policy = PlacementPolicy("PickN", number_of_clusters=1)
    picked = schedule(inventory, policy)
    assert picked.memory.selected == ("b",)
    assert [item.selected for item in explain(inventory, policy, picked)] == [False, True]
    assert schedule(inventory, None).memory.selected == ("a", "b")

    template = Template("apps/v1", "Deployment", "web", "shop", replicas=3)
    placement = Placement(replica_scheduling=ReplicaScheduling("Divided", "Weighted"))
    estimates = Estimates(available={"a": 9, "b": 9})
    inventory = Inventory(
        [
            Cluster(name, api_enablements=frozenset({("apps/v1", "Deployment")}))
            for name in ("a", "b")
        ]
    )
    divided = schedule(inventory, template, placement, estimates=estimates)
    assert sum(divided.memory.clusters.values()) == 3
    told = explain(inventory, template, placement, divided, estimates=estimates)
    assert [member.selected for member in told.members] == [True, True]
    assert told.division
