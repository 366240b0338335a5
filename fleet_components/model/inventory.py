"""The members of a fleet, compiled into columns once per run and shared by all subjects that are
scheduled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.mask import Mask
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.quantity import Quantity, parse_quantity
from fleet_components.model.selector import Labels, LabelSelector, Requirement

RESOURCE_PREFIX = "resources.kubernetes-fleet.io/"
_USAGE_FIELDS = {"total": "capacity", "allocatable": "allocatable", "available": "available"}

T = TypeVar("T")


@attrs.frozen
class PropertyColumn:
    """One property of all members. Positions are those of the inventory.

    Attributes:
        texts: the value of each member, by position; None if the member does not have the property.
        values: the same values as quantities; None if missing or not a quantity.
        present: the members that have a valid quantity.
        errors: why a member's value is not a quantity, by position.
    """

    texts: tuple[str | None, ...]
    values: tuple[Quantity | None, ...]
    present: Mask
    errors: Mapping[int, str]


class Inventory:
    """All members, sorted by name. A member's position in that order is its bit in every mask.

    Args:
        clusters: the members, in any order.
        as_of: the time at which observed members are judged; None means that nothing expires.

    Raises:
        FleetError: several members have one name.
    """

    def __init__(self, clusters: Iterable[Cluster], as_of: datetime | None = None) -> None:
        # Sorted, so that positions do not depend on the order of the input.
        self.clusters = tuple(sorted(clusters, key=lambda cluster: cluster.name))
        self.as_of = as_of
        self.names = tuple(cluster.name for cluster in self.clusters)
        self.everything = masks.full(len(self.clusters))
        self._positions = {name: position for position, name in enumerate(self.names)}
        self._columns: dict[Hashable, Any] = {}
        # Before anything is compiled: of two members with one name a map keeps only the last.
        self._refuse_duplicates()
        self.taints = self._compile_taints()
        self.leaving = self.mask_of(lambda cluster: cluster.leaving)

    def __len__(self) -> int:
        return len(self.clusters)

    def position(self, name: str) -> int | None:
        """Return the position of the member with this name; None if there is none."""
        return self._positions.get(name)

    def mask_of(self, holds: Callable[[Cluster], bool]) -> Mask:
        """Return the members for which the predicate holds."""
        return masks.from_flags(bytes(map(holds, self.clusters)))

    def mask_of_names(self, names: Iterable[str]) -> Mask:
        """Return the members with these names; unknown names are ignored."""
        found = (self._positions.get(name) for name in names)
        return masks.from_positions((p for p in found if p is not None), len(self))

    def column(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return a derived column. It is built on first use and then shared by all subjects."""
        if key not in self._columns:
            self._columns[key] = build()
        value: T = self._columns[key]
        return value

    def domains(self, label: str) -> Mapping[str, Mask]:
        """Return the members by their value of a label. Members without the label are in no
        group.
        """
        return self.grouped(("label", label), lambda cluster: _value(cluster.labels, label))

    def matching(self, selector: LabelSelector | None) -> Mask:
        """Return the members that match a label selector; None matches all."""
        matched = self.everything
        for requirement in selector.requirements() if selector else ():
            matched &= self.meeting(requirement, self.domains(requirement.key))
        return matched

    def meeting(self, requirement: Requirement, domains: Mapping[str, Mask]) -> Mask:
        """Return the members that meet a requirement. ``NotIn`` holds for members without a value.

        Args:
            requirement: the requirement.
            domains: the members by their value of the required key.

        Raises:
            ValueError: the operator is unknown.
        """
        match requirement.operator:
            case "In":
                # 0 is the empty mask: no member has the value.
                return _union(domains.get(value, 0) for value in requirement.values)
            case "NotIn":
                return self.everything & ~_union(
                    domains.get(value, 0) for value in requirement.values
                )
            case "Exists":
                return _union(domains.values())
            case "DoesNotExist":
                return self.everything & ~_union(domains.values())
        raise ValueError(f'"{requirement.operator}" is not a valid label selector operator')

    def grouped(
        self, key: Hashable, values: Callable[[Cluster], Iterable[str]]
    ) -> Mapping[str, Mask]:
        """Return the members by value, for a function that gives each member's values. Cached under
        ``key``.
        """
        return self.column(("grouped", key), lambda: self._compile_groups(values))

    def property(self, name: str) -> PropertyColumn:
        """Return the column of a property by its KubeFleet name.

        Resource properties such as ``resources.kubernetes-fleet.io/total-cpu`` are read from the
        members' usage.
        """
        return self.column(("property", name), lambda: self._compile_property(name))

    def _refuse_duplicates(self) -> None:
        if len(self._positions) != len(self.names):
            twice = sorted(name for name, count in Counter(self.names).items() if count > 1)
            hint = "give each member a name of its own"
            raise FleetError(
                Problem(
                    Message(
                        "several-members-named",
                        'there are several members named "{name}"',
                        name=name,
                    ),
                    ("metadata", "name"),
                    hint,
                )
                for name in twice
            )

    def _compile_groups(self, values: Callable[[Cluster], Iterable[str]]) -> dict[str, Mask]:
        found: dict[str, list[int]] = defaultdict(list)
        for position, cluster in enumerate(self.clusters):
            for value in values(cluster):
                found[value].append(position)
        # Sorted, so that what goes through the groups does not depend on which member comes first.
        return {value: masks.from_positions(found[value], len(self)) for value in sorted(found)}

    def _compile_taints(self) -> dict[Taint, Mask]:
        found: dict[Taint, list[int]] = defaultdict(list)
        for position, cluster in enumerate(self.clusters):
            for taint in cluster.taints:
                found[taint].append(position)
        return {taint: masks.from_positions(where, len(self)) for taint, where in found.items()}

    def _compile_property(self, name: str) -> PropertyColumn:
        wrong = _name_error(name)
        if wrong:
            absent = (None,) * len(self)
            return PropertyColumn(
                absent, absent, 0, self._explained(name, dict.fromkeys(range(len(self)), wrong))
            )
        texts = self._property_texts(name)
        # None stands for a member without the property.
        parsed: dict[str | None, Quantity | None] = {None: None}
        unparsed: dict[str | None, str] = {}
        # Each distinct text is parsed once, since many members share the same values.
        for text in {text for text in texts if text is not None}:
            try:
                parsed[text] = parse_quantity(text)
            except ValueError as error:
                parsed[text], unparsed[text] = None, str(error)
        values = tuple([parsed[text] for text in texts])
        present = masks.from_flags(bytes([value is not None for value in values]))
        errors = {
            position: unparsed[text] for position, text in enumerate(texts) if text in unparsed
        }
        return PropertyColumn(texts, values, present, self._explained(name, errors))

    def _property_texts(self, name: str) -> tuple[str | None, ...]:
        if not name.startswith(RESOURCE_PREFIX):
            return tuple([cluster.properties.get(name) for cluster in self.clusters])
        # Exactly two parts: _name_error has refused any other name before.
        kind, resource = name.removeprefix(RESOURCE_PREFIX).split("-")
        amounts = attrgetter(f"usage.{_USAGE_FIELDS[kind]}")
        return tuple([amounts(cluster).get(resource) for cluster in self.clusters])

    def _explained(self, name: str, errors: Mapping[int, str]) -> Mapping[int, str]:
        return {
            position: _explain(name, self.clusters[position], error)
            for position, error in errors.items()
        }


