"""Find what KubeFleet's policies ask of members and no member has: affinities, properties."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import RESOURCE_PREFIX, Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath
from fleet_components.model.text import Vocabulary
from fleet_components.plan.no_match import AskedMembers, NoMatch, meant
from fleet_components.scheduler.framework import SchedulingError
from fleet_components.systems.kubefleet.model.placement import (
    ClusterSelectorTerm,
    PropertyRequirement,
    PropertySelector,
)
from fleet_components.systems.kubefleet.scheduler.cluster_affinity import matching_term

_USAGE = {"total": "capacity", "allocatable": "allocatable", "available": "available"}


@attrs.frozen(slots=False)
class KubeFleetMembers(AskedMembers):
    """The members of a fleet, to look up what placements and their overrides ask of them."""

    def term(self, path: FieldPath, term: ClusterSelectorTerm) -> Iterator[NoMatch]:
        """Check a required term of KubeFleet: labels, each property, and all together if each
        matches some member.
        """
        expressions = term.property_selector.match_expressions if term.property_selector else ()
        at = (*path, "propertySelector", "matchExpressions")
        found = list(self.labelled((*path, "labelSelector"), term.label_selector))
        for index, expression in enumerate(expressions):
            found += self._expression((*at, index), expression)
        yield from found
        # Not falsy: None means that the term cannot be evaluated.
        if not found and self._meeting(term, self.inventory) == 0:
            apart = "each part of it some member meets, but none meets all"
            yield NoMatch(
                path,
                Message("no-member-matches", "no member matches"),
                self.only_lost(self._meeting(term, self.lost)) or apart,
            )

    def property(self, path: FieldPath, name: str) -> Iterator[NoMatch]:
        """Check the name of a property."""
        column = self.inventory.property(name)
        if column.present or column.errors or not self.inventory:
            return
        what = Message("no-member-property", 'no member has the property "{name}"', name=name)
        hint = meant(name, self._property_names, "they have")
        yield NoMatch(path, what, self.only_lost(self.lost.property(name).present) or hint)

    def _expression(self, path: FieldPath, expression: PropertyRequirement) -> Iterator[NoMatch]:
        found = list(self.property((*path, "name"), expression.name))
        yield from found
        term = ClusterSelectorTerm(None, PropertySelector((expression,)))
        if not found and self._meeting(term, self.inventory) == 0:
            what = Message(
                "no-member-meets-expression",
                "no member has {name} {operator} {values}",
                name=expression.name,
                operator=expression.operator,
                values=", ".join(expression.values),
            )
            yield NoMatch(
                path,
                what,
                self.only_lost(self._meeting(term, self.lost)) or self._range(expression.name),
            )

    def _meeting(self, term: ClusterSelectorTerm, inventory: Inventory) -> Mask | None:
        """Return the members that meet a term; None if there are no members, or if the scheduling
        cycle fails on it.
        """
        try:
            return matching_term(inventory, term, inventory.everything) if inventory else None
        except SchedulingError:
            return None

    def _range(self, name: str) -> str:
        column = self.inventory.property(name)
        pairs = zip(column.values, column.texts, strict=True)
        known = sorted(
            (value, text) for value, text in pairs if value is not None and text is not None
        )
        # Never empty: values that cannot be read would have made `_meeting` return None.
        least, most = known[0][1], known[-1][1]
        return f"they have {least} to {most}" if least != most else f"they have {least}"

    @cached_property
    def _property_names(self) -> Vocabulary:
        return Vocabulary(
            name for cluster in self.inventory.clusters for name in _properties(cluster)
        )


def _properties(cluster: Cluster) -> Iterator[str]:
    """Yield the names of a member's properties, including the resource properties derived from its
    usage.
    """
    yield from cluster.properties
    for prefix, field in _USAGE.items():
        yield from (
            f"{RESOURCE_PREFIX}{prefix}-{resource}" for resource in getattr(cluster.usage, field)
        )
