"""Somebody observes a Karmada control plane, edits what was observed, and carries it out: it does what the plan said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.systems.karmada.plan.record import TemplateState
from tests.hubs.karmada import KarmadaHub, KarmadaMember, karmada_hub
from tests.hubs.karmada_story import IMAGE, PLACEMENT, REPLICAS, begun, deployment, of
from tests.hubs.placements import config, made, namespace, web
from tests.hubs.propagation import (
    divided,
    dynamic,
    named,
    overriding,
    propagation,
    rebalancer,
    taint,
    tolerating,
    weighted,
)
from tests.hubs.story import Known, Story, changes, put

pytestmark = pytest.mark.hubs

KNOWN = (
    Known(
        r"west: Deployment taken/web: .*image is 'old:1', not 'web:1'",
        "a plan does not ask members, and conflictResolution Abort leaves what stands there",
    ),
    Known(
        r"(Template/hidden/Secret/key: )?(east|west): Secret hidden/key( is not sent|: .* is .*, not '\[secret\]')",
        "the data of Secrets is not asked for, and what overrides put into one is not kept, so a plan has neither",
    ),
    Known(
        r"Template/waits/Deployment/web: (east|west): Deployment waits/web (as sent: .*|is not sent)",
        "a Work has the new manifest while its dispatching is suspended: nothing tells what the member runs, which a "
        "note says",
    ),
    Known(
        r"(Template/ties/Deployment/new: (members: |(east|west): Deployment ties/new as sent: )|(east|west): Deployment ties/new: ).*",
        "a tie between members falls by the uid that the API server gives, which the plan says",
    ),
)
MEMBERS = [
    KarmadaMember("east", provider="aws", region="us", labels={"ring": "2"}),
    KarmadaMember("north", provider="azure", region="eu", labels={"ring": "2"}, nodes=2),
    KarmadaMember("south", provider="azure", region="eu", labels={"ring": "1"}, nodes=3),
    KarmadaMember("west", provider="aws", region="asia", labels={"ring": "1"}, nodes=4),
]
RING = {"clusterAffinity": {"labelSelector": {"matchLabels": {"ring": "1"}}}}


@pytest.fixture(scope="module")
def karmada() -> Iterator[KarmadaHub]:
    with karmada_hub(MEMBERS, gates={"PropagationPolicyPreemption": True}) as started:
        yield started


@pytest.fixture
def story(karmada: KarmadaHub, tmp_path: Path) -> Iterator[Story]:
    with begun(karmada, tmp_path / "fleet", KNOWN, preemption=True) as told:
        yield told


def test_every_member_with_a_label(story: Story) -> None:
    story.begin(namespace("rings"), web("rings"), propagation("web", "rings", RING))
    story.edit("members/north.yaml", put("1", "metadata", "labels", "ring"))
    story.carried_out()
    story.edit("members/west.yaml", put("2", "metadata", "labels", "ring"))
    story.edit(deployment("rings"), put("web:2", *IMAGE))
    story.carried_out()
    story.edit("members/north.yaml", put(taint(), "spec", "taints"))
    story.carried_out()
    story.edit(of("rings"), put({**RING, **tolerating()}, *PLACEMENT))
    story.edit(deployment("rings"), put(3, *REPLICAS))
    story.carried_out()
    story.edit("members/north.yaml", put([], "spec", "taints"))
    story.edit(of("rings"), put(named("east", "north"), *PLACEMENT))
    story.carried_out()


def test_divided_by_static_weights(story: Story) -> None:
    story.begin(
        namespace("shares"),
        web("shares", replicas=6),
        propagation("web", "shares", weighted(east=1, west=2)),
    )
    for number in (9, 3):
        story.edit(deployment("shares"), put(number, *REPLICAS))
        story.carried_out()
    story.edit(of("shares"), put(weighted(east=3, west=2, south=1), *PLACEMENT))
    story.carried_out()
    story.edit("members/east.yaml", put(taint(), "spec", "taints"))
    story.carried_out()
    story.edit(deployment("shares"), put(6, *REPLICAS))
    story.edit(deployment("shares"), put("web:2", *IMAGE))
    story.carried_out()
    story.edit(deployment("shares"), put(0, *REPLICAS))
    story.carried_out()


def test_divided_by_what_is_free(story: Story, karmada: KarmadaHub) -> None:
    story.begin(
        namespace("free"),
        web("free", replicas=10),
        propagation("web", "free", dynamic()),
        namespace("few"),
        web("few", replicas=4),
        propagation("web", "few", divided("Aggregated")),
    )
    for number in (16, 5, 30):
        karmada.settle(4)  # what is free is counted every other second
        story.observe()
        story.edit(deployment("free"), put(number, *REPLICAS))
        story.edit(deployment("few"), put(3 * number, *REPLICAS))
        story.carried_out()
    karmada.settle(4)
    story.observe()
    story.edit(of("few"), put({**named("east", "north"), **divided("Aggregated")}, *PLACEMENT))
    story.edit(deployment("few"), put(20, *REPLICAS))
    story.carried_out()


def test_spread(story: Story) -> None:
    clusters = {"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}
    regions = {"spreadByField": "region", "minGroups": 2, "maxGroups": 2}
    story.begin(
        namespace("clusters"),
        web("clusters"),
        propagation("web", "clusters", {"spreadConstraints": [clusters]}),
        namespace("regions"),
        web("regions"),
        propagation(
            "web", "regions", {"spreadConstraints": [regions, {**clusters, "maxGroups": 3}]}
        ),
    )
    story.edit(of("clusters"), put(3, *PLACEMENT, "spreadConstraints", 0, "maxGroups"))
    story.edit(of("regions"), put(3, *PLACEMENT, "spreadConstraints", 0, "maxGroups"))
    story.carried_out()
    story.edit("members/west.yaml", put(taint(), "spec", "taints"))
    story.edit(of("regions"), put(3, *PLACEMENT, "spreadConstraints", 0, "minGroups"))
    story.carried_out()
    story.edit("members/west.yaml", put([], "spec", "taints"))
    story.carried_out()


def test_groups_of_members(story: Story) -> None:
    groups = [{"affinityName": name, **named(name)["clusterAffinity"]} for name in ("east", "west")]
    story.begin(
        namespace("groups"),
        web("groups"),
        propagation("web", "groups", {"clusterAffinities": groups}),
    )
    story.edit("members/east.yaml", put(taint(), "spec", "taints"))
    story.carried_out()
    story.edit(of("groups"), put({"clusterAffinities": groups[::-1]}, *PLACEMENT))
    story.carried_out()
    story.edit(of("groups"), put({"clusterAffinities": groups}, *PLACEMENT))
    story.carried_out()
    story.edit("members/east.yaml", put([], "spec", "taints"))
    story.carried_out()
    story.add(rebalancer("back", ("groups", "web")))
    story.carried_out()


def test_overrides(story: Story) -> None:
    image = {"imageOverrider": [{"component": "Tag", "operator": "replace", "value": "7"}]}
    label = {"labelsOverrider": [{"operator": "add", "value": {"from": "cluster"}}]}
    bad = {"plaintext": [{"path": "/spec/nothing/here", "operator": "remove"}]}
    fine = {"plaintext": [{"path": "/spec/minReadySeconds", "operator": "add", "value": 1}]}
    story.begin(
        namespace("over"),
        web("over"),
        propagation("web", "over", named("east", "west")),
        overriding("image", "over", image, "west"),
    )
    story.edit(
        "policies/OverridePolicy/over.image.yaml",
        put(
            [{"component": "Tag", "operator": "replace", "value": "8"}],
            "spec",
            "overrideRules",
            0,
            "overriders",
            "imageOverrider",
        ),
    )
    labels, plain = (
        "policies/ClusterOverridePolicy/labels.yaml",
        "policies/OverridePolicy/over.plain.yaml",
    )
    story.add(overriding("labels", "", label), overriding("plain", "over", fine, "east"))
    story.carried_out()
    story.remove("policies/OverridePolicy/over.image.yaml")
    story.edit(plain, put(bad, "spec", "overrideRules", 0, "overriders"))
    story.carried_out()
    story.edit(deployment("over"), put("web:2", *IMAGE))
    story.carried_out()
    story.remove(labels)
    story.edit(deployment("over"), put(2, *REPLICAS))
    story.carried_out()
    story.remove(plain)
    story.carried_out()


def test_dependencies(story: Story) -> None:
    template = web("needs")
    pod = template["spec"]["template"]["spec"]
    pod["containers"][0]["envFrom"] = [{"configMapRef": {"name": "one"}}]
    story.begin(
        namespace("needs"),
        config("one", "needs", a="1"),
        config("two", "needs", a="1"),
        template,
        propagation("web", "needs", weighted(east=1, west=1), propagateDeps=True),
    )
    both = [{"configMapRef": {"name": "one"}}, {"configMapRef": {"name": "two"}}]
    story.edit(deployment("needs"), put(both, *IMAGE[:-1], "envFrom"))
    story.edit("objects/needs/ConfigMap.one.yaml", put("2", "data", "a"))
    story.edit(deployment("needs"), put(2, *REPLICAS))
    story.carried_out()
    story.edit(deployment("needs"), put(both[1:], *IMAGE[:-1], "envFrom"))
    story.carried_out()
    story.edit(of("needs"), put(False, "spec", "propagateDeps"))
    story.carried_out()


def test_policies_by_priority(story: Story) -> None:
    selector = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    ]  # preemption asks for a name
    story.begin(
        namespace("ranks"),
        web("ranks"),
        propagation("low", "ranks", named("east"), priority=1),
        propagation("all", "", named("south")),
    )
    high = of("ranks", "high")
    story.add(propagation("high", "ranks", named("west"), priority=2, resourceSelectors=selector))
    story.carried_out()
    story.edit(high, put("Always", "spec", "preemption"))
    story.carried_out()
    story.remove(high)
    story.carried_out()
    story.remove(of("ranks", "low"))
    story.carried_out()
    story.remove("policies/ClusterPropagationPolicy/all.yaml")
    story.carried_out()


def test_what_no_policy_follows(story: Story) -> None:
    story.begin(
        namespace("left"),
        web("left"),
        config("gone", "left", a="1"),
        config("stays", "left", a="1"),
        propagation("web", "left", named("east", "west")),
        propagation(
            "maps",
            "left",
            named("west"),
            resourceSelectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
        ),
    )
    story.remove(of("left"), "objects/left/ConfigMap.gone.yaml")
    story.carried_out()
    story.edit(deployment("left"), put("web:2", *IMAGE))
    story.edit(deployment("left"), put(2, *REPLICAS))
    story.carried_out()
    again = of("left", "again")
    story.add(propagation("again", "left", named("west")))
    story.carried_out()
    story.edit("objects/left/ConfigMap.stays.yaml", put("2", "data", "a"))
    story.remove(deployment("left"), again)
    story.carried_out()


def test_suspended(story: Story) -> None:
    story.begin(
        namespace("waits"),
        web("waits"),
        propagation("web", "waits", named("east", "west")),
    )
    some = {"dispatchingOnClusters": {"clusterNames": ["west"]}}
    story.edit(of("waits"), put(some, "spec", "suspension"))
    story.carried_out()
    story.edit(deployment("waits"), put("web:2", *IMAGE))
    story.carried_out()
    story.edit(of("waits"), put({"dispatching": True}, "spec", "suspension"))
    story.carried_out()
    story.edit(deployment("waits"), put(2, *REPLICAS))
    story.carried_out()
    story.edit(of("waits"), put(None, "spec", "suspension"))
    story.carried_out()


def test_what_stays_when_it_is_deleted(story: Story) -> None:
    story.begin(
        namespace("kept"),
        web("kept"),
        propagation("web", "kept", named("east", "west"), preserveResourcesOnDeletion=True),
    )
    story.edit(of("kept"), put(["east"], *PLACEMENT, "clusterAffinity", "clusterNames"))
    story.carried_out()
    story.remove(deployment("kept"))
    story.carried_out()


def test_what_stands_on_a_member_already(story: Story) -> None:
    story.begin(namespace("taken"), web("taken"), propagation("web", "taken", named("east")))
    story.objects("west").apply([web("taken", "old:1")])
    story.edit(of("taken"), put(named("east", "west"), *PLACEMENT))
    story.carried_out()
    assert story.met == set(KNOWN[:1])
    story.edit(of("taken"), put("Overwrite", "spec", "conflictResolution"))
    story.carried_out()
    story.remove(deployment("taken"))
    story.carried_out()


def test_jobs(story: Story) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "job", "image": "job:1"}]}
    spec = {"parallelism": 3, "completions": 9, "template": {"spec": pod}}
    job = made("batch/v1", "Job", "work", "jobs") | {"spec": spec}
    selector = [{"apiVersion": "batch/v1", "kind": "Job"}]
    story.begin(
        namespace("jobs"),
        job,
        propagation("work", "jobs", weighted(east=1, west=2), resourceSelectors=selector),
    )
    story.edit("objects/jobs/Job.work.yaml", put(6, "spec", "parallelism"))
    story.carried_out()
    story.remove("objects/jobs/Job.work.yaml")
    story.carried_out()


def test_secrets_of_which_the_data_is_not_read(story: Story) -> None:
    key = made("v1", "Secret", "key", "hidden") | {"data": {"p": "YQ=="}}
    story.begin(
        namespace("hidden"),
        key,
        propagation(
            "keys",
            "hidden",
            named("east", "west"),
            resourceSelectors=[{"apiVersion": "v1", "kind": "Secret"}],
        ),
    )
    first = written(story.plan())
    kind = {"Content-Type": "application/merge-patch+json"}
    path = "/api/v1/namespaces/hidden/secrets/key"
    assert (
        story.objects()
        .judge.client.patch(path, json={"data": {"p": "Yg=="}}, headers=kind)
        .is_success
    )
    story.hub.settle(1.5)
    story.observe()
    assert written(story.quiet()) > first
    rule = {"plaintext": [{"path": "/data/p", "operator": "replace", "value": "Yw=="}]}
    story.add(overriding("into", "hidden", rule, "west"))
    story.carried_out()
    found = story.objects("west").get(path)
    assert found
    assert found["data"]["p"] == "Yw=="
    story.remove("policies/OverridePolicy/hidden.into.yaml")
    story.carried_out()


def written(plan: FleetPlan) -> str:
    """When the data of a Secret was last written, as a plan remembers it."""
    (item,) = (subject for subject in plan.subjects if subject.name == "Template/hidden/Secret/key")
    state: TemplateState = item.before.memory
    return state.data_written


def test_a_new_template_whose_tie_falls_by_its_uid(story: Story) -> None:
    story.begin(
        namespace("ties"),
        propagation("web", "ties", weighted(east=1, west=1)),
        web("ties", replicas=2),
    )
    new = deployment("ties", "new")
    story.copy(deployment("ties"), new, put("new", "metadata", "name"), put(3, *REPLICAS))
    plan = story.carried_out()
    (decided,) = (
        subject for subject in plan.subjects if subject.name == "Template/ties/Deployment/new"
    )
    assert "falls by the uid" in " ".join(decided.outcome.notes)


def test_namespaces_go_everywhere_by_themselves(story: Story) -> None:
    story.begin(namespace("first"), web("first"), propagation("web", "first", named("east")))
    story.add(namespace("second"))
    (change,) = changes(story.plan())
    assert change.startswith("what waits")
    story.carried_out()
    for member in ("east", "west"):
        assert story.objects(member).get("/api/v1/namespaces/second")
