"""A fleet resource and what belongs to it, as far as it tells a reviewer something that its hub does not."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

_ENDED = ("Completed", "Failed", "Skipped", "Stopped")
_NOT_BEGUN = ("NotStarted", "")


def is_under_way(state: str) -> bool:
    """Return whether an update run, or a part of one, has begun and not ended. A state that is new to us counts."""
    return state not in _ENDED and state not in _NOT_BEGUN


@attrs.frozen
class JoinedCluster:
    """A member of a fleet resource.

    Attributes:
        name: its name, which the hub's ``MemberCluster`` has, too.
        cluster: resource ID of the AKS or Arc cluster.
        group: the group in which update runs upgrade it; empty if it has none.
        labels: the labels that Azure gives to the ``MemberCluster``.
        state: ``provisioningState``, such as ``Succeeded``, ``Joining`` or ``Failed``.
        error: what went wrong in the last operation; empty if nothing.
    """

    name: str
    cluster: str = ""
    group: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)
    state: str = "Succeeded"
    error: str = ""


@attrs.frozen
class UpgradeStage:
    """A stage of an update run.

    Attributes:
        name: its name; empty for the one stage of a run without a strategy.
        state: ``NotStarted``, ``Pending``, ``Running``, ``Stopping`` or how it ended.
        members: the state of each member, by name.
        gates: the gates that wait for an approval.
    """

    name: str
    state: str = ""
    members: Mapping[str, str] = attrs.field(factory=dict)
    gates: tuple[str, ...] = ()


@attrs.frozen
class UpgradeRun:
    """An update run of the resource API: it upgrades clusters, and places nothing.

    Attributes:
        name: its name.
        state: as of a stage.
        upgrade: the type of upgrade with its Kubernetes version: ``Full to 1.33.2``, ``NodeImageOnly``.
        strategy: name of the update strategy from which it was made; empty if it has stages of its own, or none.
        profile: name of the auto-upgrade profile that made it; empty if somebody did.
        started: when it began, as Azure writes it; empty if it has not.
        completed: when it ended.
        error: what went wrong; empty if nothing.
        stages: its stages in their order; none of a run that has ended.
    """

    name: str
    state: str = ""
    upgrade: str = ""
    strategy: str = ""
    profile: str = ""
    started: str = ""
    completed: str = ""
    error: str = ""
    stages: tuple[UpgradeStage, ...] = ()


@attrs.frozen
class StrategyStage:
    """A stage of an update strategy: its name, groups of members, and seconds to wait after it."""

    name: str
    groups: tuple[str, ...] = ()
    wait_seconds: int = 0


@attrs.frozen
class UpgradeStrategy:
    """An update strategy: its name, and stages in their order."""

    name: str
    stages: tuple[StrategyStage, ...] = ()


@attrs.frozen
class UpgradeProfile:
    """An auto-upgrade profile, which makes update runs.

    Attributes:
        name: its name.
        channel: ``Rapid``, ``Stable``, ``NodeImage`` or ``TargetKubernetesVersion``.
        disabled: True if it makes none.
        target: the minor version, for channel ``TargetKubernetesVersion``.
        strategy: name of the update strategy; empty to upgrade one member after the other.
    """

    name: str
    channel: str = ""
    disabled: bool = False
    target: str = ""
    strategy: str = ""


@attrs.frozen(kw_only=True)
class FleetResource:
    """A fleet, as the resource API tells it.

    Attributes:
        id: its resource ID.
        state: its ``provisioningState``.
        error: what went wrong in the last operation on it; empty if nothing.
        has_hub: False if it only groups clusters for upgrades.
        hub_version: the Kubernetes version of the hub, where Azure tells it.
        members: its members, by name.
        runs: its update runs, by name.
        strategies: its update strategies, by name.
        profiles: its auto-upgrade profiles, by name.
        unread: the parts that Azure did not let be read, each with the reason.
    """

    id: str
    state: str = "Succeeded"
    error: str = ""
    has_hub: bool = True
    hub_version: str = ""
    members: tuple[JoinedCluster, ...] = ()
    runs: tuple[UpgradeRun, ...] = ()
    strategies: tuple[UpgradeStrategy, ...] = ()
    profiles: tuple[UpgradeProfile, ...] = ()
    unread: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """The name of the fleet."""
        return self.id.rpartition("/")[2]
