"""Declaration of upgrades of a fleet: update runs and auto-upgrade profiles.

Source: ``fleets/updateRuns`` and ``fleets/autoUpgradeProfiles`` at API version 2026-06-01.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from fleet_components.azure.values import checks, names
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Typed

_NODE_IMAGES = ("Latest", "Consistent")
_TARGET = "TargetKubernetesVersion"
_IMAGES_ONLY = "NodeImage"
_CHANNELS = ("Rapid", "Stable", _IMAGES_ONLY, _TARGET)
_RUN_KINDS = ("Full", "ControlPlaneOnly", "NodeImageOnly")


@attrs.frozen
class Run(Typed):
    """An update run: one upgrade of the fleet. It is created but not started, since starting is an action, not a state.

    Attributes:
        name: its name.
        kind: ``Full`` (the default), ``ControlPlaneOnly`` or ``NodeImageOnly``.
        kubernetes_version: the target version; not for ``NodeImageOnly``.
        node_images: ``Latest`` of each region (the default), or ``Consistent`` across all regions.
        strategy: the name of a strategy; empty to upgrade one member after the other.
    """

    name: str
    kind: str = "Full"
    kubernetes_version: str | None = None
    node_images: str = "Latest"
    strategy: str = ""

    def problems(self, strategies: Iterable[str], path: FieldPath = ()) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from names.RUN.problems(self.name, (*path, "name"))
        yield from checks.choice_of(self.kind, _RUN_KINDS, (*path, "kind"))
        yield from checks.choice_of(self.node_images, _NODE_IMAGES, (*path, "nodeImages"))
        at = (*path, "kubernetesVersion")
        if (self.kubernetes_version is None) != (self.kind == "NodeImageOnly"):
            yield Problem(
                f"kind {self.kind} and version {self.kubernetes_version}", at, "all but NodeImageOnly need one"
            )
        elif self.kubernetes_version is not None:
            yield from names.KUBERNETES_VERSION.problems(self.kubernetes_version, at)
        if self.strategy:
            yield from checks.choice_of(self.strategy, strategies, (*path, "strategy"))

    def body(self) -> dict[str, Any]:
        """Return the ``properties`` of the request, without the strategy's ID."""
        upgrade = {"type": self.kind, "kubernetesVersion": self.kubernetes_version}
        return {
            "managedClusterUpdate": {
                "upgrade": {field: value for field, value in upgrade.items() if value},
                "nodeImageSelection": {"type": self.node_images},
            }
        }


@attrs.frozen
class AutoUpgrade(Typed):
    """An auto-upgrade profile: Azure creates and starts update runs when new versions are released.

    Attributes:
        name: its name.
        channel: ``Stable`` (the default), ``Rapid``, ``NodeImage`` or ``TargetKubernetesVersion``.
        target_version: the minor version to stay on, for channel ``TargetKubernetesVersion`` only.
        long_term_support: continue with patches of minor versions in long-term support, for channel
            ``TargetKubernetesVersion`` only.
        node_images: ``Latest`` (the default) or ``Consistent``.
        strategy: the name of a strategy; empty to upgrade one member after the other. It can only be set when the
            profile is created.
        disabled: no update runs are created.
    """

    name: str
    channel: str = "Stable"
    target_version: str | None = None
    long_term_support: bool = False
    node_images: str = "Latest"
    strategy: str = ""
    disabled: bool = False

    @property
    def changes_versions(self) -> bool:
        """True if it changes Kubernetes versions; a profile of channel ``NodeImage`` does not."""
        return self.channel != _IMAGES_ONLY

    def problems(self, strategies: Iterable[str], path: FieldPath = ()) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from names.PROFILE.problems(self.name, (*path, "name"))
        yield from checks.choice_of(self.channel, _CHANNELS, (*path, "channel"))
        yield from checks.choice_of(self.node_images, _NODE_IMAGES, (*path, "nodeImages"))
        if (self.target_version is None) == (self.channel == _TARGET):
            hint = f"channel {_TARGET} needs one, the others take none"
            yield Problem(f"channel {self.channel} and version {self.target_version}", (*path, "targetVersion"), hint)
        elif self.target_version is not None:
            yield from names.KUBERNETES_MINOR.problems(self.target_version, (*path, "targetVersion"))
        if self.long_term_support and self.channel != _TARGET:
            yield Problem(f"long-term support needs channel {_TARGET}", (*path, "longTermSupport"), "leave it out")
        if self.strategy:
            yield from checks.choice_of(self.strategy, strategies, (*path, "strategy"))

    def body(self) -> dict[str, Any]:
        """Return the ``properties`` of the request, without the strategy's ID."""
        target = {"targetKubernetesVersion": self.target_version, "longTermSupport": self.long_term_support}
        return {
            "channel": self.channel,
            "disabled": self.disabled,
            "nodeImageSelection": {"type": self.node_images},
            **(target if self.channel == _TARGET else {}),
        }
