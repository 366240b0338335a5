"""ClusterEligibility: the member must be in the fleet, connected, joined, and not unhealthy for
long.

Source: KubeFleet v0.3.1, ``pkg/scheduler/clustereligibilitychecker/checker.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import POLICY, SET, Edits, FieldEdit, set_label
from fleet_components.scheduler.framework import Filter, PostBatch, PreFilter, PreScore, Score
from fleet_components.systems.kubefleet.model.placement import TopologySpreadConstraint
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

# Minutes without a heartbeat, or with an unhealthy agent, that are tolerated.
_PATIENCE = 5
_NEVER = (2**63 - 1) / 6e10
"""Largest duration that Go can represent, in minutes: what KubeFleet computes for a time that is
missing.
"""
_UNCONNECTED = "cluster is not connected to the fleet: "


class ClusterEligibility(Filter[KubeFleetState]):
    """Filter that rejects members that cannot take objects at the inventory's ``as_of``."""

    name = "ClusterEligibility"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the eligible candidates."""
        return candidates & eligible(state.inventory)

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return why the member is not eligible."""
        return ineligibility(state.inventory.clusters[position], state.inventory.as_of)

    def remedy(self, state: KubeFleetState, position: int) -> str:
        """Return what would make the member eligible."""
        cluster = state.inventory.clusters[position]
        return (
            "it is leaving the fleet for good"
            if cluster.leaving
            else "its member agent reports again, healthy"
        )


def eligible(inventory: Inventory) -> Mask:
    """Return the members that are eligible for resource placement."""
    return inventory.column("kubefleet eligible", lambda: _eligible(inventory))


def _eligible(inventory: Inventory) -> Mask:
    as_of = inventory.as_of
    return masks.from_flags(
        bytes(not ineligibility(cluster, as_of) for cluster in inventory.clusters)
    )


def ineligibility(cluster: Cluster, as_of: datetime | None) -> str:
    """Return why a member is not eligible, in KubeFleet's words; empty if it is. Without ``as_of``
    nothing expires.
    """
    if cluster.leaving:
        return "cluster has left the fleet"
    agent = cluster.agent
    if agent is None:
        return _UNCONNECTED + "member agent not online yet"
    # A declared member has no agent that could send heartbeats, and must not count as silent.
    awaits = cluster.observed and not agent.timeless
    if as_of and awaits and (ago := _minutes(agent.heartbeat, as_of)) > _PATIENCE:
        return _UNCONNECTED + f"no recent heartbeat signals (last received {ago:.2f} minutes ago)"
    if not agent.joined:
        return _UNCONNECTED + "member agent not joined yet"
    if agent.healthy is None:
        return _UNCONNECTED + "health condition from member agent is not available"
    if as_of and not agent.healthy and (ago := _minutes(agent.health_since, as_of)) > _PATIENCE:
        return (
            _UNCONNECTED
            + f"unhealthy for a prolonged period of time (last transitioned {ago:.2f} minutes ago)"
        )
    return ""


def _minutes(since: datetime | None, as_of: datetime) -> float:
    return _NEVER if since is None else min((as_of - since) / timedelta(minutes=1), _NEVER)


# TopologySpreadConstraints: keeps the picked members evenly distributed over the values of a
# label.


# ``maxSkewViolationPenality`` in topologyspreadconstraints/plugin.go of KubeFleet v0.3.1.
_VIOLATED_SCORE = -1000
_MOST_SKEW = 3
"""Number from which on a higher maxSkew is not tried."""


@attrs.frozen
class _Domain:
    """One value of a topology key, with its members and the effect of one more pick in it."""

    value: str
    members: Mask
    picked: int
    skew_change: int
    violated: bool


SPREAD = "topologySpread"
"""The part of a score that keeps the picks evenly distributed."""


