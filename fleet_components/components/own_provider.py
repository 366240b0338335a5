"""Checks of a provider that a member brings itself, on its settings as the engine has them.

The plan determines what such a provider has to do. A provider that this package declares has the
right settings from the start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pulumi
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from pulumi.runtime.proto.resource_pb2 import ResourceInvokeRequest
from pulumi.runtime.settings import get_monitor

from fleet_components.components.handing_over import EarlierNames
from fleet_components.components.member import Member
from fleet_components.live.kubeconfig import chosen, names_no_cluster, read_kubeconfig
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.apply_mode import TakeOver
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.state import reveal

_SHOWN = 10
_GET = "pulumi:pulumi:getResource"
_IDENTIFIER = "without it, a kubeconfig that changes has every object deleted and made anew"
_UNSEEN = Message(
    "provider-names-no-kubeconfig-see",
    "its provider names no kubeconfig to see objects of other stacks with, and would take them"
    " over",
)
_REACHES = Message(
    "lost-provider-may-still",
    "is lost, and its provider may still reach the cluster: objects would be deleted there if it"
    " answers",
)
_NOT_LET_GO = (
    "give it that provider for this update, with kubeconfig=fleet_components.NO_CLUSTER and"
    " delete_unreachable=True"
)
_MUTABLE = "without it, {kind} whose data change is deleted and made anew"


@attrs.frozen
class ProviderSettings:
    """Settings of a provider, by the names that its plugin uses.

    Attributes:
        given: the known settings.
        unknown: names of the settings that are not known before the update.
    """

    given: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    unknown: frozenset[str] = frozenset()

    @property
    def identifier(self) -> str:
        """Its ``clusterIdentifier``; empty if it is not set, or not known yet."""
        return str(self.given.get("clusterIdentifier") or "")

    def is_on(self, setting: str) -> bool:
        """Return whether a setting is true; the engine hands booleans over as JSON text."""
        return str(self.given.get(setting)).lower() == "true"

    @property
    def names_no_cluster(self) -> bool:
        """True if nothing can be sent with it: its kubeconfig has no current context."""
        return names_no_cluster(str(self.given.get("kubeconfig") or ""))

    def kubeconfig(self, member: str) -> str:
        """Return the text of its kubeconfig, with the context and the cluster that its settings
        choose.

        The text is empty if there is no readable one: the provider itself reports what is wrong
        with it.
        """
        try:
            text = read_kubeconfig(str(self.given.get("kubeconfig") or ""), member)
        except FleetError:
            return ""
        return chosen(text, self.given)


def settings_of(provider: pulumi.ProviderResource) -> pulumi.Output[ProviderSettings]:
    """Return the settings of a provider as an output, known once it is registered; in previews
    too.
    """

    async def ask(urn: str) -> ProviderSettings:
        # In a thread, because the call blocks until the engine answers, and mocks answer in a
        # thread only. The monitor is looked up here, because it belongs to a context that threads
        # do not inherit.
        state = await asyncio.get_running_loop().run_in_executor(None, _state, get_monitor(), urn)
        unknown = frozenset(name for name, value in state.items() if value == rpc.UNKNOWN)
        return ProviderSettings(
            {name: value for name, value in state.items() if name not in unknown}, unknown
        )

    return provider.urn.apply(ask)


@attrs.frozen
class Demands:
    """Demands on a provider that a member brings.

    Attributes:
        member: the member's name.
        identifier: identifier of the cluster for the provider that brought its objects; empty for a
            new member.
        wanted: identifier to suggest if none is recorded.
        adopts: how it has to treat existing objects: True to adopt them, False to refuse them; or
            both.
        forces: how it has to treat fields that others have set: True to overwrite them, False to
            fail; or both.
        compares: True if what is there already is compared before it is taken up.
        lost: True if the cluster is gone for good.
        swept: objects to delete there that are in no state, so that no provider deletes them.
    """

    member: str
    identifier: str
    wanted: str
    adopts: Collection[bool]
    forces: Collection[bool] = (True,)
    compares: bool = False
    lost: bool = False
    swept: Sequence[str] = ()

    def problems(self, settings: ProviderSettings) -> Iterator[Problem]:
        """Yield a problem for each setting that prevents what the plan needs, or would delete or
        overwrite objects.
        """
        yield from self._of_identifier(settings)
        for setting, field, kind in (
            ("enableConfigMapMutable", "enable_config_map_mutable", "a ConfigMap"),
            ("enableSecretMutable", "enable_secret_mutable", "a Secret"),
        ):
            if not settings.is_on(setting) and setting not in settings.unknown:
                yield self._lacks(f"{field}=True", _MUTABLE.format(kind=kind))
        # If it is left out, the provider has it on.
        if settings.given.get("enableServerSideApply") is not None and not settings.is_on(
            "enableServerSideApply"
        ):
            hint = "leave it out: what is there already could not be taken up"
            yield self._problem(
                Message(
                    "provider-enable-server-side", "its provider has enable_server_side_apply=False"
                ),
                hint,
            )
        if self.lost and not settings.is_on("deleteUnreachable"):
            yield self._lacks(
                "delete_unreachable=True",
                "without it, what stood on the lost cluster cannot be dropped",
            )
        # A kubeconfig that is unknown in a preview is judged in the update.
        if self.lost and not settings.names_no_cluster and "kubeconfig" not in settings.unknown:
            yield self._problem(
                _REACHES, "kubeconfig=fleet_components.NO_CLUSTER, as long as the member is lost"
            )
        if settings.is_on("upsertExistingObjects") and False in self.adopts:
            what = Message(
                "provider-takes-up-what",
                "its provider takes up what is there already, and a policy refuses it",
            )
            hint = (
                "upsert_existing_objects=False; or conflictResolution: Overwrite in the policy of"
                " Karmada, whenToTakeOver: Always in that of KubeFleet; or a kubeconfig"
            )
            yield self._problem(what, hint)
        if settings.is_on("enablePatchForce") and False in self.forces:
            what = Message(
                "provider-overwrites-fields-others",
                "its provider overwrites fields that others have set, and a placement fails on"
                " them",
            )
            hint = (
                "enable_patch_force=False; or serverSideApplyConfig: {force: true} in the"
                " placement; or a kubeconfig"
            )
            yield self._problem(what, hint)
        if (
            self.compares
            and "kubeconfig" not in settings.unknown
            and not settings.kubeconfig(self.member)
        ):
            what = Message(
                "provider-names-no-kubeconfig-compare",
                "its provider names no kubeconfig to compare with what is there, as whenToTakeOver"
                " IfNoDiff asks",
            )
            yield self._problem(
                what,
                "give that provider one; or whenToTakeOver: Always, or Never, in the placement",
            )
        if (
            self.swept
            and "kubeconfig" not in settings.unknown
            and not settings.kubeconfig(self.member)
        ):
            yield unreached(self.member, self.swept)

    def warnings(self, settings: ProviderSettings) -> Iterator[Problem]:
        """Yield a warning for each setting that changes the behaviour of a provider declared by
        this package.
        """
        if self.lost:
            return
        if True in self.adopts and not settings.is_on("upsertExistingObjects"):
            what = Message(
                "provider-refuses-what-already",
                "its provider refuses what is there already, where a fleet takes it up",
            )
            yield self._problem(what, "upsert_existing_objects=True")
        if not settings.is_on("enablePatchForce"):
            if True in self.forces and "enablePatchForce" not in settings.unknown:
                yield self._problem(
                    Message(
                        "provider-fails-fields-others",
                        "its provider fails on fields that others have set",
                    ),
                    "enable_patch_force=True",
                )
        elif "kubeconfig" not in settings.unknown and not settings.kubeconfig(self.member):
            yield self._problem(_UNSEEN, "give that provider one, or leave out enable_patch_force")

    def _of_identifier(self, settings: ProviderSettings) -> Iterator[Problem]:
        if "clusterIdentifier" in settings.unknown:
            return
        wanted = self.identifier or self.wanted
        if not settings.identifier:
            yield self._lacks(f'cluster_identifier="{wanted}"', _IDENTIFIER)
        elif self.identifier and settings.identifier != self.identifier:
            what = Message(
                "provider-calls-cluster-called",
                'its provider calls the cluster "{identifier}", and it was called'
                ' "{self_identifier}"',
                identifier=settings.identifier,
                self_identifier=self.identifier,
            )
            hint = (
                f'cluster_identifier="{wanted}": with another one, every object is deleted and made'
                " anew"
            )
            yield self._problem(what, hint)

    def _lacks(self, setting: str, why: str) -> Problem:
        return self._problem(
            Message("provider-lacks", "its provider lacks {setting}", setting=setting), why
        )

    def _problem(self, what: Message, hint: str) -> Problem:
        return Problem(what, subject=f"member {self.member}", hint=hint)


def demands_of(plan: FleetPlan, member: Member) -> Demands:
    """Return the demands of a plan on the provider of a member."""
    known = plan.past.members.get(member.name)
    found = (subject.deliveries.get(member.name) for subject in plan.subjects)
    # A report writes nothing, and so demands nothing of a provider.
    modes = {delivery.mode for delivery in found if delivery and not delivery.mode.reports}
    return Demands(
        member=member.name,
        identifier=known.identifier if known else "",
        wanted=member.identifier or member.name,
        adopts=frozenset(mode.adopts for mode in modes),
        forces=frozenset(mode.forces for mode in modes),
        compares=any(mode.takes_over is TakeOver.IF_NO_DIFF for mode in modes),
        lost=member.lost,
        swept=[str(departure.key) for departure in plan.swept(member.name)],
    )


def not_let_go(plan: FleetPlan, members: Mapping[str, Member]) -> Iterator[Problem]:
    """Yield a problem for each lost member whose objects may belong to a provider that it does not
    bring any more.

    The engine deletes them with that provider, as the state or the program has it.
    """
    for name, state in plan.members.items():
        known, member = plan.past.members.get(name), members.get(name)
        if state != LOST or known is None or (member and member.provider is not None):
            continue
        left = sorted(
            str(standing.key)
            for standing in plan.past.standing
            if standing.cluster == name and not (standing.kept or standing.hub)
        )
        known_as = EarlierNames(plan).member(name)
        declared = any(
            kind == names.PROVIDER and any(names.is_provider_of(text, own) for own in known_as)
            for kind, text in plan.past.urns
        )
        if left and (known.own_provider or not declared):
            what = Message(
                "lost-may-belong-provider",
                "is lost, and {left} may belong to a provider of its own, which deletes them",
                left=few(left, _SHOWN),
            )
            yield Problem(what, subject=f"member {name}", hint=_NOT_LET_GO)


def unreached(member: str, objects: Sequence[str]) -> Problem:
    """Return the problem of a provider without kubeconfig: objects outside the state cannot be
    deleted.
    """
    what = Message(
        "provider-names-no-kubeconfig",
        "its provider names no kubeconfig to delete {objects} with",
        objects=few(objects, _SHOWN),
    )
    hint = "give that provider one, at least for this update"
    return Problem(what, subject=f"member {member}", hint=hint)


def _state(monitor: Any, urn: str) -> Mapping[str, Any]:
    arguments = Struct()
    arguments["urn"] = urn
    # The engine looks among the resources of this run first, so these are the settings in force
    # (pulumi/pulumi v3.259.0, pkg/resource/deploy/builtins.go, getResource).
    answer = monitor.Invoke(ResourceInvokeRequest(tok=_GET, args=arguments, acceptResources=True))
    found: Mapping[str, Any] = reveal(MessageToDict(getattr(answer, "return")))
    return found.get("state") or {}
