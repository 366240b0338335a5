"""The OpenAPI documents of an API server, and the form of the files that are made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.live.connection import Connection


def schemas_of(connection: Connection) -> Mapping[str, Any]:
    """Return the schemas of all documents of an API server, by their full names."""
    found: dict[str, Any] = {}
    for path, entry in connection.ask("GET", "/openapi/v3")["paths"].items():
        if path.startswith(("api/", "apis/")):
            document = connection.ask("GET", entry["serverRelativeURL"])
            found.update(document.get("components", {}).get("schemas", {}))
    return found


def kinds_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield group, kind, and ``group/version/kind`` of each kind that a schema describes."""
    for kind in schema.get("x-kubernetes-group-version-kind") or ():
        named = filter(None, (kind["group"], kind["version"], kind["kind"]))
        yield kind["group"], kind["kind"], "/".join(named)


def short(name: str) -> str:
    """Return the end of the name of a type, such as ``core.v1.Container``."""
    return ".".join(name.rpartition("/")[2].split(".")[-3:])


def lines(document: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a file, one for each entry of each part."""
    yield "{"
    for number, (part, entries) in enumerate(document.items(), 1):
        yield f" {json.dumps(part)}: {{"
        for place, (name, entry) in enumerate(entries.items(), 1):
            yield f"  {json.dumps(name)}: {json.dumps(entry)}{',' if place < len(entries) else ''}"
        yield " }," if number < len(document) else " }"
    yield "}"