class TopologySpread(
    PostBatch[KubeFleetState],
    PreFilter[KubeFleetState],
    Filter[KubeFleetState],
    PreScore[KubeFleetState],
    Score[KubeFleetState],
):
    """Filter by the DoNotSchedule constraints and score by all constraints, using the counts of the
    current cycle.
    """

    name = "TopologySpreadConstraints"
    part = SPREAD
    counts_picks = True

    def batch(self, state: KubeFleetState, wanted: int) -> int:
        """Return 1 if there are constraints: every pick changes the counts."""
        return min(wanted, 1) if state.policy.topology_spread_constraints else wanted

    def pre_filter(self, state: KubeFleetState) -> bool:
        """Skip the filter if there are no constraints."""
        return bool(state.policy.topology_spread_constraints)

    def pre_score(self, state: KubeFleetState) -> bool:
        """Skip the score if there are no constraints."""
        return bool(state.policy.topology_spread_constraints)

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates where one more pick violates no DoNotSchedule constraint."""
        for constraint in _hard(state):
            for domain in _domains(state, constraint):
                if domain.violated:
                    candidates &= ~domain.members
        return candidates

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return the text for the first violated constraint."""
        # Only called for members that the filter stops, so a constraint is violated.
        constraint, _ = next(
            (constraint, domain)
            for constraint in _hard(state)
            for domain in _domains(state, constraint)
            if domain.violated and domain.members >> position & 1
        )
        key, skew = constraint.topology_key, constraint.max_skew
        return f'violated doNotSchedule topology spread constraint "{key}" (max skew {skew})'

    def remedy(self, state: KubeFleetState, position: int) -> str:
        """Return what would help, with the current distribution of the picks."""
        shown = []
        for constraint in _hard(state):
            counts = ", ".join(f'"{d.value}": {d.picked}' for d in _domains(state, constraint))
            shown.append(f"{constraint.topology_key} has picks in {{{counts}}}")
        return "a higher maxSkew, or picks elsewhere first: " + "; ".join(shown)

    def admitting(self, state: KubeFleetState, position: int) -> Iterable[Edits]:
        """Yield another value of the member's label, and that the constraints only count as
        preferences.
        """
        cluster, violated = (
            state.inventory.clusters[position],
            list(self._violated(state, position)),
        )
        for constraint in violated:
            key = constraint.topology_key
            free = sorted(
                (d for d in _domains(state, constraint) if not d.violated), key=lambda d: d.picked
            )
            for domain in free[:1]:
                yield (set_label(cluster.name, key, domain.value, cluster.labels[key]),)
        for skew in range(1, _MOST_SKEW):
            yield tuple(
                _with_skew(state, constraint, constraint.max_skew + skew) for constraint in violated
            )

    def _violated(self, state: KubeFleetState, position: int) -> Iterator[TopologySpreadConstraint]:
        for constraint in _hard(state):
            if any(d.violated and d.members >> position & 1 for d in _domains(state, constraint)):
                yield constraint

    def scores(self, state: KubeFleetState, candidates: Mask) -> Mapping[int, Mask]:
        """Return the candidates by score: minus the skew change per constraint, -1000 for a
        violated constraint.
        """
        groups: dict[int, Mask] = {0: candidates}
        for constraint in state.policy.topology_spread_constraints:
            groups = _add(groups, _domains(state, constraint))
        return groups

    def words(self, state: KubeFleetState, position: int) -> str:
        """Describe the effect of one more pick on this member for each constraint."""
        parts = []
        for constraint in state.policy.topology_spread_constraints:
            domain = next(
                (d for d in _domains(state, constraint) if d.members >> position & 1), None
            )
            parts.append(f"{constraint.topology_key}: {_show(domain)}")
        return "; ".join(parts)


def _with_skew(state: KubeFleetState, constraint: TopologySpreadConstraint, skew: int) -> FieldEdit:
    place = state.policy.topology_spread_constraints.index(constraint)
    field = ("spec", "policy", "topologySpreadConstraints", place, "maxSkew")
    return FieldEdit(POLICY, SET, field, skew, f"with maxSkew {skew} for {constraint.topology_key}")


def _hard(state: KubeFleetState) -> list[TopologySpreadConstraint]:
    constraints = state.policy.topology_spread_constraints
    # Anything else is DoNotSchedule, as in KubeFleet (``classifyConstraints`` in utils.go).
    return [c for c in constraints if c.when_unsatisfiable != "ScheduleAnyway"]


def _domains(state: KubeFleetState, constraint: TopologySpreadConstraint) -> tuple[_Domain, ...]:
    # The counts depend on the picks, which are part of the key for that reason.
    return state.once((constraint, state.present), lambda: _count(state, constraint))


def _count(state: KubeFleetState, constraint: TopologySpreadConstraint) -> tuple[_Domain, ...]:
    # Members that cannot be picked form domains too, so a domain without any candidate keeps the
    # minimum at 0.
    members = state.inventory.domains(constraint.topology_key)
    picked = {value: (mask & state.present).bit_count() for value, mask in members.items()}
    counts = sorted(picked.values())
    domains = []
    for value, mask in members.items():
        change = _skew_change(picked[value], counts)
        # The skew itself, not its growth: once it exceeds the maximum, a pick that leaves it as it
        # is violates too.
        violated = counts[-1] - counts[0] + change > constraint.max_skew
        domains.append(_Domain(value, mask, picked[value], change, violated))
    return tuple(domains)


def _skew_change(count: int, counts: list[int]) -> int:
    least, most = counts[0], counts[-1]
    second = counts[1] if len(counts) > 1 else least
    # KubeFleet's approximation (``willViolate`` in topologyspreadconstraints/utils.go, v0.3.1):
    # with a single domain every pick counts as 1 more, although no skew can arise there.
    if least == most:
        return 1
    if count == least and least != second:
        return -1
    return 1 if count == most else 0


def _add(groups: Mapping[int, Mask], domains: tuple[_Domain, ...]) -> dict[int, Mask]:
    by_score: dict[int, Mask] = {}
    for domain in domains:
        score = _VIOLATED_SCORE if domain.violated else -domain.skew_change
        by_score[score] = by_score.get(score, 0) | domain.members
    labelled = 0
    for members in by_score.values():
        labelled |= members
    summed: dict[int, Mask] = {}
    for score, mask in groups.items():
        parts = [(change, mask & members) for change, members in by_score.items()] + [
            (0, mask & ~labelled)
        ]
        for change, part in parts:
            if part:
                summed[score + change] = summed.get(score + change, 0) | part
    return summed


def _show(domain: _Domain | None) -> str:
    if domain is None:
        return "has no such label, 0"
    change = _VIOLATED_SCORE if domain.violated else -domain.skew_change
    return f'"{domain.value}" has {domain.picked} picked, {change:+d}'
