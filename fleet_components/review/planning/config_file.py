"""A YAML file of a Pulumi project, with the line of every field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.document import Document, documents
from fleet_components.content.files import read_file
from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import FieldPath, FleetError, Problem


@attrs.frozen
class ConfigFile:
    """A YAML file that holds one map.

    Attributes:
        path: path of the file.
        data: the map; empty if the file is empty or does not exist.
    """

    path: Path
    data: Mapping[str, Any] = attrs.field(factory=dict)
    _document: Document | None = None

    @classmethod
    def read(cls, path: Path) -> ConfigFile:
        """Read a file.

        Raises:
            FleetError: the file cannot be read, or is not a map.
        """
        problems: list[Problem] = []
        found = list(documents(read_file(path), str(path), problems))
        if problems:
            raise FleetError(problems)
        # An empty file has no document, and is an empty map.
        if not found:
            return cls(path)
        if not isinstance(found[0].data, Mapping):
            raise FleetError(
                [
                    Problem(
                        Message("not-map", "is not a map"),
                        file=str(path),
                        line=1,
                        hint="write fields, as name: value",
                    )
                ]
            )
        return cls(path, found[0].data, found[0])

    def problem(self, what: Message, field: FieldPath = (), hint: Phrase | str = "") -> Problem:
        """Return a problem of this file, with the line of the field."""
        line = self._document.section(()).line(field) if self._document else None
        return Problem(what, field, hint, file=str(self.path), line=line)
