"""Try override policies on a template with a part of them left out."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.overridden import Object, Overridden
from fleet_components.content.override_parts import Part, left_out
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.plan.record import Objects
from fleet_components.plan.trial import Trial, Unchanged
from fleet_components.systems.karmada.content.override import override
from fleet_components.systems.karmada.content.template import as_read, in_preferred_version
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import Placement, Rank
from fleet_components.systems.karmada.plan.content import Share, shared
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.systems.karmada.plan.record import TemplateRecord
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.plan.unchanged import unchanged, without_empty_words


@attrs.frozen(eq=False, slots=False)
class TemplateTrial(Trial):
    """A template, to try override policies on each of its members.

    Attributes:
        subject: the template.
        outcome: its decision.
        along: the members of the templates that it goes along with.
    """

    subject: TemplateSubject
    outcome: TemplateOutcome
    along: frozenset[str] = frozenset()

    @cached_property
    def members(self) -> Sequence[Cluster]:
        """The members that have it, or that its policy or those of its parents may choose."""
        bound = self.outcome.record.memory.claim.bound
        placement = bound.placement if bound else None
        chosen = {*self.outcome.goal.decisions, *self.along}
        return [
            cluster
            for cluster in self.subject.inventory.clusters
            if cluster.name in chosen or (placement and may_choose(placement, cluster))
        ]

    @property
    def is_placed(self) -> bool:
        """True if any member has it."""
        return bool(self.outcome.goal.decisions)

    @cached_property
    def reached(self) -> Mapping[str, Manifest]:
        """The override policies that select the object as it is read, which they may change later."""
        read = Manifest(self._read)
        found = (policy for policy in self._policies if policy.spec.rank(read) is not Rank.NO_MATCH)
        return {str(policy.manifest.key): self.subject.manifest for policy in found}

    def applies(self, override: str, rule: int, member: Cluster) -> bool:
        """Return whether a rule of a policy selects a member."""
        return self.by_key[override].spec.rules[rule].applies_to(member)

    def alike(self, member: Cluster) -> Hashable:
        """Return the rules that select the member, as all members are tried with one share."""
        return tuple(
            (number, index)
            for number, policy in enumerate(self._policies)
            for index, rule in enumerate(policy.spec.rules)
            if rule.applies_to(member)
        )

    def results(self, member: Cluster, parts: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what the policies make of the object."""
        policies = self._policies if not parts else self._without(parts)
        return [override(Manifest(self._written), member, policies, self._read)]

    def emitted(self, results: Sequence[Overridden]) -> Objects:
        """Return the object as it is sent; commands and args without words count as none."""
        made = tuple(result.data for result in results if result.data is not None)
        return tuple(map(without_empty_words, TemplateRecord.opened(made)))

    def alike_objects(self, value: Object | None, other: Object | None) -> bool:
        """Return whether two forms of the object differ in no more than empty commands and args."""
        first, second = (data and without_empty_words(data) for data in (value, other))
        return first == second

    def unchanged(self, part: Part, data: Mapping[str, Any]) -> Unchanged:
        """Return why a part changes nothing in the object."""
        return unchanged(part, self.by_key[part.override].manifest, Manifest(data))

    def _without(self, parts: Collection[Part]) -> Collection[OverridePolicy]:
        """Return the overrides without some parts of one of them."""
        written = self.by_key[next(iter(parts)).override].manifest
        other = OverridePolicy.from_manifest(Manifest(left_out(written.data, parts)))
        return [other if policy.key == other.key else policy for policy in self._policies]

    @cached_property
    def _policies(self) -> Collection[OverridePolicy]:
        index = self.subject.policies.override_index
        return index.concerning(Manifest(self._written)) if index.policies else ()

    @cached_property
    def by_key(self) -> Mapping[str, OverridePolicy]:
        """The overrides that may concern any of the objects, by ``Kind namespace/name``."""
        return {str(policy.manifest.key): policy for policy in self._policies}

    @cached_property
    def _read(self) -> Object:
        claimed = self.outcome.record.memory.claim.policy
        return as_read(self._shared, self.subject.custom, (claimed.kind,) if claimed else ())

    @cached_property
    def _written(self) -> Object:
        return in_preferred_version(self._shared, self.subject.custom)

    @cached_property
    def _shared(self) -> Object:
        """The object with a number of replicas that no rule asks for where they are divided: the
        shares of members change with every decision.
        """
        record, replicas = self.outcome.record, self.outcome.template.replicas
        share = next(iter(self.outcome.goal.decisions.values()), Share(revision=record.revision))
        bound = record.memory.claim.bound
        if bound and bound.placement.divided and replicas:
            more = replicas + 1
            share = attrs.evolve(share, replicas=more, completions=share.completions and more)
        elif share.replicas is None and replicas:
            share = attrs.evolve(share, replicas=replicas)
        return shared(record.contents[record.revision], share)


def may_choose(placement: Placement, cluster: Cluster) -> bool:
    """Return whether the affinities of a placement let it choose a member, whatever its state."""
    groups = placement.cluster_affinities
    every = [*groups, *(affinity for group in groups for affinity in group.overflow_affinities)]
    if not every:
        return placement.cluster_affinity is None or placement.cluster_affinity.matches(cluster)
    return any(cluster_affinity.matches(cluster) for cluster_affinity in every)
