"""The measured vectors, and recordings of a running control plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import pytest

from fleet_components.model.cluster import Cluster, ResourceSummary
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.scheduler import schedule
from tests.vectors import vectors

Data = Mapping[str, Any]
ODD_UID, EVEN_UID = "b", "a"
"""Ties go to the larger name with the first, to the smaller one with the second."""
GROUNDS = {
    "member1": ("huaweicloud", "cn-north-1", {"location": "us", "tier": "private"}),
    "member2": ("huaweicloud", "cn-south-1", {"location": "eu", "tier": "private"}),
    "member3": ("aws", "us-east-1", {"location": "us", "tier": "public"}),
    "member4": ("aws", "us-east-1", {"location": "eu", "tier": "public"}),
}


@pytest.mark.parametrize(
    "name",
    [
        "affinity_groups_fallback_exact_summary",
        "affinity_groups_fallback_resource_models",
        "divided_aggregated_resource_models",
        "divided_dynamic_exact_summary",
    ],
)
def test_recorded_capacity_leads_to_the_recorded_decision(name: str) -> None:
    steps = vectors(f"karmada-live/{name}")["steps"]
    checked = 0
    for before, after in _consecutive(steps):
        found = _schedule(before, after, exact_sums=name.endswith("exact_summary"))
        assert found == _recorded(after["bindings"][0])
        checked += 1
    assert checked


def _consecutive(steps: list[Data]) -> Iterator[tuple[Data, Data]]:
    """Pairs of settled situations of the same binding."""
    for first, second in pairwise(steps):
        before, after = first["after"], second["after"]
        if before.get("bindings") and after.get("bindings") and "clusterCapacityAfter" in before:
            yield before, after


def _recorded(binding: Data) -> dict[str, Any]:
    condition = next(
        condition for condition in binding["conditions"] if condition["type"] == "Scheduled"
    )
    return {
        "clusters": {target["name"]: target["replicas"] for target in binding.get("clusters", ())},
        "group": binding.get("schedulerObservingAffinityName", ""),
        "condition": (condition["reason"], condition["message"]),
    }


def _schedule(before: Data, after: Data, *, exact_sums: bool) -> dict[str, Any]:
    old, new = before["bindings"][0], after["bindings"][0]
    models = () if exact_sums else None
    members = (
        _member(name, amounts, models) for name, amounts in before["clusterCapacityAfter"].items()
    )
    resource, requirements = new["resource"], new.get("replicaRequirements")
    template = Template(
        resource["apiVersion"],
        resource["kind"],
        resource["name"],
        resource["namespace"],
        new["replicas"],
        requirements and requirements["resourceRequest"],
    )
    memory = TemplateMemory(
        uid=ODD_UID if new["tieBreak"]["fnv1a32OfTemplateUidIsOdd"] else EVEN_UID,
        placement=decode(Placement, old["placement"]),
        clusters=_recorded(old)["clusters"],
        observed_group=_recorded(old)["group"],
        scheduled=True,
    )
    triggered = "rescheduleTriggeredAt" in new and "rescheduleTriggeredAt" not in old
    placement = decode(Placement, new["placement"])
    decision = schedule(
        Inventory(members),
        template,
        placement,
        memory,
        rebalances={"rebalance"} if triggered else (),
    )
    condition = decision.status.condition
    assert condition
    return {
        "clusters": dict(decision.memory.clusters),
        "group": decision.memory.observed_group,
        "condition": (condition.reason, condition.message),
    }


def _member(name: str, amounts: Data, models: tuple[()] | None) -> Cluster:
    provider, region, labels = GROUNDS[name]
    return Cluster(
        name,
        labels=labels,
        provider=provider,
        region=region,
        resource_models=models,
        resource_summary=ResourceSummary(
            amounts["allocatable"],
            amounts.get("allocated", {}),
            nodes_by_grade={
                int(grade): count for grade, count in amounts["nodesByModelGrade"].items()
            },
        ),
    )
