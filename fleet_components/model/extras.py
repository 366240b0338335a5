"""What is not installed, and the extra of this package that brings it."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata

from fleet_components.model.problem import Problem

_PACKAGE = "fleet-components"
_EXTRAS = ("cli", "kubernetes", "azure")
"""Those of users; where several bring a module the first one is named."""
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*; extra == ['\"](?P<extra>\w+)['\"]")


def extra_of(module: str) -> str:
    """The extra that brings a module; empty where none does."""
    return _extras().get(module.partition(".")[0], "")


def not_installed(module: str) -> Problem:
    """The problem of a module of an extra that is not there, with what to install."""
    return Problem(f"{module.partition('.')[0]} is not installed", hint=f"pip install '{_PACKAGE}[{extra_of(module)}]'")


@cache
def _extras() -> dict[str, str]:
    """The extras by module, as the package itself declares them; none where it is not installed."""
    try:
        requirements = metadata.requires(_PACKAGE) or ()
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    for extra in reversed(_EXTRAS):
        for one in filter(None, map(_REQUIREMENT.fullmatch, requirements)):
            if one["extra"] == extra:
                found[one["name"].replace("-", "_")] = extra
    return found
