"""Kubernetes providers of a fleet: the one that a member brings, else one for each way of writing in use."""

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
from fleet_components.plan.apply_mode import ApplyMode

# Whether existing objects are adopted, and fields of others overwritten, are settings of a whole provider.
_ABORT = "/abort"
_UNFORCED = "/unforced"


def suffix_of(mode: ApplyMode) -> str:
    """Return the end of the name of a provider that writes in a mode; that of the usual one is empty."""
    return ("" if mode.adopts else _ABORT) + ("" if mode.forces else _UNFORCED)


class MemberProviders:
    """The Kubernetes providers of a fleet by member, declared when first needed.

    Args:
        fleet: the fleet's name, part of the names of resources.
        members: the members by name.
        render_to: a directory to render to instead of reaching clusters; empty for none.
        former: former names of the fleet and its members.
        after: resources to wait for: the checks that every member is still the same cluster.
        knows: returns whether it is known what a member has already of what comes to it.
        parent: the parent of the providers.
    """

    def __init__(
        self,
        fleet: str,
        members: Mapping[str, Member],
        render_to: str,
        former: Former,
        after: Sequence[pulumi.Resource],
        knows: Callable[[str], pulumi.Input[bool]],
        parent: pulumi.Resource,
    ) -> None:
        self._fleet, self._members, self._render_to, self._parent = fleet, members, render_to, parent
        self._former, self.after, self._knows = former, after, knows
        self._declared: dict[tuple[str, str], pulumi.ProviderResource] = {}

    def declared(self) -> tuple[pulumi.ProviderResource, ...]:
        """Return the providers that were declared so far, which excludes those that members bring."""
        return tuple(self._declared.values())

    def of(self, cluster: str, mode: ApplyMode = ApplyMode()) -> pulumi.ProviderResource:
        """Return the provider of a member: its own if it brings one, unless objects are only rendered.

        Args:
            cluster: the member's name.
            mode: how objects are written. It makes no difference when objects are only rendered, or for a provider
                that the member brings.

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
        # Only what is used is declared: the engine runs a process of some 27 MB for each provider.
        key = (cluster, "") if self._render_to else (cluster, suffix_of(mode))
        if key not in self._declared:
            self._declared[key] = self._declare(self._members[cluster], mode, key[1])
        return self._declared[key]

    def _declare(self, member: Member, mode: ApplyMode, suffix: str) -> pulumi.ProviderResource:
        name = names.member_name(self._fleet, member.name) + suffix
        known_as = [one + suffix for one in self._former.member(member.name)]
        options = pulumi.ResourceOptions(parent=self._parent, depends_on=list(self.after))
        return member_provider(
            name,
            adopts=bool(self._render_to) or (self._knows(member.name) if mode.adopts else False),
            cluster=member.name,
            kubeconfig=member.kubeconfig,
            identifier=identifier_of(self._former.plan, member),
            render_to=str(Path(self._render_to) / member.name) if self._render_to else "",
            lost=member.lost,
            forces=self._knows(member.name) if mode.forces else False,
            opts=pulumi.ResourceOptions.merge(options, self._former.alias(names.PROVIDER, name, known_as)),
        )
