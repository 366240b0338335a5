"""Runs of Karmada's own scheduling core on small random fleets, recorded: same clusters, same order, same errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.cluster import read_karmada_cluster
from fleet_components.systems.karmada.model.memory import EvictionTask, TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler.candidates import CycleFailure
from fleet_components.systems.karmada.scheduler.groups import place
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.state import KarmadaState

Run = Mapping[str, Any]
RUNS = [
    json.loads(line) for line in (Path(__file__).parent / "golden.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"run-{RUNS.index(run)}")
def test_outcome_is_that_of_the_real_core(run: Run) -> None:
    try:
        outcome: dict[str, Any] = {
            "clusters": [list(item) for item in place(PROFILE, _state(run)).clusters.items()]
        }
    except CycleFailure as failure:
        outcome = {"error": str(failure)}
    assert outcome == run["outcome"]


def _state(run: Run) -> KarmadaState:
    placement, requirements = decode(Placement, run["placement"]), run.get("requirements")
    requests = None if requirements is None else requirements.get("resourceRequest", {})
    return KarmadaState(
        inventory=Inventory(_member(data, run.get("lackingApi", ())) for data in run["clusters"]),
        template=Template("apps/v1", "Deployment", "web", "default", run["replicas"], requests),
        placement=placement,
        memory=TemplateMemory(
            uid=run["uid"],
            clusters=dict(run.get("targets", ())),
            scheduled=True,
            evictions=dict.fromkeys(run.get("evicting", ()), EvictionTask()),
        ),
        estimates=Estimates(available=run.get("available")),
        rebalances=frozenset({"again"} if run.get("rebalance") else ()),
        empty_workloads=run.get("emptyWorkloads", False),
        group=next(
            (t for t in placement.cluster_affinities if t.affinity_name == run.get("group")), None
        ),
    )


def _member(data: Run, lacking: list[str]) -> Cluster:
    apis = (
        frozenset()
        if data["metadata"]["name"] in lacking
        else frozenset({("apps/v1", "Deployment")})
    )
    return attrs.evolve(read_karmada_cluster(data), api_enablements=apis)
