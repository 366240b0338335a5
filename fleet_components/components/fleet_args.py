"""Arguments of the fleet component."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs
import pulumi

from fleet_components.components.member import Member, wrong_provider
from fleet_components.components.refusal import Arguments, refusing
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.releases import TABLES, names_in
from fleet_components.model.typed import HINT, LATER, fitted
from fleet_components.plan.options import (
    A_SHARE,
    A_TIMEOUT,
    Renamed,
    no_timeout,
    wrong_limits,
    wrong_releases,
)
from fleet_components.plan.source import AnySource, Source, source_from
from fleet_components.plan.ways import A_WAY, Way, no_way

_BY_MEMBER = (
    "give a dict by member name: each of its values may be an output, the dict itself may not"
)


def _source(given: AnySource) -> Source:
    with refusing():
        return source_from(fitted(AnySource, given, ("FleetArgs", "source")))


@attrs.frozen
class FleetArgs(Arguments):
    """Arguments of a fleet.

    Kubeconfigs may be outputs of other resources. Everything else is plain, because the plan is
    made before any resource is registered.

    Attributes:
        source: policies, manifests and members from genuine YAML: the path of a file or directory,
            relative to the program, or several; or a source that was read before, by
            :func:`fleet_components.read_source`.
        members: members declared in the program; they are added to those of the source.
        kubeconfigs: kubeconfigs by member name, for members of the source.
        providers: Kubernetes providers of one's own by member name, for members of the source;
            instead of kubeconfigs, see :class:`Member`.
        render_to: a directory to render to, a folder a member, instead of reaching clusters; empty
            for none.
        as_of: the time at which observed members and waits are judged; None means that nothing
            expires.
        approvals: names of given approvals, each of one run: ``RUN-before-STAGE``,
            ``NAMESPACE/RUN-after-STAGE``.
        lost: names of members that are gone for good.
        limit: the share of what stands, of the fleet or of one placement, that may be lost at once,
            from 0 to 1.
        confirm: tokens of refused losses that are meant.
        keep_cluster_resources: whether namespaces and other cluster-scoped objects outlive their
            placement.
        keep_found: whether objects that stood on a member before a placement took them over outlive
            it.
        max_wait: the longest time in seconds that an update waits between stages.
        ready_timeout: the longest time in seconds that an update waits for each object to become
            ready, or to be gone once it is deleted; the annotation ``pulumi.com/timeoutSeconds``
            sets it for one object.
        renamed: what is called otherwise now, so that it stays alive under its new name.
        takes_over: by member, the names of Kubernetes resources that this stack has managed itself,
            and that the fleet brings there from now on; ``*`` stands for anything, and ``!NAME``
            names one that is on another cluster.
        takes_from: stacks, as ``organization/project/stack``, that have let go of objects which
            this stack brings from now on.
        pass_over: kinds that steer a hub, are not carried out by this version, and are not to stand
            in the way; every plan names them.
        skip_checks: names of checks whose warnings are not wanted: ``references``, ``autoscalers``,
            ``digests``, ``structure`` or ``versions``.
        protect: whether a program from which the fleet has gone is stopped before it deletes
            everything; see ``docs/delivery.md`` for what that means for ``pulumi destroy``.
        plugins: plug-ins of the scheduler from outside this package, by import path,
            ``MODULE:CLASS``; see ``docs/plugins.md``. With any, decisions are no longer those of
            the real system, and every plan says so.
        objects: objects made in the program, as if they stood in the source: dicts as in YAML,
            input types of ``pulumi_kubernetes``, and what :func:`fleet_components.objects_of` makes
            of its resources.
        delivery: how objects get to members: ``direct``, or through the hub of a system,
            ``kubefleet`` or ``karmada``. The annotation ``fleet-components/delivery`` of a
            placement or propagation policy goes before it.
        hub: how the hub is reached: a kubeconfig as text or path, or a Kubernetes provider of one's
            own.
        kubefleet: the release of KubeFleet whose rules placements are decided by: ``0.3.1``, or
            ``main-2026-08`` for its main branch of August 2026. Left out, it is that of the hub
            where the source was observed from one that shows it, and ``0.3.1`` otherwise.
        karmada: the release of Karmada whose rules templates are decided by: ``1.17``, ``1.18`` or
            ``1.19``, each with its newest patch. Left out, it is that of an observed control plane,
            and ``1.19`` otherwise.
        moving: whether an update prepares a move to another way of delivery: everything stays on
            its way, and is kept when it leaves the stack. ``fleet move`` sets it for one update.
    """

    source: Source = attrs.field(converter=_source)
    members: Sequence[Member] = ()
    kubeconfigs: Mapping[str, pulumi.Input[str]] = attrs.field(
        factory=dict, repr=False, metadata={LATER: _BY_MEMBER}
    )
    render_to: str = ""
    as_of: datetime | None = None
    approvals: Sequence[str] = ()
    lost: Sequence[str] = ()
    limit: float = attrs.field(default=0.5, metadata={HINT: A_SHARE})
    confirm: Sequence[str] = ()
    keep_cluster_resources: bool = True
    keep_found: bool = True
    max_wait: int = 900
    ready_timeout: int = 600
    renamed: Renamed = Renamed()
    takes_over: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    takes_from: Sequence[str] = ()
    pass_over: Sequence[str] = ()
    skip_checks: Sequence[str] = ()
    protect: bool = True
    plugins: Sequence[str] = ()
    objects: Sequence[Any] = attrs.field(default=(), repr=False)
    providers: Mapping[str, pulumi.ProviderResource] = attrs.field(factory=dict)
    delivery: str = attrs.field(default=Way.DIRECT.value, metadata={HINT: A_WAY})
    hub: pulumi.Input[str] | pulumi.ProviderResource | None = attrs.field(default=None, repr=False)
    kubefleet: str = attrs.field(default="", metadata={HINT: TABLES["kubefleet"].choice})
    karmada: str = attrs.field(default="", metadata={HINT: TABLES["karmada"].choice})
    moving: bool = False

    def wrong_values(self) -> Iterator[Problem]:
        """Yield a problem for each value that has the right type and is still invalid."""
        yield from wrong_limits(self.limit, self.max_wait)
        wrong = no_timeout(self.ready_timeout)
        if wrong:
            yield Problem(wrong, ("ready_timeout",), A_TIMEOUT)
        wrong = no_way(self.delivery)
        if wrong:
            yield Problem(wrong, ("delivery",), A_WAY)
        yield from wrong_releases(names_in(self))
        for name in sorted(self.kubeconfigs.keys() & self.providers.keys()):
            yield Problem(
                Message(
                    "member-kubeconfig-well",
                    'the member "{name}" has a kubeconfig as well',
                    name=name,
                ),
                ("providers", name),
                "give one of the two",
            )
        for name, provider in self.providers.items():
            yield from wrong_provider(provider, ("providers", name))
