"""What a hub does with fields that nobody has written: what plans of files, and of the observed hub, say."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fleet_components import FleetPlan
from fleet_components.content.difference import differences
from fleet_components.content.stored import without_texts
from fleet_components.content.strip import in_snapshot
from fleet_components.model.manifest import Manifest, ObjectKey
from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub
from tests.hubs.kubefleet_story import MEMBERS, planned
from tests.hubs.placements import PLACING, labelled, made, namespace, pick, placement, web
from tests.hubs.story import Story

pytestmark = pytest.mark.hubs

UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
"""Labels with the uid of a Job on the hub, which no file has."""
Objects = Mapping[ObjectKey, Mapping[str, Any]]
POD = {"containers": [{"name": "one", "image": "one:1", "resources": {"limits": {"cpu": "1000m"}}}]}
TEMPLATE = {"metadata": {"labels": {"app": "one"}}, "spec": POD}


def service(space: str) -> Document:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    return made("v1", "Service", "web", space) | {"spec": spec}


def cron_job(space: str) -> Document:
    job = {"template": {"spec": POD | {"restartPolicy": "Never"}}}
    return made("batch/v1", "CronJob", "tick", space) | {
        "spec": {"schedule": "@daily", "jobTemplate": {"spec": job}}
    }


def job(space: str) -> Document:
    spec = {"suspend": True, "template": {"spec": POD | {"restartPolicy": "Never"}}}
    return made("batch/v1", "Job", "once", space) | {"spec": spec}


def autoscaler(space: str) -> Document:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return made("autoscaling/v2", "HorizontalPodAutoscaler", "web", space) | {
        "spec": {"scaleTargetRef": target, "maxReplicas": 5}
    }


def secret(space: str) -> Document:
    return made("v1", "Secret", "key", space) | {"stringData": {"word": "one"}}


def without_replicas(space: str) -> Document:
    found = web(space)
    return found | {
        "spec": {key: value for key, value in found["spec"].items() if key != "replicas"}
    }


OBJECTS = (without_replicas, service, cron_job, job, autoscaler, secret)
PATCHES: Mapping[str, Sequence[Document]] = {
    "Deployment": (
        {"op": "replace", "path": "/spec/replicas", "value": 3},
        {"op": "replace", "path": "/spec/strategy/type", "value": "Recreate"},
        {"op": "remove", "path": "/spec/strategy/rollingUpdate"},
        {"op": "replace", "path": "/spec/revisionHistoryLimit", "value": 3},
        {"op": "replace", "path": "/spec/template/spec/dnsPolicy", "value": "Default"},
        {"op": "add", "path": "/spec/template/spec/securityContext/runAsNonRoot", "value": True},
        {
            "op": "replace",
            "path": "/spec/template/spec/containers/0/imagePullPolicy",
            "value": "Always",
        },
        {
            "op": "add",
            "path": "/spec/template/spec/containers/0/resources/limits",
            "value": {"cpu": "2000m"},
        },
    ),
    "Service": (
        {"op": "replace", "path": "/spec/type", "value": "NodePort"},
        {"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080},
        {"op": "replace", "path": "/spec/ports/0/protocol", "value": "UDP"},
        {"op": "replace", "path": "/spec/sessionAffinity", "value": "ClientIP"},
    ),
    "CronJob": (
        {"op": "replace", "path": "/spec/suspend", "value": True},
        {"op": "replace", "path": "/spec/concurrencyPolicy", "value": "Forbid"},
        {
            "op": "remove",
            "path": "/spec/jobTemplate/spec/template/spec/containers/0/resources/limits/cpu",
        },
    ),
    "Job": (
        {"op": "replace", "path": "/spec/backoffLimit", "value": 2},
        {"op": "replace", "path": "/spec/template/spec/terminationGracePeriodSeconds", "value": 5},
    ),
    "HorizontalPodAutoscaler": ({"op": "replace", "path": "/spec/minReplicas", "value": 2},),
    "Secret": (
        {"op": "replace", "path": "/data/word", "value": "dHdv"},
        {"op": "replace", "path": "/type", "value": "Opaque"},
    ),
}
"""Operations on fields that an API server has filled in."""


def override(
    space: str, target: Document, patches: Sequence[Document], terms: Sequence[Document] = ()
) -> Document:
    group, _, version = target["apiVersion"].rpartition("/")
    selector = {
        "group": group,
        "version": version,
        "kind": target["kind"],
        "name": target["metadata"]["name"],
    }
    rule = {
        "clusterSelector": {"clusterSelectorTerms": list(terms)},
        "jsonPatchOverrides": list(patches),
    }
    spec = {
        "placement": {"name": space},
        "resourceSelectors": [selector],
        "policy": {"overrideRules": [rule]},
    }
    return made(PLACING, "ResourceOverride", str(target["kind"]).lower(), space) | {"spec": spec}


def labelling(space: str) -> Document:
    """An override that adds a label to a namespace without any, and to all that is in it."""
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": space}
    patch = {"op": "add", "path": "/metadata/labels/mesh", "value": "on"}
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [patch]}
    spec = {
        "placement": {"name": space},
        "clusterResourceSelectors": [selector],
        "policy": {"overrideRules": [rule]},
    }
    return made(PLACING, "ClusterResourceOverride", space) | {"spec": spec}


def delivered(plan: FleetPlan, member: str) -> Objects:
    """What a member has at the end, as its hub has it."""
    found: dict[ObjectKey, Mapping[str, Any]] = {}
    for decided in plan.subjects:
        record = decided.outcome.goal
        if placed := record.decisions.get(member):
            position = decided.subject.inventory.position(member)
            assert position is not None
            found.update(
                (Manifest(data).key, in_snapshot(without_texts(data)))
                for data in record.objects(placed, decided.subject.inventory.clusters[position])
            )
    return found


def sent(fleet: KubeFleetHub, member: str) -> Objects:
    """What the hub sends to a member."""
    listed = fleet.objects.get(f"/apis/{PLACING}/namespaces/fleet-member-{member}/works")
    manifests = (
        data
        for work in (listed or {"items": ()})["items"]
        for data in work["spec"]["workload"]["manifests"]
    )
    return {Manifest(data).key: in_snapshot(data) for data in manifests}


def unlike(member: str, ours: Objects, theirs: Objects) -> list[str]:
    """Where the objects of a member differ, by more than the uid of a Job."""
    found = [f"{member}: {key}" for key in sorted(ours.keys() ^ theirs.keys())]
    for key in ours.keys() & theirs.keys():
        unequal = (
            difference
            for difference in differences(ours[key], theirs[key])
            if difference.path[-1] not in UIDS
        )
        found += [f"{member}: {key}: {item}" for item in unequal]
    return found


def unsent(plan: FleetPlan, fleet: KubeFleetHub) -> list[str]:
    """Where what a plan gives to members is not what the hub sends them."""
    return [
        item
        for member in MEMBERS
        for item in unlike(member, delivered(plan, member), sent(fleet, member))
    ]


def test_overrides_patch_defaults(fleet: KubeFleetHub, story: Story) -> None:
    space, bare = "stored", "bare"
    documents = [namespace(space), *(make(space) for make in OBJECTS)]
    documents += [
        override(space, document, PATCHES[document["kind"]]) for document in documents[1:]
    ]
    empty = made("v1", "Namespace", bare, labels={})
    documents += [placement(space), empty, labelling(bare), placement(bare)]
    fleet.apply(documents)
    fleet.settle()
    plan = planned(documents, fleet.release)
    assert len(delivered(plan, "east")) == 8
    assert unsent(plan, fleet) == []
    live = fleet.members["east"].get("deployment", "web", "-n", space)
    assert live is not None
    assert (live["spec"]["replicas"], live["spec"]["strategy"]) == (3, {"type": "Recreate"})
    labels = fleet.members["east"].get("namespace", bare)
    assert labels is not None
    assert labels["metadata"]["labels"]["mesh"] == "on"
    fleet.delete("clusterresourceplacement", bare)
    fleet.delete("namespace", bare)


def test_a_patch_of_string_data_fails_on_a_hub(fleet: KubeFleetHub, story: Story) -> None:
    space = "texts"
    patch = {"op": "replace", "path": "/stringData/word", "value": "two"}
    documents = [
        namespace(space),
        secret(space),
        override(space, secret(space), [patch]),
        placement(space),
    ]
    fleet.apply(documents)
    fleet.settle()
    status = fleet.hub.get("clusterresourceplacement", space)["status"]
    stands = {item["type"]: item["status"] for item in status["conditions"]}
    assert stands["ClusterResourcePlacementOverridden"] == "False"
    assert all(not sent(fleet, member) for member in MEMBERS)


def fleet_of(rng: random.Random, seed: int, number: int) -> list[Document]:
    """A random placement, with what it places and overrides of that."""
    space = f"random-{seed}-{number}"
    terms: Sequence[list[Document]] = (
        [labelled(ring=rng.choice("12"))],
        [labelled(region=rng.choice(["east", "west"]))],
        [],
    )
    required = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "clusterSelectorTerms": rng.choice(terms[:2])
        }
    }
    affinity = rng.choice([{}, {"affinity": {"clusterAffinity": required}}])
    policy = rng.choice(
        [pick(rng.randint(1, 4), **affinity), {"placementType": "PickAll", **affinity}]
    )
    objects = [make(space) for make in rng.sample(OBJECTS, 3)]
    found = [namespace(space), *objects]
    for item in rng.sample(objects, 2):
        operations = PATCHES[item["kind"]]
        first = rng.randrange(len(operations))
        found.append(override(space, item, [operations[first]], rng.choice(terms)))
    return [*found, placement(space, policy)]


@pytest.mark.parametrize("seed", range(3))
def test_files_and_the_observed_hub_decide_alike(
    fleet: KubeFleetHub, story: Story, seed: int
) -> None:
    rng = random.Random(seed)
    documents = [document for number in range(5) for document in fleet_of(rng, seed, number)]
    story.begin(*documents)
    ours, observed = planned(documents, fleet.release), story.quiet()
    chosen = [
        {subject.name: sorted(subject.outcome.goal.decisions) for subject in plan.subjects}
        for plan in (ours, observed)
    ]
    assert chosen[0] == chosen[1]
    assert unsent(ours, fleet) == []
    for member in MEMBERS:
        shown = [public(delivered(plan, member)) for plan in (ours, observed)]
        assert unlike(member, *shown) == []


def public(objects: Objects) -> Objects:
    """Objects without Secrets, whose data an observation does not ask for."""
    return {key: data for key, data in objects.items() if key.kind != "Secret"}
