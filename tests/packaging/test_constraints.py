"""The pins are those of what the project installs: all of it, exactly, nothing else, and from nowhere in particular."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
LINES = (REPOSITORY / "constraints.txt").read_text().splitlines()
PINS = [line for line in LINES if not line.startswith("#")]
PINNED = {canonicalize_name(Requirement(pin).name) for pin in PINS}
INSTALLER = {"pip"}
"""Installs the rest, and comes with the environment."""
PYTHONS = [
    re.sub(r".*:: ", "", line)
    for line in PROJECT["project"]["classifiers"]
    if re.search(r":: 3\.\d+$", line)
]


def _first() -> list[Requirement]:
    """The requirements of the project itself, with those of all extras, and of its build."""
    project = PROJECT["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    own = [*project["dependencies"], *extras, *PROJECT["build-system"]["requires"]]
    return [
        item for item in map(Requirement, own) if canonicalize_name(item.name) != project["name"]
    ]


def _behind(wanted: Requirement) -> Iterator[Requirement]:
    """What an installed package requires, on any Python that the project runs on."""
    for line in requires(wanted.name) or ():
        item = Requirement(line)
        places = [
            {"extra": extra, "python_version": python}
            for extra in (*wanted.extras, "")
            for python in PYTHONS
        ]
        if item.marker is None or any(item.marker.evaluate(dict(place)) for place in places):
            yield item


def _all(first: Iterable[Requirement]) -> set[str]:
    found: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(first)
    while waiting:
        item = waiting.pop()
        name = canonicalize_name(item.name)
        if (name, frozenset(item.extras)) not in seen and name not in INSTALLER:
            seen.add((name, frozenset(item.extras)))
            found.add(name)
            try:
                waiting += _behind(item)
            except PackageNotFoundError:
                assert name not in PINNED, f"{name} is pinned and not installed: make setup"
    return found


def test_all_that_is_installed_is_pinned() -> None:
    assert sorted(_all(_first()) - PINNED) == []


def test_all_that_is_pinned_is_used() -> None:
    assert sorted(PINNED - _all(_first())) == []


def test_a_pin_is_one_version_and_names_no_place() -> None:
    """An address of an index would install from there on every machine."""
    exact = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+")
    assert [pin for pin in PINS if not exact.fullmatch(pin)] == []
    assert len(PINNED) == len(PINS)
    places = (
        "".join(LINES)
        + (REPOSITORY / "requirements.txt").read_text()
        + (REPOSITORY / "pyproject.toml").read_text()
    )
    assert not re.search(r"://|--(extra-)?index-url|--find-links", places)
