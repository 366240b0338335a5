"""ClusterAffinity: required terms filter, preferred terms score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice, product
from math import isfinite
from operator import attrgetter

from fleet_components.model import mask as masks
from fleet_components.model.inventory import Inventory, PropertyColumn
from fleet_components.model.mask import Mask
from fleet_components.model.quantity import parse_quantity
from fleet_components.model.selector import LabelSelector
from fleet_components.scheduler.edit import Edits, Ladder, joined
from fleet_components.scheduler.explain import show_requirement
from fleet_components.scheduler.framework import Filter, PreScore, SchedulingError, Score
from fleet_components.systems.kubefleet.model.placement import (
    ClusterSelectorTerm,
    PreferredClusterSelector,
    PropertyRequirement,
    PropertySorter,
)
from fleet_components.systems.kubefleet.scheduler.affinity_edits import (
    OPERATORS,
    matching_change,
    missing_changes,
    scoring_ladders,
)
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

_MOST_WAYS = 8
"""Number of ways out of several matching terms that are tried."""
_NO_MATCH = "cluster does not match with any of the required cluster affinity terms"
_FILTERING = "failed to match the cluster against a required affinity term"
_PREPARING = "failed to prepare plugin state"


class ClusterAffinity(Filter[KubeFleetState], PreScore[KubeFleetState], Score[KubeFleetState]):
    """Filter by the required terms, of which one must match, and score by the preferred terms."""

    name = "ClusterAffinity"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates that match a required term; all candidates if there are no
        terms.
        """
        if not state.policy.required_terms:
            return candidates
        matched, open_ = 0, candidates
        for term in state.policy.required_terms:
            # KubeFleet stops at the first matching term, so an invalid later term fails the cycle
            # only if a member gets that far.
            matched |= matching_term(state.inventory, term, open_)
            open_ &= ~matched
        return matched

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return KubeFleet's text, the same for every member."""
        return _NO_MATCH

    def admitting(self, state: KubeFleetState, position: int) -> Iterable[Edits]:
        """Yield for each required term the labels and properties with which the member matches."""
        for term in state.policy.required_terms:
            change = matching_change(state.inventory, term, position)
            if change is not None:
                yield change

    def stopping(self, state: KubeFleetState, position: int) -> Iterable[Ladder]:
        """Yield labels and properties with which the member does not match the required terms any
        more.
        """
        matched = [
            term
            for term in state.policy.required_terms
            if matching_term(state.inventory, term, 1 << position)
        ]
        ways = [list(missing_changes(state.inventory, term, position)) for term in matched]
        yield from (
            (joined(chain.from_iterable(each)),) for each in islice(product(*ways), _MOST_WAYS)
        )

    def raising(self, state: KubeFleetState, position: int) -> Iterable[Ladder]:
        """Yield the labels of preferred terms that the member has not, and better values of what is
        sorted by.
        """
        for term in _weighted(state):
            yield from scoring_ladders(state.inventory, term, position, more=True)

    def lowering(self, state: KubeFleetState, position: int) -> Iterable[Ladder]:
        """Yield that the member has the labels of preferred terms no more, and worse values of what
        is sorted by.
        """
        for term in _weighted(state):
            yield from scoring_ladders(state.inventory, term, position, more=False)

    def pre_score(self, state: KubeFleetState) -> bool:
        """Check that all properties that are sorted by can be compared."""
        for term in state.policy.preferred_terms:
            sorter = term.preference.property_sorter
            if sorter:
                # Of any member, for a term of any weight: KubeFleet searches the whole fleet for
                # the extremes first, and one unreadable value ends the cycle
                # (``preparePluginState`` in clusteraffinity/state.go, v0.3.1).
                for error in state.inventory.property(sorter.name).errors.values():
                    raise _failure(error, _PREPARING)
        return True

    def scores(self, state: KubeFleetState, candidates: Mask) -> Mapping[int, Mask]:
        """Return the sum of the preferred terms' weights; sorters interpolate between the extremes
        of the fleet.
        """
        # KubeFleet scores one member at a time, so only an error that meets a candidate ends the
        # cycle.
        for term in _weighted(state):
            _check(state.inventory, term, candidates)
        return state.once("affinity", lambda: _summed(state))

    def words(self, state: KubeFleetState, position: int) -> str:
        """Return the contribution of every preferred term."""
        parts = [
            f"{_term_score(state, t, position)} of {t.weight} for {show_preference(t)}"
            for t in _weighted(state)
        ]
        return "; ".join(parts) or "no preferred terms"

    def shares(self, state: KubeFleetState, position: int) -> Mapping[str, int]:
        """Return the contribution of each preferred term; equal terms are summed up."""
        found: dict[str, int] = {}
        for term in _weighted(state):
            name = show_preference(term)
            found[name] = found.get(name, 0) + _term_score(state, term, position)
        return found


