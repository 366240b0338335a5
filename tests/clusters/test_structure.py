"""An API server refuses a change of a field's sort exactly where its structure says so."""

from __future__ import annotations

import copy
import random
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fleet_components.content.structure import misfits
from fleet_components.live.connection import Connection, UnexpectedAnswer, connected
from fleet_components.model.problem import FieldPath
from tests.control_planes import Planes
from tools.defaults.__main__ import objects_of_every_type

pytestmark = pytest.mark.clusters
CHANGES = 4
"""Changed fields of each object."""
VALUES: tuple[Any, ...] = ("text", 1, 1.5, True, ["text"], {"key": "text"}, {"key": 1})
_OF_SERVERS = ("managedFields", "ownerReferences", "status")
"""Fields that an API server writes itself, or does not take from a client."""


def test_a_field_of_another_sort(api_servers: Planes) -> None:
    """Server-side apply refuses what is misfitting, and nothing else for that reason."""
    chosen = random.Random(0)
    checked, wrong = 0, []
    with connected(
        api_servers["a"].kubeconfig.read_text(), time.monotonic() + 600, sys.maxsize
    ) as server:
        for data in objects_of_every_type():
            paths = list(fields(data, ()))
            for path in chosen.sample(paths, min(CHANGES, len(paths))):
                changed = with_value(data, path, chosen.choice(VALUES))
                message = refused(server, changed)
                expected = [str(misfit) for misfit in misfits(changed)]
                checked += bool(expected)
                if bool(expected) is not is_structural(message):
                    wrong.append((data["kind"], path, expected, message))
    assert wrong == [], "\n".join(map(str, wrong))
    assert checked > 100


def refused(server: Connection, data: Mapping[str, Any]) -> str:
    """Return what an API server says to an object; empty if it takes it."""
    try:
        server.try_out(data, manager="test", force=True)
    except UnexpectedAnswer as error:
        return error.message
    return ""


def is_structural(message: str) -> bool:
    """Return whether an API server refuses an object because a field is of another sort."""
    words = (
        "failed to create typed patch object",
        "failed to convert new object",
        "cannot unmarshal",
        "unable to parse quantity",
        "quantities must match",
    )
    return any(word in message for word in words)


def fields(value: Any, path: FieldPath) -> Iterator[FieldPath]:
    """Yield the paths of the fields below the header of an object."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if path or key not in ("apiVersion", "kind", "metadata", *_OF_SERVERS):
                yield (*path, key)
                yield from fields(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from fields(item, (*path, index))


def with_value(data: Mapping[str, Any], path: FieldPath, value: Any) -> dict[str, Any]:
    """Return an object with another value of a field."""
    changed: Any = copy.deepcopy(data)
    part = changed
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    found: dict[str, Any] = changed
    return found
