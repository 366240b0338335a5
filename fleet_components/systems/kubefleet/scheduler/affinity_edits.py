"""Changes of a member with which it matches a term of an affinity, does not match it, or scores
more by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import eq, ge, gt, le, lt, ne

from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import RESOURCE_PREFIX, Inventory
from fleet_components.model.quantity import is_quantity, parse_quantity
from fleet_components.scheduler.edit import (
    MEMBER,
    SET,
    UNSET,
    Edits,
    FieldEdit,
    Ladder,
    between,
    first_amount,
    more,
    stepped,
    to_match,
    to_miss,
)
from fleet_components.systems.kubefleet.model.placement import (
    ClusterSelectorTerm,
    PreferredClusterSelector,
    PropertyRequirement,
    PropertySorter,
)

OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "Gt": gt,
    "Ge": ge,
    "Lt": lt,
    "Le": le,
    "Eq": eq,
    "Ne": ne,
}
_USAGE = {"total": "capacity", "allocatable": "allocatable", "available": "available"}
_RESOURCES = {"cpu": "CPU", "memory": "memory"}


def matching_change(inventory: Inventory, term: ClusterSelectorTerm, position: int) -> Edits | None:
    """Return the fewest edits with which a member matches a required term; None if there are
    none.
    """
    cluster = inventory.clusters[position]
    labels = to_match(
        cluster.name,
        term.label_selector.requirements() if term.label_selector else (),
        cluster.labels,
    )
    if labels is None or (term.label_selector and term.label_selector.error):
        return None
    edits = list(labels)
    for name, asked in _by_name(term).items():
        old = inventory.property(name).texts[position]
        if _meets_all(asked, old):
            continue
        amounts = [value for requirement in asked for value in requirement.values]
        value = first_amount(amounts, partial(_meets_all, asked))
        if value is None or not writable(name):
            return None
        edits.append(set_property(cluster, name, value, old))
    return tuple(edits)


def missing_changes(
    inventory: Inventory, term: ClusterSelectorTerm, position: int
) -> Iterator[Edits]:
    """Yield edits of one label or property with which a member does not match a required term any
    more.
    """
    cluster = inventory.clusters[position]
    if term.label_selector:
        yield from to_miss(cluster.name, term.label_selector.requirements(), cluster.labels)
    for name, asked in _by_name(term).items():
        old = inventory.property(name).texts[position]
        amounts = [
            value for requirement in asked for value in requirement.values if is_quantity(value)
        ]
        value = first_amount(amounts, partial(_misses_any, asked))
        # Without a fitting amount the property goes: who has none meets no requirement.
        if writable(name):
            yield (
                (
                    unset_property(cluster, name)
                    if value is None
                    else set_property(cluster, name, value, old)
                ),
            )


def scoring_ladders(
    inventory: Inventory, term: PreferredClusterSelector, position: int, *, more: bool
) -> Iterator[Ladder]:
    """Yield changes with which a member gets more of a preferred term, or less: of its labels, and
    what it sorts by.
    """
    cluster, preference = inventory.clusters[position], term.preference
    requirements = preference.label_selector.requirements() if preference.label_selector else ()
    matched = all(requirement.met_by(cluster.labels) for requirement in requirements)
    # A negative weight turns it round: not to match gives more points then.
    wanted = more is (term.weight > 0)
    if matched and not wanted:
        yield from ((edits,) for edits in to_miss(cluster.name, requirements, cluster.labels))
    labels = () if matched else to_match(cluster.name, requirements, cluster.labels)
    # To match a term that sorts is worth what the member has of it, so that is a change too.
    if labels and wanted:
        yield (labels,)
    sorter = preference.property_sorter
    if sorter is None or labels is None or not (matched or wanted):
        return
    old = inventory.property(sorter.name).texts[position]
    values = _rungs(inventory, sorter, position, up=wanted is (sorter.sort_order == "Descending"))
    if values:
        yield tuple((*labels, set_property(cluster, sorter.name, value, old)) for value in values)


def _rungs(
    inventory: Inventory, sorter: PropertySorter, position: int, *, up: bool
) -> Sequence[str]:
    """Return more and more of what is sorted by, or less and less, up to one step beyond all of the
    fleet.
    """
    column = inventory.property(sorter.name)
    both = zip(column.values, column.texts, strict=True)
    known = sorted(
        (value.nano, text) for value, text in both if value is not None and text is not None
    )
    if not known or not writable(sorter.name):
        return ()
    first, last = (known[0][1], known[-1][1]) if up else (known[-1][1], known[0][1])
    beyond = stepped(last, 1 if up else -1)
    old = column.texts[position] if column.values[position] is not None else first
    # No amount below 0 is proposed.
    return between(old or first, last if beyond is None or beyond.startswith("-") else beyond)


def set_property(cluster: Cluster, name: str, value: str, old: str | None) -> FieldEdit:
    """Return the edit that gives a member a property, or an amount of a resource."""
    field = _field(name)
    was = "" if old is None else f" (is {old})"
    if field[1] == "properties":
        return FieldEdit(MEMBER, SET, field, value, f"with {name} {value}{was}", cluster.name)
    kind, resource = _kind(name)
    difference, noun = more(value, old), _RESOURCES.get(resource, resource)
    # In units, not thousandths, of one and of several.
    plural = "s" if noun == "CPU" and difference != "1" else ""
    if difference and not difference.startswith("-"):
        words = f"with {difference} more {noun}{plural} {_words(kind)} ({value}, not {old or 0})"
    else:
        words = (
            f"with {value} {noun}{'s' if noun == 'CPU' and value != '1' else ''}"
            f" {_words(kind)}{was}"
        )
    return FieldEdit(MEMBER, SET, field, value, words, cluster.name)


def unset_property(cluster: Cluster, name: str) -> FieldEdit:
    """Return the edit that takes a property away."""
    return FieldEdit(MEMBER, UNSET, _field(name), None, f"without {name}", cluster.name)


def _words(kind: str) -> str:
    return "in total" if kind == "total" else kind


def _field(name: str) -> tuple[str, ...]:
    if not name.startswith(RESOURCE_PREFIX):
        return ("status", "properties", name, "value")
    kind, resource = _kind(name)
    return ("status", "resourceUsage", _USAGE[kind], resource)


def _kind(name: str) -> tuple[str, str]:
    kind, _, resource = name.removeprefix(RESOURCE_PREFIX).partition("-")
    return kind, resource


def writable(name: str) -> bool:
    """Return whether a member can have the property: a resource property may have a name that
    cannot be read.
    """
    # Properties other than resources have free names: a pair that passes stands for them.
    kind, resource = _kind(name) if name.startswith(RESOURCE_PREFIX) else ("total", "cpu")
    return kind in _USAGE and bool(resource) and "-" not in resource


def _by_name(term: ClusterSelectorTerm) -> dict[str, list[PropertyRequirement]]:
    found: dict[str, list[PropertyRequirement]] = {}
    for requirement in term.property_selector.match_expressions if term.property_selector else ():
        found.setdefault(requirement.name, []).append(requirement)
    return found


def _meets_all(asked: Iterable[PropertyRequirement], text: str | None) -> bool:
    return all(_meets(text, requirement) for requirement in asked)


def _misses_any(asked: Iterable[PropertyRequirement], text: str | None) -> bool:
    return not _meets_all(asked, text)


def _meets(text: str | None, requirement: PropertyRequirement) -> bool:
    if (
        text is None
        or len(requirement.values) != 1
        or not (is_quantity(text) and is_quantity(requirement.values[0]))
    ):
        return False
    return OPERATORS[requirement.operator](
        parse_quantity(text).nano, parse_quantity(requirement.values[0]).nano
    )
