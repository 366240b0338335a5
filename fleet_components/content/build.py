"""Contract of charts and kustomizations: folders from which a tool builds objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from fleet_components.content.files import Text
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem


@attrs.frozen(kw_only=True)
class Build(ABC):
    """A folder from which a tool builds objects.

    It is built only if the user has named it, because tools execute its content.

    Attributes:
        folder: the folder.
        root: the directory that none of its paths may lead out of.
        declared: the object that names the folder; None if the folder is a source itself.
    """

    folder: Path
    root: Path
    declared: Manifest | None = None

    @property
    @abstractmethod
    def uses(self) -> frozenset[Path]:
        """Files and folders that are input of the build, and therefore not manifests. Links are
        resolved.
        """

    @property
    @abstractmethod
    def by_hand(self) -> str:
        """The shell command that prints the same objects."""

    @abstractmethod
    def problems(self) -> Iterator[Problem]:
        """Yield the reasons why the folder must not be built."""

    @abstractmethod
    def build(self, warnings: list[Problem]) -> list[Text]:
        """Run the tool and return its output.

        Args:
            warnings: warnings are added here.

        Raises:
            ToolError: the tool is missing, fails, or takes too long.
        """

    @abstractmethod
    def placed(self, manifests: Iterable[Manifest], warnings: list[Problem]) -> Iterable[Manifest]:
        """Return the built objects as they are to be placed.

        Args:
            manifests: the objects that the tool printed.
            warnings: warnings are added here.
        """

    def problem(self, what: Message, hint: str = "") -> Problem:
        """Return a problem of the build, located where the folder is named."""
        if self.declared:
            return self.declared.problem(what, ("spec", "path"), hint)
        return Problem(what, hint=hint, file=str(self.folder))
