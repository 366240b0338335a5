"""Declaration of upgrades of a fleet: update runs and auto-upgrade profiles.

Source: ``fleets/updateRuns`` and ``fleets/autoUpgradeProfiles`` at API version 2026-06-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from fleet_components.azure.values import checks, names
from fleet_components.model.digits import integer
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import count
from fleet_components.model.typed import HINT, Typed

_NODE_IMAGES = ("Latest", "Consistent")
_TARGET = "TargetKubernetesVersion"
_IMAGES_ONLY = "NodeImage"
_CHANNELS = ("Rapid", "Stable", _IMAGES_ONLY, _TARGET)
_RUN_KINDS = ("Full", "ControlPlaneOnly", "NodeImageOnly")


@attrs.frozen
class Run(Typed):
    """An update run: one upgrade of the fleet. It is created but not started, since starting is an
    action, not a state.

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
        # Exactly one of two: a version, or an upgrade of images only, which has none.
        if (self.kubernetes_version is None) != (self.kind == "NodeImageOnly"):
            yield Problem(
                Message(
                    "kind-version",
                    "kind {kind} and version {kubernetes_version}",
                    kind=self.kind,
                    kubernetes_version=self.kubernetes_version,
                ),
                at,
                "all but NodeImageOnly need one",
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
        strategy: the name of a strategy; empty to upgrade one member after the other. It can only
            be set when the profile is created.
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
            yield Problem(
                Message(
                    "channel-version",
                    "channel {channel} and version {target_version}",
                    channel=self.channel,
                    target_version=self.target_version,
                ),
                (*path, "targetVersion"),
                hint,
            )
        elif self.target_version is not None:
            yield from names.KUBERNETES_MINOR.problems(
                self.target_version, (*path, "targetVersion")
            )
        if self.long_term_support and self.channel != _TARGET:
            yield Problem(
                Message(
                    "long-term-support-needs",
                    "long-term support needs channel {target}",
                    target=_TARGET,
                ),
                (*path, "longTermSupport"),
                "leave it out",
            )
        if self.strategy:
            yield from checks.choice_of(self.strategy, strategies, (*path, "strategy"))

    def body(self) -> dict[str, Any]:
        """Return the ``properties`` of the request, without the strategy's ID."""
        target = {
            "targetKubernetesVersion": self.target_version,
            "longTermSupport": self.long_term_support,
        }
        return {
            "channel": self.channel,
            "disabled": self.disabled,
            "nodeImageSelection": {"type": self.node_images},
            **(target if self.channel == _TARGET else {}),
        }


# Declaration of update strategies: the stages and groups in which a fleet upgrades, with waits
# and approvals.
#
# Source: ``fleets/updateStrategies`` at API version 2026-06-01, and "Update orchestration"
# (Microsoft, 2026-08): a stage has 50 groups and 50 members at once at most, and a group no more
# at once than its stage.


_MOST_GROUPS = 50
_MOST_AT_ONCE = 50
# The largest int32, in seconds.
_LONGEST_WAIT = 2**31 - 1
# A number from 1, or a percentage from 1 to 100, without leading zeros.
_AT_ONCE = re.compile("([1-9][0-9]*)|([1-9][0-9]?|100)%")


@attrs.frozen
class UpgradeStep(Typed):
    """Base of stages and groups.

    Attributes:
        name: its name; the name of a group is the update group of its members.
        at_once: how many members are upgraded at the same time, as a number or percentage; None for
            Azure's default.
        approve_before: names of the approvals that are required before it starts.
        approve_after: names of the approvals that are required after it has finished.
    """

    name: str
    at_once: str | None = attrs.field(default=None, kw_only=True)
    approve_before: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    approve_after: tuple[str, ...] = attrs.field(default=(), kw_only=True)

    def step_problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors of the common fields."""
        if self.at_once is not None and not _AT_ONCE.fullmatch(self.at_once):
            yield Problem(
                Message(
                    "not-number-members",
                    '"{at_once}" is not a number of members',
                    at_once=self.at_once,
                ),
                (*path, "atOnce"),
                "for example 3 or 25%",
            )
        # The pattern limits a percentage already.
        elif self.at_once and self.at_once.isdecimal():
            yield from checks.in_range(integer(self.at_once), 1, _MOST_AT_ONCE, (*path, "atOnce"))
        for field, approvals in (
            ("approveBefore", self.approve_before),
            ("approveAfter", self.approve_after),
        ):
            for position, name in enumerate(approvals):
                if not 1 <= len(name) <= 100:
                    yield Problem(
                        Message("approval-needs-name", "an approval needs a name"),
                        (*path, field, position),
                        "1 to 100 characters",
                    )

    def step_body(self) -> dict[str, Any]:
        """Return the common part of the request."""
        gates = {"beforeGates": self.approve_before, "afterGates": self.approve_after}
        body: dict[str, Any] = {"name": self.name, "maxConcurrency": self.at_once}
        body |= {
            field: [{"displayName": name, "type": "Approval"} for name in each]
            for field, each in gates.items()
        }
        return {field: value for field, value in body.items() if value}


@attrs.frozen
class Group(UpgradeStep):
    """The members of one update group."""


def _number(at_once: str | None) -> int | None:
    """Return a number of members; None for a percentage, which only the run resolves, and for
    Azure's default.
    """
    return integer(at_once) if at_once and at_once.isdecimal() else None


def _groups(groups: Sequence[Group | str]) -> tuple[Group, ...]:
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        return groups  # type: ignore[return-value] # what is not a list is refused by its type
    return tuple(Group(group) if isinstance(group, str) else group for group in groups)


@attrs.frozen
class Stage(UpgradeStep):
    """Groups that are upgraded at the same time; the next stage starts after all of them.

    Attributes:
        groups: the groups, by name or with settings of their own; at least one.
        wait_seconds: how long to wait after the stage, in seconds; 0 by default.
    """

    groups: tuple[Group, ...] = attrs.field(
        converter=_groups, metadata={HINT: 'for example ["canary"]'}
    )
    wait_seconds: int = 0

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from names.STAGE.problems(self.name, (*path, "name"))
        yield from self.step_problems(path)
        yield from checks.in_range(self.wait_seconds, 0, _LONGEST_WAIT, (*path, "waitSeconds"))
        if not 1 <= len(self.groups) <= _MOST_GROUPS:
            yield Problem(
                Message("a-stage-of", "a stage of {count}", count=count(len(self.groups), "group")),
                (*path, "groups"),
                f"1 to {_MOST_GROUPS}",
            )
        for position, group in enumerate(self.groups):
            yield from names.GROUP.problems(group.name, (*path, "groups", position, "name"))
            yield from group.step_problems((*path, "groups", position))
            most = _number(self.at_once)
            if most and (_number(group.at_once) or 0) > most:
                what = Message(
                    "members-group-once-stage",
                    "{at_once} members of the group at once, {self_at_once} of the stage",
                    at_once=group.at_once,
                    self_at_once=self.at_once,
                )
                yield Problem(
                    what, (*path, "groups", position, "atOnce"), f"{self.at_once} at most"
                )

    def body(self) -> dict[str, Any]:
        """Return the stage's part of the request."""
        wait = {"afterStageWaitInSeconds": self.wait_seconds} if self.wait_seconds else {}
        return {**self.step_body(), "groups": [group.step_body() for group in self.groups], **wait}


@attrs.frozen
class Strategy(Typed):
    """A sequence of stages.

    Attributes:
        name: its name.
        stages: at least one; a group may be in one of them only.
    """

    name: str
    stages: tuple[Stage, ...]

    def problems(
        self, groups: Iterable[str] | None = None, path: FieldPath = ()
    ) -> Iterator[Problem]:
        """Yield Azure validation errors.

        Args:
            groups: the update groups of the members, to find groups without members; None to skip
                that check.
            path: path of the strategy.
        """
        yield from names.STRATEGY.problems(self.name, (*path, "name"))
        if not self.stages:
            yield Problem(
                Message("strategy-needs-stage", "a strategy needs a stage"),
                (*path, "stages"),
                "at least one",
            )
        yield from checks.unique((stage.name for stage in self.stages), "stage", (*path, "stages"))
        for position, stage in enumerate(self.stages):
            yield from stage.problems((*path, "stages", position))
        yield from self._group_problems(None if groups is None else set(groups), path)

    def _group_problems(self, known: set[str] | None, path: FieldPath) -> Iterator[Problem]:
        seen: set[str] = set()
        for position, stage in enumerate(self.stages):
            for place, group in enumerate(stage.groups):
                at = (*path, "stages", position, "groups", place, "name")
                if group.name in seen:
                    yield Problem(
                        Message(
                            "update-group-strategy-twice",
                            'the update group "{name}" is in the strategy twice',
                            name=group.name,
                        ),
                        at,
                        "name it once",
                    )
                if known is not None and group.name not in known:
                    hint = (
                        f"one of {', '.join(sorted(known))}"
                        if known
                        else "give members an update group first"
                    )
                    yield Problem(
                        Message(
                            "no-member-update-group",
                            'no member is in the update group "{name}"',
                            name=group.name,
                        ),
                        at,
                        hint,
                    )
                seen.add(group.name)

    def body(self) -> dict[str, Any]:
        """Return the ``properties`` of the request."""
        return {"strategy": {"stages": [stage.body() for stage in self.stages]}}
