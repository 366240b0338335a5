"""Aliases of resources that were renamed or moved, which keep them from being deleted and created anew."""

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
    """Former names and URNs of the resources of a fleet.

    Attributes:
        plan: the plan, which holds the renames and the current URNs.
    """

    plan: FleetPlan

    @property
    def fleet(self) -> str:
        """Former name of the fleet; the current name if it was not renamed."""
        return self.plan.options.renamed.fleet or self.plan.options.fleet

    def member(self, member: str) -> str:
        """Return the former name of a member; the current name if it was not renamed."""
        return self.plan.options.renamed.members.get(member, member)

    def subject(self, key: str) -> str:
        """Return the former name of a subject's resources."""
        return names.subject_name(self.fleet, self._key(key))

    def target(self, key: str, cluster: str) -> str:
        """Return the former name of a subject's resources on a member."""
        return names.target_name(self.fleet, self._key(key), self.member(cluster))

    def component(self) -> pulumi.ResourceOptions:
        """Return the alias of the fleet component, which may have had another name or another parent.

        Its children need no alias of their own for that: the engine also looks for the children of every alias of their
        parent.
        """
        urn = self.plan.past.urns.get((names.FLEET, self.fleet))
        return pulumi.ResourceOptions(aliases=[urn] if urn else None)

    def alias(self, token: str, name: str, former: str) -> pulumi.ResourceOptions:
        """Return the alias of a renamed resource; no alias if the name is the same, or the resource is new.

        Args:
            token: type token of the resource.
            name: its current name.
            former: its former name.
        """
        urn = self.plan.past.urns.get((token, former)) if former != name else None
        return pulumi.ResourceOptions(aliases=[urn] if urn else None)

    def object_aliases(self, component: str, cluster: str, name: str, data: Mapping[str, Any]) -> list[str]:
        """Return the alias of an object that is in the state under another URN: another owner, name or apiVersion.

        Without the alias the new resource would adopt the live object, and deleting the old resource would then remove
        the object from the cluster.
        """
        pair = (cluster, Manifest(data).key)
        standing = self.plan.standing.get(pair)
        urn = standing.urn if standing else self.plan.taken_over.get(pair, "")
        # Where only the fleet above it has moved, the engine finds it by the alias of its parent (pulumi/pulumi
        # v3.259.0, pkg/resource/deploy/step_generator.go, generateAliases).
        if not urn or Urn.parse(urn).is_at((component, names.TARGET, names.type_token(data)), name):
            return []
        return [urn]

    def _key(self, key: str) -> str:
        return self.plan.options.renamed.placements.get(key, key)
