"""What a tool makes objects of: the contract of charts and kustomizations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from fleet_components.content.files import Text
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem


@attrs.frozen(kw_only=True)
class Build(ABC):
    """A folder that a tool makes objects of. It is built only where somebody has named it: tools run what is in it.

    Attributes:
        folder: the folder.
        root: what nothing in it may lead out of.
        declared: the object that names it; None where it is a source itself.
    """

    folder: Path
    root: Path
    declared: Manifest | None = None

    @property
    @abstractmethod
    def uses(self) -> frozenset[Path]:
        """The files and folders that are its input, and so no manifests, links resolved."""

    @property
    @abstractmethod
    def by_hand(self) -> str:
        """The command that prints the same."""

    @abstractmethod
    def problems(self) -> Iterator[Problem]:
        """Why it must not be built."""

    @abstractmethod
    def build(self, warnings: list[Problem]) -> list[Text]:
        """What the tool prints.

        Raises:
            ToolError: the tool is missing, fails, or takes too long.
        """

    @abstractmethod
    def placed(self, manifests: Iterable[Manifest], warnings: list[Problem]) -> Iterable[Manifest]:
        """The objects that were printed, as they are placed."""

    def problem(self, what: str, hint: str = "") -> Problem:
        """Something that is wrong with it, where it is named."""
        if self.declared:
            return self.declared.problem(what, ("spec", "path"), hint)
        return Problem(what, hint=hint, file=str(self.folder))
