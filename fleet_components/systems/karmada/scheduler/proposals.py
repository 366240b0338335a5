"""Changes that might let a template go to a member, or leave it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain

import attrs

from fleet_components.model.cluster import Cluster, ResourceSummary
from fleet_components.model.codec import encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import has
from fleet_components.model.quantity import is_quantity
from fleet_components.scheduler.cycle import (
    Proposals,
    passing_changes,
    scoring_ladders,
    stopping_ladders,
)
from fleet_components.scheduler.edit import ADD, MEMBER, POLICY, SET, Edits, FieldEdit, Ladder
from fleet_components.scheduler.framework import Plugin
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import AGGREGATED, ClusterAffinityTerm, Placement
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.scheduler.estimator import Replica, free_amount
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching

_PLACEMENT = ("spec", "placement")
_WEIGHTS = (*_PLACEMENT, "replicaScheduling", "weightPreference", "staticWeightList")


@attrs.frozen
class ScheduledTemplate:
    """A decision on one template, with what it depended on.

    Attributes:
        inventory: the fleet.
        template: the template.
        placement: the placement that was scheduled.
        before: what was remembered before.
        group: name of the affinity group in use; empty without groups.
        clusters: the members that have the template.
        plugins: the plug-ins that decided with Karmada's.
    """

    inventory: Inventory
    template: Template
    placement: Placement
    before: TemplateMemory
    group: str
    clusters: Collection[str]
    plugins: tuple[Plugin, ...] = ()

    @property
    def state(self) -> KarmadaState:
        """The state of a run in the group in use."""
        names = {term.affinity_name: term for term in self.placement.cluster_affinities}
        # Before a group is in use, the first one is tried.
        group = names.get(self.group, next(iter(names.values()), None))
        return KarmadaState(self.inventory, self.template, self.placement, self.before, group=group)


def proposals(scheduled: ScheduledTemplate, cluster: str) -> Proposals:
    """Return what might change the outcome of a decision for one member."""
    position = scheduled.inventory.position(cluster)
    if position is None:
        return Proposals(stopped="it is no longer a member of the fleet")
    if has(scheduled.inventory.leaving, position):
        return Proposals(stopped="it is leaving the fleet")
    asked = _Asked(scheduled, scheduled.state, position)
    return asked.losing() if cluster in scheduled.clusters else asked.winning()


@attrs.frozen
class _Asked:
    scheduled: ScheduledTemplate
    state: KarmadaState
    position: int

    @property
    def _divided(self) -> bool:
        return self.state.template.workload and self.state.placement.divided

    @property
    def cluster(self) -> Cluster:
        return self.state.inventory.clusters[self.position]

    def winning(self) -> Proposals:
        # Some filters always pass current targets, so they are asked as if the member did not have
        # the object.
        unplaced = attrs.evolve(self.state, memory=attrs.evolve(self.state.memory, clusters={}))
        profile = PROFILE.extended(self.scheduled.plugins)
        found, stopped = passing_changes(profile, unplaced, self.position)
        for group, first in self._other_groups():
            others, _ = passing_changes(profile, attrs.evolve(unplaced, group=group), self.position)
            # Karmada tries a group before the one in use first anyway, as long as it has not
            # settled on a later one.
            found = (*found, *others, *((first, *change) for change in others))
        boosts = (*scoring_ladders(profile, unplaced, self.position, more=True), *self._boosts())
        return Proposals(
            tuple(sorted(found, key=len)),
            tuple(filter(None, boosts)),
            stopped="" if found else stopped,
        )

    def losing(self) -> Proposals:
        profile = PROFILE.extended(self.scheduled.plugins)
        ladders = [
            *stopping_ladders(profile, self.state, self.position),
            *scoring_ladders(profile, self.state, self.position, more=False),
            *self._groups(-1),
            tuple(less_room(self.cluster, self.state.template.requests) if self._divided else ()),
        ]
        return Proposals(losing=tuple(filter(None, ladders)))

    def _boosts(self) -> Iterator[Ladder]:
        yield from self._groups(1)
        if self._divided:
            yield tuple(
                more_room(self.cluster, self.state.template.requests, self.state.template.replicas)
            )
            yield tuple(self._weights())

    def _groups(self, sign: int) -> Iterator[Ladder]:
        """Yield more groups, or fewer, of each spread constraint."""
        for place, constraint in enumerate(self.state.placement.spread_constraints):
            # Not below minGroups, since admission refuses a smaller maxGroups, nor 0, with which
            # nothing is selected.
            numbers = (
                range(constraint.max_groups + 1, len(self.state.inventory) + 1)
                if sign > 0
                else range(constraint.max_groups - 1, max(1, constraint.min_groups) - 1, -1)
            )
            by = constraint.spread_by_field or constraint.spread_by_label
            field = (*_PLACEMENT, "spreadConstraints", place, "maxGroups")
            yield tuple(
                (FieldEdit(POLICY, SET, field, n, f"with maxGroups {n} of spreadByField {by}"),)
                for n in numbers
            )

    def _weights(self) -> Iterator[tuple[FieldEdit, ...]]:
        """Yield weights for a member that no rule of the static weights selects."""
        scheduling = self.state.placement.replica_scheduling
        preference = scheduling.weight_preference if scheduling else None
        if (
            scheduling is None
            or preference is None
            or scheduling.replica_division_preference == AGGREGATED
        ):
            return
        rules = preference.static_weight_list
        chosen = any(
            has(matching(self.state.inventory, rule.target_cluster), self.position)
            for rule in rules
        )
        if preference.dynamic_weight or not rules or chosen:
            return
        for weight in range(1, sum(rule.weight for rule in rules) + 1):
            value = {"targetCluster": {"clusterNames": [self.cluster.name]}, "weight": weight}
            yield (FieldEdit(POLICY, ADD, _WEIGHTS, value, f"with a static weight of {weight}"),)

    def _other_groups(self) -> Iterator[tuple[ClusterAffinityTerm, FieldEdit]]:
        """Yield the other affinity groups that select the member, each with the edit that it is
        tried first.
        """
        terms = self.state.placement.cluster_affinities
        for group in terms:
            if group is not self.state.group and has(
                matching(self.state.inventory, group), self.position
            ):
                value = [encode(group), *(encode(term) for term in terms if term is not group)]
                field = (*_PLACEMENT, "clusterAffinities")
                yield (
                    group,
                    FieldEdit(
                        POLICY,
                        SET,
                        field,
                        value,
                        f"with the affinity group {group.affinity_name} first",
                    ),
                )


# Room for replicas on a member, as changes of what is allocatable there.


_PODS, _CPU = "pods", "cpu"
_MOST = 50
"""Number of further replicas for which room is proposed."""
_BINARY = ("Ti", "Gi", "Mi", "Ki")


def more_room(
    cluster: Cluster, requests: Mapping[str, str] | None, replicas: int
) -> Iterator[Edits]:
    """Yield the fewest amounts with which one more replica fits on a member, then one more, up to
    all of them.
    """
    summary, taken = _countable(cluster), _taken(requests)
    if summary is None:
        return
    for number in range(1, min(replicas, _MOST) + 1):
        lacking = {
            name: amount * number - free_amount(summary, name) for name, amount in taken.items()
        }
        change = tuple(
            _changed(cluster, name, units) for name, units in lacking.items() if units > 0
        )
        if change:
            yield change


def less_room(cluster: Cluster, requests: Mapping[str, str] | None) -> Iterator[Edits]:
    """Yield smaller and smaller amounts of what runs out first on a member, down to nothing that is
    free.
    """
    summary, taken = _countable(cluster), _taken(requests)
    if summary is None:
        return
    fits = {name: max(0, free_amount(summary, name)) // amount for name, amount in taken.items()}
    # Never empty, since every replica takes a pod.
    name = min(fits, key=lambda fit: fits[fit])
    for number in range(min(fits[name], _MOST) - 1, -1, -1):
        yield (_changed(cluster, name, number * taken[name] - free_amount(summary, name)),)


def _countable(cluster: Cluster) -> ResourceSummary | None:
    """Return the summary of a member whose room is the sum over its nodes; None where their grades
    decide.
    """
    summary = cluster.resource_summary
    if summary is None or summary.nodes_by_grade:
        return None
    amounts = (summary.allocatable, summary.allocated, summary.allocating)
    return (
        summary
        if all(map(is_quantity, chain.from_iterable(amount.values() for amount in amounts)))
        else None
    )


def _taken(requests: Mapping[str, str] | None) -> dict[str, int]:
    """Return what a replica takes, in whole units: thousandths for cpu."""
    return {**(Replica(requests).taken if requests else {}), _PODS: 1}


def _changed(cluster: Cluster, name: str, units: int) -> FieldEdit:
    """Return the edit that makes some units more of a resource allocatable, or less."""
    assert cluster.resource_summary is not None
    old = cluster.resource_summary.allocatable.get(name)
    # Whole units, since free amounts are rounded up to them.
    free, used = free_amount(cluster.resource_summary, name), _used(cluster.resource_summary, name)
    value = _written(name, used + free + units if old is not None else units)
    words = (
        f"with {_shown(name, abs(units))} {'more' if units > 0 else 'less'} {_noun(name, units)}"
        " free"
    )
    return FieldEdit(
        MEMBER, SET, ("status", "resourceSummary", "allocatable", name), value, words, cluster.name
    )


def _used(summary: ResourceSummary, name: str) -> int:
    """Return what is in use, in whole units, rounded up: with an amount of it allocatable nothing
    is free.
    """
    return -free_amount(ResourceSummary({name: "0"}, summary.allocated, summary.allocating), name)


def _written(name: str, units: int) -> str:
    if name == _CPU:
        return str(units // 1000) if units % 1000 == 0 else f"{units}m"
    return _shown(name, units)


def _shown(name: str, units: int) -> str:
    if name == _CPU:
        return f"{units / 1000:g}"
    for place, suffix in enumerate(_BINARY):
        size = 1024 ** (len(_BINARY) - place)
        if name == "memory" and units and units % size == 0:
            return f"{units // size}{suffix}"
    return str(units)


def _noun(name: str, units: int) -> str:
    if name == _PODS:
        return "pod" if abs(units) == 1 else "pods"
    return ("CPU" if abs(units) <= 1000 else "CPUs") if name == _CPU else name
