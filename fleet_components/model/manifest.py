"""A Kubernetes object as its user wrote it, and where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import attrs

from fleet_components.model.problem import FieldPath, Problem


class ObjectKey(NamedTuple):
    """What tells two objects of one cluster apart. ``namespace`` is empty for cluster-scoped ones."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"


@attrs.frozen(eq=False)
class Origin:
    """Where an object was read: a file, its first line, and the line of each field.

    What a tool has made of a file has no lines in it: there they are None.
    """

    file: str
    line: int | None
    locate: Callable[[FieldPath], int | None] = attrs.field(repr=False)

    @property
    def place(self) -> str:
        """``file:line``, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


PROGRAM = Origin("the program", None, lambda _: None)
"""Where objects come from that a program gives to its fleet."""


@attrs.frozen
class Manifest:
    """One object.

    Attributes:
        data: the object, as parsed; never changed in place.
        origin: where it was read; None for objects made in a program.
    """

    data: Mapping[str, Any]
    origin: Origin | None = attrs.field(default=None, eq=False)

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone for the core group."""
        return str(self.data.get("apiVersion", ""))

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The API version without its group."""
        return self.api_version.rpartition("/")[2]

    @property
    def kind(self) -> str:
        """The kind."""
        return str(self.data.get("kind", ""))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """``metadata``, empty when absent."""
        return self.data.get("metadata") or {}

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """``metadata.namespace``; empty when absent."""
        return str(self.metadata.get("namespace") or "")

    @property
    def labels(self) -> Mapping[str, str]:
        """``metadata.labels``, empty when absent."""
        return self.metadata.get("labels") or {}

    @property
    def key(self) -> ObjectKey:
        """Its identity in a cluster."""
        return ObjectKey(self.group, self.kind, self.namespace, self.name)

    def located(self, problem: Problem, *below: str) -> Problem:
        """A problem of a part of this object, which stands below a field, with its file and the line of the field."""
        return self.problem(problem.what, (*below, *problem.path), problem.hint)

    def problem(self, what: str, path: FieldPath = (), hint: str = "") -> Problem:
        """A problem of this object, with its file and the line of the field."""
        file, line = "", None
        if self.origin:
            file, line = self.origin.file, self.origin.locate(path)
        return Problem(what, path, hint, str(self.key), file, line)
