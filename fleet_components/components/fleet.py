"""A fleet: its members, and every placement delivered to them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import attrs
import pulumi

from fleet_components import dynamic
from fleet_components.components.bindings import read_standing
from fleet_components.components.config import read_config
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.member import Member
from fleet_components.components.placement import DeliveryArgs, Placement, PlacementArgs
from fleet_components.components.providers import MemberProviders
from fleet_components.components.refusal import refusing
from fleet_components.components.template import Template
from fleet_components.components.templates import deliver_templates
from fleet_components.content.secret import redacted
from fleet_components.delivery.provider import kubeconfig_key
from fleet_components.model.azure.member_list import is_member_list
from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.feed import feed_inventory, write_feed
from fleet_components.plan.karmada.member import serving_both
from fleet_components.plan.karmada.templates import Templates, templates_of
from fleet_components.plan.place import Request
from fleet_components.plan.source import Workload
from fleet_components.rollout.plan import Done, Gates


class Fleet(pulumi.ComponentResource):
    """A fleet.

    Attributes:
        placements: the placements by key: name, or ``namespace/name``.
        templates: what Karmada's policies place, by key: ``namespace/Kind/name``.
        inventory: the members as they were scheduled on.

    Raises:
        FleetError: the input cannot be worked with; every problem is named.
    """

    placements: Mapping[str, Placement]
    templates: Mapping[str, Template]
    inventory: Inventory

    @refusing()
    def __init__(self, name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("fleet:index:Fleet", name, {}, opts)
        members = _members(args)
        self.inventory = Inventory((serving_both(m.cluster) for m in members.values() if not m.lost), args.as_of)
        workloads, standing = args.source.workloads(), read_standing(name)
        templates, done = templates_of(args.source, workloads, standing.done, standing.protected), standing.done
        _enroll(name, members, templates, args, self)
        providers = MemberProviders(name, members, args.render_to, self)
        for cluster in sorted(cluster for cluster, member in members.items() if member.lost):
            # They are what drops the objects that cannot be reached any more.
            providers.of(cluster)
            if standing.templates:
                providers.of(cluster, adopts=False)
        delivery = DeliveryArgs(
            fleet=name,
            stack=stack_name(),
            inventory=feed_inventory(self.inventory),
            provider_of=providers.of,
            limit=args.limit,
            confirm=tuple(args.confirm),
            keep_cluster_resources=args.keep_cluster_resources,
            # Rendered files may be read by others.
            transform=redacted if args.render_to else dict,
        )
        self.placements = {}
        for workload in workloads:
            here = _marked(done.get(workload.name, {}), members)
            request = _request(workload, args, self.inventory, here)
            placement = PlacementArgs(request, workload.placement.kind, delivery)
            self.placements[workload.name] = Placement(workload.name, placement, pulumi.ResourceOptions(parent=self))
            for warning in workload.selection.warnings:
                pulumi.log.warn(str(warning), self.placements[workload.name])
        done = {key: _marked(here, members) for key, here in done.items()}
        self.templates = deliver_templates(templates, self.inventory, attrs.evolve(standing, done=done), delivery, self)
        for warning in templates.warnings:
            pulumi.log.warn(str(warning), self)
        decided: dict[str, Placement | Template] = {**self.placements, **self.templates}
        self.register_outputs({key: placement.decisions for key, placement in decided.items()})

    @classmethod
    @refusing()
    def from_config(cls, name: str, opts: pulumi.ResourceOptions | None = None) -> Fleet:
        """A fleet described by the ``fleet:`` keys of the stack's configuration alone; see ``config.KEYS``.

        Raises:
            FleetError: the configuration or what it names cannot be worked with.
        """
        args = read_config()
        if any(is_member_list(manifest) for manifest in args.source.catalogue.manifests):
            from fleet_components.components.azure.provision import provision  # loads the Azure SDK

            args = provision(name, args)
        return cls(name, args, opts)


def stack_name() -> str:
    """The stack that is running, as ``organization/project/stack``."""
    return f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"


def _members(args: FleetArgs) -> dict[str, Member]:
    declared = [Member(cluster, args.kubeconfigs.get(cluster.name)) for cluster in args.source.clusters]
    everyone = [*declared, *args.members]
    members = {member.name: member for member in everyone}
    known = f"the members are: {', '.join(sorted(members)) or 'none'}"
    gone = {
        name: f"{known}; if it is gone: pulumi config rm --path {kubeconfig_key(name)}" for name in args.kubeconfigs
    }
    problems = [
        Problem(f'there is no member "{name}"', (field,), hints[name])
        for field, hints in (("kubeconfigs", gone), ("lost", dict.fromkeys(args.lost, known)))
        for name in sorted(set(hints) - set(members))
    ]
    twice = sorted({member.name for member in everyone if everyone.count(member) > 1})
    problems += [Problem(f'the member "{name}" is declared twice', hint="declare it once") for name in twice]
    if problems:
        raise FleetError(problems)
    return {name: attrs.evolve(member, lost=member.lost or name in args.lost) for name, member in members.items()}


def _enroll(
    name: str, members: Mapping[str, Member], templates: Templates, args: FleetArgs, parent: pulumi.Resource
) -> None:
    roster = {member: "lost" if members[member].lost else "member" for member in sorted(members)}
    said = {"limit": args.limit, "confirm": list(args.confirm)}
    feed = write_feed({"members": roster, "waiting": templates.waiting, **said})
    props = {"key": name, "members": None, dynamic.FEED: feed}
    dynamic.Roster(name, props, pulumi.ResourceOptions(parent=parent))


def _marked(done: Mapping[str, Done], members: Mapping[str, Member]) -> dict[str, Done]:
    # A member that is no longer declared cannot be kept: there is nothing to reach it with.
    reached = {name for name, member in members.items() if not member.lost}
    return {cluster: attrs.evolve(here, lost=cluster not in reached) for cluster, here in done.items()}


def _request(workload: Workload, args: FleetArgs, inventory: Inventory, done: Mapping[str, Done]) -> Request:
    placement = workload.placement
    return Request(
        key=placement.key,
        policy=placement.spec.policy,
        strategy=workload.strategy,
        inventory=inventory,
        objects=workload.objects,
        namespace=placement.namespace,
        done=done,
        gates=Gates(frozenset(args.approvals), args.as_of, timedelta(seconds=args.max_wait)),
        untrackable=workload.untrackable,
    )
