"""Explains why each member has a template or not, and how the replicas were divided."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import has
from fleet_components.model.text import count
from fleet_components.scheduler.cycle import run_filters
from fleet_components.scheduler.explain import MemberExplanation, filter_verdicts, score_verdicts
from fleet_components.scheduler.framework import Plugin, Profile, Verdict
from fleet_components.systems.karmada.model.policy import ClusterAffinityTerm, Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler.candidates import (
    Candidates,
    CycleFailure,
    NoClusterFit,
    rank,
)
from fleet_components.systems.karmada.scheduler.division import Division
from fleet_components.systems.karmada.scheduler.estimator import allocatable
from fleet_components.systems.karmada.scheduler.groups import place
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.proposals import ScheduledTemplate
from fleet_components.systems.karmada.scheduler.spread import ignores_constraints
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching
from fleet_components.systems.karmada.scheduler.status import TemplateDecision


@attrs.frozen
class TemplateExplanation:
    """Explanation of a decision on one template.

    Attributes:
        members: every member by name; those that have left the fleet come last.
        division: how the replicas were divided, in words; empty if they are not divided.
    """

    members: tuple[MemberExplanation, ...]
    division: tuple[str, ...] = ()


def explain(
    inventory: Inventory,
    template: Template,
    placement: Placement,
    decision: TemplateDecision,
    *,
    estimates: Estimates = Estimates(),
    plugins: Iterable[Plugin] = (),
) -> TemplateExplanation:
    """Explain a decision.

    Args:
        inventory: the fleet that was scheduled on.
        template: the template.
        placement: the placement that was scheduled.
        decision: the outcome of scheduling.
        estimates: how many replicas the members can take.
        plugins: the plug-ins that decided with Karmada's.
    """
    # The memory from before the decision, since members that it has chosen would count as targets.
    state = KarmadaState(inventory, template, placement, decision.before, estimates)
    names = {term.affinity_name: term for term in placement.cluster_affinities}
    # The placement may no longer have the observed group: Karmada starts at the first one then.
    state = attrs.evolve(
        state, group=names.get(decision.memory.observed_group, next(iter(names.values()), None))
    )
    members = _Members(PROFILE.extended(plugins), state, decision)
    gone = (name for name in sorted(decision.memory.clusters) if inventory.position(name) is None)
    known = [members.explain(position) for position in range(len(inventory))]
    return TemplateExplanation(
        (*known, *map(members.explain_gone, gone)), _division(state, decision)
    )


class _Members:
    """Builds the explanations of single members for one decision."""

    def __init__(self, profile: Profile, state: KarmadaState, decision: TemplateDecision) -> None:
        self.profile = profile
        self.state = state
        self.decision = decision
        self.targets = state.inventory.mask_of_names(decision.memory.clusters)
        self.can_take = allocatable(state)
        # Some filters always pass current targets, so they are asked as if the member did not have
        # the object.
        self.unplaced = attrs.evolve(state, memory=attrs.evolve(state.memory, clusters={}))
        self.reasons = dict[str, str]()
        """Reasons for which affinity groups before the one in use failed, by name."""

    def explain(self, position: int) -> MemberExplanation:
        name, selected = self.state.inventory.names[position], has(self.targets, position)
        if has(self.state.inventory.leaving, position):
            held = "; what it holds cannot be placed elsewhere yet" if selected else ""
            return MemberExplanation(name, selected, f"is leaving the fleet{held}")
        group = self.state.group if selected else self._group_of(position)
        verdicts = (
            *filter_verdicts(self.profile, attrs.evolve(self.unplaced, group=group), position),
            *score_verdicts(self.profile, self.state, position),
            *self._capacity(position),
        )
        summary = self._why(name, verdicts) if selected else self._why_not(verdicts, group)
        return MemberExplanation(name, selected, summary, verdicts)

    def _group_of(self, position: int) -> ClusterAffinityTerm | None:
        """Return the first affinity group that selects a member, the one that Karmada tries first;
        that in use if none does.
        """
        inventory, terms = self.state.inventory, self.state.placement.cluster_affinities
        selecting = (term for term in terms if has(matching(inventory, term), position))
        return next(selecting, self.state.group)

    def _why_not_group(self, group: ClusterAffinityTerm) -> str:
        """Return why an affinity group other than the one in use has not got the template."""
        if group.affinity_name not in self.reasons:
            terms, used = self.state.placement.cluster_affinities, self.state.group
            name, in_use = group.affinity_name, used.affinity_name if used else ""
            if used in terms and terms.index(used) < terms.index(group):
                words = f"its affinity group {name} comes after {in_use}, which is in use"
            else:
                words = (
                    self._failure(group)
                    or f"Karmada never goes back to its affinity group {name} from {in_use}"
                )
            self.reasons[group.affinity_name] = words
        return self.reasons[group.affinity_name]

    def _failure(self, group: ClusterAffinityTerm) -> str:
        """Return Karmada's message where a group cannot take the template; empty if it can."""
        try:
            place(self.profile, attrs.evolve(self.unplaced, group=group))
        except NoClusterFit:
            return f"no member of its affinity group {group.affinity_name} passes every filter"
        except CycleFailure as failure:
            return f"its affinity group {group.affinity_name} cannot take it: {failure}"
        return ""

    def explain_gone(self, name: str) -> MemberExplanation:
        return MemberExplanation(
            name, True, "gone from the fleet; what it held cannot be placed elsewhere yet"
        )

    def _capacity(self, position: int) -> tuple[Verdict, ...]:
        if not self.state.template.replicas:
            return ()
        free, held = self.can_take[position], self.state.assigned[position]
        words = f"can take {count(free, 'more replica' if held else 'replica')}"
        return (Verdict("Capacity", None, words, free),)

    def _why(self, name: str, verdicts: tuple[Verdict, ...]) -> str:
        replicas, wanted = self.decision.memory.clusters[name], self.state.template.replicas
        share = (
            f"has {replicas} of {count(wanted, 'replica')}"
            if self.state.template.workload
            else "has the object"
        )
        # Not falsy: the verdict of a score has None.
        failing = [verdict.words for verdict in verdicts if verdict.passed is False]
        return f"{share}; stays although {failing[0]}" if failing else share

    def _why_not(self, verdicts: tuple[Verdict, ...], group: ClusterAffinityTerm | None) -> str:
        failing = [verdict.words for verdict in verdicts if verdict.passed is False]
        condition = self.decision.status.condition
        if failing:
            return failing[0]
        if group is not None and group is not self.state.group:
            return self._why_not_group(group)
        if condition and condition.status != "True":
            return f"could take it, but nothing could be decided: {condition.message}"
        others = count(len(self.decision.memory.clusters), "other is", "others are")
        return f"could take it, but {others} chosen"


