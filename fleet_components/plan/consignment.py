"""The objects that go to a hub, in the order in which it can take them, and what of the source
stays away from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

import attrs

from fleet_components.content.catalogue import Catalogue, Parts
from fleet_components.content.secret import is_hidden, secret_fields
from fleet_components.content.stamp import annotated
from fleet_components.content.strip import as_sent
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.reader import API_VERSION
from fleet_components.model.text import count, few
from fleet_components.plan.past import Past
from fleet_components.plan.record import digest
from fleet_components.plan.source import MADE_BY_A_HUB, Source
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import Way, Ways
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

_CONTAINERS = ("Namespace", "CustomResourceDefinition")
_AWAITED = frozenset(
    {
        *(
            "DaemonSet",
            "Deployment",
            "Ingress",
            "Job",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
        ),
        *("ReplicaSet", "ReplicationController", "ResourceQuota", "Service", "StatefulSet"),
    }
)
"""Kinds for which the Kubernetes provider waits; on a hub none of them gets ready
(pulumi/pulumi-kubernetes v4.34).
"""
_SKIP = "pulumi.com/skipAwait"


class ConsignmentStage(IntEnum):
    """Place in the order: a hub has everything of a stage before the next one comes."""

    CONTAINERS = 1
    RULES = 2
    MEMBERS = 3
    OBJECTS = 4
    PLACEMENTS = 5
    OTHERS = 6
    JOBS = 7


@attrs.frozen
class Consigned:
    """An object as it goes to a hub.

    Attributes:
        manifest: the object; of a member the fields that are set of it.
        stage: its place in the order.
        patch: True if only the given fields are set of an object that somebody else has made.
    """

    manifest: Manifest
    stage: ConsignmentStage
    patch: bool = False


@attrs.frozen
class Consignment:
    """The objects that go to a hub.

    Attributes:
        system: the system of the hub; empty if nothing goes to one.
        objects: the objects, in the order in which they go.
        left_out: what of the source does not go there, in warnings.
        hidden: the objects that are not sent, because the source does not have their secret data.
        once: digest of each request that is carried out once, by object, whether it is sent or was
            before.
        over: those that were made before and that the hub does not have any more: they are not made
            again.
    """

    system: str = ""
    objects: tuple[Consigned, ...] = attrs.field(default=(), repr=False)
    left_out: tuple[Problem, ...] = ()
    hidden: tuple[Manifest, ...] = attrs.field(default=(), repr=False)
    once: Mapping[str, str] = attrs.field(factory=dict)
    over: tuple[ObjectKey, ...] = ()

    @property
    def keys(self) -> frozenset[ObjectKey]:
        """Keys of the objects, those of which only fields are set left out."""
        return frozenset(
            consigned.manifest.key for consigned in self.objects if not consigned.patch
        )


def consignment_of(
    source: Source, ways: Ways, subjects: Iterable[Decided], past: Past
) -> Consignment:
    """Return what goes to the hub of a fleet.

    Args:
        source: the fleet.
        ways: how its placements and policies are delivered.
        subjects: its placements and templates, decided.
        past: the past: what was carried out once, and what the stack has on the hub.
    """
    if not ways.hub:
        return Consignment()
    # Problems of the source are reported where it is read.
    parts = Catalogue.of(source.given.manifests, []).split()
    system = SYSTEMS[ways.hub]
    every = list(_ConsignmentReading(source, ways, parts, tuple(subjects), system).objects())
    # Sent, a mark instead of data would overwrite what the hub has.
    hidden = tuple(consigned.manifest for consigned in every if _is_hidden(consigned.manifest))
    found = (consigned for consigned in every if consigned.manifest not in hidden)
    ordered = sorted(found, key=lambda consigned: (consigned.stage, str(consigned.manifest.key)))
    jobs = {
        consigned.manifest.key: digest((consigned.manifest.data,))
        for consigned in ordered
        if consigned.manifest.kind in system.ONCE
    }
    # A hub deletes some once they are over: that a refresh does not find them is no reason to do
    # them again.
    over = tuple(
        key
        for key, made in jobs.items()
        if past.once.get(str(key)) == made and key not in past.on_hub
    )
    sent = tuple(consigned for consigned in ordered if consigned.manifest.key not in over)
    once = {str(key): made for key, made in jobs.items()}
    return Consignment(ways.hub, sent, tuple(_left_out(parts, system, hidden)), hidden, once, over)


@attrs.frozen
class _ConsignmentReading:
    source: Source
    ways: Ways
    parts: Parts
    subjects: tuple[Decided, ...]
    system: System

    def objects(self) -> Iterator[Consigned]:
        policies = [manifest for manifest in self.parts.policies if self._goes(manifest)]
        placed = dict(self._placed())
        used = {manifest.namespace for manifest in (*policies, *placed.values())} - {""}
        for manifest in self.parts.objects.manifests:
            # A hub needs the namespace of everything that goes there.
            needed = manifest.kind == "Namespace" and manifest.name in used
            if manifest.key in placed or needed or self._defines(manifest, placed.values()):
                stage = (
                    ConsignmentStage.CONTAINERS
                    if manifest.kind in _CONTAINERS
                    else ConsignmentStage.OBJECTS
                )
                yield Consigned(attrs.evolve(manifest, data=_unawaited(as_sent(manifest))), stage)
        for policy in policies:
            yield Consigned(attrs.evolve(policy, data=as_sent(policy)), _stage(policy, self.system))
        for member in self.parts.members:
            # Somebody else has made the members on the hub: only fields of them are set.
            if member.group in self.system.GROUPS and (fields := _fields(member)):
                yield Consigned(
                    attrs.evolve(member, data=fields), ConsignmentStage.MEMBERS, patch=True
                )

    def _placed(self) -> Iterator[tuple[ObjectKey, Manifest]]:
        """Yield the objects that placements select or policies claim, and that the hub places."""
        for decided in self.subjects:
            if decided.hub:
                yield from ((item.key, item) for item in decided.subject.selected)

    @staticmethod
    def _defines(definition: Manifest, placed: Iterable[Manifest]) -> bool:
        """Return whether a definition of a custom kind has to be on the hub for what is placed."""
        if definition.kind != "CustomResourceDefinition":
            return False
        # By group and kind, as a definition serves its objects in several versions.
        defined = Catalogue((definition,))
        return any(defined.defines(manifest.group, manifest.kind) for manifest in placed)

    def _goes(self, policy: Manifest) -> bool:
        """Return whether a policy goes to the hub: with its placement, or as everything else
        there.
        """
        if policy.group not in self.system.GROUPS or is_made_by_a_hub(policy):
            return False
        if policy.kind in self.system.STEERING:
            # A cluster-scoped policy has its name alone as its key.
            key = f"{policy.namespace}/{policy.name}".lstrip("/")
            return self.ways.placement(policy.kind, key) == self.ways.hub
        placement = self.system.placement_of(policy)
        way = self.ways.asked.get(placement) if placement else None
        # A policy of no placement has no way of its own, and goes as well.
        return way != Way.DIRECT


def is_made_by_a_hub(policy: Manifest) -> bool:
    """Return whether a hub makes the objects of this kind for itself, so that nobody sends them to
    one.
    """
    return policy.kind.endswith(MADE_BY_A_HUB)


def _stage(policy: Manifest, system: System) -> ConsignmentStage:
    if policy.kind in system.JOBS:
        return ConsignmentStage.JOBS
    if policy.kind in system.STEERING:
        return ConsignmentStage.PLACEMENTS
    rule = policy.kind in system.RULES or policy.group in system.RULE_GROUPS
    return ConsignmentStage.RULES if rule else ConsignmentStage.OTHERS


def _unawaited(data: dict[str, Any]) -> dict[str, Any]:
    """Return an object for which the provider does not wait: on a hub nothing runs."""
    return annotated(data, {_SKIP: "true"}) if data["kind"] in _AWAITED else data


def _fields(member: Manifest) -> dict[str, Any]:
    """Return labels and taints of a member, all that is set of it; empty if it has neither."""
    spec = member.data.get("spec")
    taints = spec.get("taints") if isinstance(spec, Mapping) else None
    if not member.labels and not taints:
        return {}
    labels = {"labels": dict(member.labels)} if member.labels else {}
    head = {
        "apiVersion": member.api_version,
        "kind": member.kind,
        "metadata": {"name": member.name, **labels},
    }
    # No empty list: a patch with one would own the taints of the member.
    return {**head, "spec": {"taints": taints}} if taints else head


def _is_hidden(manifest: Manifest) -> bool:
    """Return whether the secret data of an object is hidden, as an observation hides it: sent, it
    would be lost.
    """
    return bool(secret_fields(manifest.data)) and is_hidden(manifest.data)


def _left_out(parts: Parts, system: System, hidden: Sequence[Manifest]) -> Iterator[Problem]:
    """Yield warnings of what is in the source and goes neither to the hub nor to members by another
    way.
    """
    if hidden:
        what = Message(
            "left-hub-because-source",
            "{hidden}: left on the hub as it is, because the source hides its data",
            hidden=few([str(manifest.key) for manifest in hidden]),
        )
        yield attrs.evolve(
            hidden[0].problem(what, (), "fleet observe --secrets reads it"), subject=""
        )
    given = [
        policy
        for policy in parts.policies
        if policy.kind in system.APPROVALS and policy.group in system.GROUPS
    ]
    if given:
        names = few([f"{manifest.namespace}/{manifest.name}".lstrip("/") for manifest in given])
        what = Message(
            "approvals-given-hub-makes",
            "{names}: approvals are given on the hub, which makes the requests: they do not go"
            " there",
            names=names,
        )
        hint = "once it has asked: fleet approve --hub KUBECONFIG"
        yield attrs.evolve(given[0].problem(what, (), hint), subject=count(len(given), "approval"))
    foreign = [
        member
        for member in parts.members
        if member.group not in system.GROUPS and member.api_version != API_VERSION
    ]
    if foreign:
        what = Message(
            "another-system-than-hub",
            "{foreign}: of another system than the hub, so nothing of it goes there",
            foreign=few([manifest.name for manifest in foreign]),
        )
        yield attrs.evolve(
            foreign[0].problem(what, ("kind",), ""), subject=count(len(foreign), "member")
        )
