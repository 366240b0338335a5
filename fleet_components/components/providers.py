"""Kubernetes providers of a fleet: the one that a member brings, else one for each way of writing
in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pulumi

from fleet_components.components.handing_over import EarlierNames
from fleet_components.components.member import Member, identifier_of
from fleet_components.components.own_provider import ProviderSettings, settings_of
from fleet_components.components.process import in_process
from fleet_components.components.refusal import RefusedError
from fleet_components.content.secret import REDACTED
from fleet_components.live.kubeconfig import NO_CLUSTER, read_kubeconfig
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode

# Whether existing objects are adopted, and fields of others overwritten, are settings of a whole
# provider.
_ABORT = "/abort"
_UNFORCED = "/unforced"
_SUFFIXES = ("", _ABORT, _UNFORCED, _ABORT + _UNFORCED)
_NOT_TARGETED = Message(
    "lost-update-leaves-provider",
    "is lost, and this update leaves its provider as it was: objects would be deleted on its"
    " cluster",
)
_NOT_TARGETED_HINT = "name that provider as well, {urn}; or update without --target and --exclude"


def suffix_of(mode: ApplyMode) -> str:
    """Return the end of the name of a provider that writes in a mode; that of the usual one is
    empty.
    """
    return ("" if mode.adopts else _ABORT) + ("" if mode.forces else _UNFORCED)


class MemberProviders:
    """The Kubernetes providers of a fleet by member, declared when first needed.

    Args:
        fleet: the fleet's name, part of the names of resources.
        members: the members by name.
        render_to: a directory to render to instead of reaching clusters; empty for none.
        earlier: former names of the fleet and its members.
        after: resources to wait for: the checks that every member is still the same cluster.
        knows: returns whether it is known what a member has already of what comes to it.
        parent: the parent of the providers.
    """

    def __init__(
        self,
        fleet: str,
        members: Mapping[str, Member],
        render_to: str,
        earlier: EarlierNames,
        after: Sequence[pulumi.Resource],
        knows: Callable[[str], pulumi.Input[bool]],
        parent: pulumi.Resource,
    ) -> None:
        self._fleet, self._members, self._render_to, self._parent = (
            fleet,
            members,
            render_to,
            parent,
        )
        self._earlier, self.after, self._knows = earlier, after, knows
        self._declared: dict[tuple[str, str], pulumi.ProviderResource] = {}

    def declared(self) -> tuple[pulumi.ProviderResource, ...]:
        """Return the providers that were declared so far, which excludes those that members
        bring.
        """
        return tuple(self._declared.values())

    def let_go(self, cluster: str) -> None:
        """Declare the providers that the state has of a lost member, so that nothing is sent with
        them.

        Raises:
            RefusedError: in the run of the program, a provider is not updated: ``--target`` does
                not name it.
        """
        known, known_as = self._earlier.plan.past.urns, self._earlier.member(cluster)
        for suffix in _SUFFIXES:
            if any((names.PROVIDER, name + suffix) in known for name in known_as):
                provider = self._once(cluster, suffix)
                if not in_process() and not self._render_to:
                    pulumi.Output.all(provider.urn, settings_of(provider)).apply(
                        partial(_refuse_reaching, cluster)
                    )

    def of(self, cluster: str, mode: ApplyMode = ApplyMode()) -> pulumi.ProviderResource:
        """Return the provider of a member: its own if it brings one, unless objects are only
        rendered.

        Args:
            cluster: the member's name.
            mode: how objects are written. It makes no difference when objects are only rendered, or
                for a provider that the member brings.

        Raises:
            FleetError: the member is no longer declared, so that it cannot be reached.
        """
        if cluster not in self._members:
            hint = (
                f'declare it again, or mark it with fleet:lost before it is taken out: "{cluster}"'
            )
            raise FleetError(
                [
                    Problem(
                        Message(
                            "still-objects-no-longer", "still has objects and is no longer a member"
                        ),
                        subject=f"member {cluster}",
                        hint=hint,
                    )
                ]
            )
        own = self._members[cluster].provider
        if own is not None and not self._render_to:
            return own
        return self._once(cluster, "" if self._render_to else suffix_of(mode))

    def _once(self, cluster: str, suffix: str) -> pulumi.ProviderResource:
        # Only what is used is declared: the engine runs a process of some 27 MB for each provider.
        if (cluster, suffix) not in self._declared:
            self._declared[cluster, suffix] = self._declare(self._members[cluster], suffix)
        return self._declared[cluster, suffix]

    def _declare(self, member: Member, suffix: str) -> pulumi.ProviderResource:
        adopts, forces = _ABORT not in suffix, _UNFORCED not in suffix
        name = names.member_name(self._fleet, member.name) + suffix
        known_as = [text + suffix for text in self._earlier.member(member.name)]
        options = pulumi.ResourceOptions(parent=self._parent, depends_on=list(self.after))
        return member_provider(
            name,
            # Where objects are only rendered, there is no cluster of which anything has to be
            # known.
            adopts=bool(self._render_to) or (self._knows(member.name) if adopts else False),
            cluster=member.name,
            kubeconfig=member.kubeconfig,
            identifier=identifier_of(self._earlier.plan, member),
            render_to=str(Path(self._render_to) / member.name) if self._render_to else "",
            lost=member.lost,
            forces=self._knows(member.name) if forces else False,
            opts=pulumi.ResourceOptions.merge(
                options, self._earlier.alias(names.PROVIDER, name, known_as)
            ),
        )


def _refuse_reaching(cluster: str, found: tuple[str, ProviderSettings]) -> None:
    urn, settings = found
    if not settings.names_no_cluster:
        hint = _NOT_TARGETED_HINT.format(urn=urn)
        raise RefusedError([Problem(_NOT_TARGETED, subject=f"member {cluster}", hint=hint)])


# The Kubernetes provider of one member, and whether its kubeconfig can be used.


def member_provider(
    name: str,
    *,
    cluster: str,
    kubeconfig: pulumi.Input[str] | None,
    identifier: str,
    render_to: str,
    lost: bool,
    adopts: pulumi.Input[bool] = True,
    forces: pulumi.Input[bool] = True,
    opts: pulumi.ResourceOptions,
) -> pulumi.ProviderResource:
    """Declare the Kubernetes provider of a member.

    Args:
        name: name of the resource.
        cluster: name of the member, for messages.
        kubeconfig: text or path of the kubeconfig.
        identifier: identifies the cluster; while it stays the same, a rotated kubeconfig replaces
            nothing.
        render_to: a directory to render to instead of reaching the cluster; empty for none.
        lost: True if the member is lost: nothing is sent to it, and its objects are dropped from
            the state.
        adopts: True to adopt existing objects, False to refuse them.
        forces: True to overwrite fields that others have set, False to fail on them.
        opts: resource options of the provider.
    """
    from pulumi_kubernetes import Provider

    settings: dict[str, Any] = {
        # Without these, the provider deletes and recreates a ConfigMap or Secret whose data change.
        "enable_config_map_mutable": True,
        "enable_secret_mutable": True,
        # What is on a member is adopted, as KubeFleet does by default; its whenToTakeOver Never,
        # and Karmada's conflictResolution Abort, refuse it.
        "upsert_existing_objects": adopts,
    }
    if render_to:
        settings["render_yaml_to_directory"] = render_to
    else:
        # The engine deletes with the settings that a provider has in this update, so that what
        # leaves the state is not deleted on a lost member, whether it answers or not.
        settings["kubeconfig"] = (
            NO_CLUSTER if lost else pulumi.Output.secret(_readable(kubeconfig, cluster))
        )
        # While it stays, no kubeconfig replaces the provider, and with it all of its objects
        # (pulumi/pulumi-kubernetes v4.32.0, provider/pkg/provider/provider.go, DiffConfig).
        settings["cluster_identifier"] = identifier
        # Both systems overwrite what somebody else has set (``kubectl scale``, a controller); what
        # belongs to another stack is refused beforehand.
        settings["enable_patch_force"] = forces
    if lost and not render_to:
        settings["delete_unreachable"] = True
    return Provider(name, opts=opts, **settings)


def unreachable_members(members: Iterable[Member]) -> dict[str, Problem]:
    """Return why members cannot be reached, by name, as far as that is known before the program
    runs.
    """
    found = {}
    for member in members:
        try:
            if (
                member.provider is None
                and not member.lost
                and isinstance(member.kubeconfig, str | None)
            ):
                read_kubeconfig(member.kubeconfig, member.name)
        except FleetError as error:
            # A kubeconfig is refused with one problem at a time.
            found[member.name] = error.problems[0]
    return found


def in_earnest(problem: Problem) -> Problem:
    """Return the problem of an unreachable member, worded for a run in process, which needs no
    kubeconfig.
    """
    return attrs.evolve(
        problem,
        message=Message(
            "up-would-be-refused", "{problem}: pulumi up would be refused", problem=problem.message
        ),
    )


def _readable(kubeconfig: pulumi.Input[str] | None, cluster: str) -> pulumi.Output[str]:
    """Return the text of a kubeconfig; ``[secret]`` for an unreadable one in process, where no
    cluster is contacted.
    """

    def read(given: str | None) -> str:
        try:
            return read_kubeconfig(given, cluster)
        except FleetError as error:
            if not in_process():
                raise RefusedError(error.problems) from None
            if not isinstance(kubeconfig, str | None):  # plain values are reported by the plan
                pulumi.log.warn(str(in_earnest(error.problems[0])))
            return REDACTED

    return pulumi.Output.from_input(kubeconfig).apply(read)
