"""The Kubernetes providers of a fleet: one per member and way of conflict, declared when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pulumi

from fleet_components.components.member import Member
from fleet_components.delivery.provider import member_provider
from fleet_components.model.problem import FleetError, Problem


class MemberProviders:
    """Providers by member.

    Args:
        fleet: the fleet's name, part of the resources' names.
        members: the members by name.
        render_to: a directory to render to instead of reaching clusters; empty for none.
        parent: the parent of the providers.
    """

    def __init__(self, fleet: str, members: Mapping[str, Member], render_to: str, parent: pulumi.Resource) -> None:
        self._fleet, self._members, self._render_to, self._parent = fleet, members, render_to, parent
        self._declared: dict[tuple[str, bool], pulumi.ProviderResource] = {}

    def of(self, cluster: str, *, adopts: bool = True) -> pulumi.ProviderResource:
        """The provider of a member.

        Args:
            cluster: the member's name.
            adopts: whether it takes up objects that are there already; one that does not refuses them. Files know
                no such difference.

        Raises:
            FleetError: the member cannot be reached: it is not declared, has no kubeconfig, or an unreadable one.
        """
        if cluster not in self._members:
            hint = f'declare it again, or mark it with fleet:lost before it is taken out: "{cluster}"'
            raise FleetError(
                [Problem("still has objects and is no member any more", subject=f"member {cluster}", hint=hint)]
            )
        adopts = adopts or bool(self._render_to)
        if (cluster, adopts) not in self._declared:
            self._declared[cluster, adopts] = self._declare(self._members[cluster], adopts)
        return self._declared[cluster, adopts]

    def _declare(self, member: Member, adopts: bool) -> pulumi.ProviderResource:
        return member_provider(
            f"{self._fleet}/{member.name}" + ("" if adopts else "/abort"),
            adopts=adopts,
            cluster=member.name,
            kubeconfig=member.kubeconfig,
            identifier=member.identifier or member.name,
            render_to=str(Path(self._render_to) / member.name) if self._render_to else "",
            lost=member.lost,
            parent=self._parent,
        )
