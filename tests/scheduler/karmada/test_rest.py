"""When a scheduler that was observed looks at a binding again."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.model.cluster import Cluster, ResourceSummary, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    ClusterAffinityTerm,
    Placement,
)
from fleet_components.systems.karmada.model.template import Template
from fleet_components.systems.karmada.model.webster import larger_names_first, turned
from fleet_components.systems.karmada.scheduler import schedule
from fleet_components.systems.karmada.scheduler.rest import looked_at
from fleet_components.systems.karmada.scheduler.state import KarmadaState

WEB = Template("apps/v1", "Deployment", "web", "shop", replicas=2)
A, B = (Cluster(name, region=name) for name in "ab")
ONLY_A = Placement(cluster_affinity=ClusterAffinity(cluster_names=("a",)))
GROUPS = Placement(
    cluster_affinities=tuple(
        ClusterAffinityTerm(affinity_name=name, cluster_names=(name,)) for name in "ab"
    )
)
SERVING = attrs.evolve(
    A, resource_summary=ResourceSummary({"pods": "9"}), api_enablements=frozenset({("v1", "Pod")})
)


def looked(placement: Placement, *clusters: Cluster, **memory: Any) -> str:
    """What the scheduler has looked at."""
    kept = TemplateMemory(scheduled=memory.pop("scheduled", True), **memory)
    return looked_at(KarmadaState(Inventory(clusters), WEB, placement, kept), {})


@pytest.mark.parametrize(
    "change",
    [{"labels": {"x": "y"}}, {"region": "z"}, {"taints": (Taint("t"),)}, {"leaving": True}],
)
def test_labels_and_spec_of_a_selected_member_count(change: dict[str, Any]) -> None:
    assert looked(ONLY_A, attrs.evolve(A, **change), B) != looked(ONLY_A, A, B)
    assert looked(ONLY_A, A, attrs.evolve(B, **change)) == looked(ONLY_A, A, B)
    assert looked(Placement(), A, attrs.evolve(B, **change)) != looked(Placement(), A, B)


def test_the_status_of_a_member_counts_for_what_is_tried_again() -> None:
    assert looked(ONLY_A, SERVING) == looked(ONLY_A, A)
    assert looked(ONLY_A, SERVING, retries=True) != looked(ONLY_A, A, retries=True)


def test_of_groups_the_active_one_counts_and_all_until_one_is() -> None:
    other = attrs.evolve(B, region="z")
    assert looked(GROUPS, A, other, observed_group="a") == looked(GROUPS, A, B, observed_group="a")
    assert looked(GROUPS, A, other, observed_group="b") != looked(GROUPS, A, B, observed_group="b")
    assert looked(GROUPS, A, other, scheduled=False) != looked(GROUPS, A, B, scheduled=False)


def test_a_binding_at_rest_keeps_its_members() -> None:
    memory = TemplateMemory(clusters={"b": 2}, placement=ONLY_A, scheduled=True)
    fleet = Inventory((A, B))
    assert schedule(fleet, WEB, ONLY_A, memory).memory.clusters == {"a": 2}
    resting = attrs.evolve(memory, looked=looked_at(KarmadaState(fleet, WEB, ONLY_A, memory), {}))
    decision = schedule(fleet, WEB, ONLY_A, resting)
    assert (decision.memory, decision.status.resting) == (resting, True)
    assert schedule(fleet, WEB, ONLY_A, resting, binding={"revision": 2}).memory.clusters == {
        "a": 2
    }
    assert schedule(fleet, attrs.evolve(WEB, replicas=3), ONLY_A, resting).memory.clusters == {
        "a": 3
    }


@pytest.mark.parametrize("uid", ["", "a", "b", "0c6ef2e4-9d2c-4a3c-8d4e-0d5a0a5a1f11"])
def test_a_turned_uid_decides_ties_the_other_way(uid: str) -> None:
    assert larger_names_first(turned(uid)) is not larger_names_first(uid)
