"""A provider that a member brings itself: its settings, as the engine has them, and what is wrong with them.

What it is to be a member's provider for is known from the plan; a provider that we declare is set so from the start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pulumi
import yaml
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from pulumi.runtime.proto.resource_pb2 import ResourceInvokeRequest
from pulumi.runtime.settings import get_monitor

from fleet_components.components.member import Member
from fleet_components.components.provider import read_kubeconfig
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.state import reveal

_SHOWN = 10
_GET = "pulumi:pulumi:getResource"
_IDENTIFIER = "without it, a kubeconfig that changes has every object deleted and made anew"
_MUTABLE = "without it, {kind} whose data change is deleted and made anew"


@attrs.frozen
class ProviderSettings:
    """What a provider was told, by the names that its plugin knows.

    Attributes:
        given: the settings; what is not known before the update is left out.
        unknown: the names of those.
    """

    given: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    unknown: frozenset[str] = frozenset()

    @property
    def identifier(self) -> str:
        """What it calls its cluster; empty where it does not say, or not yet."""
        return str(self.given.get("clusterIdentifier") or "")

    def is_on(self, setting: str) -> bool:
        """Whether a setting is true; they come as JSON."""
        return str(self.given.get(setting)).lower() == "true"

    def kubeconfig(self, member: str) -> str:
        """The text of its kubeconfig, with the context and the cluster that it chooses.

        It is empty where there is none that can be read: the provider itself says what is wrong with it.
        """
        try:
            text = read_kubeconfig(str(self.given.get("kubeconfig") or ""), member)
        except FleetError:
            return ""
        chosen = {name: str(self.given[name]) for name in ("context", "cluster") if self.given.get(name)}
        return _choosing(text, **chosen) if chosen else text


def settings_of(provider: pulumi.ProviderResource) -> pulumi.Output[ProviderSettings]:
    """The settings of a provider, once it is registered; in previews too."""

    async def ask(urn: str) -> ProviderSettings:
        # The engine answers when it has the time, and mocks in a thread only; which monitor it is, no thread knows.
        state = await asyncio.get_running_loop().run_in_executor(None, _state, get_monitor(), urn)
        unknown = frozenset(name for name, value in state.items() if value == rpc.UNKNOWN)
        return ProviderSettings({name: value for name, value in state.items() if name not in unknown}, unknown)

    return provider.urn.apply(ask)


@attrs.frozen
class Demands:
    """What is demanded of a provider that a member brings.

    Attributes:
        member: the member's name.
        identifier: what its cluster was called by the provider that brought its objects; empty for a new member.
        wanted: what it may be called where nothing is known.
        adopts: how it is to treat what is there already: True to take it up, False to refuse it; or both.
        lost: the cluster is gone for good.
        swept: what has to be deleted there and is in no state, so that no provider deletes it.
    """

    member: str
    identifier: str
    wanted: str
    adopts: Collection[bool]
    lost: bool = False
    swept: Sequence[str] = ()

    def problems(self, settings: ProviderSettings) -> Iterator[Problem]:
        """What would delete objects that are to stay, or write over what belongs to others."""
        yield from self._of_identifier(settings)
        for setting, field, kind in (
            ("enableConfigMapMutable", "enable_config_map_mutable", "a ConfigMap"),
            ("enableSecretMutable", "enable_secret_mutable", "a Secret"),
        ):
            if not settings.is_on(setting) and setting not in settings.unknown:
                yield self._lacks(f"{field}=True", _MUTABLE.format(kind=kind))
        if settings.given.get("enableServerSideApply") is not None and not settings.is_on("enableServerSideApply"):
            hint = "leave it out: fields that others have set would be written over unseen"
            yield self._problem("its provider has enable_server_side_apply=False", hint)
        if self.lost and not settings.is_on("deleteUnreachable"):
            yield self._lacks("delete_unreachable=True", "without it, what stood on the lost cluster cannot be dropped")
        if settings.is_on("upsertExistingObjects") and False in self.adopts:
            what = "its provider takes up what is there already, and a policy of Karmada refuses it"
            hint = "upsert_existing_objects=False, or conflictResolution: Overwrite in the policy, or a kubeconfig"
            yield self._problem(what, hint)
        if self.swept and "kubeconfig" not in settings.unknown and not settings.kubeconfig(self.member):
            yield unreached(self.member, self.swept)

    def warnings(self, settings: ProviderSettings) -> Iterator[Problem]:
        """What will be otherwise than with a provider that we declare."""
        if True in self.adopts and not settings.is_on("upsertExistingObjects"):
            what = "its provider refuses what is there already, where a fleet takes it up"
            yield self._problem(what, "upsert_existing_objects=True")
        if settings.is_on("enablePatchForce"):
            what = "its provider takes fields over that others have set, and objects of other stacks with them"
            yield self._problem(what, "leave out enable_patch_force, unless it is meant")

    def _of_identifier(self, settings: ProviderSettings) -> Iterator[Problem]:
        if "clusterIdentifier" in settings.unknown:
            return
        wanted = self.identifier or self.wanted
        if not settings.identifier:
            yield self._lacks(f'cluster_identifier="{wanted}"', _IDENTIFIER)
        elif self.identifier and settings.identifier != self.identifier:
            what = f'its provider calls the cluster "{settings.identifier}", and it was called "{self.identifier}"'
            hint = f'cluster_identifier="{wanted}": with another one, every object is deleted and made anew'
            yield self._problem(what, hint)

    def _lacks(self, setting: str, why: str) -> Problem:
        return self._problem(f"its provider lacks {setting}", why)

    def _problem(self, what: str, hint: str) -> Problem:
        return Problem(what, subject=f"member {self.member}", hint=hint)


def demands_of(plan: FleetPlan, member: Member) -> Demands:
    """What a plan demands of the provider of a member."""
    known = plan.past.members.get(member.name)
    deliveries = (one.deliveries.get(member.name) for one in plan.subjects)
    return Demands(
        member=member.name,
        identifier=known.identifier if known else "",
        wanted=member.identifier or member.name,
        adopts=frozenset(delivery.adopts for delivery in deliveries if delivery),
        lost=member.lost,
        swept=[str(one.key) for one in plan.swept(member.name)],
    )


def unreached(member: str, objects: Sequence[str]) -> Problem:
    """Why what stands outside the state cannot be deleted: that takes a kubeconfig."""
    what = f"its provider names no kubeconfig to delete {few(objects, _SHOWN)} with"
    hint = "give that provider one, at least for this update"
    return Problem(what, subject=f"member {member}", hint=hint)


def _state(monitor: Any, urn: str) -> Mapping[str, Any]:
    arguments = Struct()
    arguments["urn"] = urn
    answer = monitor.Invoke(ResourceInvokeRequest(tok=_GET, args=arguments, acceptResources=True))
    found: Mapping[str, Any] = reveal(MessageToDict(getattr(answer, "return")))
    return found.get("state") or {}


def _choosing(text: str, context: str = "", cluster: str = "") -> str:
    """A kubeconfig with another context in use, or with another cluster in that context."""
    config = yaml.load(text, yaml.CSafeLoader)
    current = context or str(config.get("current-context") or "")
    contexts = [
        {**each, "context": {**each["context"], "cluster": cluster}} if cluster and each["name"] == current else each
        for each in config["contexts"]
    ]
    return yaml.safe_dump({**config, "current-context": current, "contexts": contexts})
