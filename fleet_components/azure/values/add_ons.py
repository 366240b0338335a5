"""Declarations of add-ons that need no more than a few settings: Key Vault secrets, the image cleaner.

Source: ``addonProfiles`` and ``securityProfile.imageCleaner`` of ``managedClusters`` at API version 2025-09-01, and
"Use Image Cleaner on AKS" (Microsoft, 2026-06).
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from fleet_components.azure.values import checks
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Typed

_THREE_MONTHS = 24 * 90


@attrs.frozen(kw_only=True)
class KeyVaultSecrets(Typed):
    """Secrets of Azure Key Vault as volumes of pods: the Azure Key Vault provider for Secrets Store CSI Driver.

    Attributes:
        enabled: on, the default; False switches it off.
        rotation: mounted secrets follow the vault; on by default.
        rotation_seconds: how often the vault is asked, in seconds; 120 by default.
    """

    enabled: bool = True
    rotation: bool = True
    rotation_seconds: int = 120

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.in_range(self.rotation_seconds, 1, 2**31 - 1, (*path, "rotationSeconds"))


@attrs.frozen(kw_only=True)
class ImageCleaner(Typed):
    """Removal of images that no container uses and that have vulnerabilities.

    Attributes:
        enabled: on, the default; False switches it off.
        interval_hours: the hours between two runs, 24 to 2160; 168, a week, by default.
    """

    enabled: bool = True
    interval_hours: int = 168

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.in_range(self.interval_hours, 24, _THREE_MONTHS, (*path, "intervalHours"))
