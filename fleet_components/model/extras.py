"""Maps modules that are not installed to the extra of this package that installs them."""

from __future__ import annotations

import re
from functools import cache

from fleet_components.model.message import Message
from fleet_components.model.problem import Problem

_PACKAGE = "fleet-components"
_EXTRAS = ("cli", "kubernetes", "azure", "observe-azure")
"""The extras for users. If several of them install a module, messages name the first one."""
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*; extra == ['\"](?P<extra>[\w-]+)['\"]")


def extra_of(module: str) -> str:
    """Return the extra that installs a module; empty if there is none."""
    return _extras().get(module.partition(".")[0], "")


def not_installed(module: str) -> Problem:
    """Return the problem for a missing optional module, with the ``pip install`` command as its
    hint.
    """
    return Problem(
        Message(
            "not-installed", "{partition} is not installed", partition=module.partition(".")[0]
        ),
        hint=f"pip install '{_PACKAGE}[{extra_of(module)}]'",
    )


@cache
def _extras() -> dict[str, str]:
    """Return the extra of each module, from the package's own metadata; empty if the package is not
    installed.
    """
    # Imported here, because it takes long and is needed for errors only.
    from importlib import (
        metadata,
    )

    try:
        requirements = metadata.requires(_PACKAGE) or ()
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    # Reversed, so that the first extra overwrites the others.
    for extra in reversed(_EXTRAS):
        for match in filter(None, map(_REQUIREMENT.fullmatch, requirements)):
            if match["extra"] == extra:
                # Takes a module to be called as its distribution, but for the dash.
                found[match["name"].replace("-", "_")] = extra
    return found
