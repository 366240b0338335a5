"""Options of a plan besides the source: limits of the update, and what was accepted or renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import attrs

from fleet_components.model.codec import encode
from fleet_components.model.problem import Problem
from fleet_components.model.releases import TABLES, Releases
from fleet_components.model.typed import Typed
from fleet_components.option_values import Renamed
from fleet_components.options import field_of, wrong_options
from fleet_components.rollout.rollout import Gates


@attrs.frozen(kw_only=True)
class Settings(Typed):
    """Limits of an update: options that are remembered, so that a plan made without the program
    uses the same. ``fleet_components.options`` describes each.
    """

    limit: float = field_of("limit")
    approvals: tuple[str, ...] = field_of("approvals")
    keep_cluster_resources: bool = field_of("keep_cluster_resources")
    keep_found: bool = field_of("keep_found")
    max_wait: int = field_of("max_wait")
    plugins: tuple[str, ...] = field_of("plugins")
    delivery: str = field_of("delivery")
    kubefleet: str = field_of("kubefleet", default=TABLES["kubefleet"].default)
    karmada: str = field_of("karmada", default=TABLES["karmada"].default)

    def wrong_values(self) -> Iterator[Problem]:
        """Yield problems of options that are out of their range, or not among their choices."""
        yield from wrong_options(self)

    def under(self, releases: Releases) -> Settings:
        """Return the same settings with the releases that decide."""
        return attrs.evolve(self, kubefleet=releases.kubefleet.name, karmada=releases.karmada.name)

    def to_wire(self) -> dict[str, Any]:
        """Return the form in the state: the values that are not the defaults."""
        # Sorted, because another order of the same approvals is not a change.
        wire: dict[str, Any] = encode(attrs.evolve(self, approvals=tuple(sorted(self.approvals))))
        return wire


@attrs.frozen(kw_only=True)
class Options(Typed):
    """Options of a plan. ``fleet_components.options`` describes those that a fleet has as well.

    Attributes:
        stack: the stack, as ``organization/project/stack``; ties between members depend on it.
        fleet: the fleet's name.
        settings: limits of the update.
        identities: a value that identifies each member's cluster, by member, as far as it is known
            beforehand.
        unreachable: why members cannot be reached, by name; an update that sends them something is
            an error.
        hub: the system of the hub that carries everything out, ``kubefleet`` or ``karmada``, where
            a plan starts from an observed hub; empty otherwise, where each policy says who
            delivers; not remembered.
    """

    stack: str = "local"
    fleet: str = "fleet"
    settings: Settings = Settings()
    as_of: datetime | None = field_of("as_of")
    lost: frozenset[str] = field_of("lost", default=frozenset())
    confirm: frozenset[str] = field_of("confirm", default=frozenset())
    renamed: Renamed = field_of("renamed")
    identities: Mapping[str, str] = attrs.field(factory=dict)
    takes_over: Mapping[str, Sequence[str]] = field_of("takes_over")
    takes_from: frozenset[str] = field_of("takes_from", default=frozenset())
    pass_over: frozenset[str] = field_of("pass_over", default=frozenset())
    skip_checks: frozenset[str] = field_of("skip_checks", default=frozenset())
    unreachable: Mapping[str, Problem] = attrs.field(factory=dict)
    hub: str = ""
    moving: bool = field_of("moving")

    @property
    def gates(self) -> Gates:
        """Conditions that open the next stage of an update run."""
        waits = timedelta(seconds=self.settings.max_wait)
        return Gates(frozenset(self.settings.approvals), self.as_of, waits)