def _division(state: KarmadaState, decision: TemplateDecision) -> tuple[str, ...]:
    if not (state.template.workload and state.placement.divided):
        return ()
    if decision.status.divisions:
        return tuple(division.words for division in decision.status.divisions)
    clusters = decision.memory.clusters
    shares = ", ".join(str(replicas) for replicas in clusters.values())
    replicas = count(sum(clusters.values()), "replica")
    return (f"{replicas} over {', '.join(clusters)} as before: {shares}",) if clusters else ()


# Says why a member that a template could go to does not get it: by rank, or by its share of the
# replicas.


def compare(scheduled: ScheduledTemplate, divisions: Iterable[Division], cluster: str) -> str:
    """Return what a member that passes every filter lost to; empty where nothing of that decides.

    Args:
        scheduled: the decision.
        divisions: how the replicas were divided.
        cluster: the member.
    """
    if cluster in scheduled.clusters:
        return ""
    for division in divisions:
        if division.weights.get(cluster) and not division.shares.get(cluster):
            replicas, total = count(division.amount, "replica"), sum(division.weights.values())
            return (
                f"gets none of {replicas}: its share is {division.weights[cluster]} of {total}"
                f" {division.basis}"
            )
    return _outranked(scheduled, cluster)


def _outranked(scheduled: ScheduledTemplate, cluster: str) -> str:
    """Compare a member with the last of those that a spread constraint by cluster leaves."""
    state, position = scheduled.state, scheduled.inventory.position(cluster)
    fields = [constraint.spread_by_field for constraint in state.placement.spread_constraints]
    if position is None or fields != ["cluster"] or ignores_constraints(state.placement):
        return ""
    profile = PROFILE.extended(scheduled.plugins)
    passed = run_filters(
        profile, state, state.inventory.everything & ~state.inventory.leaving
    ).passed
    candidates = rank(profile, state, passed)
    # There is exactly one constraint, as checked above.
    most = state.placement.spread_constraints[0].max_groups
    chosen = [state.inventory.names[at] for at in candidates.order[:most]]
    # Karmada may swap in larger members, and then ranks say nothing.
    if not masks.has(passed, position) or not chosen or set(chosen) != set(scheduled.clusters):
        return ""
    # Within the order: if there were no more than `most` candidates, the member would be chosen.
    return _Pair(candidates, candidates.order[most - 1], position, chosen[-1]).words


@attrs.frozen
class _Pair:
    candidates: Candidates
    better: int
    position: int
    other: str

    @property
    def words(self) -> str:
        theirs, ours = self.better, self.position
        if self.candidates.tiers[theirs] != self.candidates.tiers[ours]:
            return f"lost to {self.other}, of an affinity that comes first"
        points = self.candidates.scores[theirs] - self.candidates.scores[ours]
        if points:
            return (
                f"lost to {self.other} by {count(points, 'point')}: those that have the object come"
                " first"
            )
        room = self.candidates.available
        if room[theirs] != room[ours]:
            return (
                f"lost to {self.other}, which can take {count(room[theirs], 'replica')}, not"
                f" {room[ours]}"
            )
        return f"lost to {self.other}: equally good, and the first name goes first"
