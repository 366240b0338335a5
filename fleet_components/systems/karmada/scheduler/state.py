"""Input of the Karmada plug-ins during one run of the algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product

import attrs

from fleet_components.model.cluster import Taint
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.selector import Requirement
from fleet_components.scheduler.edit import (
    ADD,
    MEMBER,
    Edits,
    FieldEdit,
    Ladder,
    add_taint,
    drop_taint,
    set_field,
    tolerate,
)
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    ClusterAffinityTerm,
    FieldSelector,
    Placement,
)
from fleet_components.systems.karmada.model.template import Estimates, Template


@attrs.frozen
class KarmadaState:
    """State of one run of the algorithm.

    Attributes:
        inventory: the fleet.
        template: the template to place.
        placement: where it may go.
        memory: the past decision.
        estimates: how many replicas the members can take.
        rebalances: the names of the requested rebalances.
        empty_workloads: whether selected members get the object even with 0 replicas.
        group: the affinity group to try; None if the placement has no groups.
    """

    inventory: Inventory
    template: Template
    placement: Placement
    memory: TemplateMemory = TemplateMemory()
    estimates: Estimates = Estimates()
    rebalances: frozenset[str] = frozenset()
    empty_workloads: bool = False
    group: ClusterAffinityTerm | None = None

    @cached_property
    def targets(self) -> Mask:
        """Members that have the object now."""
        return self.inventory.mask_of_names(self.memory.clusters)

    @property
    def placed(self) -> Mask:
        """Members that have the object now."""
        return self.targets

    @cached_property
    def assigned(self) -> list[int]:
        """Replicas that each member has now, by position."""
        column = [0] * len(self.inventory)
        for name, replicas in self.memory.clusters.items():
            position = self.inventory.position(name)
            if position is not None:
                column[position] = replicas
        return column

    @property
    def fresh(self) -> bool:
        """True if a rebalance asks for a division from scratch; always False before the first
        success.
        """
        return self.memory.scheduled and not self.rebalances <= set(self.memory.rebalances)

    @property
    def affinities(self) -> tuple[ClusterAffinity, ...]:
        """Affinities of which a member must match one: that of the placement or group, then the
        overflow affinities.

        Overflow affinities apply to workloads only.
        """
        if self.placement.cluster_affinity:
            return (self.placement.cluster_affinity,)
        if self.group is None:
            return ()
        # Without replicas nothing can overflow, so such an object stays with the primary affinity,
        # as in Karmada.
        return (
            (self.group, *self.group.overflow_affinities)
            if self.template.workload
            else (self.group,)
        )

    @cached_property
    def selected(self) -> Mask:
        """Members that match one of the affinities; all members if there are no affinities."""
        if not self.affinities:
            return self.inventory.everything
        selected = 0
        for affinity in self.affinities:
            selected |= matching(self.inventory, affinity)
        return selected


# Evaluation of Karmada's cluster affinities as masks over the fleet.


_ZONE = "zone"


def matching(inventory: Inventory, affinity: ClusterAffinity) -> Mask:
    """Return the members that the affinity selects. An invalid selector selects nothing and is not
    an error.
    """
    labels = affinity.label_selector.requirements() if affinity.label_selector else ()
    fields = affinity.field_selector or FieldSelector()
    if not all(requirement.valid for requirement in (*labels, *_single_valued(fields))):
        return 0
    matched = inventory.matching(affinity.label_selector)
    for requirement in fields.match_expressions:
        matched &= meeting_field(inventory, requirement)
    if affinity.cluster_names:
        matched &= inventory.mask_of_names(affinity.cluster_names)
    return matched & ~inventory.mask_of_names(affinity.exclude) if affinity.exclude else matched


def zones(inventory: Inventory) -> Mapping[str, Mask]:
    """Return the members of each zone; a member may be in several zones."""
    return inventory.grouped(_ZONE, lambda cluster: cluster.zones)


def regions(inventory: Inventory) -> Mapping[str, Mask]:
    """Return the members of each region; members without a region are left out."""
    return inventory.grouped("region", lambda cluster: filter(None, [cluster.region]))


def providers(inventory: Inventory) -> Mapping[str, Mask]:
    """Return the members of each provider; members without a provider are left out."""
    return inventory.grouped("provider", lambda cluster: filter(None, [cluster.provider]))


FIELDS = {_ZONE: zones, "region": regions, "provider": providers}
"""Function that groups the members by value, for each field that a field selector accepts."""


def _single_valued(fields: FieldSelector) -> list[Requirement]:
    """Return the expressions that Karmada treats as label expressions; it does not validate those
    on zones.
    """
    return [requirement for requirement in fields.match_expressions if requirement.key != _ZONE]


def meeting_field(inventory: Inventory, requirement: Requirement) -> Mask:
    """Return the members that meet one expression of a field selector."""
    domains = FIELDS[requirement.key](inventory) if requirement.key in FIELDS else {}
    found = inventory.meeting(requirement, domains)
    if (requirement.key, requirement.operator) == (_ZONE, "In"):
        for zone, members in domains.items():
            found &= (
                inventory.everything
                if zone in requirement.values
                else ~(members & _in_all_zones(inventory))
            )
    return found


def _in_all_zones(inventory: Inventory) -> Mask:
    """Return the members of which all zones have to be among those that are asked for."""
    # A list times a boolean: one group name if True, none if False.
    return inventory.grouped("in all zones", lambda cluster: ["yes"] * cluster.in_all_zones).get(
        "yes", 0
    )


# APIEnablement: a new member must serve the API of the template.


class APIEnablement(Filter[KarmadaState]):
    """Filter that rejects members without the API; members that have the object already always
    pass.
    """

    name = "APIEnablement"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return current targets and the candidates that serve the API. A member without API data
        serves every API.
        """
        return candidates & (state.targets | _serving(state))

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) did not have the API resource"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield that the member serves the API."""
        template, member = state.template, state.inventory.names[position]
        value = {"groupVersion": template.api_version, "resources": [{"kind": template.kind}]}
        words = f"with the API {template.api_version} {template.kind} served there"
        yield (FieldEdit(MEMBER, ADD, ("status", "apiEnablements"), value, words, member),)


