"""Somebody changes what runs on the members of a KubeFleet hub: each gets it when the plan said, and as it said."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from fleet_components.rollout.rollout import Change
from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub
from tests.hubs.kubefleet_story import MEMBERS, rejoin
from tests.hubs.placements import (
    PLACING,
    config,
    labelled,
    made,
    namespace,
    pick,
    placement,
    resource_placement,
    rolling,
    web,
)
from tests.hubs.processes import until
from tests.hubs.story import Edit, Story, put

pytestmark = pytest.mark.hubs

PLACED = "policies/ClusterResourcePlacement"
CONTAINER = ("spec", "template", "spec", "containers", 0)


def test_one_member_after_the_other(story: Story) -> None:
    story.begin(namespace("waves"), web("waves"), placement("waves", strategy=rolling(1)))
    story.edit("objects/waves/Deployment.web.yaml", image("web:2"))
    plan = story.carried_out()
    (decided,) = plan.subjects
    waves = [wave.clusters for wave in decided.outcome.rollout.waves]
    assert len(waves) > 1
    times = {member: written(story, member, "waves") for member in MEMBERS}
    for former, later in pairwise(waves):
        assert max(times[item] for item in former) <= min(times[item] for item in later), (
            waves,
            times,
        )


def test_an_image_that_never_gets_ready(story: Story) -> None:
    story.begin(namespace("stuck"), web("stuck"), placement("stuck", strategy=rolling(1)))
    file = "objects/stuck/Deployment.web.yaml"
    story.edit(file, put({"pool": "nowhere"}, "spec", "template", "spec", "nodeSelector"))
    plan = story.plan()
    story.carry_out()
    story.hub.settle(story.rest)
    story.observe()
    stuck = story.quiet()
    (before,), (after,) = plan.subjects, stuck.subjects
    sent = {member for member, placed in after.before.decisions.items() if placed.revision == 1}
    assert sent == set(before.outcome.rollout.waves[0].clusters)
    held = {member for member, entry in after.entries.items() if entry.change is Change.HELD}
    assert held == MEMBERS.keys() - sent
    story.edit(file, image("web:2"))
    story.edit(file, lambda data: data["spec"]["template"]["spec"].pop("nodeSelector"))
    story.carried_out()


def test_overrides(story: Story) -> None:
    role = made(
        "rbac.authorization.k8s.io/v1", "ClusterRole", "story-role", labels={"where": "hub"}
    ) | {"rules": []}
    whole = placement("changed", pick(3))
    whole["spec"]["resourceSelectors"].append(selector(role))
    story.begin(namespace("changed"), web("changed"), config("c", "changed", a="1"), role, whole)
    named = [{"op": "replace", "path": "/metadata/labels/where", "value": "${MEMBER-CLUSTER-NAME}"}]
    cluster_wide = made(PLACING, "ClusterResourceOverride", "where") | {
        "spec": {
            "placement": {"name": "changed"},
            "clusterResourceSelectors": [selector(role)],
            "policy": {"overrideRules": [rule(named)]},
        }
    }
    story.add(cluster_wide)
    story.carried_out()
    replicas = [{"op": "replace", "path": "/spec/replicas", "value": 3}]
    story.add(override("web", "changed", web("changed"), rule(replicas, ring="1")))
    story.carried_out()
    story.add(
        override(
            "c",
            "changed",
            config("c", "changed"),
            {"overrideType": "Delete", **rule([], region="west")},
        )
    )
    story.carried_out()
    rules = ("spec", "policy", "overrideRules")
    story.edit(
        "policies/ResourceOverride/changed.web.yaml", put([rule(replicas, ring="2")], *rules)
    )
    story.carried_out()
    story.remove("policies/ResourceOverride/changed.c.yaml")
    story.carried_out()
    story.edit("objects/changed/Deployment.web.yaml", image("web:2"))
    story.carried_out()


def test_envelopes(story: Story) -> None:
    inner = {"settings.yaml": config("inner", "wrapped", a="1")}
    envelope = made(PLACING, "ResourceEnvelope", "wrap", "wrapped") | {"data": inner}
    story.begin(namespace("wrapped"), envelope, placement("wrapped", pick(2)))
    file = "objects/wrapped/ResourceEnvelope.wrap.yaml"
    story.edit(file, put("2", "data", "settings.yaml", "data", "a"))
    story.carried_out()
    story.edit(file, put({"other.yaml": config("other", "wrapped", a="1")}, "data"))
    story.carried_out()


def test_an_envelope_of_cluster_scoped_objects(story: Story) -> None:
    role = made("rbac.authorization.k8s.io/v1", "ClusterRole", "story-inner") | {"rules": []}
    envelope = made(PLACING, "ClusterResourceEnvelope", "roles") | {"data": {"role.yaml": role}}
    whole = placement("roles", pick(2))
    whole["spec"]["resourceSelectors"] = [selector(envelope)]
    story.begin(envelope, whole)
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    story.edit(
        "objects/ClusterResourceEnvelope.roles.yaml", put(rules, "data", "role.yaml", "rules")
    )
    story.carried_out()
    story.edit(f"{PLACED}/roles.yaml", put(3, "spec", "policy", "numberOfClusters"))
    story.carried_out()


def test_objects_that_are_only_compared(story: Story) -> None:
    compared = rolling(apply={"type": "ReportDiff", "comparisonOption": "PartialComparison"})
    story.begin(
        namespace("compared"),
        config("c", "compared", a="1"),
        placement("compared", pick(2), compared),
    )
    story.edit("objects/compared/ConfigMap.c.yaml", put("2", "data", "a"))
    story.carried_out()
    story.edit(
        f"{PLACED}/compared.yaml",
        put("ClientSideApply", "spec", "strategy", "applyStrategy", "type"),
    )
    story.carried_out()


def test_a_member_that_has_drifted(story: Story) -> None:
    careful = rolling(
        apply={"whenToApply": "IfNotDrifted", "comparisonOption": "PartialComparison"}
    )
    story.begin(
        namespace("drifted"), config("c", "drifted", a="1"), placement("drifted", pick(2), careful)
    )
    drifted = {"data": {"a": "by hand"}}
    headers = {"Content-Type": "application/merge-patch+json"}
    path = "/api/v1/namespaces/drifted/configmaps/c"
    assert story.objects("west").judge.client.patch(path, json=drifted, headers=headers).is_success
    story.hub.settle(2)
    until(lambda: "FoundDrifts" in text(story, "clusterresourceplacements/drifted"), "found", 60)
    story.hub.settle(2)
    story.observe()
    story.quiet()
    story.edit("objects/drifted/ConfigMap.c.yaml", put("2", "data", "a"))
    story.carried_out()


def test_evictions(story: Story) -> None:
    story.begin(namespace("evicted"), web("evicted"), placement("evicted"))
    taints = [{"key": "drained", "effect": "NoSchedule"}]
    story.edit("members/west.yaml", put(taints, "spec", "taints"))
    story.carried_out()
    budget = made(PLACING, "ClusterResourcePlacementDisruptionBudget", "evicted") | {
        "spec": {"minAvailable": 3}
    }
    story.add(budget)
    story.carried_out()
    story.add(eviction("allowed", "evicted", "west"))
    story.carried_out()
    story.add(eviction("blocked", "evicted", "south"))
    story.carried_out()
    budget_file = "policies/ClusterResourcePlacementDisruptionBudget/evicted.yaml"
    story.edit(budget_file, put(1, "spec", "minAvailable"))
    story.add(eviction("again", "evicted", "south"))
    story.carried_out(20)


def test_update_runs(story: Story) -> None:
    stages: list[Document] = [
        {
            "name": "first",
            "labelSelector": {"matchLabels": {"ring": "1"}},
            "maxConcurrency": "100%",
        },
        {"name": "rest", "labelSelector": {"matchLabels": {"ring": "2"}}, "maxConcurrency": "100%"},
    ]
    stages[0]["afterStageTasks"] = [{"type": "Approval"}]
    strategy = made(PLACING, "ClusterStagedUpdateStrategy", "rings") | {"spec": {"stages": stages}}
    story.begin(
        namespace("staged"),
        web("staged"),
        strategy,
        placement("staged", strategy={"type": "External"}),
    )
    story.add(run("one"))
    story.carried_out(17)
    story.add(approval("one", "first"))
    story.carried_out(17)
    story.edit("objects/staged/Deployment.web.yaml", image("web:2"))
    story.carried_out()
    story.add(run("two"))
    story.carried_out(17)
    story.edit("policies/ClusterStagedUpdateRun/two.yaml", put("Stop", "spec", "state"))
    story.carried_out(17)
    story.add(approval("two", "first"))
    story.carried_out(17)
    story.edit("policies/ClusterStagedUpdateRun/two.yaml", put("Run", "spec", "state"))
    story.carried_out(17)


def test_update_runs_in_a_namespace(story: Story) -> None:
    stages: list[Document] = [
        {
            "name": "first",
            "labelSelector": {"matchLabels": {"ring": "1"}},
            "afterStageTasks": [{"type": "Approval"}],
        },
        {"name": "rest", "labelSelector": {"matchLabels": {"ring": "2"}}},
    ]
    strategy = made(PLACING, "StagedUpdateStrategy", "rings", "inside") | {
        "spec": {"stages": stages}
    }
    frame = placement("inside")
    frame["spec"]["resourceSelectors"][0]["selectionScope"] = "NamespaceOnly"
    settings = config("c", "inside", a="1")
    placed = resource_placement("staged", "inside", settings, strategy={"type": "External"})
    story.begin(namespace("inside"), settings, frame, strategy, placed)
    story.add(run("one", "inside"))
    story.carried_out(17)
    story.add(approval("one", "first", "inside"))
    story.carried_out(17)
    story.edit("objects/inside/ConfigMap.c.yaml", put("2", "data", "a"))
    story.carried_out()


def test_a_member_without_its_agent(story: Story, fleet: KubeFleetHub) -> None:
    story.begin(namespace("silent"), web("silent"), placement("silent", strategy=rolling(1)))
    fleet.stop_member("north")
    story.edit("objects/silent/Deployment.web.yaml", image("web:2"))
    plan = story.plan()
    story.carry_out()
    fleet.settle()
    story.observe()
    story.quiet()
    fleet.start_member("north")
    story.compare(plan)


def test_a_member_leaves(story: Story, fleet: KubeFleetHub) -> None:
    story.begin(
        namespace("left"),
        web("left"),
        placement("left"),
        namespace("some"),
        placement("some", pick(2)),
    )
    story.remove("members/west.yaml")
    story.carried_out()
    rejoin(fleet, "west")
    fleet.settle()
    story.observe()
    story.quiet()


def image(name: str) -> Edit:
    """The edit that sets the image of a Deployment."""
    return put(name, *CONTAINER, "image")


def selector(document: Document) -> Document:
    """What selects an object by name."""
    group, _, version = document["apiVersion"].rpartition("/")
    return {
        "group": group,
        "version": version,
        "kind": document["kind"],
        "name": document["metadata"]["name"],
    }


def rule(patches: list[Document], **labels: str) -> Document:
    """A rule of an override for members with labels."""
    terms = {"clusterSelectorTerms": [labelled(**labels)] if labels else []}
    return {"clusterSelector": terms, **({"jsonPatchOverrides": patches} if patches else {})}


def override(name: str, placed: str, document: Document, *rules: Document) -> Document:
    """A ResourceOverride of one object."""
    spec = {
        "placement": {"name": placed},
        "resourceSelectors": [selector(document)],
        "policy": {"overrideRules": [*rules]},
    }
    return made(PLACING, "ResourceOverride", name, document["metadata"]["namespace"]) | {
        "spec": spec
    }


def eviction(name: str, placed: str, member: str) -> Document:
    """An eviction."""
    spec = {"placementName": placed, "clusterName": member}
    return made(PLACING, "ClusterResourcePlacementEviction", name) | {"spec": spec}


def run(name: str, space: str = "") -> Document:
    """An update run of the newest content; of a placement in a namespace where one is given."""
    spec = {"placementName": "staged", "stagedRolloutStrategyName": "rings", "state": "Run"}
    return made(PLACING, "StagedUpdateRun" if space else "ClusterStagedUpdateRun", name, space) | {
        "spec": spec
    }


def approval(run_name: str, stage: str, space: str = "") -> Document:
    """The approval of what comes after a stage."""
    spec = {"parentStageRollout": run_name, "targetStage": stage}
    status = {"conditions": [{"type": "Approved", "status": "True"}]}
    kind = "ApprovalRequest" if space else "ClusterApprovalRequest"
    return made(PLACING, kind, f"{run_name}-after-{stage}", space) | {
        "spec": spec,
        "status": status,
    }


def written(story: Story, member: str, space: str) -> str:
    """When the agent of a member has last written its Deployment."""
    found = story.objects(member).get(f"/apis/apps/v1/namespaces/{space}/deployments/web")
    assert found
    managers: list[dict[str, str]] = found["metadata"]["managedFields"]
    return max(manager["time"] for manager in managers if manager["manager"].startswith("work-api"))


def text(story: Story, path: str) -> str:
    """An object of the hub as text."""
    return json.dumps(story.objects().get(f"/apis/{PLACING}/{path}"))
