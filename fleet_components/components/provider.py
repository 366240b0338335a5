"""The Kubernetes provider of one member, and whether its kubeconfig can be used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import pulumi

from fleet_components.components.member import Member
from fleet_components.components.process import in_process
from fleet_components.components.refusal import RefusedError
from fleet_components.content.secret import REDACTED
from fleet_components.live.kubeconfig import NO_CLUSTER, read_kubeconfig
from fleet_components.model.problem import FleetError, Problem


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
        identifier: identifies the cluster; while it stays the same, a rotated kubeconfig replaces nothing.
        render_to: a directory to render to instead of reaching the cluster; empty for none.
        lost: True if the member is lost: nothing is sent to it, and its objects are dropped from the state.
        adopts: True to adopt existing objects, False to refuse them.
        forces: True to overwrite fields that others have set, False to fail on them.
        opts: resource options of the provider.
    """
    from pulumi_kubernetes import Provider

    settings: dict[str, Any] = {
        # Without these, the provider deletes and recreates a ConfigMap or Secret whose data change.
        "enable_config_map_mutable": True,
        "enable_secret_mutable": True,
        # What is on a member is adopted, as KubeFleet does by default; its whenToTakeOver Never, and Karmada's
        # conflictResolution Abort, refuse it.
        "upsert_existing_objects": adopts,
    }
    if render_to:
        settings["render_yaml_to_directory"] = render_to
    else:
        # The engine deletes with the settings that a provider has in this update, so that what leaves the state is not
        # deleted on a lost member, whether it answers or not.
        settings["kubeconfig"] = NO_CLUSTER if lost else pulumi.Output.secret(_readable(kubeconfig, cluster))
        # While it stays, no kubeconfig replaces the provider, and with it all of its objects (pulumi/pulumi-kubernetes
        # v4.32.0, provider/pkg/provider/provider.go, DiffConfig).
        settings["cluster_identifier"] = identifier
        # Both systems overwrite what somebody else has set (``kubectl scale``, a controller); what belongs to another
        # stack is refused beforehand.
        settings["enable_patch_force"] = forces
    if lost and not render_to:
        settings["delete_unreachable"] = True
    return Provider(name, opts=opts, **settings)


def unreachable_members(members: Iterable[Member]) -> dict[str, Problem]:
    """Return why members cannot be reached, by name, as far as that is known before the program runs."""
    found = {}
    for member in members:
        try:
            if member.provider is None and not member.lost and isinstance(member.kubeconfig, str | None):
                read_kubeconfig(member.kubeconfig, member.name)
        except FleetError as error:
            found[member.name] = error.problems[0]
    return found


def in_earnest(problem: Problem) -> Problem:
    """Return the problem of an unreachable member, worded for a run in process, which needs no kubeconfig."""
    return attrs.evolve(problem, what=f"{problem.what}: pulumi up would be refused")


def _readable(kubeconfig: pulumi.Input[str] | None, cluster: str) -> pulumi.Output[str]:
    """Return the text of a kubeconfig; ``[secret]`` for an unreadable one in process, where no cluster is contacted."""

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
