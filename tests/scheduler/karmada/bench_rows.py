"""Rows for ``tests.bench``: the placements that the real scheduler was measured with, and an aggregated one.

As many replicas as members; dynamic weights over all of them, or duplicated on two thirds. The estimator is the
general one, reading every member's resource summary; a run evaluates the binding until its targets stay.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.cluster import summarize
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.scheduler import schedule

Run = Callable[[], object]
SetUp = Callable[[int], Run]

REGIONS = (
    "eastus",
    "westus",
    "northeurope",
    "westeurope",
    "uksouth",
    "japaneast",
    "brazilsouth",
    "australiaeast",
)
NODE = {"cpu": "6", "memory": "64Gi", "pods": "100"}
DYNAMIC_WEIGHT = decode(
    Placement,
    {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        }
    },
)
AGGREGATED = decode(
    Placement,
    {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Aggregated",
        }
    },
)
DUPLICATED = decode(
    Placement,
    {
        "clusterAffinity": {
            "labelSelector": {
                "matchExpressions": [
                    {"key": "tier", "operator": "In", "values": ["gold", "silver"]}
                ]
            }
        },
        "replicaScheduling": {"replicaSchedulingType": "Duplicated"},
    },
)


def fleet(members: int) -> list[Cluster]:
    """Declared members with free nodes, in eight regions; one in twenty is tainted."""
    random = Random(members)
    return [_member(f"member-{number:05}", random) for number in range(members)]


def _member(name: str, random: Random) -> Cluster:
    region = random.choice(REGIONS)
    return Cluster(
        name,
        labels={
            "environment": random.choice(("prod", "test")),
            "tier": random.choice(("gold", "silver", "bronze")),
        },
        taints=(Taint("dedicated", "gpu"),) if random.random() < 0.05 else (),
        provider="azure",
        region=region,
        zones=(f"{region}-1", f"{region}-2"),
        resource_summary=summarize([(random.randint(1, 20), NODE)]),
    )


def scheduling(placement: Placement) -> SetUp:
    """Set up one scheduling of a new template."""

    def set_up(members: int) -> Run:
        inventory = Inventory(fleet(members))
        template = Template(
            "apps/v1", "Deployment", "web", "default", members, {"cpu": "500m", "memory": "1Gi"}
        )
        return lambda: schedule(inventory, template, placement, TemplateMemory(uid="a"))

    return set_up


ROWS: dict[str, SetUp] = {
    "karmada-divided": scheduling(DYNAMIC_WEIGHT),
    "karmada-duplicated": scheduling(DUPLICATED),
    "karmada-aggregated": scheduling(AGGREGATED),
}
