"""Public names that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

Homes = Mapping[str, Sequence[str]]
"""The names by the module that has them, seen from ``fleet_components``."""


def exported(homes: Homes) -> list[str]:
    """What ``__all__`` says."""
    return sorted(name for names in homes.values() for name in names)


def lazily(package: str, homes: Homes) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that offers names of other modules."""
    home_of = {name: home for home, names in homes.items() for name in names}

    def found(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"fleet_components.{home_of[name]}"), name)

    return found
