"""The past of a fleet as a hub has made it: the resources that a stack would keep of the same decisions."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.hub.listing import System
from fleet_components.hub.observation import Observation, ObservedSubject
from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.immutable import held_fields
from fleet_components.plan.names import component_of
from fleet_components.plan.options import Settings
from fleet_components.plan.own_outputs import DECLARED
from fleet_components.plan.source import Source
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper

SETTINGS = Settings(keep_cluster_resources=False, keep_found=False)
"""A hub deletes what leaves a member, namespaces and what it has taken over included."""


def resources_of(observation: Observation, source: Source, keeper: Keeper) -> list[StoredResource]:
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
        # Source: KubeFleet v0.3.1, Leave in pkg/controllers/workapplier/controller.go. Karmada deletes them.
        **({"staysOnLeaving": True} if observation.system == System.KUBEFLEET else {}),
    }
    return [
        keeper.roster(roster),
        *map(keeper.member, members),
        *(resource for subject in observation.subjects for resource in _subject(subject, keeper)),
    ]


def _subject(subject: ObservedSubject, keeper: Keeper) -> Iterator[StoredResource]:
    component = component_of(subject.name)
    shown = {"protected": subject.protected, "reports": subject.reports, "apply": dict(subject.apply)}
    yield keeper.decision(component, subject.name, subject.record, shown, redacted=True)
    for cluster in sorted({*subject.done, *subject.stands}):
        if cluster in subject.done:
            yield keeper.binding(component, subject.name, cluster, subject.done[cluster], keeps=subject.keeps)
        for version, key in subject.stands.get(cluster, ()):
            yield keeper.object(component, subject.name, cluster, _header(version, key))


def _header(version: str, key: ObjectKey) -> dict[str, object]:
    metadata = {"name": key.name, **({"namespace": key.namespace} if key.namespace else {})}
    return {"apiVersion": version, "kind": key.kind, "metadata": metadata}
