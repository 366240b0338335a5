"""Resources that are handed over: the aliases of those that were renamed or moved, which keep them
from being deleted and created again, and the barrier that waits until another subject has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import pulumi

from fleet_components.dynamic import Barrier
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn


@attrs.frozen
class EarlierNames:
    """Former names and URNs of the resources of a fleet.

    Attributes:
        plan: the plan, which holds the renames and the current URNs.
    """

    plan: FleetPlan

    @property
    def fleets(self) -> tuple[str, ...]:
        """The name of the fleet, then those that the state has for it."""
        return (self.plan.options.fleet, *self.plan.past.fleets)

    def member(self, member: str) -> list[str]:
        """Return the names that the resources of a member may have."""
        known = self.plan.renames.names_of_member(member)
        return [names.member_name(fleet, name) for fleet in self.fleets for name in known]

    def subject(self, key: str) -> list[str]:
        """Return the names that a subject's resources may have."""
        known = self.plan.renames.keys_of(key)
        return [names.subject_name(fleet, name) for fleet in self.fleets for name in known]

    def target(self, key: str, cluster: str) -> list[str]:
        """Return the names that a subject's resources on a member may have."""
        members = self.plan.renames.names_of_member(cluster)
        known = [(text, member) for text in self.plan.renames.keys_of(key) for member in members]
        return [names.target_name(fleet, *pair) for fleet in self.fleets for pair in known]

    def component(self) -> pulumi.ResourceOptions:
        """Return the alias of the fleet component, which may have had another name or another
        parent.

        Its children need no alias of their own for that: the engine also looks for the children of
        every alias of their parent.
        """
        return self._alias(names.FLEET, self.fleets)

    def alias(self, token: str, name: str, known_as: Iterable[str]) -> pulumi.ResourceOptions:
        """Return the alias of a renamed resource; no alias if the state has it by its name, or not
        at all.

        Args:
            token: type token of the resource.
            name: its current name.
            known_as: the names that it may have in the state.
        """
        if (token, name) in self.plan.past.urns:
            return pulumi.ResourceOptions()
        return self._alias(token, known_as)

    def _alias(self, token: str, known_as: Iterable[str]) -> pulumi.ResourceOptions:
        # Names come in order, the current one first.
        urns = (self.plan.past.urns.get((token, name)) for name in known_as)
        return pulumi.ResourceOptions(aliases=list(filter(None, urns))[:1] or None)

    def object_aliases(
        self, component: str, cluster: str, name: str, data: Mapping[str, Any]
    ) -> list[str]:
        """Return the alias of an object that is in the state under another URN: another owner, name
        or apiVersion.

        Without the alias the new resource would adopt the live object, and deleting the old
        resource would then remove the object from the cluster.
        """
        pair = (cluster, Manifest(data).key)
        standing = self.plan.standing.get(pair)
        urn = standing.urn if standing else ""
        # Where only the fleet above it has moved, the engine finds it by the alias of its parent
        # (pulumi/pulumi v3.259.0, pkg/resource/deploy/step_generator.go, generateAliases).
        if not urn or Urn.parse(urn).is_at((component, names.TARGET, names.type_token(data)), name):
            return []
        return [urn]


# Dependencies between resources: between groups with few edges, and on those that come later.


def between(
    name: str, before: Sequence[pulumi.Resource], after: int, parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Return the resources that every resource of the next group has to depend on.

    Args:
        name: name of the barrier, if one is needed.
        before: the resources of the first group.
        after: number of resources in the next group.
        parent: the barrier's parent.

    Returns:
        The resources of the first group while that takes no more edges than a barrier; else one
        barrier that depends on all of them.
    """
    if len(before) * after <= len(before) + after + 1:
        return list(before)
    options = pulumi.ResourceOptions(parent=parent, depends_on=list(before))
    return [Barrier(name, {"key": name}, options)]


class Arrivals:
    """Resources of objects by member, which others may depend on before they are registered.

    Placements may need each other, so that no order of registration has every resource before
    those that need it.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, ObjectKey], asyncio.Future[pulumi.Resource]] = {}

    def register(self, cluster: str, key: ObjectKey, resource: pulumi.Resource) -> None:
        """Add the resource of an object on a member."""
        self._of(cluster, key).set_result(resource)

    def resource(self, cluster: str, key: ObjectKey) -> pulumi.Output[pulumi.Resource]:
        """Return the resource of an object on a member, once it is registered."""
        return pulumi.Output.from_input(self._of(cluster, key))

    def _of(self, cluster: str, key: ObjectKey) -> asyncio.Future[pulumi.Resource]:
        return self._found.setdefault((cluster, key), asyncio.Future())

    @contextmanager
    def complete(self) -> Iterator[None]:
        """Fail every dependency that is still open at the end, so that the program ends.

        Raises:
            RuntimeError: an object is depended on and not registered.
        """
        try:
            yield
            left = [found for found, resource in self._found.items() if not resource.done()]
            missing = [f"{key} on {cluster}" for cluster, key in left]
            if missing:
                raise RuntimeError(f"{', '.join(missing)}: depended on and not registered")
        except Exception as error:
            for found in self._found.values():
                if not found.done():
                    found.set_exception(error)
            raise
