"""An observation of a hub: members, objects that it is asked for, and its decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import attrs

from fleet_components.hub.azure.fleet_resource import FleetResource
from fleet_components.hub.listing import Object, Query
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.releases import Releases
from fleet_components.plan.immutable import held_fields
from fleet_components.plan.names import component_of
from fleet_components.plan.options import Settings
from fleet_components.plan.own_outputs import DECLARED
from fleet_components.plan.record import Record
from fleet_components.plan.source import Source
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper
from fleet_components.rollout.rollout import Done
from fleet_components.systems.framework import System

UNASKED = "was not asked"
"""Beginning of the reason of a silent member that was not to be asked this time."""
Stands = Mapping[str, tuple[tuple[str, ObjectKey], ...]]
"""The objects that stand on members, by member: apiVersion and key of each."""


@attrs.frozen(kw_only=True)
class ObservedSubject:
    """A placement or template, as a hub has decided it.

    Attributes:
        name: ``Kind/key``, as in :class:`~fleet_components.plan.past.Past`:
            ``ClusterResourcePlacement/shop``, ``ResourcePlacement/shop/web``,
            ``Template/shop/Deployment/web``.
        record: the decision, and what the next one depends on.
        done: what runs, by member.
        stands: the objects that the hub has brought to each member.
        reports: True if the objects are compared only.
        apply: the way in which objects are written, in wire form; empty for the default one.
        protected: True if its removal has to be confirmed.
        keeps: which of its objects stay on a member that they leave: ``all``, or empty, the
            default, for none.
    """

    name: str
    record: Record[Any, Any]
    done: Mapping[str, Done] = attrs.field(factory=dict)
    stands: Stands = attrs.field(factory=dict)
    reports: bool = False
    apply: Mapping[str, Any] = attrs.field(factory=dict)
    protected: bool = False
    keeps: str = ""


@attrs.frozen(kw_only=True)
class HubObservation:
    """Observation of a hub.

    Attributes:
        system: the system that the hub runs; without one that whose members they are to be.
        as_of: when it was observed.
        members: ``MemberCluster`` or ``Cluster`` objects, sorted by name, without what changes from
            minute to minute.
        policies: policies, overrides, runs, approvals and all else that steers the hub, sorted by
            key, as users write them: without status (an approval's is kept) and without what the
            API server adds.
        objects: the objects that policies select, in the same form; the data of Secrets reads
            ``[secret]``.
        subjects: the placements or templates with what was decided, sorted by name.
        waiting: digests of the objects that no policy has claimed, by key of the template
            (Karmada).
        silent: members that were to be asked and did not answer, each with the reason; their old
            record counts.
        unanswered: why requests were not answered, by request: what falls under them is not known,
            and its old record counts.
        unknown: names of subjects that the hub has, and of which no more is known as their objects
            were not answered.
        notes: what was left out and why, in sentences for the user.
        fleet: what the resource API of Azure tells of the fleet; None if it was not asked.
        hub: False for clusters that no hub has.
        release: the release of its system that the hub runs; empty where it does not show a known
            one.
        no_release: why that is not known, in a sentence; empty where it is, or no hub was asked.
    """

    system: System
    as_of: datetime
    members: tuple[Object, ...] = ()
    policies: tuple[Object, ...] = ()
    objects: tuple[Object, ...] = ()
    subjects: tuple[ObservedSubject, ...] = ()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    silent: Mapping[str, str] = attrs.field(factory=dict)
    unanswered: Mapping[Query, str] = attrs.field(factory=dict)
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fleet: FleetResource | None = None
    hub: bool = True
    release: str = ""
    no_release: str = ""

    @property
    def releases(self) -> Releases:
        """The releases by whose rules its policies are read; the default one where it is not
        known.
        """
        return Releases.named(**({self.system.NAME: self.release} if self.release else {}))


# The past of a fleet as a hub has made it: the resources that a stack would keep of the same
# decisions.


SETTINGS = Settings(keep_cluster_resources=False, keep_found=False)
"""A hub deletes what leaves a member, namespaces and what it has taken over included."""


def resources_of(
    observation: HubObservation, source: Source, keeper: Keeper
) -> list[StoredResource]:
    """Return the resources of a stack that keep what a hub has decided.

    Args:
        observation: the observation.
        source: the members, policies and objects of the observation, as they are read.
        keeper: the stack and the fleet to be named.
    """
    members = [str(member["metadata"]["name"]) for member in observation.members]
    waiting, held = dict(observation.waiting), dict(held_fields(source.policies))
    roster = {
        "members": dict.fromkeys(members, DECLARED),
        "settings": SETTINGS.under(observation.releases).to_wire(),
        "manager": "",
        "redacted": True,
        **({"waiting": waiting} if waiting else {}),
        **({"held": held} if held else {}),
        **({"staysOnLeaving": True} if observation.system.STAYS_ON_LEAVING else {}),
    }
    return [
        keeper.roster(roster),
        *map(keeper.member, members),
        *(resource for subject in observation.subjects for resource in _subject(subject, keeper)),
    ]


def _subject(subject: ObservedSubject, keeper: Keeper) -> Iterator[StoredResource]:
    component = component_of(subject.name)
    shown = {
        "protected": subject.protected,
        "reports": subject.reports,
        "apply": dict(subject.apply),
    }
    yield keeper.decision(component, subject.name, subject.record, shown, redacted=True)
    # A member may be in one of the two only.
    for cluster in sorted({*subject.done, *subject.stands}):
        if cluster in subject.done:
            yield keeper.binding(
                component, subject.name, cluster, subject.done[cluster], keeps=subject.keeps
            )
        for version, key in subject.stands.get(cluster, ()):
            yield keeper.object(component, subject.name, cluster, _header(version, key))


def _header(version: str, key: ObjectKey) -> dict[str, object]:
    metadata = {"name": key.name, **({"namespace": key.namespace} if key.namespace else {})}
    return {"apiVersion": version, "kind": key.kind, "metadata": metadata}
