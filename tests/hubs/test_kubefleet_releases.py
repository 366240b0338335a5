"""Each rule in which releases of KubeFleet differ, on a hub: it does what its release says, and no other does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fleet_components.admission import Existing, admit
from fleet_components.model.decision import Condition
from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import ObservedMember
from fleet_components.model.releases import Releases
from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.model.release import RELEASES, Rule
from fleet_components.systems.kubefleet.status.conditions import SYNCHRONIZED, TRUE, of_placement
from fleet_components.systems.kubefleet.status.update_runs import (
    eviction_statuses,
    update_run_statuses,
)
from fleet_components.systems.kubefleet.status.works import works_of
from tests.admission.test_releases import CASES
from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub
from tests.hubs.kubefleet_story import planned
from tests.hubs.kubefleet_words import placement_words
from tests.hubs.placements import PLACING, config, made, namespace, placement
from tests.hubs.processes import until
from tests.hubs.story import Story

pytestmark = pytest.mark.hubs

EAST = {"placementType": "PickFixed", "clusterNames": ["east"]}
APPROVAL = {"type": "Approval"}
NEWEST = list(RELEASES.values())[-1]


def agreed(fleet: KubeFleetHub, said: Callable[[str], object], done: object) -> None:
    """Check that a hub did what is said of its release, and that something else is said of each other release.

    Args:
        fleet: the hub.
        said: returns what this repository says of a release.
        done: what the hub has done.
    """
    answers = {name: said(name) for name in RELEASES}
    assert [name for name, answer in answers.items() if answer == done] == [fleet.release], (
        answers,
        done,
    )


def test_what_is_refused(fleet: KubeFleetHub, story: Story) -> None:
    """By the definitions and the webhooks: objects of which releases say the same are here as well."""
    fleet.apply([namespace("shop")])
    wrong = []
    for rule, data, *_ in CASES:
        answers = {name: refusals(data, name) for name in RELEASES}
        said = "".join(fleet.objects.judge.refused([data]))
        fitting = [
            name
            for name, texts in answers.items()
            if any(text in said for text in texts) or not (texts or said)
        ]
        wanted = [name for name, texts in answers.items() if texts == answers[fleet.release]]
        if fitting != wanted:
            wrong.append(f"{rule.name}: the hub says {said!r}; we say {answers}")
    assert not wrong, "\n".join(wrong)


def test_a_placement_that_names_nobody(fleet: KubeFleetHub, story: Story) -> None:
    documents = [namespace("nobody"), placement("nobody", {"placementType": "PickFixed"})]
    if refusals(documents[1], fleet.release):
        with pytest.raises(AssertionError, match="cluster names cannot be empty"):
            fleet.apply(documents)
    else:
        story.begin(*documents)
        assert not decided(documents, fleet.release).record.decisions
        assert not status_of(fleet, documents[1]).get("placementStatuses")


def test_a_stage_without_clusters(fleet: KubeFleetHub, story: Story) -> None:
    empty = {
        "name": "empty",
        "labelSelector": {"matchLabels": {"no": "body"}},
        "beforeStageTasks": [APPROVAL],
    }
    stages = {"stages": [empty, {"name": "all", "labelSelector": {}}]}
    spec = {"placementName": "staged", "stagedRolloutStrategyName": "rings", "state": "Run"}
    run = made(PLACING, "ClusterStagedUpdateRun", "one") | {"spec": spec}
    documents = [
        namespace("staged"),
        made(PLACING, "ClusterStagedUpdateStrategy", "rings") | {"spec": stages},
        placement("staged", strategy={"type": "External"}),
    ]

    def stage(status: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        first = (status.get("stagesStatus") or [{}])[0]
        tasks = first.get("beforeStageTaskStatus", ())
        reasons = {item["reason"] for item in first.get("conditions", ())}
        return sorted(reasons), [
            item["type"] for task in tasks for item in task.get("conditions", ())
        ]

    fleet.apply(documents)
    fleet.settle(2)
    fleet.apply([run])
    until(lambda: bool(stage(status_of(fleet, run))[0]), "begun")
    fleet.settle(2)
    agreed(
        fleet,
        lambda name: stage(update_run_statuses(decided([*documents, run], name))["one"]),
        stage(status_of(fleet, run)),
    )


def test_what_rolls_a_namespace_out(fleet: KubeFleetHub, story: Story) -> None:
    stages = {"stages": [{"name": "all", "labelSelector": {}}]}
    strategy = made(PLACING, "StagedUpdateStrategy", "rings", "rolled") | {"spec": stages}
    placed = placement("rolled", EAST)
    fleet.apply([namespace("rolled"), strategy, placed])
    fleet.settle(2)
    selected = status_of(fleet, placed)["selectedResources"]
    assert "Namespace" in {item["kind"] for item in selected}

    def warned(name: str) -> bool:
        warnings = decided([namespace("rolled"), strategy, placed], name).subject.warnings
        return any(
            "places StagedUpdateStrategy rolled/rings as well" in warning.what
            for warning in warnings
        )

    agreed(fleet, warned, strategy["kind"] in {item["kind"] for item in selected})


def test_works(fleet: KubeFleetHub, story: Story) -> None:
    """The name of an envelope's work, and how a placement says that its works are there."""
    contents, placed = envelope("wrapped"), placement("wrapped", EAST)
    fleet.apply([namespace("wrapped"), contents, placed])
    fleet.settle(2)
    (work,) = works_of("wrapped", (contents,), ObservedMember(), NEWEST)[1:]
    listed = fleet.objects.get(f"/apis/{PLACING}/namespaces/fleet-member-east/works")
    names = {item["metadata"]["name"] for item in (listed or {"items": ()})["items"]}
    assert any(name.startswith("wrapped-work-envelope-") for name in names)
    agreed(fleet, lambda name: RELEASES[name].has(Rule.WORK_NAMES_HASHED), work.name in names)

    def text(name: str) -> str:
        conditions = [[Condition(SYNCHRONIZED, TRUE, "AllWorkSynced", "")]]
        found = of_placement(placed["kind"], conditions, reports=True, release=RELEASES[name])
        return next(item.message for item in found if item.type.endswith(SYNCHRONIZED))

    agreed(
        fleet,
        text,
        condition(status_of(fleet, placed), f"ClusterResourcePlacement{SYNCHRONIZED}")["message"],
    )


