"""The ``clusterDecisions`` list and the ``Scheduled`` condition, in KubeFleet's order and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from fleet_components.model.decision import ClusterDecision, ClusterScore, Condition, Status
from fleet_components.systems.kubefleet.model.memory import Binding
from fleet_components.systems.kubefleet.scheduler.bindings import Bindings, Pick

# KubeFleet's limits for the list.
MAX_DECISIONS = 1000
MAX_NOT_SELECTED = 20


@attrs.frozen
class NotSelected:
    """Members to report as not selected: those that scored too low, best first, and the filtered ones by name."""

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


def fixed_status(valid: Sequence[str], invalid: Sequence[tuple[str, str]], missing: Sequence[str]) -> Status:
    """Return the status after a PickFixed cycle: valid, ineligible and unknown names, each in the policy's order."""
    decisions = [ClusterDecision(name, True, fixed_reason(name)) for name in valid]
    decisions += [
        ClusterDecision(name, False, f'Cluster "{name}" is not eligible for resource placement yet: {why}')
        for name, why in invalid
    ]
    decisions += [ClusterDecision(name, False, f'Specified cluster "{name}" is not found') for name in missing]
    return Status(tuple(decisions), scheduled_condition(not invalid and not missing, len(valid)))


def scheduled_condition(fulfilled: bool, found: int) -> Condition:
    """Return the ``Scheduled`` condition of the policy snapshot."""
    if fulfilled:
        message = "found all cluster needed as specified by the scheduling policy, found {} cluster(s)"
        return Condition("Scheduled", "True", "SchedulingPolicyFulfilled", message.format(found))
    message = "could not find all clusters needed as specified by the scheduling policy, found {} cluster(s) instead"
    return Condition("Scheduled", "False", "SchedulingPolicyUnfulfilled", message.format(found))


def fixed_reason(name: str) -> str:
    """Return the text for a selected member under PickFixed."""
    return f'Successfully scheduled resources for placement in "{name}": picked by scheduling policy'


def _selected(name: str, binding: Binding) -> ClusterDecision:
    affinity, spread = binding.affinity_score or 0, binding.topology_spread_score or 0
    reason = (
        f'Successfully scheduled resources for placement in "{name}" '
        f"(affinity score: {affinity}, topology spread score: {spread}): picked by scheduling policy"
    )
    return ClusterDecision(name, True, reason, ClusterScore(affinity, spread))


def _not_selected(others: NotSelected, selected: set[str], slots: int) -> list[ClusterDecision]:
    slots = min(slots, MAX_NOT_SELECTED)
    decisions = [_outscored(pick) for pick in others.outscored[:slots]]
    # As in KubeFleet, filtered members that are already selected use up a slot although they are not listed.
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
