"""Short forms for fleets, templates and placements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.model.cluster import Cluster, ResourceSummary, Taint
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler import schedule
from fleet_components.systems.karmada.scheduler.status import BindingStatus, TemplateDecision
from tests.scheduler.karmada.events import Changes, next_run

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
DUPLICATED = {"replicaSchedulingType": "Duplicated"}


def static(**weights: int) -> dict[str, Any]:
    """Divided by static weights of members."""
    rules = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight}
        for name, weight in weights.items()
    ]
    return {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": rules},
    }


def spread(field: str, least: int, most: int) -> dict[str, Any]:
    """A spread constraint."""
    return {"spreadByField": field, "minGroups": least, "maxGroups": most}


def placement(scheduling: Mapping[str, Any] | None = None, **fields: Any) -> Placement:
    """A placement in the form of the API."""
    return decode(
        Placement, {**({"replicaScheduling": scheduling} if scheduling else {}), **fields}
    )


def deployment(replicas: int, requests: Mapping[str, str] | None = None) -> Template:
    """A Deployment ``default/web``."""
    return Template("apps/v1", "Deployment", "web", "default", replicas, requests)


def member(name: str, region: str = "", taint: str = "", **labels: str) -> Cluster:
    """A declared member; the taint has the form ``key:effect``."""
    key, _, effect = taint.partition(":")
    return Cluster(
        name, labels=labels, region=region, taints=(Taint(key, effect=effect),) if taint else ()
    )


def fleet(*members: Cluster | str) -> Inventory:
    """Members, or their names."""
    return Inventory(Cluster(item) if isinstance(item, str) else item for item in members)


def with_pods(name: str, pods: int) -> Cluster:
    """A member with room for so many pods."""
    return Cluster(name, resource_summary=ResourceSummary({"pods": str(pods)}))


def decide(
    members: Inventory | Iterable[str],
    template: Template,
    where: Placement,
    memory: TemplateMemory = TemplateMemory(uid="a"),
    **options: Any,
) -> TemplateDecision:
    """Schedule; ``available`` and ``capacity`` are the estimates; with ``status`` or ``changes`` events are followed."""
    inventory = members if isinstance(members, Inventory) else fleet(*members)
    estimates = Estimates(options.pop("available", None), options.pop("capacity", None))
    if "status" in options or "changes" in options:
        before = TemplateDecision(memory, options.pop("status", BindingStatus()), memory)
        changes = options.pop("changes", Changes(binding=True, fleet=inventory))
        return next_run(inventory, template, where, before, changes, estimates=estimates, **options)
    return schedule(inventory, template, where, memory, estimates=estimates, **options)


def clusters(decision: TemplateDecision) -> dict[str, int]:
    """The replicas by member."""
    return dict(decision.memory.clusters)


def message(decision: TemplateDecision) -> str:
    """The message of the ``Scheduled`` condition."""
    assert decision.status.condition
    return decision.status.condition.message
