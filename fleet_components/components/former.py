"""Where things were registered before they were renamed or moved: the aliases that keep them alive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pulumi

from fleet_components.model.manifest import Manifest
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn


@attrs.frozen
class Former:
    """The former names and URNs of what a fleet registers.

    Attributes:
        plan: the plan, which knows what was renamed and what stands.
    """

    plan: FleetPlan

    @property
    def fleet(self) -> str:
        """The fleet's former name."""
        return self.plan.options.renamed.fleet or self.plan.options.fleet

    def member(self, member: str) -> str:
        """A member's former name."""
        return self.plan.options.renamed.members.get(member, member)

    def subject(self, key: str) -> str:
        """The former name of a subject's resources."""
        return names.subject_name(self.fleet, self._key(key))

    def target(self, key: str, cluster: str) -> str:
        """The former name of a subject's resources on a member."""
        return names.target_name(self.fleet, self._key(key), self.member(cluster))

    def component(self) -> pulumi.ResourceOptions:
        """The alias of the fleet itself, which may have had another name or another parent.

        What is below it follows, as the engine has it: wherever a parent was found, its children are looked for.
        """
        urn = self.plan.past.urns.get((names.FLEET, self.fleet))
        return pulumi.ResourceOptions(aliases=[urn] if urn else None)

    def alias(self, token: str, name: str, former: str) -> pulumi.ResourceOptions:
        """The alias of a resource that had another name; no option where it had the same, or was not there.

        Args:
            token: its type.
            name: its name.
            former: its former name.
        """
        urn = self.plan.past.urns.get((token, former)) if former != name else None
        return pulumi.ResourceOptions(aliases=[urn] if urn else None)

    def object_aliases(self, component: str, cluster: str, name: str, data: Mapping[str, Any]) -> list[str]:
        """The alias of an object that stands under another URN: of another owner, name or apiVersion.

        The new resource would take the live object over, and the old one's deletion would then remove it.
        """
        pair = (cluster, Manifest(data).key)
        standing = self.plan.standing.get(pair)
        urn = standing.urn if standing else self.plan.taken_over.get(pair, "")
        if not urn or Urn.parse(urn).is_at((component, names.TARGET, names.type_token(data)), name):
            return []
        return [urn]

    def _key(self, key: str) -> str:
        return self.plan.options.renamed.placements.get(key, key)