REPLACES = {"op": "replace", "path": "/data/a", "value": "2"}
REPLACES_INSIDE = {**REPLACES, "path": "/data/c/data/a"}
OVERRIDES: Mapping[str, Any] = {
    # Of the object or of its envelope, and the rule.
    "object-patched": (False, {"jsonPatchOverrides": [REPLACES]}),
    "object-deleted": (False, {"overrideType": "Delete"}),
    "envelope-patched": (True, {"jsonPatchOverrides": [REPLACES_INSIDE]}),
    "envelope-deleted": (True, {"overrideType": "Delete"}),
}


def test_overrides_and_envelopes(fleet: KubeFleetHub, story: Story) -> None:
    spaces: dict[str, list[Document]] = {}
    for space, (whole, rule) in OVERRIDES.items():
        contents, tuned = envelope(space), config("c", space)
        tuning = override(space, contents if whole else tuned, rule)
        spaces[space] = [namespace(space), contents, tuning, placement(space, EAST)]
    fleet.apply([document for documents in spaces.values() for document in documents])
    fleet.settle()
    for space, documents in spaces.items():
        live = fleet.members["east"].get("configmap", "c", "-n", space)

        def data(name: str, documents: list[Document] = documents) -> object:
            objects = decided(documents, name).deliveries["east"].objects
            return next((data["data"] for data in objects if data["metadata"]["name"] == "c"), None)

        agreed(fleet, data, live and live["data"])


def test_an_override_that_fails(fleet: KubeFleetHub, story: Story) -> None:
    removes = {"jsonPatchOverrides": [{"op": "remove", "path": "/data/z"}]}
    placed, settings = placement("fails", EAST), config("c", "fails", a="1")
    fleet.apply([namespace("fails"), settings, override("fails", settings, removes), placed])

    def failure() -> str:
        members = status_of(fleet, placed).get("placementStatuses") or [{}]
        return str(condition(members[0], "Overridden").get("message", ""))

    until(lambda: "/data/z" in failure(), "failed")
    named = 'ResourceOverrideSnapshot "c-0" failed to apply on ConfigMap "c" in namespace "fails": '
    agreed(fleet, lambda name: RELEASES[name].has(Rule.OVERRIDE_FAILURES_NAMED), named in failure())


