"""Observed directories of clusters without a hub, which have members alone."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from fleet_components.content.observed import is_observed
from fleet_components.hub.folder.reading import read_inventory
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count

_MEMBERS = "members"


def recorded_members(folder: Path) -> Collection[str]:
    """Return the names of the members of which an observed directory has a record; none if it is no
    such directory.
    """
    if not is_observed(folder):
        return ()
    # Names that are no safe names of files are escaped as in URLs: hub/folder/paths.py.
    return {unquote(path.stem) for path in (folder / _MEMBERS).glob("*.yaml")}


def check_without_hub(folder: Path) -> None:
    """Check that an observation of clusters alone removes nothing from a directory that a hub was
    observed into.

    Raises:
        FleetError: an observation has written policies or objects there.
    """
    found: list[str] = []
    with suppress(FleetError):  # the code that writes there reports damage
        found = [path for path in read_inventory(folder).objects if f"{_MEMBERS}/" not in path]
    if found:
        what = Message(
            "observed-hub-whose-go",
            "was observed of a hub, whose {count} would go",
            count=count(len(found), "policy and object", "policies and objects"),
        )
        hint = "give --hub besides; or write to another place with --out"
        raise FleetError([Problem(what, file=str(folder), hint=hint)])
