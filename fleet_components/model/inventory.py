"""The fleet compiled into columns, once per run, and shared by every placement that is scheduled on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.mask import Mask
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.quantity import Quantity, parse_quantity
from fleet_components.model.selector import LabelSelector, Requirement

RESOURCE_PREFIX = "resources.kubernetes-fleet.io/"
_USAGE_FIELDS = {"total": "capacity", "allocatable": "allocatable", "available": "available"}

T = TypeVar("T")


@attrs.frozen
class PropertyColumn:
    """One property over all members.

    Attributes:
        values: the quantity of each member by position, None where it has none.
        present: the members that have it.
        errors: why a member's value is no quantity, by position.
    """

    values: tuple[Quantity | None, ...]
    present: Mask
    errors: Mapping[int, str]


class Inventory:
    """All members, sorted by name; a member's position in that order is its bit in every mask.

    Args:
        clusters: the members, in any order.
        as_of: the time at which observed members are judged; None means that nothing expires.

    Raises:
        FleetError: two members have one name.
    """

    def __init__(self, clusters: Iterable[Cluster], as_of: datetime | None = None) -> None:
        self.clusters = tuple(sorted(clusters, key=lambda cluster: cluster.name))
        self.as_of = as_of
        self.names = tuple(cluster.name for cluster in self.clusters)
        self.everything = masks.full(len(self.clusters))
        self._positions = {name: position for position, name in enumerate(self.names)}
        self._columns: dict[Hashable, Any] = {}
        self._refuse_duplicates()
        self._labels = self._compile_labels()
        self.taints = self._compile_taints()
        self.leaving = self.mask_of(lambda cluster: cluster.leaving)

    def __len__(self) -> int:
        return len(self.clusters)

    def position(self, name: str) -> int | None:
        """The position of the member of that name; None if there is none."""
        return self._positions.get(name)

    def mask_of(self, holds: Callable[[Cluster], bool]) -> Mask:
        """The members for which a predicate holds."""
        return masks.from_flags(bytes(map(holds, self.clusters)))

    def mask_of_names(self, names: Iterable[str]) -> Mask:
        """The members with these names; unknown names are left out."""
        found = (self._positions.get(name) for name in names)
        return masks.from_positions((p for p in found if p is not None), len(self))

    def column(self, key: Hashable, build: Callable[[], T]) -> T:
        """A derived column: built on first use, then shared by all placements."""
        if key not in self._columns:
            self._columns[key] = build()
        value: T = self._columns[key]
        return value

    def domains(self, label: str) -> Mapping[str, Mask]:
        """The members by their value of a label; those without it are in none."""
        return self._labels.get(label, {})

    def matching(self, selector: LabelSelector | None) -> Mask:
        """The members that a label selector matches; None matches all."""
        matched = self.everything
        for requirement in selector.requirements() if selector else ():
            matched &= self.meeting(requirement, self.domains(requirement.key))
        return matched

    def meeting(self, requirement: Requirement, domains: Mapping[str, Mask]) -> Mask:
        """The members that meet a requirement, given the members by value. ``NotIn`` holds where there is no value.

        Raises:
            ValueError: the operator is unknown.
        """
        match requirement.operator:
            case "In":
                return _union(domains.get(value, 0) for value in requirement.values)
            case "NotIn":
                return self.everything & ~_union(domains.get(value, 0) for value in requirement.values)
            case "Exists":
                return _union(domains.values())
            case "DoesNotExist":
                return self.everything & ~_union(domains.values())
        raise ValueError(f'"{requirement.operator}" is not a valid label selector operator')

    def grouped(self, key: Hashable, values: Callable[[Cluster], Iterable[str]]) -> Mapping[str, Mask]:
        """The members by the values that each has of something, as a derived column."""
        return self.column(("grouped", key), lambda: self._compile_groups(values))

    def property(self, name: str) -> PropertyColumn:
        """A property by its KubeFleet name, ``resources.kubernetes-fleet.io/total-cpu`` among them."""
        return self.column(("property", name), lambda: self._compile_property(name))

    def _refuse_duplicates(self) -> None:
        if len(self._positions) != len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            hint = "give each member a name of its own"
            raise FleetError(
                Problem(f'there are several members named "{name}"', ("metadata", "name"), hint) for name in twice
            )

    def _compile_groups(self, values: Callable[[Cluster], Iterable[str]]) -> dict[str, Mask]:
        found: dict[str, list[int]] = defaultdict(list)
        for position, cluster in enumerate(self.clusters):
            for value in values(cluster):
                found[value].append(position)
        return {value: masks.from_positions(found[value], len(self)) for value in sorted(found)}

    def _compile_labels(self) -> dict[str, dict[str, Mask]]:
        found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for position, cluster in enumerate(self.clusters):
            for key, value in cluster.labels.items():
                found[key][value].append(position)
        size = len(self)
        return {
            key: {value: masks.from_positions(found[key][value], size) for value in sorted(found[key])} for key in found
        }

    def _compile_taints(self) -> dict[Taint, Mask]:
        found: dict[Taint, list[int]] = defaultdict(list)
        for position, cluster in enumerate(self.clusters):
            for taint in cluster.taints:
                found[taint].append(position)
        return {taint: masks.from_positions(where, len(self)) for taint, where in found.items()}

    def _compile_property(self, name: str) -> PropertyColumn:
        read = _reader(name)
        values: list[Quantity | None] = []
        errors: dict[int, str] = {}
        for position, cluster in enumerate(self.clusters):
            value = None
            try:
                text = read(cluster)
                value = parse_quantity(text) if text is not None else None
            except ValueError as error:
                errors[position] = _explain(name, cluster, str(error))
            values.append(value)
        present = masks.from_flags(bytes(value is not None for value in values))
        return PropertyColumn(tuple(values), present, errors)


def _reader(name: str) -> Callable[[Cluster], str | None]:
    if not name.startswith(RESOURCE_PREFIX):
        return lambda cluster: cluster.properties.get(name)
    suffix = name.removeprefix(RESOURCE_PREFIX)
    parts = suffix.split("-")
    wrong = ""
    if len(parts) != 2 or not all(parts):
        wrong = f"invalid resource property name: {suffix}"
    elif parts[0] not in _USAGE_FIELDS:
        wrong = f"invalid capacity type {parts[0]} in resource property name {suffix}"
    if wrong:
        return lambda cluster: _fail(wrong)
    field, resource = _USAGE_FIELDS[parts[0]], parts[1]
    return lambda cluster: getattr(cluster.usage, field).get(resource)


def _fail(message: str) -> None:
    raise ValueError(message)


def _explain(name: str, cluster: Cluster, error: str) -> str:
    if name.startswith(RESOURCE_PREFIX):
        suffix = name.removeprefix(RESOURCE_PREFIX)
        return f"failed to retrieve resource property value for {suffix} from cluster {cluster.name}: {error}"
    value = cluster.properties[name]
    return f"value {value} of property {name} from cluster {cluster.name} is not a valid quantity: {error}"


def _union(parts: Iterable[Mask]) -> Mask:
    union = 0
    for part in parts:
        union |= part
    return union
