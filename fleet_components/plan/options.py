"""What a plan is told besides the source: how far an update may go, and what was accepted or renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import attrs

from fleet_components.model.codec import checked, decode, encode
from fleet_components.model.problem import Problem
from fleet_components.model.typed import HINT, Typed
from fleet_components.rollout.plan import Gates

MOST_WAIT = 31_536_000
"""The longest ``max_wait`` in seconds: a year."""
A_SHARE = "give a share from 0 to 1, 0.5 for a half"
A_WAIT = f"give whole seconds, 900 for a quarter of an hour, {MOST_WAIT} at most"


def no_share(value: float) -> str:
    """Why a number is no share of what may be lost; empty where it is one."""
    return "" if 0 <= value <= 1 else f"is {value:g}"


def no_wait(seconds: int) -> str:
    """Why a number is no time that an update may wait; empty where it is one."""
    return "" if 0 <= seconds <= MOST_WAIT else f"is {seconds}"


@attrs.frozen(kw_only=True)
class Settings(Typed):
    """How far an update may go. It is remembered, so that a plan without the program goes by the same.

    Attributes:
        limit: the share of what stands, of the fleet or of one placement, that may be lost at once, from 0 to 1;
            half by default.
        approvals: names of the accepted approvals of staged updates.
        keep_cluster_resources: whether namespaces and other cluster-scoped objects outlive their placement.
        max_wait: the longest time in seconds that an update waits between stages; 900 by default.
    """

    limit: float = attrs.field(default=0.5, metadata={HINT: A_SHARE, **checked(no_share)})
    approvals: tuple[str, ...] = ()
    keep_cluster_resources: bool = True
    max_wait: int = attrs.field(default=900, metadata={HINT: A_WAIT, **checked(no_wait)})

    def wrong_values(self) -> Iterator[Problem]:
        """A share that is none, or a time that would run backwards."""
        yield from wrong_limits(self.limit, self.max_wait)

    def to_wire(self) -> dict[str, Any]:
        """Its form in the state: what is not the default."""
        wire: dict[str, Any] = encode(attrs.evolve(self, approvals=tuple(sorted(self.approvals))))
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | None) -> Settings:
        """Read it back."""
        return decode(cls, wire or {})


def wrong_limits(limit: float, max_wait: int) -> Iterator[Problem]:
    """What is wrong with how far an update may go."""
    if wrong := no_share(limit):
        yield Problem(wrong, ("limit",), A_SHARE)
    if wrong := no_wait(max_wait):
        yield Problem(wrong, ("max_wait",), A_WAIT)


@attrs.frozen(kw_only=True)
class Renamed(Typed):
    """What is called otherwise now; each map from the new name to the old one.

    Attributes:
        fleet: the fleet's former name; empty while it has the same.
        members: members.
        placements: placements and templates, by key: ``name``, ``namespace/name`` or ``namespace/Kind/name``.
    """

    fleet: str = ""
    members: Mapping[str, str] = attrs.field(factory=dict)
    placements: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Options(Typed):
    """What a plan is told.

    Attributes:
        stack: the stack, as ``organization/project/stack``; ties between members fall by it.
        fleet: the fleet's name.
        settings: how far an update may go.
        as_of: the time at which observed members and waits are judged; None means that nothing expires.
        lost: the names of members that are gone for good.
        confirm: tokens of refused losses that are meant.
        renamed: what is called otherwise now.
        identities: what tells each member's cluster from any other, by member, as far as it is known beforehand.
        takes_over: by member, the names of Kubernetes resources that the stack has managed itself, and that the
            fleet brings there from now on; ``*`` stands for anything.
        pass_over: kinds that steer a hub, are not carried out, and are not to stand in the way of a plan. That is
            remembered nowhere.
        unreachable: why members cannot be reached, by name; an update that sends them something is an error.
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
    pass_over: frozenset[str] = frozenset()
    unreachable: Mapping[str, Problem] = attrs.field(factory=dict)

    @property
    def gates(self) -> Gates:
        """What opens the way to the next stage of an update run."""
        waits = timedelta(seconds=self.settings.max_wait)
        return Gates(frozenset(self.settings.approvals), self.as_of, waits)