def test_an_eviction_of_what_is_on_its_way(
    fleet: KubeFleetHub, story: Story, tmp_path: Path
) -> None:
    """What has failed is evicted against a budget; whether it has is what the reason of its condition says."""
    budget = made(PLACING, "ClusterResourcePlacementDisruptionBudget", "pending") | {
        "spec": {"minAvailable": 4}
    }
    story.begin(namespace("pending"), placement("pending"), budget)
    wait(fleet, "pending", "west")
    evicts = made(PLACING, "ClusterResourcePlacementEviction", "west")
    evicts |= {"spec": {"placementName": "pending", "clusterName": "west"}}

    def said(name: str) -> list[tuple[str, ...]]:
        with closing(Story(fleet, tmp_path / name, placement_words, release=name)) as told:
            told.observe()
            told.add(evicts)
            (found,) = told.plan().subjects
        return list(plain(eviction_statuses(found)["west"]))

    answers = {name: said(name) for name in RELEASES}
    fleet.apply([evicts])
    until(lambda: bool(condition(status_of(fleet, evicts), "Executed")), "answered")
    agreed(fleet, lambda name: answers[name], list(plain(status_of(fleet, evicts))))


def wait(fleet: KubeFleetHub, placed: str, member: str) -> None:
    """Let the binding of a member say that its objects are not applied yet; no controller of a hub says so itself."""
    listed = fleet.objects.get(f"/apis/{PLACING}/clusterresourcebindings")
    (binding,) = (
        item
        for item in (listed or {"items": ()})["items"]
        if item["metadata"]["name"].startswith(placed) and item["spec"]["targetCluster"] == member
    )
    condition(binding["status"], "Applied").update(status="False", reason="ApplyPending")
    patch = {"status": {"conditions": binding["status"]["conditions"]}}
    headers = {"Content-Type": "application/merge-patch+json"}
    path = f"{fleet.objects.judge.path(binding)}/status"
    answer = fleet.objects.judge.client.patch(path, json=patch, headers=headers)
    assert answer.is_success, answer.text


def refusals(data: Document, release: str) -> list[str]:
    """Why the admission of a release refuses an object, as an API server of Kubernetes 1.36 has it.

    It leaves out the type that earlier ones have in place of the value of an object or a list, as vectors do.
    """
    admission = admit(Manifest(data), context=Existing((), Releases.named(kubefleet=release)))
    return [
        re.sub('Invalid value: "(object|array)": ', "Invalid value: ", refusal.text)
        for refusal in admission.refusals
    ]


def decided(documents: list[Document], release: str) -> Decided:
    """The decision on the only placement of a new fleet."""
    (found,) = planned(documents, release).of("Placement")
    return found


def envelope(space: str) -> Document:
    """An envelope with two ConfigMaps."""
    data = {"c": config("c", space, a="1"), "d": config("d", space, a="1")}
    return made(PLACING, "ResourceEnvelope", "wrap", space) | {"data": data}


def override(space: str, target: Document, rule: Document) -> Document:
    """An override of one object, for all members."""
    group, _, version = target["apiVersion"].rpartition("/")
    selector = {
        "group": group,
        "version": version,
        "kind": target["kind"],
        "name": target["metadata"]["name"],
    }
    rules = [{"clusterSelector": {"clusterSelectorTerms": []}, **rule}]
    spec = {
        "placement": {"name": space},
        "resourceSelectors": [selector],
        "policy": {"overrideRules": rules},
    }
    return made(PLACING, "ResourceOverride", target["metadata"]["name"], space) | {"spec": spec}


def status_of(fleet: KubeFleetHub, document: Document) -> Document:
    """The status that a hub gives an object."""
    found = fleet.objects.get(fleet.objects.judge.path(document)) or {}
    return dict(found.get("status") or {})


def condition(status: Mapping[str, Any], kind: str) -> Document:
    """A condition of a status; empty where there is none."""
    return next((item for item in status.get("conditions", ()) if item["type"] == kind), {})


def plain(status: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The conditions of a status without times and generations."""
    for item in sorted(status.get("conditions", ()), key=lambda item: item["type"]):
        yield item["type"], item["status"], item["reason"], item["message"]
