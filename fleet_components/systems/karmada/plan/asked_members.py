"""Find what Karmada's policies ask of members and no member has: affinities and their fields."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath
from fleet_components.model.selector import by_number
from fleet_components.plan.no_match import AskedMembers, NoMatch, values
from fleet_components.systems.karmada.model.policy import ClusterAffinity, FieldSelector
from fleet_components.systems.karmada.scheduler.state import FIELDS, matching, meeting_field

_DECLARE = {
    "provider": "declare spec.provider",
    "region": "declare spec.region, or the label topology.kubernetes.io/region",
    "zone": "declare spec.zones, or the label topology.kubernetes.io/zone",
}


@attrs.frozen(slots=False)
class KarmadaMembers(AskedMembers):
    """The members of a fleet, to look up what propagation and override policies ask of them."""

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
        yield from self.unmet(path, asked, matching(self.lost, affinity), self._values_of_field)

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
                self.only_lost(matching(self.lost, affinity)) or apart,
            )

    def field(self, path: FieldPath, name: str) -> Iterator[NoMatch]:
        """Check a field that Karmada spreads by: provider, region or zone."""
        if self.inventory and name in FIELDS and not FIELDS[name](self.inventory):
            yield NoMatch(
                path,
                Message("no-member-has-property", "no member has a {name}", name=name),
                _DECLARE[name],
            )

    def _values_of_field(self, key: str) -> str:
        domains = FIELDS[key](self.inventory) if key in FIELDS else {}
        counted = by_number((value, members.bit_count()) for value, members in domains.items())
        return values(key, counted) if counted else _DECLARE.get(key, "")
