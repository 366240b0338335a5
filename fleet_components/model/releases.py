"""The release of each system by whose rules a fleet is checked and decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model.release import Release, ReleaseTable
from fleet_components.systems.registry import SYSTEMS

TABLES: Mapping[str, ReleaseTable] = {
    system.releases.setting: system.releases for system in SYSTEMS.values()
}
"""The known releases of each system, by the setting that names one."""


def names_in(settings: Any) -> dict[str, str]:
    """Return the name of the release of each system, by the setting that names it.

    Args:
        settings: has each setting as an attribute.
    """
    return {setting: getattr(settings, setting) for setting in TABLES}


@attrs.frozen
class Releases:
    """The release of each system; the default ones by default."""

    kubefleet: Release = TABLES["kubefleet"].named()
    karmada: Release = TABLES["karmada"].named()

    @classmethod
    def named(cls, kubefleet: str = "", karmada: str = "") -> Releases:
        """Return releases by their names; an empty name stands for the default one.

        Raises:
            FleetError: there is no such release.
        """
        return cls(TABLES["kubefleet"].named(kubefleet), TABLES["karmada"].named(karmada))

    @property
    def names(self) -> dict[str, str]:
        """The name of each release, by the setting that names it."""
        return {"kubefleet": self.kubefleet.name, "karmada": self.karmada.name}
