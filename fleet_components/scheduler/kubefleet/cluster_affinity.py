"""ClusterAffinity: required terms filter, preferred terms score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.inventory import Inventory, PropertyColumn
from fleet_components.model.mask import Mask
from fleet_components.model.placement import (
    ClusterSelectorTerm,
    PreferredClusterSelector,
    PropertyRequirement,
    PropertySorter,
)
from fleet_components.model.quantity import Quantity, parse_quantity
from fleet_components.scheduler.framework import SchedulingError
from fleet_components.scheduler.kubefleet.state import CycleState

Compare = Callable[[Quantity, Quantity], bool]
_OPERATORS: dict[str, Compare] = {"Gt": gt, "Ge": ge, "Lt": lt, "Le": le, "Eq": eq, "Ne": ne}
_NO_MATCH = "cluster does not match with any of the required cluster affinity terms"


class ClusterAffinity:
    """Filters by the required terms (one must match) and scores by the preferred ones."""

    name = "ClusterAffinity"

    def mask(self, state: CycleState, candidates: Mask) -> Mask:
        """Members that match a required term; all of them when there are no terms."""
        if not state.policy.required_terms:
            return candidates
        return state.once((self.name, candidates), lambda: self._matching(state, candidates))

    def reason(self, state: CycleState, position: int) -> str:
        """The one text that there is."""
        return _NO_MATCH

    def remedy(self, state: CycleState, position: int) -> str:
        """What each required term misses on this member."""
        misses = [_miss(state.inventory, term, position) for term in state.policy.required_terms]
        return "it would match with " + ", or with ".join(misses)

    def scores(self, state: CycleState, candidates: Mask) -> Mapping[int, int]:
        """The sum of the preferred terms' weights; sorters interpolate between least and most."""
        return state.once((self.name, "scores", candidates), lambda: self._scores(state, candidates))

    def words(self, state: CycleState, position: int) -> str:
        """The contribution of every preferred term."""
        terms = [t for t in state.policy.preferred_terms if t.weight]
        parts = [f"{_term_score(state, t, position)} of {t.weight} for {show_preference(t)}" for t in terms]
        return "; ".join(parts) or "no preferred terms"

    def _matching(self, state: CycleState, candidates: Mask) -> Mask:
        matched, open_ = 0, candidates
        for term in state.policy.required_terms:
            # A property that is no quantity fails the cycle only on members that reach it.
            matched |= _matching_term(state.inventory, term, open_)
            open_ &= ~matched
        return matched

    def _scores(self, state: CycleState, candidates: Mask) -> Mapping[int, int]:
        total: dict[int, int] = {}
        for term in state.policy.preferred_terms:
            if sorter := term.preference.property_sorter:
                _sorted_column(state.inventory, sorter)
        for term in state.policy.preferred_terms:
            if term.weight:
                for position, score in _term_scores(state, term, candidates).items():
                    total[position] = total.get(position, 0) + score
        return total


def _matching_term(inventory: Inventory, term: ClusterSelectorTerm, candidates: Mask) -> Mask:
    matched = candidates & inventory.matching(term.label_selector)
    for requirement in term.property_selector.match_expressions if term.property_selector else ():
        matched = _meeting(inventory, requirement, matched)
    return matched


def _meeting(inventory: Inventory, requirement: PropertyRequirement, candidates: Mask) -> Mask:
    column = inventory.property(requirement.name)
    for position, error in column.errors.items():
        if masks.has(candidates, position):
            raise SchedulingError(_failed(error, "failed to match the cluster against a required affinity term"))
    compare, wanted = _OPERATORS[requirement.operator], parse_quantity(requirement.values[0])
    key = ("property", requirement.name, requirement.operator, wanted)
    return candidates & inventory.column(key, lambda: _comparing(column, compare, wanted))


def _comparing(column: PropertyColumn, compare: Compare, wanted: Quantity) -> Mask:
    return masks.from_flags(bytes(v is not None and compare(v, wanted) for v in column.values))


