"""The page on the architecture: the files that it names are there, and so are the layers."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from fleet_components.systems.registry import SYSTEMS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PACKAGE = ROOT / "fleet_components"
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_a_link_to_a_file_says_which() -> None:
    named = re.findall(r"\[([^]]+\.py)\]\(\.\./fleet_components/([^)]+)\)", ARCHITECTURE)
    assert len(named) > 40
    assert [name for name, path in named if name != path] == []


def test_names_in_code_are_those_of_the_files() -> None:
    """``a/b.py`` in backquotes, and folders in backquotes, are there too."""
    named = re.findall(r"`([a-z_/]+(?:\.py|/))`", ARCHITECTURE)
    missing = [
        item
        for item in named
        if not (ROOT / "fleet_components" / item).exists() and not (ROOT / item).exists()
    ]
    assert set(missing) <= {"record.py"}


def test_the_layers_are_those_that_are_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {item["name"]: item for item in project["tool"]["importlinter"]["contracts"]}
    layers = [
        [module.strip().removeprefix("fleet_components.") for module in layer.split("|")]
        for layer in contracts["Imports go one way"]["layers"]
    ]
    drawn = re.findall(
        r"^  ([a-z &]+?)(?:\[.*?\])? --> ([a-z &\[\]\"/]+)", ARCHITECTURE, re.MULTILINE
    )
    assert len(drawn) == len(layers) - 1
    for (above, below), (_, following) in zip(drawn, pairwise(layers), strict=True):
        assert above
        assert set(re.findall(r"\b([a-z]+)\[", below)) <= set(following)


def test_a_class_has_a_name_of_its_own_in_its_layer() -> None:
    """The two systems have packages of their own, in which things are called as in their APIs."""
    homes: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).parts
        # A system has layers of its own: systems/karmada/plan/record.py.
        home = parts[: 3 if parts[0] == "systems" else 1]
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[*home, node.name].append("/".join(parts))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


SUBJECT_TYPES = re.compile(r"(Placement|Template)(Subject|Record|State|Outcome)")
EXCEPTIONS = 14
"""Modules that may import the folder of a system; the number may only fall."""


def test_nothing_outside_tells_the_subjects_of_the_two_systems_apart() -> None:
    """A subject is asked; ``systems/framework.py`` has what else a system answers."""
    found = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if "systems" not in file.relative_to(PACKAGE).parts
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        and SUBJECT_TYPES.search(ast.unparse(node.args[1]))
    ]
    assert found == []


def test_exceptions_to_the_one_interface_become_fewer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    (protected,) = (it for it in contracts if it["type"] == "protected")
    assert len(protected["ignore_imports"]) <= EXCEPTIONS
    folders = sorted(it.parent.name for it in (PACKAGE / "systems").glob("*/system.py"))
    assert sorted(protected["protected_modules"]) == [
        f"fleet_components.systems.{name}" for name in folders
    ]
    assert sorted(SYSTEMS) == folders
