"""The three ways of picking: all, a fixed list, or the N best."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.model import mask as masks
from fleet_components.model.decision import Status
from fleet_components.model.mask import Mask
from fleet_components.model.placement import PICK_FIXED, PICK_N
from fleet_components.scheduler.cycle import Filtered
from fleet_components.scheduler.kubefleet.bindings import Bindings, Pick
from fleet_components.scheduler.kubefleet.cluster_eligibility import ineligibility
from fleet_components.scheduler.kubefleet.decisions import (
    MAX_NOT_SELECTED,
    NotSelected,
    fixed_status,
    selected_status,
)
from fleet_components.scheduler.kubefleet.profile import (
    AFFINITY,
    SPREAD,
    explained_filters,
    filter_members,
    steady_filters,
)
from fleet_components.scheduler.kubefleet.state import CycleState


def pick(state: CycleState, bindings: Bindings) -> Status | None:
    """Run scheduling cycles until the policy is satisfied or nothing more can be picked.

    Args:
        state: the fleet and the policy.
        bindings: changed in place.

    Returns:
        The new status; None where the real scheduler writes none.

    Raises:
        SchedulingError: a cycle fails; the bindings are then as before it.
    """
    if state.policy.placement_type == PICK_FIXED:
        return _pick_fixed(state, bindings)
    if state.policy.placement_type == PICK_N:
        return _pick_n(state, bindings)
    return _pick_all(state, bindings)


def observed(state: CycleState, bindings: Bindings) -> CycleState:
    """The state of the next cycle, with the bindings as they stand now."""
    present = state.inventory.mask_of_names(bindings.scheduled + bindings.bound)
    return state.next(present, state.inventory.mask_of_names(bindings.obsolete))


def _pick_all(state: CycleState, bindings: Bindings) -> Status:
    state = observed(state, bindings)
    filtered = filter_members(state)
    scheduled, bound, obsolete = bindings.scheduled, bindings.bound, bindings.obsolete
    taken = bindings.take(Pick(state.inventory.names[p], 0, 0) for p in masks.positions(filtered.passed))
    bindings.unschedule(set(obsolete) - set(taken.patched))
    order = [*taken.created, *taken.patched, *scheduled, *bound]
    return selected_status(bindings, order, len(order), NotSelected((), _reasons(state, filtered)))


def _pick_fixed(state: CycleState, bindings: Bindings) -> Status | None:
    names = state.policy.cluster_names
    if not names:
        return None  # the real scheduler skips the cycle and leaves everything as it is
    inventory = state.inventory
    found = [name for name in names if inventory.position(name) is not None]
    why = {n: ineligibility(inventory.clusters[inventory.position(n) or 0], inventory.as_of) for n in found}
    valid = [name for name in found if not why[name]]
    present, obsolete = set(bindings.scheduled + bindings.bound), bindings.obsolete
    bindings.take(Pick(name) for name in valid if name not in present)
    bindings.unschedule(name for name in obsolete if name not in valid)
    invalid = [(name, why[name]) for name in found if why[name]]
    return fixed_status(valid, invalid, [name for name in names if name not in found])


def _pick_n(state: CycleState, bindings: Bindings) -> Status:
    wanted = state.policy.number_of_clusters or 0
    while True:
        scheduled, bound = bindings.scheduled, bindings.bound
        missing = wanted - len(scheduled) - len(bound)
        if missing <= 0:
            return _trim(bindings, wanted)
        # A spread constraint looks at the counts of one cycle, so each cycle may add one member only.
        batch = min(missing, 1) if state.policy.topology_spread_constraints else missing
        state = observed(state, bindings)
        filtered = filter_members(state)
        ranking = _ranking(state, filtered.passed)
        picks = [next_ for _, next_ in zip(range(batch), ranking, strict=False)]
        obsolete = bindings.obsolete
        taken = bindings.take(picks)
        bindings.unschedule(set(obsolete) - set(taken.patched))
        if batch < missing and len(picks) == batch:
            continue
        outscored = [next_ for _, next_ in zip(range(MAX_NOT_SELECTED), ranking, strict=False)]
        order = [*taken.created, *taken.patched, *scheduled, *bound]
        return selected_status(bindings, order, wanted, NotSelected(outscored, _reasons(state, filtered)))


def _trim(bindings: Bindings, wanted: int) -> Status:
    """Give up what is too much: scheduled before bound, the lowest stored score first."""
    scheduled, bound, obsolete = bindings.scheduled, bindings.bound, bindings.obsolete
    surplus = len(scheduled) + len(bound) - wanted
    if not surplus and not obsolete:
        return selected_status(bindings, [*bound, *scheduled], wanted)
    bindings.unschedule(obsolete)
    if 0 < surplus < len(scheduled):
        scheduled = bindings.by_score(scheduled)
    elif len(scheduled) < surplus:
        bound = bindings.by_score(bound)
    bindings.unschedule([*scheduled, *bound][:surplus])
    order = [*scheduled[surplus:], *bound[max(0, surplus - len(scheduled)) :]]
    return selected_status(bindings, order, wanted)


def _ranking(state: CycleState, candidates: Mask) -> Iterator[Pick]:
    """The candidates, best first: spread, affinity, a binding under the former policy, then name descending."""
    names, affinity = state.inventory.names, _affinity(state)
    order = _by_affinity(state)
    groups = SPREAD.groups(state, candidates)
    for spread in sorted(groups, reverse=True):
        members = groups[spread]
        for position in order:
            if members >> position & 1:
                yield Pick(names[position], affinity.get(position, 0), spread)


def _affinity(state: CycleState) -> dict[int, int]:
    passed = steady_filters(state).passed
    return dict(AFFINITY.scores(state, passed))


def _by_affinity(state: CycleState) -> list[int]:
    def build() -> list[int]:
        affinity, obsolete = _affinity(state), state.obsolete

        def key(position: int) -> tuple[int, int, int]:
            return (affinity.get(position, 0), obsolete >> position & 1, position)

        return sorted(masks.positions(steady_filters(state).passed), key=key, reverse=True)

    return state.once(("order", state.obsolete), build)


def _reasons(state: CycleState, filtered: Filtered[CycleState]) -> list[tuple[str, str]]:
    """The first 20 filtered members by name, with the reason of the first filter that stopped each."""
    reasons = []
    for position in masks.positions(explained_filters(filtered))[:MAX_NOT_SELECTED]:
        plugin = filtered.stopped_by(position)
        assert plugin is not None
        reasons.append((state.inventory.names[position], plugin.reason(state, position)))
    return reasons
