"""The Kubernetes providers of a fleet: one per member in use, declared when it is first needed."""

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
        self._declared: dict[str, pulumi.ProviderResource] = {}

    def of(self, cluster: str) -> pulumi.ProviderResource:
        """The provider of a member.

        Raises:
            FleetError: the member cannot be reached: it is not declared, has no kubeconfig, or an unreadable one.
        """
        if cluster not in self._members:
            hint = f'declare it again, or mark it with fleet:lost before it is taken out: "{cluster}"'
            raise FleetError(
                [Problem("still has objects and is no member any more", subject=f"member {cluster}", hint=hint)]
            )
        if cluster not in self._declared:
            self._declared[cluster] = self._declare(self._members[cluster])
        return self._declared[cluster]

    def _declare(self, member: Member) -> pulumi.ProviderResource:
        return member_provider(
            f"{self._fleet}/{member.name}",
            cluster=member.name,
            kubeconfig=member.kubeconfig,
            identifier=member.identifier or member.name,
            render_to=str(Path(self._render_to) / member.name) if self._render_to else "",
            lost=member.lost,
            parent=self._parent,
        )