@attrs.frozen
class _Sorted:
    values: tuple[Quantity | None, ...]
    least: float
    most: float


def _sorted_column(inventory: Inventory, sorter: PropertySorter) -> _Sorted:
    # The extremes are those of the whole fleet, members that cannot be picked included.
    column = inventory.property(sorter.name)
    for error in column.errors.values():
        raise SchedulingError(_failed(error, "failed to prepare plugin state"))

    def build() -> _Sorted:
        known = [value for value in column.values if value is not None]
        least = min(known).approximate if known else 0.0
        return _Sorted(column.values, least, max(known).approximate if known else 0.0)

    return inventory.column(("sorted", sorter.name), build)


def _term_scores(state: CycleState, term: PreferredClusterSelector, candidates: Mask) -> Mapping[int, int]:
    inventory, sorter = state.inventory, term.preference.property_sorter
    matched = masks.positions(candidates & inventory.matching(term.preference.label_selector))
    if sorter is None:
        return dict.fromkeys(matched, term.weight)
    column = _sorted_column(inventory, sorter)
    if column.least == column.most:
        return {}
    interpolate = _interpolation(column, sorter.sort_order == "Descending", term.weight)
    values = column.values
    return {p: interpolate(value.approximate) for p in matched if (value := values[p]) is not None}


def _term_score(state: CycleState, term: PreferredClusterSelector, position: int) -> int:
    return _term_scores(state, term, 1 << position).get(position, 0)


def _interpolation(column: _Sorted, descending: bool, weight: int) -> Callable[[float], int]:
    least, span = column.least, column.most - column.least

    def interpolate(value: float) -> int:
        share = (value - least) / span
        exact = (share if descending else 1 - share) * weight
        whole = int(exact)
        if exact - whole >= 0.5:  # half away from zero
            return whole + 1
        return whole - 1 if whole - exact >= 0.5 else whole

    return interpolate


def _failed(error: str, while_: str) -> str:
    return (
        "unexpected behavior which cannot be handled by the controller: "
        f"plugin ClusterAffinity returned an error InternalError, {error}, {while_}"
    )


def show_preference(term: PreferredClusterSelector) -> str:
    """A preferred term in words."""
    selector, sorter = term.preference.label_selector, term.preference.property_sorter
    parts = [show_requirement(r.key, r.operator, r.values) for r in selector.requirements()] if selector else []
    if sorter:
        parts.append(f"{'more' if sorter.sort_order == 'Descending' else 'less'} {sorter.name}")
    return " and ".join(parts) or "any member"


def show_requirement(key: str, operator: str, values: tuple[str, ...]) -> str:
    """A label requirement in words: ``env=prod``, ``region not in (a, b)``."""
    match operator:
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "In":
            return f"{key} in ({', '.join(values)})"
        case "NotIn":
            return f"{key} not in ({', '.join(values)})"
        case "Exists":
            return f"label {key}"
    return f"no label {key}"


def _miss(inventory: Inventory, term: ClusterSelectorTerm, position: int) -> str:
    cluster = inventory.clusters[position]
    selector, properties = term.label_selector, term.property_selector
    misses = []
    for label in selector.requirements() if selector else ():
        if not label.matches(cluster.labels):
            has = cluster.labels.get(label.key)
            shown = "absent" if has is None else f'"{has}"'
            misses.append(f"{show_requirement(label.key, label.operator, label.values)} (is {shown})")
    for wanted in properties.match_expressions if properties else ():
        if not masks.has(_meeting(inventory, wanted, 1 << position), position):
            found = _shown_property(cluster.name, inventory, wanted.name)
            misses.append(f"{wanted.name} {wanted.operator} {wanted.values[0]} (is {found})")
    return " and ".join(misses)


def _shown_property(name: str, inventory: Inventory, property_: str) -> str:
    cluster = inventory.clusters[inventory.names.index(name)]
    if property_ in cluster.properties:
        return cluster.properties[property_]
    position = inventory.position(name) or 0
    value = inventory.property(property_).values[position]
    return "absent" if value is None else f"{value.approximate:g}"
