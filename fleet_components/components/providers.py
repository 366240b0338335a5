"""Kubernetes providers of a fleet: the one that a member brings, else up to two, which adopt or refuse objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pulumi

from fleet_components.components.former import Former
from fleet_components.components.identification import identifier_of
from fleet_components.components.member import Member
from fleet_components.components.provider import member_provider
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names

# Whether existing objects are adopted is a setting of a whole provider.
_ABORT = "/abort"


class MemberProviders:
    """The Kubernetes providers of a fleet by member, declared when first needed.

    Args:
        fleet: the fleet's name, part of the names of resources.
        members: the members by name.
        render_to: a directory to render to instead of reaching clusters; empty for none.
        former: former names of the fleet and its members.
        after: resources to wait for: the checks that every member is still the same cluster.
        forces: returns whether fields that others have set on a member are overwritten.
        parent: the parent of the providers.
    """

    def __init__(
        self,
        fleet: str,
        members: Mapping[str, Member],
        render_to: str,
        former: Former,
        after: Sequence[pulumi.Resource],
        forces: Callable[[str], pulumi.Input[bool]],
        parent: pulumi.Resource,
    ) -> None:
        self._fleet, self._members, self._render_to, self._parent = fleet, members, render_to, parent
        self._former, self.after, self._forces = former, after, forces
        self._declared: dict[tuple[str, bool], pulumi.ProviderResource] = {}

    def declared(self) -> tuple[pulumi.ProviderResource, ...]:
        """Return the providers that were declared so far, which excludes those that members bring."""
        return tuple(self._declared.values())

    def of(self, cluster: str, *, adopts: bool = True) -> pulumi.ProviderResource:
        """Return the provider of a member: its own if it brings one, unless objects are only rendered.

        Args:
            cluster: the member's name.
            adopts: True to adopt existing objects, False to refuse them. It makes no difference when objects are only
                rendered, or for a provider that the member brings.

        Raises:
            FleetError: the member is no longer declared, so that it cannot be reached.
        """
        if cluster not in self._members:
            hint = f'declare it again, or mark it with fleet:lost before it is taken out: "{cluster}"'
            raise FleetError(
                [Problem("still has objects and is no longer a member", subject=f"member {cluster}", hint=hint)]
            )
        if (own := self._members[cluster].provider) is not None and not self._render_to:
            return own
        adopts = adopts or bool(self._render_to)
        # Only what is used is declared: the engine runs a process of some 27 MB for each provider.
        if (cluster, adopts) not in self._declared:
            self._declared[cluster, adopts] = self._declare(self._members[cluster], adopts)
        return self._declared[cluster, adopts]

    def _declare(self, member: Member, adopts: bool) -> pulumi.ProviderResource:
        suffix = "" if adopts else _ABORT
        name = names.member_name(self._fleet, member.name) + suffix
        former = names.member_name(self._former.fleet, self._former.member(member.name)) + suffix
        options = pulumi.ResourceOptions(parent=self._parent, depends_on=list(self.after))
        return member_provider(
            name,
            adopts=adopts,
            cluster=member.name,
            kubeconfig=member.kubeconfig,
            identifier=identifier_of(self._former.plan, member),
            render_to=str(Path(self._render_to) / member.name) if self._render_to else "",
            lost=member.lost,
            forces=self._forces(member.name),
            opts=pulumi.ResourceOptions.merge(options, self._former.alias(names.PROVIDER, name, former)),
        )
