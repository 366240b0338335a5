"""A fleet that was planned: every placement decided, by whichever way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.memory import Binding
from fleet_components.plan.place import Outcome, Request
from fleet_components.plan.record import Record
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.kubefleet.explain import explain

if TYPE_CHECKING:
    from fleet_components.cli.templates import DecidedTemplate


@attrs.frozen
class Decided:
    """One placement, decided.

    Attributes:
        kind: ClusterResourcePlacement or ResourcePlacement.
        request: what the decision depends on.
        before: what was decided before.
        outcome: what is decided now.
        place: file and line of the placement; empty where a program made it.
        warnings: what may surprise.
        skipped: objects that the selectors match and that are not placed, each with the reason.
    """

    kind: str
    request: Request
    before: Record
    outcome: Outcome
    place: str = ""
    warnings: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """``namespace/name``, or name."""
        return self.request.key

    @property
    def name(self) -> str:
        """What it is called in states: ``Kind/namespace/name``."""
        return f"{self.kind}/{self.request.key}"

    @property
    def bindings(self) -> Mapping[str, Binding]:
        """The members that the scheduler has picked, or is leaving."""
        return self.outcome.decision.memory.bindings

    def old_revision(self, cluster: str) -> int | None:
        """The revision that runs on a cluster; None where none does."""
        done = self.request.done.get(cluster)
        return done.revision if done else None

    def explain(self, members: Collection[str] | None = None) -> tuple[MemberExplanation, ...]:
        """Why members are in, or are not; all members by default."""
        request = self.request
        return explain(
            request.inventory,
            request.policy,
            self.outcome.decision,
            namespace=request.namespace,
            members=members,
        )


@attrs.frozen(slots=False)
class Planned:
    """A fleet, planned.

    Attributes:
        inventory: the members.
        placements: the placements, by key.
        templates: what Karmada's policies place, those first that need others.
    """

    inventory: Inventory
    placements: tuple[Decided, ...]
    templates: tuple[DecidedTemplate, ...] = ()

    @cached_property
    def clashes(self) -> Mapping[tuple[str, ObjectKey], tuple[str, ...]]:
        """What several placements bring to one member: the placements, by member and object."""
        found: dict[tuple[str, ObjectKey], list[str]] = {}
        for decided in self.placements:
            keys = [Manifest(data).key for data in decided.request.objects]
            for cluster in decided.outcome.record.decisions:
                for key in keys:
                    found.setdefault((cluster, key), []).append(decided.name)
        return {where: tuple(names) for where, names in found.items() if len(names) > 1}
