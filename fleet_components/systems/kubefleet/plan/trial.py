"""Try overrides on a placement with a part of them left out."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.overridden import Overridden
from fleet_components.content.override_parts import Part, left_out
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.plan.idle import Idle
from fleet_components.plan.record import Objects
from fleet_components.plan.subject import Decided
from fleet_components.plan.trial import OverrideTrial, Unchanged, has_value
from fleet_components.systems.kubefleet.content.override import (
    apply_overrides,
    has_variables,
    in_force,
    selected,
    targets_of,
)
from fleet_components.systems.kubefleet.content.parts import parts_of
from fleet_components.systems.kubefleet.model.override import ResourceOverride
from fleet_components.systems.kubefleet.model.placement import PICK_FIXED, PlacementPolicy
from fleet_components.systems.kubefleet.plan.overrides import reader
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject


@attrs.frozen(eq=False, slots=False)
class PlacementTrial(OverrideTrial):
    """A placement, to try overrides on each of its members.

    Attributes:
        subject: the placement.
        outcome: its decision.
    """

    subject: PlacementSubject
    outcome: PlacementOutcome

    @cached_property
    def members(self) -> Sequence[Cluster]:
        """The members that have it, or that its policy names or may pick."""
        policy, chosen = self.subject.policy or PlacementPolicy(), self.outcome.goal.decisions
        clusters = self.subject.inventory.clusters
        return [
            cluster for cluster in clusters if cluster.name in chosen or _may_pick(policy, cluster)
        ]

    @property
    def is_placed(self) -> bool:
        """True if any member has it."""
        return bool(self.outcome.goal.decisions)

    @cached_property
    def reached(self) -> Mapping[str, Manifest]:
        """The overrides, each with the first object that it selects."""
        opens = self.subject.opens
        # Reversed, so that the first object of each target is the one that stays.
        manifests = [Manifest(data) for data in reversed(self._objects)]
        first = {target: item for item in manifests for target in targets_of(item, opens=opens)}
        return {
            # Never empty: a subject has only overrides that select one of its objects.
            key: min(
                (first[target] for target in override.targets if target in first),
                key=lambda manifest: manifest.key,
            )
            for key, override in self.by_key.items()
        }

    def applies(self, override: str, rule: int, member: Cluster) -> bool:
        """Return whether a rule of an override selects a member."""
        return self.by_key[override].spec.policy.override_rules[rule].applies_to(member)

    def alike(self, member: Cluster) -> Hashable:
        """Return the rules that select the member, and its name and labels if they ask for any."""
        rules = tuple(
            (key, index)
            for key, override in self.by_key.items()
            for index, rule in enumerate(override.spec.policy.override_rules)
            if rule.applies_to(member)
        )
        # With variables the result depends on the member itself, so no two are alike.
        return rules, member.name if self._has_variables else ""

    def results(self, member: Cluster, parts: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what the overrides make of each object that any of them selects."""
        overrides = self.subject.overrides if not parts else self._without(parts)
        rules = in_force(
            self._objects, member, overrides, self.subject.key, opens=self.subject.opens
        )
        return apply_overrides(self._objects, rules, member.name, reader(self.subject.shapes))

    def emitted(self, results: Sequence[Overridden]) -> Objects:
        """Return the objects, envelopes opened."""
        return PlacementRecord.opened(
            tuple(result.data for result in results if result.data is not None)
        )

    def unchanged(self, part: Part, data: Mapping[str, Any]) -> Unchanged:
        """Return why a part changes nothing in an object."""
        return has_value(Manifest(data))

    def _without(self, parts: Collection[Part]) -> Sequence[ResourceOverride]:
        """Return the overrides without some parts of one of them."""
        written = self.by_key[next(iter(parts)).override].manifest
        other = ResourceOverride.from_manifest(Manifest(left_out(written.data, parts)))
        return [
            other if override.manifest.key == written.key else override
            for override in self.subject.overrides
        ]

    @cached_property
    def _objects(self) -> Objects:
        """The objects that overrides select."""
        wanted = {target for override in self.subject.overrides for target in override.targets}
        return tuple(
            data for _, data, _ in selected(self.subject.content, wanted, opens=self.subject.opens)
        )

    @cached_property
    def by_key(self) -> Mapping[str, ResourceOverride]:
        """The overrides that may concern any of the objects, by ``Kind namespace/name``."""
        return {str(override.manifest.key): override for override in self.subject.overrides}

    @cached_property
    def _has_variables(self) -> bool:
        rules = (
            rule
            for override in self.subject.overrides
            for rule in override.spec.policy.override_rules
        )
        return any(
            has_variables(item.value) for rule in rules for item in rule.json_patch_overrides
        )


def _may_pick(policy: PlacementPolicy, cluster: Cluster) -> bool:
    """Return whether the names or labels of a policy let it pick a member, whatever its state."""
    if policy.placement_type == PICK_FIXED:
        return cluster.name in policy.cluster_names
    # A term without labels may match any member: properties are part of a member's state.
    selectors = [term.label_selector for term in policy.required_terms]
    return not selectors or any(
        selector is None or selector.matches(cluster.labels) for selector in selectors
    )


# Find rules of overrides that have no effect.


def idle_rules(subjects: Iterable[Decided], inventory: Inventory) -> Iterator[Problem]:
    """Yield the rules of overrides that have no effect, or the operations of them that have none.

    An override that selects nothing that a placement brings is reported as such elsewhere.
    """
    trials = [
        PlacementTrial(decided.subject, decided.outcome)
        for decided in subjects
        if isinstance(decided.subject, PlacementSubject) and decided.subject.overrides
    ]
    overrides = {
        str(override.manifest.key): override.manifest
        for trial in trials
        for override in trial.subject.overrides
    }
    rules = {key: parts_of(manifest) for key, manifest in sorted(overrides.items())}
    yield from Idle(rules, overrides, trials, inventory).problems()
