"""Writes the structures of built-in kinds, as an API server of Kubernetes publishes them::

    python -m tools.structures KUBECONFIG [--into FILE]

The file has the type of each kind, by ``group/version/kind``, and the fields of each type that a
kind needs. A field is ``string``, ``integer``, ``number``, ``boolean``, ``any``, or the name of a
type; ``[]`` stands before the items of a list, ``{}`` before the values of a map. The values of
``quantity`` and ``integer or string`` are texts or numbers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.live.connection import connected
from fleet_components.model.kinds import BUILT_IN
from tools.openapi import kinds_of, lines, schemas_of, short

INTO = Path(__file__).parents[1] / "fleet_components" / "content" / "structures.json"
"""The file that is written."""
_PATIENCE = 300.0
_SCALARS = ("string", "integer", "number", "boolean")


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Write the structures of built-in kinds.")
    parser.add_argument("kubeconfig", type=Path, help="of a cluster of the release")
    parser.add_argument("--into", type=Path, default=INTO, help="the file to write")
    asked = parser.parse_args()
    with connected(
        asked.kubeconfig.read_text(), time.monotonic() + _PATIENCE, sys.maxsize
    ) as connection:
        schemas = Schemas(schemas_of(connection))
    asked.into.write_text("\n".join(lines(schemas.document())) + "\n")


@attrs.frozen
class Schemas:
    """The schemas of the OpenAPI documents of an API server, by their full names."""

    schemas: Mapping[str, Any]

    def document(self) -> dict[str, dict[str, Any]]:
        """Return what the file says."""
        kinds = dict(sorted(self._kinds()))
        types: dict[str, Any] = {}
        left = sorted(set(kinds.values()))
        while left:
            name = left.pop()
            if name not in types:
                types[name] = {
                    field: self._text(schema)
                    for field, schema in sorted(self.schemas[name]["properties"].items())
                }
                left += (
                    found for found in map(_type_in, types[name].values()) if found in self.schemas
                )
        return {
            "kinds": {kind: short(name) for kind, name in kinds.items()},
            "types": {
                short(name): {field: _shortened(text) for field, text in fields.items()}
                for name, fields in sorted(types.items())
            },
        }

    def _kinds(self) -> Iterator[tuple[str, str]]:
        for name, schema in self.schemas.items():
            for group, kind, named in kinds_of(schema):
                if (group, kind) in BUILT_IN and schema.get("properties"):
                    yield named, name

    def _text(self, schema: Mapping[str, Any]) -> str:
        """Return what a field is."""
        inner = schema["allOf"][0] if schema.get("allOf") else schema
        if inner.get("type") == "array":
            return f"[]{self._text(inner['items'])}"
        if inner.get("additionalProperties"):
            return f"{{}}{self._text(inner['additionalProperties'])}"
        if "$ref" in inner:
            name = inner["$ref"].rpartition("/")[2]
            target = self.schemas[name]
            return name if target.get("properties") else self._text(target)
        if inner.get("oneOf"):
            return "integer or string" if inner.get("format") == "int-or-string" else "quantity"
        return inner["type"] if inner.get("type") in _SCALARS else "any"


def _type_in(text: str) -> str:
    return text.replace("[]", "").replace("{}", "")


def _shortened(text: str) -> str:
    name = _type_in(text)
    return text if "." not in name else text.removesuffix(name) + short(name)


if __name__ == "__main__":
    main()