def _check(inventory: Inventory, term: PreferredClusterSelector, candidates: Mask) -> None:
    """Raise the error of a term that cannot be computed for a candidate."""
    selector, sorter = term.preference.label_selector, term.preference.property_sorter
    if candidates and (error := _selector_error(selector)):
        cluster = inventory.names[masks.positions(candidates)[0]]
        raise _failure(f"failed to calculate score for cluster {cluster}: {error}")
    if (
        sorter
        and candidates & inventory.matching(selector) & inventory.property(sorter.name).present
    ):
        least, most = _extremes(inventory, sorter)
        if not isfinite(most - least):
            raise _failure(
                f"cannot interpolate weight of {sorter.name}, its values are too far apart"
            )


def _summed(state: KubeFleetState) -> Mapping[int, Mask]:
    """Return all members by the sum of their terms: all cycles of a run share it."""
    total: dict[int, int] = {}
    for term in _weighted(state):
        # Of all members, though only candidates count: these change with every cycle, the sums do
        # not.
        for position, score in _term_scores(
            state.inventory, term, state.inventory.everything
        ).items():
            total[position] = total.get(position, 0) + score
    return masks.by_value(total, len(state.inventory))


def _weighted(state: KubeFleetState) -> list[PreferredClusterSelector]:
    return [term for term in state.policy.preferred_terms if term.weight]


def matching_term(inventory: Inventory, term: ClusterSelectorTerm, candidates: Mask) -> Mask:
    """Return the candidates that a required term matches.

    Raises:
        SchedulingError: a required value, or a property value of a candidate, is not a valid
            quantity.
    """
    if not candidates:
        return 0
    error = _selector_error(term.label_selector)
    if error:
        raise _failure(error, _FILTERING)
    matched = candidates & inventory.matching(term.label_selector)
    for requirement in term.property_selector.match_expressions if term.property_selector else ():
        matched = _meeting(inventory, requirement, matched)
    return matched


def _meeting(inventory: Inventory, requirement: PropertyRequirement, candidates: Mask) -> Mask:
    column = inventory.property(requirement.name)
    for position, error in column.errors.items():
        if masks.has(candidates, position):
            raise _failure(error, _FILTERING)
    if not candidates & column.present:
        return 0
    wanted, compare = _wanted(requirement), OPERATORS.get(requirement.operator)
    if compare is None:
        # Webhooks of releases up to 0.3.1 let any operator pass.
        raise _failure(f"invalid operator: {requirement.operator}", _FILTERING)
    key = ("property", requirement.name, requirement.operator, wanted)
    return candidates & inventory.column(key, lambda: _comparing(column, compare, wanted))


def _wanted(requirement: PropertyRequirement) -> int:
    # No webhook validates the values of a ResourcePlacement, so they may be invalid here.
    if len(requirement.values) != 1:
        raise _failure("more than one value in the property selector expression", _FILTERING)
    text = requirement.values[0]
    try:
        return parse_quantity(text).nano
    except ValueError as error:
        wrong = (
            f"value specified in property selector {text} is not a valid resource quantity: {error}"
        )
        raise _failure(wrong, _FILTERING) from error


