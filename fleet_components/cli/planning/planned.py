"""A fleet that was planned: every placement decided, by whichever way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs

from fleet_components.cli.planning.templates import DecidedTemplate
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.memory import Binding
from fleet_components.plan.place import Outcome, Request
from fleet_components.plan.record import Record
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.kubefleet.explain import explain


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

    def brings(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every object with the member that gets it, each member at its own revision, as far as that is known."""
        record = self.outcome.record
        for cluster, placed in sorted(record.decisions.items()):
            for data in record.contents.get(placed.revision, ()):
                yield cluster, data

    def object_keys(self) -> Iterator[tuple[str, ObjectKey]]:
        """What :meth:`brings` brings."""
        record = self.outcome.record
        keys = {number: [Manifest(data).key for data in objects] for number, objects in record.contents.items()}
        for cluster, placed in record.decisions.items():
            yield from ((cluster, key) for key in keys.get(placed.revision, ()))

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

    @property
    def decided(self) -> tuple[Decided | DecidedTemplate, ...]:
        """The placements, then the templates."""
        return (*self.placements, *self.templates)

    @cached_property
    def clashes(self) -> Mapping[tuple[str, ObjectKey], tuple[str, ...]]:
        """What comes to one member from several sides: the placements and templates, by member and object."""
        found: dict[tuple[str, ObjectKey], list[str]] = {}
        for decided in self.decided:
            for where in decided.object_keys():
                found.setdefault(where, []).append(decided.name)
        return {where: tuple(names) for where, names in found.items() if len(names) > 1}
