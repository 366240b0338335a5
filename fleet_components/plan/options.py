"""Options of a plan besides the source: limits of the update, and what was accepted or renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.model.codec import checked, encode
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.releases import TABLES, Releases, names_in
from fleet_components.model.typed import HINT, Typed
from fleet_components.plan.ways import A_WAY, Way, no_way
from fleet_components.rollout.rollout import Gates

MOST_WAIT = 31_536_000
"""Maximum of ``max_wait`` and ``ready_timeout`` in seconds: a year."""
A_SHARE = "give a share from 0 to 1, 0.5 for a half"
A_WAIT = f"give whole seconds, 900 for a quarter of an hour, {MOST_WAIT} at most"
A_TIMEOUT = f"give whole seconds, 1 or more, 600 for ten minutes, {MOST_WAIT} at most"


def no_share(value: float) -> Message | None:
    """Return why a number is not a share from 0 to 1; None if it is one."""
    return None if 0 <= value <= 1 else Message("not-share", "is {value:g}", value=value)


def no_wait(seconds: int) -> Message | None:
    """Return why a number of seconds is not a valid ``max_wait``; None if it is one."""
    return None if 0 <= seconds <= MOST_WAIT else Message("not-wait", "is {value}", value=seconds)


def no_timeout(seconds: int) -> Message | None:
    """Return why a number of seconds is not a valid ``ready_timeout``; None if it is one."""
    # The engine and the provider take 0 for a timeout that is not set.
    if 1 <= seconds <= MOST_WAIT:
        return None
    return Message("not-timeout", "is {value}", value=seconds)


def _release(setting: str) -> str:
    table = TABLES[setting]
    name: str = attrs.field(
        default=table.default, metadata={HINT: table.choice, **checked(table.unknown)}
    )
    return name


@attrs.frozen(kw_only=True)
class Settings(Typed):
    """Limits of an update. They are remembered, so that a plan made without the program uses the
    same.

    Attributes:
        limit: the share of what stands, of the fleet or of one placement, that may be lost at once,
            from 0 to 1; 0.5 by default.
        approvals: names of the accepted approvals of staged updates.
        keep_cluster_resources: whether namespaces and other cluster-scoped objects outlive their
            placement.
        keep_found: whether objects that stood on a member before a placement took them over outlive
            it.
        max_wait: the longest time in seconds that an update waits between stages; 900 by default.
        plugins: import paths of the scheduler's plug-ins that are not this package's,
            ``MODULE:CLASS``.
        delivery: how objects get to members, unless a placement or policy says otherwise:
            ``direct``, or through the hub of a system, ``kubefleet`` or ``karmada``; ``direct`` by
            default.
        kubefleet: the release of KubeFleet that placements are decided by, which is that of the
            source; ``0.3.1`` by default.
        karmada: that of Karmada, likewise; ``1.19`` by default.
    """

    limit: float = attrs.field(default=0.5, metadata={HINT: A_SHARE, **checked(no_share)})
    approvals: tuple[str, ...] = ()
    keep_cluster_resources: bool = True
    keep_found: bool = True
    max_wait: int = attrs.field(default=900, metadata={HINT: A_WAIT, **checked(no_wait)})
    plugins: tuple[str, ...] = ()
    delivery: str = attrs.field(default=Way.DIRECT.value, metadata={HINT: A_WAY, **checked(no_way)})
    kubefleet: str = _release("kubefleet")
    karmada: str = _release("karmada")

    def wrong_values(self) -> Iterator[Problem]:
        """Yield problems of a limit outside 0 to 1 and of an invalid wait."""
        yield from wrong_limits(self.limit, self.max_wait)
        wrong = no_way(self.delivery)
        if wrong:
            yield Problem(wrong, ("delivery",), A_WAY)
        yield from wrong_releases(names_in(self))

    def under(self, releases: Releases) -> Settings:
        """Return the same settings with the releases that decide."""
        return attrs.evolve(self, kubefleet=releases.kubefleet.name, karmada=releases.karmada.name)

    def to_wire(self) -> dict[str, Any]:
        """Return the form in the state: the values that are not the defaults."""
        # Sorted, because another order of the same approvals is not a change.
        wire: dict[str, Any] = encode(attrs.evolve(self, approvals=tuple(sorted(self.approvals))))
        return wire


def wrong_releases(names: Mapping[str, str]) -> Iterator[Problem]:
    """Yield problems of releases that are not known.

    Args:
        names: the name of each release, by the setting that names it; empty for the default one.
    """
    for setting, name in names.items():
        wrong = TABLES[setting].unknown(name)
        if wrong:
            yield Problem(wrong, (setting,), TABLES[setting].choice)


def wrong_limits(limit: float, max_wait: int) -> Iterator[Problem]:
    """Yield problems of a limit outside 0 to 1 and of an invalid wait."""
    wrong = no_share(limit)
    if wrong:
        yield Problem(wrong, ("limit",), A_SHARE)
    wrong = no_wait(max_wait)
    if wrong:
        yield Problem(wrong, ("max_wait",), A_WAIT)


@attrs.frozen(kw_only=True)
class Renamed(Typed):
    """Renames since the last update; each map is from the new name to the old one.

    Attributes:
        fleet: the fleet's former name; empty if it is unchanged.
        members: members.
        placements: placements and templates, by key: ``name``, ``namespace/name`` or
            ``namespace/Kind/name``.
    """

    fleet: str = ""
    members: Mapping[str, str] = attrs.field(factory=dict)
    placements: Mapping[str, str] = attrs.field(factory=dict)


class Check(StrEnum):
    """A check of what is delivered, by the name under which it is skipped."""

    REFERENCES = "references"
    AUTOSCALERS = "autoscalers"
    DIGESTS = "digests"
    STRUCTURE = "structure"
    VERSIONS = "versions"


MEANINGS: Mapping[Check, str] = {
    Check.REFERENCES: "an object needs another by name, which does not go to the same member",
    Check.AUTOSCALERS: "an autoscaler and the source both set the replicas of a workload",
    Check.DIGESTS: "an override takes the digest off an image",
    Check.VERSIONS: "Kubernetes serves the version of a built-in object no more",
    Check.STRUCTURE: "a field of a built-in object is not what its kind has there",
}


@attrs.frozen(kw_only=True)
class Options(Typed):
    """Options of a plan.

    Attributes:
        stack: the stack, as ``organization/project/stack``; ties between members depend on it.
        fleet: the fleet's name.
        settings: limits of the update.
        as_of: the time at which observed members and waits are judged; None means that nothing
            expires.
        lost: names of members that are gone for good.
        confirm: tokens of refused losses that are intended.
        renamed: renames since the last update.
        identities: a value that identifies each member's cluster, by member, as far as it is known
            beforehand.
        takes_over: by member, names of Kubernetes resources that the stack has managed itself and
            that the fleet brings there from now on; ``*`` matches anything.
        takes_from: stacks that have let go of objects which this stack brings from now on, as
            ``organization/project/stack``; not remembered.
        pass_over: kinds of policies that are not carried out and that must not prevent a plan; not
            remembered.
        skip_checks: names of checks whose warnings are not wanted; not remembered.
        unreachable: why members cannot be reached, by name; an update that sends them something is
            an error.
        hub: the system of the hub that carries everything out, ``kubefleet`` or ``karmada``, where
            a plan starts from an observed hub; empty otherwise, where each policy says who
            delivers; not remembered.
        moving: whether the update prepares a move to another way of delivery: everything stays on
            its way, objects outlive their subject, and namespaces and definitions the stack's use
            of the hub; not remembered.
    """

    stack: str = "local"
    fleet: str = "fleet"
    settings: Settings = Settings()
    as_of: datetime | None = None
    lost: frozenset[str] = frozenset()
    confirm: frozenset[str] = frozenset()
    renamed: Renamed = Renamed()
    identities: Mapping[str, str] = attrs.field(factory=dict)
    takes_over: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    takes_from: frozenset[str] = frozenset()
    pass_over: frozenset[str] = frozenset()
    skip_checks: frozenset[str] = frozenset()
    unreachable: Mapping[str, Problem] = attrs.field(factory=dict)
    hub: str = ""
    moving: bool = False

    @property
    def gates(self) -> Gates:
        """Conditions that open the next stage of an update run."""
        waits = timedelta(seconds=self.settings.max_wait)
        return Gates(frozenset(self.settings.approvals), self.as_of, waits)