def _comparing(column: PropertyColumn, compare: Callable[[int, int], bool], wanted: int) -> Mask:
    # A member without the property matches no operator, not even Ne.
    return masks.from_flags(
        bytes([value is not None and compare(value.nano, wanted) for value in column.values])
    )


def _extremes(inventory: Inventory, sorter: PropertySorter) -> tuple[float, float]:
    """Return the least and greatest value in the whole fleet, including members that cannot be
    picked.
    """

    def found() -> tuple[float, float]:
        known = [value for value in inventory.property(sorter.name).values if value is not None]
        nano = attrgetter("nano")
        # Compared exactly and converted afterwards, as in KubeFleet: different amounts may be the
        # same float.
        # Never empty: callers have checked that some member has the property.
        return min(known, key=nano).approximate, max(known, key=nano).approximate

    return inventory.column(("extremes", sorter.name), found)


def _term_scores(
    inventory: Inventory, term: PreferredClusterSelector, candidates: Mask
) -> Mapping[int, int]:
    selector, sorter = term.preference.label_selector, term.preference.property_sorter
    matched = masks.positions(candidates & inventory.matching(selector))
    if sorter is None:
        return dict.fromkeys(matched, term.weight)
    column = _interpolated(inventory, sorter, term.weight)
    return {position: column[position] for position in matched}


def _selector_error(selector: LabelSelector | None) -> str:
    # No webhook validates the selectors of a ResourcePlacement, so they may be invalid here.
    return (
        f"failed to parse label selector: {selector.error}" if selector and selector.error else ""
    )


def _term_score(state: KubeFleetState, term: PreferredClusterSelector, position: int) -> int:
    return _term_scores(state.inventory, term, 1 << position).get(position, 0)


def _interpolated(inventory: Inventory, sorter: PropertySorter, weight: int) -> Sequence[int]:
    """Return the part of the weight that each member gets, by position; 0 if its value is
    unknown.
    """
    return inventory.column(
        ("interpolated", sorter, weight), lambda: _interpolate(inventory, sorter, weight)
    )


def _interpolate(inventory: Inventory, sorter: PropertySorter, weight: int) -> Sequence[int]:
    column = inventory.property(sorter.name)
    least, most = _extremes(inventory, sorter) if column.present else (0, 0)
    span = most - least
    # Equal values are worth nothing in either order, as in KubeFleet (``interpolateWeightFor``). An
    # infinite span remains for members that are not candidates; for a candidate the cycle has
    # failed before.
    if not span or not isfinite(span):
        return [0] * len(inventory)
    # In KubeFleet's order of operations: another one rounds floats differently, and halves decide.
    if sorter.sort_order == "Descending":
        return [
            _rounded((value.approximate - least) / span * weight) if value is not None else 0
            for value in column.values
        ]
    return [
        _rounded((1 - (value.approximate - least) / span) * weight) if value is not None else 0
        for value in column.values
    ]


def _rounded(value: float) -> int:
    """Round half away from zero, like Go's ``math.Round``."""
    whole = int(value)
    if value - whole >= 0.5:
        return whole + 1
    return whole - 1 if whole - value >= 0.5 else whole


def _failure(*reasons: str) -> SchedulingError:
    return SchedulingError(
        "unexpected behavior which cannot be handled by the controller: "
        f"plugin ClusterAffinity returned an error InternalError, {', '.join(reasons)}"
    )


def show_preference(term: PreferredClusterSelector) -> str:
    """Describe a preferred term."""
    selector, sorter = term.preference.label_selector, term.preference.property_sorter
    parts = [show_requirement(r) for r in selector.requirements()] if selector else []
    if sorter:
        parts.append(f"{'more' if sorter.sort_order == 'Descending' else 'less'} {sorter.name}")
    return " and ".join(parts) or "any member"