def _serving(state: KarmadaState) -> Mask:
    api = (state.template.api_version, state.template.kind)
    return state.inventory.column(
        ("api", api), lambda: state.inventory.mask_of(lambda cluster: cluster.serves(*api))
    )


# SpreadConstraint: a member must have every property that the constraints spread by.


_PROPERTIES = {
    "provider": (providers, "provider"),
    "region": (regions, "region"),
    "zone": (zones, "zones"),
}


class SpreadConstraint(Filter[KarmadaState]):
    """Filter that rejects members without region, zones or provider if the placement spreads by
    these.
    """

    name = "SpreadConstraint"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates that have every property that is spread by."""
        for field in _fields(state):
            candidates &= _having(state, field)
        return candidates

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text for the first missing property, in the order of the constraints."""
        return f"cluster(s) did not have {_PROPERTIES[self._missing(state, position)][1]} property"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield for each value that other members have that this one declares it."""
        missing = [field for field in _fields(state) if not _having(state, field) >> position & 1]
        known = [_PROPERTIES[field][0](state.inventory) for field in missing]
        for values in product(*known):
            yield tuple(
                set_field(state.inventory.clusters[position], field, value)
                for field, value in zip(missing, values, strict=True)
            )

    def _missing(self, state: KarmadaState, position: int) -> str:
        # Only called for members that the filter stops, so a property is missing.
        return next(field for field in _fields(state) if not _having(state, field) >> position & 1)


def _fields(state: KarmadaState) -> list[str]:
    constraints = state.placement.spread_constraints
    return [
        constraint.spread_by_field
        for constraint in constraints
        if constraint.spread_by_field in _PROPERTIES
    ]


def _having(state: KarmadaState, field: str) -> Mask:
    having = 0
    for members in _PROPERTIES[field][0](state.inventory).values():
        having |= members
    return having


# TaintToleration: NoSchedule and NoExecute taints of a new member must be tolerated.


_EFFECTS = ("NoSchedule", "NoExecute")
_TOLERATIONS = ("spec", "placement", "clusterTolerations")
_DRAINED = tuple(Taint("drained", "true", effect) for effect in _EFFECTS)
"""Taints as somebody may set them to keep a member free, or to free it."""


class TaintToleration(Filter[KarmadaState]):
    """Filter that rejects members with an untolerated taint; members that have the object already
    always pass.
    """

    name = "TaintToleration"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates whose taints are all tolerated, for however short a time, and
        current targets.
        """
        for taint, tainted in state.inventory.taints.items():
            if _repels(state, taint):
                candidates &= ~tainted | state.targets
        return candidates

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text for the first untolerated taint, in spec order."""
        # Only called for members that the filter stops, so there is such a taint.
        taint = self._untolerated(state, position)[0]
        value = f"={taint.value}" if taint.value else ""
        return f"cluster(s) had untolerated taint {{{taint.key}{value}:{taint.effect}}}"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield that the taints go, and that they are tolerated."""
        member, taints = state.inventory.names[position], self._untolerated(state, position)
        yield tuple(drop_taint(member, taint) for taint in taints)
        yield tuple(tolerate(_TOLERATIONS, taint) for taint in taints)

    def stopping(self, state: KarmadaState, position: int) -> Iterable[Ladder]:
        """Yield that the member gets a taint that is not tolerated: for what is new, then for what
        stands as well.
        """
        member = state.inventory.names[position]
        yield tuple((add_taint(member, taint),) for taint in _DRAINED if _repels(state, taint))

    def _untolerated(self, state: KarmadaState, position: int) -> list[Taint]:
        return [
            taint for taint in state.inventory.clusters[position].taints if _repels(state, taint)
        ]


def _repels(state: KarmadaState, taint: Taint) -> bool:
    return taint.effect in _EFFECTS and not state.placement.tolerations.of(taint)
