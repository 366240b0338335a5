"""Values to the form in which Kubernetes writes them, and back."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.codec import MisfitError, camel, decode, encode
from fleet_components.model.decision import ClusterScore
from fleet_components.model.inventory import Inventory
from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.rollout.rollout import Done, Gates
from fleet_components.systems.kubefleet.model.memory import Binding, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import (
    PlacementPolicy,
    PlacementSpec,
    RollingUpdate,
    Toleration,
    TopologySpreadConstraint,
)
from fleet_components.systems.kubefleet.scheduler import schedule
from tests.strategies import AS_OF, NAMES, Step, clusters, histories, policies

pytestmark = pytest.mark.long

quick = settings(max_examples=60)


def through_the_engine(value: Any, random: Random) -> Any:
    """As the Pulumi engine hands values over: numbers as floats, maps in any order."""
    if isinstance(value, dict):
        items = [(key, through_the_engine(entry, random)) for key, entry in value.items()]
        random.shuffle(items)
        return dict(items)
    if isinstance(value, list | tuple):
        return [through_the_engine(entry, random) for entry in value]
    return float(value) if type(value) is int else value


@quick
@given(policies, st.integers())
def test_policies_come_back(policy: PlacementPolicy, seed: int) -> None:
    wire = json.loads(json.dumps(encode(policy)))
    assert decode(PlacementPolicy, wire) == policy
    assert decode(PlacementPolicy, through_the_engine(wire, Random(seed))) == policy


@quick
@given(st.sampled_from(NAMES).flatmap(clusters))
def test_members_come_back(cluster: Cluster) -> None:
    full = attrs.evolve(cluster, taints=(*cluster.taints, Taint("t", "", "NoExecute", AS_OF)))
    assert decode(Cluster, json.loads(json.dumps(encode(full)))) == full


@quick
@given(histories(), st.integers())
def test_memory_comes_back(history: list[Step], seed: int) -> None:
    memory = PlacementMemory()
    for step in history:
        memory = schedule(Inventory(step.clusters, AS_OF), step.policy, memory).memory
        wire = memory.to_wire()
        assert PlacementMemory.from_wire(json.loads(json.dumps(wire))) == memory
        again = PlacementMemory.from_wire(through_the_engine(wire, Random(seed)))
        assert again == memory
        assert all(type(binding.rank) is int for binding in again.bindings.values())
        assert again.to_wire().keys() == wire.keys()
        assert again.selected == memory.selected


@pytest.mark.parametrize("wire", [None, {}])
def test_no_memory_is_that_of_a_placement_that_never_ran(wire: dict[str, object] | None) -> None:
    assert PlacementMemory.from_wire(wire) == PlacementMemory()
    assert PlacementMemory().snapshot == -1


def test_memory_is_keyed_by_member_and_leaves_defaults_out() -> None:
    memory = PlacementMemory(
        0, None, {"b": Binding("Bound", 0, 1, 0, 0), "a": Binding("Scheduled", 0)}
    )
    assert memory.to_wire() == {
        "snapshot": 0,
        "bindings": {
            "b": {
                "state": "Bound",
                "snapshot": 0,
                "rank": 1,
                "affinityScore": 0,
                "topologySpreadScore": 0,
            },
            "a": {"state": "Scheduled", "snapshot": 0},
        },
    }
    assert memory.selected == ("a", "b")


def test_settled_memory() -> None:
    bindings = {
        "a": Binding("Scheduled", 1, 0),
        "b": Binding("Bound", 1, 1),
        "c": Binding("Unscheduled", 0, 2, None, None, "Bound"),
    }
    memory = PlacementMemory(1, None, bindings)
    assert memory.selected == ("a", "b")
    assert {name: b.state for name, b in memory.settled().bindings.items()} == {
        "a": "Bound",
        "b": "Bound",
    }
    assert memory.settled(held=["c"]).bindings["c"] == bindings["c"]
    assert memory.settled(held=["a"]).bindings["a"].state == "Bound"


@pytest.mark.parametrize(
    ("kind", "wire", "value"),
    [
        (PlacementPolicy, {}, PlacementPolicy()),
        (
            PlacementPolicy,
            {"placementType": "PickN", "numberOfClusters": 3.0},
            PlacementPolicy("PickN", (), 3),
        ),
        (PlacementPolicy, {"unknown": 1}, PlacementPolicy()),
        (Toleration, {"key": "k", "operator": "Exists"}, Toleration("k", "Exists")),
        (
            TopologySpreadConstraint,
            {"topologyKey": "z", "maxSkew": 2.0},
            TopologySpreadConstraint("z", 2),
        ),
        (RollingUpdate, {"maxUnavailable": 1.0, "maxSurge": "50%"}, RollingUpdate(1, "50%")),
        (
            LabelSelector,
            {"matchExpressions": [{"key": "k", "operator": "Exists"}]},
            LabelSelector({}, (Requirement("k", "Exists"),)),
        ),
        (ClusterScore, {"affinityScore": 1, "priorityScore": -2}, ClusterScore(1, -2)),
    ],
)
def test_wire_forms(kind: type[Any], wire: dict[str, Any], value: Any) -> None:
    decoded = decode(kind, wire)
    assert decoded == value
    assert all(type(field) is not float for field in attrs.astuple(decoded, recurse=False))
    assert decode(kind, encode(decoded)) == value


def test_wire_names() -> None:
    assert encode(ClusterScore(1, 2)) == {"affinityScore": 1, "priorityScore": 2}
    assert camel("required_during_scheduling_ignored_during_execution") == (
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    assert encode(PlacementSpec()) == {}


def test_sets_are_written_in_order() -> None:
    enabled = frozenset({("v1", "Pod"), ("apps/v1", "Deployment"), ("v1", "ConfigMap")})
    wire = encode(Cluster("m", api_enablements=enabled))
    assert [list(pair) for pair in wire["apiEnablements"]] == [
        ["apps/v1", "Deployment"],
        ["v1", "ConfigMap"],
        ["v1", "Pod"],
    ]
    assert decode(Cluster, wire).api_enablements == enabled


UNFIT: dict[str, tuple[Any, Any, list[str]]] = {
    "no number": (
        PlacementPolicy,
        {"numberOfClusters": "three"},
        ["numberOfClusters: is text, not a whole number"],
    ),
    "half": (
        PlacementPolicy,
        {"numberOfClusters": 2.5},
        ["numberOfClusters: is a number, not a whole number"],
    ),
    "not finite": (
        PlacementPolicy,
        {"numberOfClusters": math.nan},
        ["numberOfClusters: is a number, not a whole number"],
    ),
    "huge": (Done, {"revision": 10**30}, ["revision: is a number, not a whole number"]),
    "no text": (PlacementPolicy, {"placementType": 3}, ["placementType: is a number, not text"]),
    "no flag": (Done, {"revision": 1, "broken": 1}, ["broken: is a number, not true or false"]),
    "a flag as number": (
        Done,
        {"revision": True},
        ["revision: is true or false, not a whole number"],
    ),
    "no zone": (
        Done,
        {"revision": 1, "since": "2026-01-01"},
        ["since: is text, not a time with a zone"],
    ),
    "the end of time": (
        Done,
        {"revision": 1, "since": "9999-12-31T23:59:59Z"},
        ["since: is text, not a time with a zone"],
    ),
    "too long": (Gates, {"maxWait": 1e300}, ["maxWait: is not a number"]),
    "no list": (PlacementPolicy, {"clusterNames": "abc"}, ["clusterNames: is text, not a list"]),
    "no map": (PlacementMemory, {"bindings": "abc"}, ["bindings: is text, not a map"]),
    "no map inside": (
        PlacementMemory,
        {"bindings": {"a": []}},
        ["bindings.a: is a list, not a map"],
    ),
    "missing": (Done, {}, ["revision: is missing"]),
    "nothing": (Done, None, ["is null, not a map"]),
    "several": (
        PlacementMemory,
        {"snapshot": "x", "bindings": {"a": {"state": 1, "snapshot": None}}},
        [
            "snapshot: is text, not a whole number",
            "bindings.a.state: is a number, not text",
            "bindings.a.snapshot: is null, not a whole number",
        ],
    ),
    "in a list": (
        PlacementPolicy,
        {"clusterNames": ["a", 2]},
        ["clusterNames[1]: is a number, not text"],
    ),
}


@pytest.mark.parametrize(("kind", "wire", "said"), UNFIT.values(), ids=UNFIT.keys())
def test_what_does_not_fit_names_its_field(kind: Any, wire: Any, said: list[str]) -> None:
    with pytest.raises(MisfitError) as misfit:
        decode(kind, wire)
    assert list(map(str, misfit.value.problems)) == said
