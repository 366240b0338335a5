"""Checks of declarations that are valid one by one but cannot stand in one fleet together.

Azure compares names and resource IDs without case ("Naming rules and restrictions for Azure
resources", Microsoft), so names in different case are one thing there and two resources for Pulumi.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from fleet_components.azure.values.aks_member import BY_PULUMI, AksMember
from fleet_components.azure.values.arm_id import ClusterId
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.upgrade import AutoUpgrade
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import count

_MOST_NAMED = 5


def clashes(members: Sequence[FleetMember]) -> Iterator[tuple[int, Problem]]:
    """Yield problems between members, each with the position of the later one; paths begin at that
    member.

    They are: two members of one cluster, one resource group in two spellings, and a node resource
    group that another member uses. Clusters of which only one names its subscription may be two.
    """
    clusters: dict[tuple[str, ...], str] = {}
    spelled: dict[tuple[str, str], str] = {}
    machines: dict[tuple[str, str], str] = {}
    for position, member in enumerate(members):
        found = member.cluster
        if found:
            other = clusters.setdefault(_key(found), member.name)
            # Two members of one name are reported elsewhere.
            if other != member.name:
                field = "clusterName" if isinstance(member, AksMember) else "clusterId"
                hint = "one cluster is one member: remove one of the two"
                yield (
                    position,
                    Problem(
                        Message(
                            "cluster-member",
                            'it is the cluster of the member "{other}"',
                            other=other,
                        ),
                        (field,),
                        hint,
                    ),
                )
        if isinstance(member, AksMember):
            first = spelled.setdefault(
                (member.subscription, member.resource_group.lower()), member.resource_group
            )
            if first != member.resource_group:
                yield position, _two_spellings(member.resource_group, first, ("resourceGroup",))
            for problem in _machines(member, machines):
                yield position, problem
    # In a second pass, because any member may use the group, not only an earlier one.
    groups = {(member.subscription, member.resource_group.lower()) for member in _created(members)}
    for position, member in enumerate(members):
        if isinstance(member, AksMember) and _machine_group(member) in groups:
            yield (
                position,
                _taken(str(member.node_resource_group), "is a resource group of clusters"),
            )


def group_problems(
    groups: Iterable[str], members: Iterable[FleetMember], path: FieldPath
) -> Iterator[Problem]:
    """Yield problems for groups, of a hub or existing ones, that members spell otherwise or use for
    their machines.
    """
    spelled = {group.lower(): group for group in groups}
    problems = []
    for member in _created(members):
        first, machines = spelled.get(member.resource_group.lower()), member.node_resource_group
        # None: the group is not among those that are given.
        if first not in (None, member.resource_group):
            problems.append(_two_spellings(member.resource_group, str(first), path))
        if machines is not None and machines.lower() in spelled:
            problems.append(
                attrs.evolve(_taken(machines, f"holds the machines of {member.name}"), path=path)
            )
    # Many members may share a group, and all of them give the same problem.
    yield from dict.fromkeys(problems)


def profile_problems(
    profile: AutoUpgrade,
    groups: Iterable[str] | None,
    members: Iterable[FleetMember],
    path: FieldPath,
) -> Iterator[Problem]:
    """Yield a problem if a profile upgrades members whose Kubernetes version is declared to be kept
    by Pulumi.

    Both would change the version in turns. A profile that updates node images only, or is disabled,
    touches no version.

    Source: "Automate upgrades with Fleet Manager" (Microsoft, 2026-08): a strategy upgrades the
    members of its groups, a profile without a strategy all members.

    Args:
        profile: the profile.
        groups: the update groups of its strategy; None if it has no strategy, or an unknown one.
        members: the members of the fleet.
        path: the path of the profile.
    """
    if profile.disabled or not profile.changes_versions:
        return
    reached = [
        member.name
        for member in _created(members)
        if member.upgrades == BY_PULUMI and member.kubernetes_version is not None
        if groups is None or member.group in groups
    ]
    if reached:
        more = (
            f" and {count(len(reached) - _MOST_NAMED, 'other')}"
            if len(reached) > _MOST_NAMED
            else ""
        )
        what = Message(
            "upgrades-pulumi-keeps-declared",
            "it upgrades {reached}{more}, which Pulumi keeps at a declared version",
            reached=", ".join(reached[:_MOST_NAMED]),
            more=more,
        )
        hint = (
            "declare upgrades: fleet for them, or leave their kubernetesVersion out, or use a"
            " strategy without them"
        )
        yield Problem(what, path, hint)


def _created(members: Iterable[FleetMember]) -> Iterator[AksMember]:
    return (member for member in members if isinstance(member, AksMember))


def _key(cluster: ClusterId) -> tuple[str, ...]:
    return (
        cluster.subscription.lower(),
        cluster.type,
        cluster.resource_group.lower(),
        cluster.name.lower(),
    )


def _two_spellings(group: str, first: str, path: FieldPath) -> Problem:
    return Problem(
        Message(
            "one-resource-group-azure",
            '"{group}" and "{first}" are one resource group for Azure',
            group=group,
            first=first,
        ),
        path,
        "write it the same everywhere",
    )


def _machine_group(member: AksMember) -> tuple[str, str] | None:
    group = member.node_resource_group
    return None if group is None else (member.subscription, group.lower())


def _machines(member: AksMember, taken: dict[tuple[str, str], str]) -> Iterator[Problem]:
    group = _machine_group(member)
    # A member that leaves the group to Azure clashes with nobody.
    other = taken.setdefault(group, member.name) if group else member.name
    if other != member.name:
        yield _taken(str(member.node_resource_group), f'holds the machines of the member "{other}"')


def _taken(group: str, why: str) -> Problem:
    # AKS frequently asked questions: an existing resource group cannot be the node resource group.
    hint = "Azure makes the group of the machines itself: give it a name of its own"
    return Problem(
        Message("upgrade-group-wrong", '"{group}" {why}', group=group, why=why),
        ("nodeResourceGroup",),
        hint,
    )
