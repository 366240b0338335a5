"""What a fleet is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs
import pulumi

from fleet_components.components.member import Member
from fleet_components.plan.options import Renamed
from fleet_components.plan.source import Source


@attrs.frozen
class FleetArgs:
    """What a fleet is made of.

    Attributes:
        source: policies, manifests and members from genuine YAML: :func:`fleet_components.read_source`.
        members: members declared in the program; they are added to those of the source.
        kubeconfigs: kubeconfigs by member name, for members of the source.
        render_to: a directory to render to, a folder a member, instead of reaching clusters; empty for none.
        as_of: the time at which observed members and waits are judged; None means that nothing expires.
        approvals: names of accepted approvals of staged updates.
        lost: names of members that are gone for good.
        limit: the share of clusters that a placement, or of members that the fleet, may lose at once.
        confirm: tokens of refused losses that are meant.
        keep_cluster_resources: whether namespaces and other cluster-scoped objects outlive their placement.
        max_wait: the longest time in seconds that an update waits between stages.
        renamed: what is called otherwise now, so that it stays alive under its new name.
        takes_over: by member, the names of Kubernetes resources that this stack has managed itself, and that the
            fleet brings there from now on; ``*`` stands for anything.
        pass_over: kinds that steer a hub, are not carried out by this version, and are not to stand in the way; every
            plan names them.
        protect: whether a program from which the fleet has gone is stopped before it deletes everything; see
            ``docs/delivery.md`` for what that means for ``pulumi destroy``.
        identities: what tells the clusters of ``kubeconfigs`` from any other, where these are secrets.
        objects: objects made in the program, as if they stood in the source: dicts as in YAML, input types of
            ``pulumi_kubernetes``, and what :func:`fleet_components.objects_of` makes of its resources.
    """

    source: Source
    members: Sequence[Member] = ()
    kubeconfigs: Mapping[str, pulumi.Input[str]] = attrs.field(factory=dict, repr=False)
    render_to: str = ""
    as_of: datetime | None = None
    approvals: Sequence[str] = ()
    lost: Sequence[str] = ()
    limit: float = 0.5
    confirm: Sequence[str] = ()
    keep_cluster_resources: bool = True
    max_wait: int = 900
    renamed: Renamed = Renamed()
    takes_over: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    pass_over: Sequence[str] = ()
    protect: bool = True
    identities: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    objects: Sequence[Any] = attrs.field(default=(), repr=False)