def _name_error(name: str) -> str:
    """Return why the real scheduler cannot read this resource property name; empty if it can."""
    suffix = name.removeprefix(RESOURCE_PREFIX)
    # KubeFleet splits at every dash, so that a resource with a dash in its name (ephemeral-storage)
    # cannot be read (pkg/scheduler/framework/plugins/clusteraffinity/types.go, v0.3.1).
    parts = suffix.split("-")
    if suffix == name:
        return ""
    if len(parts) != 2 or not all(parts):
        return f"invalid resource property name: {suffix}"
    return (
        ""
        if parts[0] in _USAGE_FIELDS
        else f"invalid capacity type {parts[0]} in resource property name {suffix}"
    )


def _explain(name: str, cluster: Cluster, error: str) -> str:
    if name.startswith(RESOURCE_PREFIX):
        suffix = name.removeprefix(RESOURCE_PREFIX)
        return (
            f"failed to retrieve resource property value for {suffix} from cluster {cluster.name}:"
            f" {error}"
        )
    value = cluster.properties[name]
    return (
        f"value {value} of property {name} from cluster {cluster.name} is not a valid quantity:"
        f" {error}"
    )


def _value(labels: Labels, label: str) -> Iterable[str]:
    return (labels[label],) if label in labels else ()


def _union(parts: Iterable[Mask]) -> Mask:
    union = 0
    for part in parts:
        union |= part
    return union
