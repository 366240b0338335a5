"""The fleet of a test in YAML, which it changes from run to run, as its users would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import yaml


@attrs.define
class World:
    """What the user has written. ``KubeFleetWorld`` and ``KarmadaWorld`` have members to begin with.

    Attributes:
        members: the members by name.
        objects: further objects, by a name of the test's own.
        config: further ``fleet:`` configuration.
    """

    members: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    objects: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    config: dict[str, Any] = attrs.field(factory=dict)

    def documents(self) -> list[dict[str, Any]]:
        """All YAML documents."""
        return [*self.members.values(), *self.objects.values()]

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all(self.documents()))
