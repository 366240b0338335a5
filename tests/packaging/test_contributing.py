"""CONTRIBUTING.md can be followed: the files, names, commands and suites that it mentions exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
SECTION = TEXT.partition("## Recipes\n")[2].partition("\n## ")[0]
RECIPES = {part.partition("\n")[0]: part.partition("\n")[2] for part in SECTION.split("\n### ")[1:]}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
IDENTIFIER = re.compile(r'"?[A-Za-z_]\w*(?:\.[a-z_]\w*)?"?')


def names_in(file: Path) -> Iterator[str]:
    """Yield what a module defines, methods with their class, and its texts in quotes."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.ClassDef(name=name, body=body):
                yield name
                yield from (f"{name}.{it.name}" for it in body if isinstance(it, ast.FunctionDef))
            case ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Constant(value=str(text)):
                yield f'"{text}"'


def steps(recipe: str) -> list[str]:
    return re.split(r"^\d+\. ", recipe, flags=re.MULTILINE)[1:]


def test_the_six_contributions_have_a_recipe() -> None:
    assert list(RECIPES) == [
        "A column in the table of members",
        "A plug-in of a scheduler",
        "A field of a policy",
        "An option of an Azure node pool",
        "An overrider of Karmada",
        "A message",
    ]


@pytest.mark.parametrize("title", RECIPES)
def test_the_names_of_a_step_are_defined_in_the_files_of_the_step(title: str) -> None:
    checked = 0
    for step in steps(RECIPES[title]):
        files = [ROOT / path for path in re.findall(r"\]\(([^)#]+\.py)\)", step)]
        named = [code for code in re.findall(r"`([^`]+)`", step) if IDENTIFIER.fullmatch(code)]
        if files and named:
            defined = {name for file in files for name in names_in(file)}
            assert [name for name in named if name not in defined] == [], step
            checked += 1
    assert checked


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_ends_with_tests_that_exist(title: str) -> None:
    (command,) = re.findall(r"`\.venv/bin/python -m pytest ([^`]+)`", RECIPES[title])
    paths = [word for word in command.split() if word.startswith("tests/")]
    assert paths
    for path in paths:
        file = ROOT / path
        tests = [file] if file.is_file() else sorted(file.rglob("test_*.py"))
        assert any("def test_" in test.read_text() for test in tests), path


def test_the_commands_exist() -> None:
    assert set(re.findall(r"`make ([a-z-]+)", TEXT)) <= TARGETS
    assert re.findall(r"^make (\S+)", TEXT, re.MULTILINE) == ["setup"]
    modules = set(re.findall(r"python -m (tools\.\w+)", TEXT)) - {"tools.NAME"}
    assert modules
    assert [
        module for module in modules if not (ROOT / f"{module.replace('.', '/')}.py").is_file()
    ] == []


def test_every_marker_of_pytest_is_a_suite() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    markers = [
        line.partition(":")[0]
        for line in project["tool"]["pytest"]["ini_options"]["markers"]
        if "(" not in line.partition(":")[0]
    ]
    suites = re.findall(r"^\| `make (test[a-z-]*)`", TEXT, re.MULTILINE)
    assert sorted(suites) == sorted(["test", *(f"test-{marker}" for marker in markers)])


def test_the_folders_of_the_layout_exist() -> None:
    folders = re.findall(r"^\| `([\w.]+/)` \|", TEXT, re.MULTILINE)
    assert len(folders) > 5
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []
