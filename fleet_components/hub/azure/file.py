"""The file in which an observation keeps what the resource API tells of its fleet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.observed import MEMORY, MEND, UPGRADE
from fleet_components.content.wire import to_yaml
from fleet_components.hub.azure.fleet_resource import FleetResource
from fleet_components.model.codec import MisfitError, decode, encode
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION

AZURE_FILE = f"{MEMORY}/azure.yaml"
"""Its path in the directory of an observation."""
_HEADER = {"apiVersion": API_VERSION, "kind": "FleetResource"}
_LATER = re.compile(r"fleet-components/v([2-9]|[1-9]\d+)")


def azure_file(fleet: FleetResource) -> str:
    """Return the text of the file: the same for the same fleet, sorted by name."""
    return to_yaml({**_HEADER, **_plain(encode(fleet))})


def read_azure_file(text: str | bytes, file: str = AZURE_FILE) -> FleetResource:
    """Return the fleet that a file tells of.

    Args:
        text: the text of the file.
        file: its path, for messages.

    Raises:
        FleetError: somebody has changed the file so that it cannot be read.
    """
    try:
        found = read_yaml(text)
        header = {key: found.get(key) for key in _HEADER} if isinstance(found, Mapping) else {}
        if header != _HEADER:
            later = _LATER.fullmatch(str(header.get("apiVersion")))
            what = f"is not a {_HEADER['kind']} of {API_VERSION}" + (", but of a later version" if later else "")
            raise FleetError([Problem(what, hint=UPGRADE if later else MEND, file=file)])
        return decode(FleetResource, found)
    except UnreadableError as error:
        raise FleetError([error.problem(file, MEND)]) from None
    except MisfitError as error:
        raise FleetError(attrs.evolve(problem, file=file, hint=MEND) for problem in error.problems) from None


def _plain(value: Any) -> Any:
    """Return a value with lists in the place of tuples, which YAML does not know."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
