"""Explains why each member of the fleet is in a placement or not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from fleet_components.model.decision import Decision
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import has
from fleet_components.model.text import count
from fleet_components.scheduler.explain import (
    MemberExplanation,
    filter_verdict,
    filter_verdicts,
    passing_all,
    score_verdicts,
)
from fleet_components.scheduler.framework import AFFINITY, Plugin, Profile, Verdict
from fleet_components.systems.kubefleet.model.memory import UNSCHEDULED, Binding, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
)
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import (
    SPREAD,
    ClusterEligibility,
)
from fleet_components.systems.kubefleet.scheduler.profile import PROFILE
from fleet_components.systems.kubefleet.scheduler.state import OBSOLETE, KubeFleetState

_UNLIMITED = PlacementPolicy(PICK_ALL)


def explain(
    inventory: Inventory,
    policy: PlacementPolicy | None,
    decision: Decision[PlacementMemory],
    *,
    namespace: str = "",
    members: Collection[str] | None = None,
    plugins: Iterable[Plugin] = (),
) -> tuple[MemberExplanation, ...]:
    """Explain a decision for every member of the fleet, by name; members that have left come last.

    Args:
        inventory: the fleet that was scheduled on.
        policy: the policy that was scheduled.
        decision: the outcome of scheduling.
        namespace: the namespace of a ResourcePlacement.
        members: the members to explain; all by default.
        plugins: the plug-ins that decided with KubeFleet's.
    """
    policy, bindings = policy or _UNLIMITED, decision.memory.bindings
    selected = inventory.mask_of_names(n for n, b in bindings.items() if b.state != UNSCHEDULED)
    state = KubeFleetState(inventory, policy, namespace, present=selected)
    shown = inventory.names if members is None else members
    ask = (
        _fixed
        if policy.placement_type == PICK_FIXED
        else _asking(PROFILE.extended(plugins), state, shown)
    )
    known = [
        _explain(state, position, bindings.get(name), ask, decision.error)
        for position, name in enumerate(inventory.names)
        if members is None or name in members
    ]
    gone = [
        MemberExplanation(name, False, "no longer a member of the fleet, so it cannot be picked")
        for name in sorted(bindings)
        if inventory.position(name) is None and (members is None or name in members)
    ]
    return (*known, *gone)


Ask = Callable[[KubeFleetState, int], tuple[Verdict, ...]]


def _explain(
    state: KubeFleetState, position: int, binding: Binding | None, ask: Ask, error: str
) -> MemberExplanation:
    name, selected = state.inventory.names[position], has(state.present, position)
    # A failed cycle leaves bindings alone, so only members without one are undecided.
    if error and binding is None:
        return MemberExplanation(name, False, f"nothing could be decided: {error}")
    verdicts = ask(state, position)
    if binding is None or not selected:
        return MemberExplanation(name, False, _why_not(state, verdicts), verdicts)
    return MemberExplanation(name, True, _why(binding, verdicts), verdicts)


def _fixed(state: KubeFleetState, position: int) -> tuple[Verdict, ...]:
    name = state.inventory.names[position]
    named = name in state.policy.cluster_names
    words = "named by the policy" if named else "not named by the policy"
    remedy = "" if named else f'add "{name}" to clusterNames'
    eligibility = (filter_verdict(ClusterEligibility(), state, position),) if named else ()
    return (Verdict("ClusterNames", named, words, remedy=remedy), *eligibility)


def _asking(profile: Profile, state: KubeFleetState, shown: Collection[str]) -> Ask:
    # Picked members that pass every filter have the same verdicts, which are computed once.
    alike, passes = passing_all(
        profile, state, state.present & state.inventory.mask_of_names(shown)
    )

    def ask(state: KubeFleetState, position: int) -> tuple[Verdict, ...]:
        picked = has(state.present, position)
        found_verdicts = (
            passes
            if has(alike, position)
            else filter_verdicts(profile, state, position, picked=picked)
        )
        scored = state.policy.placement_type == PICK_N
        return (
            *found_verdicts,
            *(score_verdicts(profile, state, position, picked=picked) if scored else ()),
        )

    return ask


def _why(binding: Binding, verdicts: tuple[Verdict, ...]) -> str:
    failing = [v.words for v in verdicts if v.passed is False]
    stays = f"stays although {failing[0]}" if failing else ""
    # Only PickFixed keeps no scores.
    if binding.affinity_score is None:
        return stays or "named by the policy"
    scores = (
        f"affinity score {binding.affinity_score}, topology spread score"
        f" {binding.topology_spread_score}"
    )
    picked = f"picked ({scores} when it was picked)"
    return f"{picked}; {stays}" if stays else picked


def _why_not(state: KubeFleetState, verdicts: tuple[Verdict, ...]) -> str:
    failing = [v.words for v in verdicts if v.passed is False]
    if failing:
        return failing[0]
    if state.policy.placement_type == PICK_N:
        wanted = state.policy.number_of_clusters or 0
        others = count(wanted, "other is", "others are")
        better = (
            f"{others} picked" if state.present.bit_count() >= wanted else "nothing more was picked"
        )
        return f"could take it, but {better} ({_scores(verdicts)} if it were picked now)"
    return "not picked yet; it would be with the next scheduling"


def _scores(verdicts: tuple[Verdict, ...]) -> str:
    """Return the parts of the score that the plug-ins add to: ``affinity score 3, topology spread
    score 0``.
    """
    parts: dict[str, int] = {}
    for verdict in verdicts:
        if verdict.score is not None:
            parts[verdict.part] = parts.get(verdict.part, 0) + verdict.score
    return ", ".join(f"{_PART_NAMES[part]} {score}" for part, score in parts.items())


_PART_NAMES = {
    AFFINITY: "affinity score",
    SPREAD: "topology spread score",
    OBSOLETE: "score of earlier picks",
}
