"""The three placement types: all members, a fixed list, or the N best.

Source of the rules: KubeFleet v0.3.1, ``pkg/scheduler/framework/framework.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import or_

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.decision import ClusterDecision, ClusterScore, Condition, Status
from fleet_components.model.mask import Mask
from fleet_components.scheduler.cycle import (
    Filtered,
    batch_size,
    best_first,
    reason_of,
    run_filters,
    run_scores,
)
from fleet_components.scheduler.framework import AFFINITY, Profile
from fleet_components.systems.kubefleet.model.memory import Binding
from fleet_components.systems.kubefleet.model.placement import PICK_FIXED, PICK_N
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import SPREAD, ineligibility
from fleet_components.systems.kubefleet.scheduler.state import (
    Bindings,
    BoundNames,
    KubeFleetState,
    Pick,
)


def pick(profile: Profile, state: KubeFleetState, bindings: Bindings) -> Status | None:
    """Run scheduling cycles until the policy is satisfied or nothing more can be picked.

    Args:
        profile: the plug-ins.
        state: the fleet and the policy.
        bindings: the bindings of the placement; modified in place.

    Returns:
        The new status; None if the real scheduler writes none.

    Raises:
        SchedulingError: a cycle fails; the bindings are as they were before that cycle.
    """
    if state.policy.placement_type == PICK_FIXED:
        return _pick_fixed(state, bindings)
    if state.policy.placement_type == PICK_N:
        return _pick_n(profile, state, bindings)
    return _pick_all(profile, state, bindings)


def observed(state: KubeFleetState, held: BoundNames) -> KubeFleetState:
    """Return the state of the next cycle, with the current bindings."""
    return state.next(
        state.inventory.mask_of_names(held.present), state.inventory.mask_of_names(held.obsolete)
    )


def _pick_all(profile: Profile, state: KubeFleetState, bindings: Bindings) -> Status:
    held = bindings.held()
    state = observed(state, held)
    filtered = _filtered(profile, state)
    # KubeFleet runs no score plug-in for PickAll (``runAllPluginsForPickAllPlacementType``), so
    # preferences do nothing.
    taken = bindings.take(
        Pick(state.inventory.names[p], 0, 0) for p in masks.positions(filtered.passed)
    )
    bindings.unschedule(set(held.obsolete) - set(taken.patched))
    order = [*taken.created, *taken.patched, *held.present]
    return selected_status(bindings, order, len(order), NotSelected((), _reasons(state, filtered)))


def _pick_fixed(state: KubeFleetState, bindings: Bindings) -> Status | None:
    names = state.policy.cluster_names
    if not names:
        return None  # the real scheduler skips the cycle and changes nothing
    inventory, held = state.inventory, bindings.held()
    positions = {
        name: position for name in names if (position := inventory.position(name)) is not None
    }
    why = {
        name: ineligibility(inventory.clusters[p], inventory.as_of) for name, p in positions.items()
    }
    # An empty reason means eligible; None, that there is no such member.
    valid = [name for name in names if why.get(name) == ""]
    present = set(held.present)
    bindings.take(Pick(name) for name in valid if name not in present)
    # A member that was picked under this policy keeps its binding even if it is not eligible any
    # more and is reported as not selected (``crossReferenceValidTargetsWithBindings`` in
    # frameworkutils.go, v0.3.1).
    bindings.unschedule(set(held.obsolete) - set(valid))
    invalid = [(name, reason) for name in names if (reason := why.get(name))]
    return fixed_status(valid, invalid, [name for name in names if name not in why])


def _pick_n(profile: Profile, state: KubeFleetState, bindings: Bindings) -> Status:
    wanted = state.policy.number_of_clusters or 0
    while True:
        held = bindings.held()
        missing = wanted - len(held.present)
        # No plug-in runs for a satisfied policy: members that are tainted or relabelled by now stay
        # where they are.
        if missing <= 0:
            return _trim(bindings, wanted)
        state = observed(state, held)
        batch = batch_size(profile, state, missing)
        filtered = _filtered(profile, state)
        ranking = _ranking(profile, state, filtered.passed)
        picks = list(islice(ranking, batch))
        # Only now, after all plug-ins have run: one that fails has to leave the bindings as they
        # were.
        taken = bindings.take(picks)
        bindings.unschedule(set(held.obsolete) - set(taken.patched))
        # The first cycle has already unscheduled every obsolete binding that it did not pick, so
        # later cycles do not prefer these members; KubeFleet behaves the same.
        # A cycle that picks fewer than it may has no candidates left.
        if batch < missing and len(picks) == batch:
            continue
        outscored = list(islice(ranking, MAX_NOT_SELECTED))
        order = [*taken.created, *taken.patched, *held.present]
        return selected_status(
            bindings, order, wanted, NotSelected(outscored, _reasons(state, filtered))
        )


def _trim(bindings: Bindings, wanted: int) -> Status:
    """Unschedule surplus members: scheduled ones before bound ones, the lowest stored score
    first.
    """
    scheduled, bound, obsolete = bindings.held()
    surplus = len(scheduled) + len(bound) - wanted
    # Without a change KubeFleet lists bound members before scheduled ones, after a cut the other
    # way round. Neither lists those that were not selected, since what was said about them may be
    # out of date.
    if not surplus and not obsolete:
        return selected_status(bindings, [*bound, *scheduled], wanted)
    bindings.unschedule(obsolete)
    # KubeFleet sorts only the class that it cuts through, and the status keeps that order
    # (``downscale``).
    if 0 < surplus < len(scheduled):
        scheduled = bindings.by_score(scheduled)
    elif len(scheduled) < surplus:
        bound = bindings.by_score(bound)
    bindings.unschedule([*scheduled, *bound][:surplus])
    order = [*scheduled[surplus:], *bound[max(0, surplus - len(scheduled)) :]]
    return selected_status(bindings, order, wanted)


def _filtered(profile: Profile, state: KubeFleetState) -> Filtered:
    return run_filters(profile, state, state.inventory.everything)


def _ranking(profile: Profile, state: KubeFleetState, candidates: Mask) -> Iterator[Pick]:
    """Yield the candidates, best first: the parts of the score in the profile's order, then the
    name, descending.
    """
    if not candidates:
        return
    names, parts = state.inventory.names, profile.parts
    for position, scores in best_first(run_scores(profile, state, candidates), candidates):
        score = dict(zip(parts, scores, strict=True))
        yield Pick(names[position], score[AFFINITY], score[SPREAD])


def _reasons(state: KubeFleetState, filtered: Filtered) -> list[tuple[str, str]]:
    """Return the first 20 filtered members by name, each with the reason of the first filter that
    stopped it.
    """
    reasons = []
    stopped = reduce(or_, (mask for _, mask in filtered.stopped), 0)
    for position in masks.positions(stopped)[:MAX_NOT_SELECTED]:
        plugin = filtered.stopped_by(position)
        # `stopped` has only members that one of the filters has stopped.
        assert plugin is not None
        reasons.append((state.inventory.names[position], reason_of(plugin, state, position)))
    return reasons


# The ``clusterDecisions`` list and the ``Scheduled`` condition, in KubeFleet's order and words.


# KubeFleet's limits for the list.
MAX_DECISIONS = 1000
MAX_NOT_SELECTED = 20


@attrs.frozen
class NotSelected:
    """Members to report as not selected: those that scored too low, best first, and the filtered
    ones by name.
    """

    outscored: Sequence[Pick] = ()
    filtered: Sequence[tuple[str, str]] = ()


def selected_status(
    bindings: Bindings, order: Iterable[str], wanted: int, not_selected: NotSelected = NotSelected()
) -> Status:
    """Return the status after a PickAll or PickN cycle.

    Args:
        bindings: the bindings.
        order: the selected members in the order of the list.
        wanted: how many members the policy asks for.
        not_selected: the other members, of which at most 20 are shown.
    """
    names = list(order)
    shown = [_selected(name, bindings.by_name[name]) for name in names[:MAX_DECISIONS]]
    shown += _not_selected(not_selected, set(names), max(0, MAX_DECISIONS - len(names)))
    return Status(tuple(shown), scheduled_condition(len(names) >= wanted, len(names)))


def fixed_status(
    valid: Sequence[str], invalid: Sequence[tuple[str, str]], missing: Sequence[str]
) -> Status:
    """Return the status after a PickFixed cycle: valid, ineligible and unknown names, each in the
    policy's order.
    """
    decisions = [ClusterDecision(name, True, fixed_reason(name)) for name in valid]
    decisions += [
        ClusterDecision(
            name, False, f'Cluster "{name}" is not eligible for resource placement yet: {why}'
        )
        for name, why in invalid
    ]
    decisions += [
        ClusterDecision(name, False, f'Specified cluster "{name}" is not found') for name in missing
    ]
    return Status(tuple(decisions), scheduled_condition(not invalid and not missing, len(valid)))


def scheduled_condition(fulfilled: bool, found: int) -> Condition:
    """Return the ``Scheduled`` condition of the policy snapshot."""
    if fulfilled:
        message = (
            "found all cluster needed as specified by the scheduling policy, found {} cluster(s)"
        )
        return Condition("Scheduled", "True", "SchedulingPolicyFulfilled", message.format(found))
    message = (
        "could not find all clusters needed as specified by the scheduling policy, found {}"
        " cluster(s) instead"
    )
    return Condition("Scheduled", "False", "SchedulingPolicyUnfulfilled", message.format(found))


def fixed_reason(name: str) -> str:
    """Return the text for a selected member under PickFixed."""
    return (
        f'Successfully scheduled resources for placement in "{name}": picked by scheduling policy'
    )


def _selected(name: str, binding: Binding) -> ClusterDecision:
    affinity, spread = binding.affinity_score or 0, binding.topology_spread_score or 0
    reason = (
        f'Successfully scheduled resources for placement in "{name}" (affinity score: {affinity},'
        f" topology spread score: {spread}): picked by scheduling policy"
    )
    return ClusterDecision(name, True, reason, ClusterScore(affinity, spread))


def _not_selected(others: NotSelected, selected: set[str], slots: int) -> list[ClusterDecision]:
    slots = min(slots, MAX_NOT_SELECTED)
    decisions = [_outscored(pick) for pick in others.outscored[:slots]]
    # As in KubeFleet, filtered members that are already selected use up a slot although they are
    # not listed.
    decisions += [
        ClusterDecision(name, False, f"ClusterUnschedulable, {reason}")
        for name, reason in others.filtered[: slots - len(decisions)]
        if name not in selected
    ]
    return decisions


def _outscored(pick: Pick) -> ClusterDecision:
    affinity, spread = pick.affinity_score or 0, pick.topology_spread_score or 0
    reason = (
        f'Cluster "{pick.cluster}" does not score high enough '
        f"(affinity score: {affinity}, topology spread score: {spread})"
    )
    return ClusterDecision(pick.cluster, False, reason, ClusterScore(affinity, spread))
