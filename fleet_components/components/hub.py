"""Registers the objects that go through a hub, those that steer it and those that it places, by one provider."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

import attrs
import pulumi

from fleet_components.components.barrier import between
from fleet_components.components.objects import KubernetesObject, provider_version, sealed
from fleet_components.components.process import in_process
from fleet_components.components.provider import member_provider
from fleet_components.components.refusal import RefusedError
from fleet_components.content.secret import REDACTED
from fleet_components.live.hub_members import missing_members
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.consignment import Consigned, Consignment
from fleet_components.plan.ways import NAMES

HubReach = pulumi.Input[str] | pulumi.ProviderResource | None
"""Access to a hub: text or path of a kubeconfig, or a Kubernetes provider of one's own."""
_HINT = "pulumi config set fleet:hub PATH, or FleetArgs(hub=...): the kubeconfig of the hub, as text or path"


def unreachable_hub(consignment: Consignment, reach: HubReach) -> Problem | None:
    """Return why the hub cannot be reached, as far as it is known before the program runs; None if nothing is."""
    if not consignment.system or isinstance(reach, pulumi.ProviderResource):
        return None
    try:
        if isinstance(reach, str | None):
            _read(reach)
    except FleetError as error:
        return error.problems[0]
    return None


class Hub(pulumi.ComponentResource):
    """Component of all that a fleet has on its hub.

    Attributes:
        last: the resources of the last stage, which come after all others.
    """

    last: Sequence[pulumi.Resource]

    def __init__(
        self,
        fleet: str,
        consignment: Consignment,
        reach: HubReach,
        after: Sequence[pulumi.Resource],
        parent: pulumi.Resource,
    ) -> None:
        self._name, self._consignment = names.hub_name(fleet), consignment
        opts = pulumi.ResourceOptions(parent=parent, depends_on=list(after))
        super().__init__(names.HUB, self._name, {}, opts)
        provider = reach if isinstance(reach, pulumi.ProviderResource) else self._reached(reach)
        before: list[pulumi.Resource] = list(after)
        for stage, group in groupby(consignment.objects, key=lambda one: one.stage):
            objects = list(group)
            before = between(f"{self._name}/stage-{int(stage)}", before, len(objects), self)
            before = [self._object(one, provider, before) for one in objects]
        self.last = before
        self.register_outputs({})

    def _reached(self, reach: pulumi.Input[str] | None) -> pulumi.ProviderResource:
        given: pulumi.Output[Any] = pulumi.Output.from_input(reach)
        checked: pulumi.Output[str] = pulumi.Output.secret(given.apply(self._checked))
        return member_provider(
            self._name,
            cluster="hub",
            kubeconfig=checked,
            # Another kubeconfig of the hub replaces nothing.
            identifier=self._name,
            render_to="",
            lost=False,
            opts=pulumi.ResourceOptions(parent=self),
        )

    async def _checked(self, given: Any) -> str:
        """Return the text of the kubeconfig, once the hub has said that it knows the members.

        Raises:
            RefusedError: it does not know some, or cannot be asked.
        """
        if in_process():
            return REDACTED
        members = [one.manifest for one in self._consignment.objects if one.patch]
        try:
            text = _read(given)
            if text != REDACTED:
                ask = partial(missing_members, text, NAMES[self._consignment.system], members)
                await asyncio.get_running_loop().run_in_executor(None, ask)
        except FleetError as error:
            raise RefusedError(error.problems) from None
        return text

    def _object(
        self, one: Consigned, provider: pulumi.ProviderResource, before: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        manifest = one.manifest
        name = f"{self._name}/{names.short_name(manifest.key)}"
        options = pulumi.ResourceOptions(
            parent=self,
            provider=provider,
            version=provider_version(),
            depends_on=list(before),
            # A member that is not declared any more stays one: its agents have joined it.
            retain_on_delete=one.patch,
        )
        return KubernetesObject(name, sealed(manifest.data), options, patch=one.patch)


def _read(given: Any) -> str:
    """Return the text of a hub's kubeconfig.

    Raises:
        FleetError: there is none, or it cannot be used. The text is never shown.
    """
    try:
        return read_kubeconfig(given, "hub")
    except FleetError as error:
        told = (attrs.evolve(one, subject="the hub", hint=_HINT) for one in error.problems)
        raise FleetError(told) from None
