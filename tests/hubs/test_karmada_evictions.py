"""Members that drive out what they have, fail or leave: a Karmada control plane does what the plan said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters.documents import Document
from tests.hubs.karmada import MANAGER, WEBHOOK, KarmadaHub, KarmadaMember, join, karmada_hub
from tests.hubs.karmada_story import PLACEMENT, REPLICAS, begun, deployment, of
from tests.hubs.placements import made, namespace, web
from tests.hubs.processes import until
from tests.hubs.propagation import (
    POLICY,
    divided,
    named,
    overriding,
    propagation,
    taint,
    tolerating,
    weighted,
)
from tests.hubs.story import Known, Story, changes, put

pytestmark = pytest.mark.hubs

KNOWN = (
    Known(
        r"Template/alone/Deployment/web: condition: \[\('Scheduled', 'False', 'NoClusterFit', .*\)\], "
        r"not \[\('Scheduled', 'False', 'NoClusterFit', .*\)\]",
        "a scheduler asks its filters in an order of its own, and tells the first that rejects a member: "
        "karmada-io/karmada 1.19, pkg/scheduler/framework/runtime/framework.go, iterates over a map",
    ),
)
MEMBERS = [
    KarmadaMember("east"),
    KarmadaMember("north", nodes=2),
    KarmadaMember("south", nodes=3),
    KarmadaMember("west", nodes=4),
]
FLAGS = [
    "--enable-no-execute-taint-eviction=true",
    "--cluster-failure-threshold=2s",
    "--cluster-success-threshold=2s",
]
LOST: Document = {
    "addOnConditions": [
        {"conditionType": "Ready", "operator": "In", "statusValues": ["False", "Unknown"]}
    ],
    "removeOnConditions": [{"conditionType": "Ready", "operator": "In", "statusValues": ["True"]}],
    "taints": [{"key": "lost", "effect": "NoExecute"}],
}
"""Spec of a policy by which a member that does not answer loses what it has."""
ALLOWED = ["--allow-no-execute-taint-policy=true"]
ONE = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}


@pytest.fixture(scope="module")
def karmada() -> Iterator[KarmadaHub]:
    with karmada_hub(
        MEMBERS, gates={"Failover": True}, flags={MANAGER: FLAGS, WEBHOOK: ALLOWED}
    ) as started:
        yield started


@pytest.fixture
def story(karmada: KarmadaHub, tmp_path: Path) -> Iterator[Story]:
    with begun(karmada, tmp_path / "fleet", KNOWN, noExecuteEviction=True) as told:
        yield told


def test_a_taint_drives_out(story: Story) -> None:
    story.begin(
        namespace("driven"),
        web("driven", replicas=6),
        propagation("web", "driven", weighted(east=1, west=2)),
        namespace("copied"),
        web("copied"),
        propagation("web", "copied", named("east", "west")),
        namespace("one"),
        web("one"),
        propagation("web", "one", {**named("east", "south"), **ONE}),
        namespace("stays"),
        web("stays"),
        propagation("web", "stays", {**named("east"), **tolerating()}),
    )
    story.edit("members/east.yaml", put(taint("NoExecute"), "spec", "taints"))
    story.carried_out()
    story.edit(deployment("driven"), put(9, *REPLICAS))
    story.carried_out()
    story.edit("members/east.yaml", put([], "spec", "taints"))
    story.carried_out()


def test_nowhere_to_go(story: Story) -> None:
    story.begin(namespace("alone"), web("alone"), propagation("web", "alone", named("north")))
    story.edit("members/north.yaml", put(taint("NoExecute"), "spec", "taints"))
    story.carried_out()
    story.edit("members/north.yaml", put([], "spec", "taints"))
    story.carried_out()


def test_an_application_that_fails(story: Story) -> None:
    failover = {
        "application": {"decisionConditions": {"tolerationSeconds": 4}, "purgeMode": "Gracefully"}
    }
    story.begin(
        namespace("fails"),
        web("fails", replicas=2),
        propagation(
            "web", "fails", {**named("south", "west"), **ONE}, failover=failover, propagateDeps=True
        ),
    )
    (subject,) = (
        item for item in story.plan().subjects if item.name == "Template/fails/Deployment/web"
    )
    (member,) = subject.record.members
    nowhere = {
        "plaintext": [
            {"path": "/spec/template/spec/nodeSelector", "operator": "add", "value": {"a": "b"}}
        ]
    }
    story.add(overriding("fails", "fails", nowhere, member))
    fails = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "fails",
        "name": "web",
        "cluster": member,
    }
    health = made("fleet-components/v1", "ApplicationHealth", "seen") | {
        "spec": {"unhealthy": [fails]}
    }
    story.add(health)
    story.carried_out(rest=12)


def test_a_member_that_goes_away(story: Story, karmada: KarmadaHub) -> None:
    story.begin(
        namespace("away"),
        web("away", replicas=4),
        propagation("web", "away", weighted(north=1, south=1)),
        namespace("every"),
        web("every"),
        propagation("web", "every", {}),
    )
    plane = karmada.members["north"]
    plane.kill()
    try:
        until(lambda: _ready(karmada, "north") == "False", "seen as gone")
        karmada.settle(3)
        story.observe()
        story.quiet()
    finally:
        plane.start()
        plane.wait()
    until(lambda: _ready(karmada, "north") == "True", "seen again")
    karmada.settle(8)
    story.observe()
    story.quiet()


def test_what_a_lost_member_had_goes_elsewhere(story: Story, karmada: KarmadaHub) -> None:
    lost = made(POLICY, "ClusterTaintPolicy", "lost") | {"spec": LOST}
    story.begin(
        lost,
        namespace("lost"),
        web("lost", replicas=6),
        propagation("web", "lost", weighted(north=1, south=1, west=1)),
        namespace("packed"),
        web("packed", replicas=3),
        propagation("web", "packed", {**named("north", "south"), **divided("Aggregated")}),
    )
    unready = {"key": "cluster.karmada.io/not-ready", "effect": "NoSchedule"}
    story.edit("members/north.yaml", put([*LOST["taints"], unready], "spec", "taints"))
    plan = story.plan()
    assert list(changes(plan))
    plane = karmada.members["north"]
    plane.kill()
    try:
        until(lambda: _ready(karmada, "north") == "False", "seen as gone")
        until(lambda: not _bound_to(karmada, "north"), "evicted")
    finally:
        plane.start()
        plane.wait()
    until(lambda: _ready(karmada, "north") == "True", "seen again")
    until(lambda: not _taints(karmada, "north"), "without taints")
    story.compare(plan)


def test_a_member_that_leaves(story: Story, karmada: KarmadaHub) -> None:
    story.begin(
        namespace("leaves"),
        web("leaves", replicas=4),
        propagation("web", "leaves", {**named("east", "north"), **divided("Aggregated")}),
        namespace("copies"),
        web("copies"),
        propagation("web", "copies", {}),
    )
    story.remove("members/north.yaml")
    try:
        story.carried_out(rest=15)
    finally:
        until(lambda: _ready(karmada, "north") == "", "gone")
        join(karmada.hub, [(MEMBERS[1], karmada.members["north"])], karmada.programs[MANAGER])
    karmada.settle(5)
    story.observe()
    story.quiet()
    story.edit(of("leaves"), put({**named("north"), **divided("Aggregated")}, *PLACEMENT))
    story.carried_out()


def _bound_to(karmada: KarmadaHub, member: str) -> list[str]:
    """The bindings that have a member still, or are leaving it."""
    listed = karmada.hub.get("resourcebindings", "--all-namespaces")["items"]
    return [
        item["metadata"]["name"]
        for item in listed
        if member
        in (task["fromCluster"] for task in item["spec"].get("gracefulEvictionTasks") or ())
        or member in (chosen["name"] for chosen in item["spec"].get("clusters") or ())
    ]


def _taints(karmada: KarmadaHub, name: str) -> list[str]:
    listed = karmada.hub.get("clusters.cluster.karmada.io")["items"]
    taints = [
        taint
        for item in listed
        if item["metadata"]["name"] == name
        for taint in item["spec"].get("taints") or ()
    ]
    return [taint["key"] for taint in taints]


def _ready(karmada: KarmadaHub, name: str) -> str:
    listed = karmada.hub.get("clusters.cluster.karmada.io")["items"]
    conditions = [
        c
        for item in listed
        if item["metadata"]["name"] == name
        for c in item["status"]["conditions"]
    ]
    return next(
        (condition["status"] for condition in conditions if condition["type"] == "Ready"), ""
    )
