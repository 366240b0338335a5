"""Load public names of a package when they are first used, so that importing the package stays
cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

Homes = Mapping[str, Sequence[str]]
"""Public names by their module, relative to ``fleet_components``."""


def exported(homes: Homes) -> list[str]:
    """Return the value for ``__all__``."""
    return sorted(name for names in homes.values() for name in names)


def lazily(package: str, homes: Homes) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that offers names of other modules."""
    home_of = {name: home for home, names in homes.items() for name in names}

    def found(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"fleet_components.{home_of[name]}"), name)

    return found
