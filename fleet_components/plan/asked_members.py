"""Find names, labels, fields and properties in policies that match no member.

Both KubeFleet and Karmada accept such policies without an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import RESOURCE_PREFIX, Inventory
from fleet_components.model.mask import Mask
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath
from fleet_components.model.selector import LabelIndex, LabelSelector, Requirement, by_number
from fleet_components.model.text import Vocabulary, few
from fleet_components.plan.no_match import NoMatch, located, meant, values, values_of_label
from fleet_components.scheduler.explain import show_requirement
from fleet_components.scheduler.framework import SchedulingError
from fleet_components.systems.karmada.model.policy import ClusterAffinity, FieldSelector
from fleet_components.systems.karmada.scheduler.state import FIELDS, matching, meeting_field
from fleet_components.systems.kubefleet.model.placement import (
    ClusterSelectorTerm,
    PropertyRequirement,
    PropertySelector,
)
from fleet_components.systems.kubefleet.scheduler.cluster_affinity import matching_term

_DECLARE = {
    "provider": "declare spec.provider",
    "region": "declare spec.region, or the label topology.kubernetes.io/region",
    "zone": "declare spec.zones, or the label topology.kubernetes.io/zone",
}
_USAGE = {"total": "capacity", "allocatable": "allocatable", "available": "available"}
_SHOWN = 3
Asked = tuple[FieldPath, Requirement, Mask]
"""Path of a requirement, the requirement, and the members that meet it."""


@attrs.frozen(slots=False)
class AskedMembers:
    """The members of a fleet, to look up what policies ask of them; each method yields what matches
    no member.

    In a fleet without members only names yield something: that members are missing is reported
    elsewhere.

    Attributes:
        inventory: the members that are scheduled on.
        lost: the members that are marked lost.
    """

    inventory: Inventory
    lost: Inventory

    @classmethod
    def of(cls, declared: Iterable[Cluster], inventory: Inventory) -> AskedMembers:
        """Return the declared members; those that are missing in the inventory count as lost."""
        return cls(
            inventory,
            Inventory(cluster for cluster in declared if inventory.position(cluster.name) is None),
        )

    def named(self, path: FieldPath, names: Iterable[str]) -> Iterator[NoMatch]:
        """Check a list of member names."""
        for index, name in enumerate(names):
            yield from self.one((*path, index), name)

    def one(self, path: FieldPath, name: str) -> Iterator[NoMatch]:
        """Check a member name."""
        if self.lost.position(name) is not None:
            yield NoMatch(
                path,
                Message("member-marked-lost", 'member "{name}" is marked lost', name=name),
                "nothing goes there until it is back",
            )
        elif self.inventory.position(name) is None:
            yield NoMatch(
                path,
                Message("no-member-declared", 'there is no member "{name}"', name=name),
                meant(name, self._names, "the members are"),
            )

    def labelled(self, path: FieldPath, selector: LabelSelector | None) -> Iterator[NoMatch]:
        """Check a label selector."""
        if selector is None or not self.inventory:
            return
        if selector.error:
            yield NoMatch(
                path,
                Message("selects-no-member", "selects no member: {error}", error=selector.error),
            )
        elif not self.inventory.matching(selector):
            domains = self.inventory.domains
            asked = [
                (at, requirement, self.inventory.meeting(requirement, domains(requirement.key)))
                for at, requirement in located(path, selector)
            ]
            yield from self._unmet(path, asked, self.lost.matching(selector), self._values_of_label)

    def fielded(self, path: FieldPath, selector: FieldSelector | None) -> Iterator[NoMatch]:
        """Check a field selector of Karmada: by provider, region and zone."""
        affinity = ClusterAffinity(field_selector=selector)
        if selector is None or not self.inventory or matching(self.inventory, affinity):
            return
        expressions = [
            ((*path, "matchExpressions", n), expression)
            for n, expression in enumerate(selector.match_expressions)
        ]
        wrong = [(at, requirement) for at, requirement in expressions if requirement.error]
        if wrong:
            yield from (
                NoMatch(
                    at,
                    Message(
                        "selects-no-member", "selects no member: {error}", error=requirement.error
                    ),
                )
                for at, requirement in wrong
            )
            return
        asked = [
            (at, requirement, meeting_field(self.inventory, requirement))
            for at, requirement in expressions
        ]
        yield from self._unmet(path, asked, matching(self.lost, affinity), self._values_of_field)

    def affinity(self, path: FieldPath, affinity: ClusterAffinity | None) -> Iterator[NoMatch]:
        """Check an affinity of Karmada: each part, and their combination if every part matches some
        member.
        """
        if affinity is None:
            return
        found = [
            *self.named((*path, "clusterNames"), affinity.cluster_names),
            *self.labelled((*path, "labelSelector"), affinity.label_selector),
            *self.fielded((*path, "fieldSelector"), affinity.field_selector),
        ]
        yield from found
        yield from self.named((*path, "exclude"), affinity.exclude)
        if not found and self.inventory and not matching(self.inventory, affinity):
            apart = "each part of it selects some, but not the same"
            yield NoMatch(
                path,
                Message("selector-selects-no-member", "selects no member"),
                self._only_lost(matching(self.lost, affinity)) or apart,
            )

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
        if not found and self._meeting(term, self.inventory) == 0:
            apart = "each part of it some member meets, but none meets all"
            yield NoMatch(
                path,
                Message("no-member-matches", "no member matches"),
                self._only_lost(self._meeting(term, self.lost)) or apart,
            )

    def property(self, path: FieldPath, name: str) -> Iterator[NoMatch]:
        """Check the name of a property."""
        column = self.inventory.property(name)
        if column.present or column.errors or not self.inventory:
            return
        what = Message("no-member-property", 'no member has the property "{name}"', name=name)
        hint = meant(name, self._property_names, "they have")
        yield NoMatch(path, what, self._only_lost(self.lost.property(name).present) or hint)

    def label(self, path: FieldPath, key: str) -> Iterator[NoMatch]:
        """Check the key of a label."""
        if not self.inventory or self.inventory.domains(key):
            return
        what = Message("no-member-has-label-key", 'no member has the label "{key}"', key=key)
        gone = self.lost.matching(LabelSelector({}, (Requirement(key, "Exists"),)))
        yield NoMatch(
            path, what, self._only_lost(gone) or meant(key, self._labels.keys, "they have")
        )

    def label_of(self, path: FieldPath, key: str, selected: Sequence[Cluster]) -> Iterator[NoMatch]:
        """Check the key of a label that some of the members which a rule selects should have."""
        found = list(self.label(path, key))
        yield from found
        if not found and not any(key in cluster.labels for cluster in selected):
            theirs = Vocabulary(label for cluster in selected for label in cluster.labels)
            yield NoMatch(
                path,
                Message(
                    "no-member-selects-label",
                    'no member that it selects has the label "{key}"',
                    key=key,
                ),
                meant(key, theirs, "they have"),
            )

    def field(self, path: FieldPath, name: str) -> Iterator[NoMatch]:
        """Check a field that Karmada spreads by: provider, region or zone."""
        if self.inventory and name in FIELDS and not FIELDS[name](self.inventory):
            yield NoMatch(
                path,
                Message("no-member-has-property", "no member has a {name}", name=name),
                _DECLARE[name],
            )

    def _unmet(
        self, path: FieldPath, asked: Sequence[Asked], gone: Mask, instead: Callable[[str], str]
    ) -> Iterator[NoMatch]:
        """Yield the requirements that no member meets, or the whole selector if each is met by some
        member.
        """
        shown = {at: show_requirement(requirement) for at, requirement, _ in asked}
        if gone:
            yield NoMatch(
                path,
                Message(
                    "no-member-has-values",
                    "no member has {values}",
                    values=", ".join(shown.values()),
                ),
                self._only_lost(gone),
            )
            return
        unmet = [(at, requirement) for at, requirement, members in asked if not members]
        yield from (
            NoMatch(
                at,
                Message("no-member-has-labels", "no member has {shown}", shown=shown[at]),
                instead(requirement.key),
            )
            for at, requirement in unmet
        )
        if not unmet:
            whose = [f"{shown[at]}: {self._few(members)}" for at, _, members in asked]
            yield NoMatch(
                path,
                Message(
                    "no-member-all",
                    "no member has all of {values}",
                    values=", ".join(shown.values()),
                ),
                "; ".join(whose),
            )

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
                self._only_lost(self._meeting(term, self.lost)) or self._range(expression.name),
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
        least, most = known[0][1], known[-1][1]
        return f"they have {least} to {most}" if least != most else f"they have {least}"

    @cached_property
    def _labels(self) -> LabelIndex:
        return LabelIndex([cluster.labels for cluster in self.inventory.clusters])

    @cached_property
    def _names(self) -> Vocabulary:
        return Vocabulary((*self.inventory.names, *self.lost.names))

    @cached_property
    def _property_names(self) -> Vocabulary:
        return Vocabulary(
            name for cluster in self.inventory.clusters for name in _properties(cluster)
        )

    def _few(self, members: Mask) -> str:
        return few(
            [self.inventory.names[position] for position in masks.positions(members)], _SHOWN
        )

    def _only_lost(self, gone: Mask | None) -> str:
        """Return a note that only lost members match; empty if none of those matches either."""
        names = [self.lost.names[position] for position in masks.positions(gone or 0)]
        return f"but for {few(names)}, marked lost" if names else ""

    def _values_of_label(self, key: str) -> str:
        known_values = values_of_label(key, self._labels)
        known = f"they have: {few(self._labels.keys.words) or 'none'}"
        return (
            known_values
            if self.inventory.domains(key)
            else f"{known_values}{' ' if known_values.endswith('?') else '; '}{known}"
        )

    def _values_of_field(self, key: str) -> str:
        domains = FIELDS[key](self.inventory) if key in FIELDS else {}
        counted = by_number((value, members.bit_count()) for value, members in domains.items())
        return values(key, counted) if counted else _DECLARE.get(key, "")


def _properties(cluster: Cluster) -> Iterator[str]:
    """Yield the names of a member's properties, including the resource properties derived from its
    usage.
    """
    yield from cluster.properties
    for prefix, field in _USAGE.items():
        yield from (
            f"{RESOURCE_PREFIX}{prefix}-{resource}" for resource in getattr(cluster.usage, field)
        )
