"""Somebody observes a KubeFleet hub, edits what was observed, and carries it out: the hub does what the plan said."""

from __future__ import annotations

import pytest

from tests.hubs.placements import (
    config,
    labelled,
    namespace,
    pick,
    placement,
    resource_placement,
    web,
)
from tests.hubs.story import Known, Story, put

pytestmark = pytest.mark.hubs

ONE_BY_ONE = Known(
    "ClusterResourcePlacement/chosen: (observed )?(revision|.* has revision|revision:).*2, not 1",
    "two objects were changed one after the other on a hub that collects no changes (0 s instead of 15 s by "
    "--resource-changes-collection-duration), so that each has made a snapshot",
)
PLACED = "policies/ClusterResourcePlacement"


def test_all_members_with_a_label(story: Story) -> None:
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "clusterSelectorTerms": [labelled(ring="1")]
        },
    }
    policy = {"placementType": "PickAll", "affinity": {"clusterAffinity": affinity}}
    story.begin(namespace("rings"), config("c", "rings", a="1"), placement("rings", policy))
    story.edit("members/east.yaml", put("1", "metadata", "labels", "ring"))
    story.carried_out()
    story.edit("members/west.yaml", put("2", "metadata", "labels", "ring"))
    story.edit("objects/rings/ConfigMap.c.yaml", put("2", "data", "b"))
    story.carried_out()
    terms = ("spec", "policy", "affinity", "clusterAffinity", *affinity, "clusterSelectorTerms")
    story.edit(f"{PLACED}/rings.yaml", put([labelled(ring="2")], *terms))
    story.carried_out()
    story.remove(f"{PLACED}/rings.yaml")
    story.carried_out()


def test_a_number_of_members(story: Story) -> None:
    spread = [{"maxSkew": 1, "topologyKey": "ring", "whenUnsatisfiable": "DoNotSchedule"}]
    preference = [{"weight": 20, "preference": labelled(region="west")}]
    affinity = {"clusterAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preference}}
    story.begin(
        namespace("plain"),
        placement("plain", pick(2)),
        namespace("spread"),
        placement("spread", pick(2, topologySpreadConstraints=spread)),
        namespace("preferred"),
        placement("preferred", pick(2, affinity=affinity)),
    )
    for number in (4, 1, 6):
        for name in ("plain", "spread", "preferred"):
            story.edit(f"{PLACED}/{name}.yaml", put(number, "spec", "policy", "numberOfClusters"))
        story.carried_out()
    terms = (
        "spec",
        "policy",
        "affinity",
        "clusterAffinity",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    story.edit(f"{PLACED}/preferred.yaml", put(1, "spec", "policy", "numberOfClusters"))
    story.edit(
        f"{PLACED}/preferred.yaml",
        put([{"weight": 20, "preference": labelled(region="south")}], *terms),
    )
    story.edit(
        f"{PLACED}/spread.yaml",
        put(
            "ScheduleAnyway", "spec", "policy", "topologySpreadConstraints", 0, "whenUnsatisfiable"
        ),
    )
    story.carried_out()


def test_named_members(story: Story) -> None:
    names = ("spec", "policy", "clusterNames")
    story.begin(
        namespace("named"),
        placement("named", {"placementType": "PickFixed", "clusterNames": ["east"]}),
    )
    for listed in (["east", "west"], ["west", "nowhere"], ["north", "south"]):
        story.edit(f"{PLACED}/named.yaml", put(listed, *names))
        story.carried_out()


def test_taints_and_tolerations(story: Story) -> None:
    story.begin(
        namespace("tainted"),
        placement("tainted"),
        namespace("some"),
        placement("some", pick(2)),
    )
    taints = [{"key": "gpu", "value": "a100", "effect": "NoSchedule"}]
    story.edit("members/west.yaml", put(taints, "spec", "taints"))
    story.edit("members/south.yaml", put(taints, "spec", "taints"))
    story.carried_out()
    story.edit(f"{PLACED}/some.yaml", put(3, "spec", "policy", "numberOfClusters"))
    story.carried_out()
    tolerated = [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]
    story.edit(f"{PLACED}/tainted.yaml", put(tolerated, "spec", "policy", "tolerations"))
    story.carried_out()
    story.edit("members/west.yaml", put([], "spec", "taints"))
    story.carried_out()
    both = [*tolerated, {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
    story.edit(f"{PLACED}/tainted.yaml", put(both, "spec", "policy", "tolerations"))
    story.carried_out()


def test_a_property_sorts(story: Story) -> None:
    sorter = {
        "propertySorter": {"name": "kubernetes-fleet.io/node-count", "sortOrder": "Descending"}
    }
    preference = [{"weight": 10, "preference": sorter}]
    affinity = {"clusterAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preference}}
    story.begin(namespace("sorted"), placement("sorted", pick(1, affinity=affinity)))
    story.edit(f"{PLACED}/sorted.yaml", put(2, "spec", "policy", "numberOfClusters"))
    story.carried_out()
    terms = (
        "spec",
        "policy",
        "affinity",
        "clusterAffinity",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    ascending = [
        {
            "weight": 10,
            "preference": {
                "propertySorter": {**sorter["propertySorter"], "sortOrder": "Ascending"}
            },
        }
    ]
    story.edit(f"{PLACED}/sorted.yaml", put(ascending, *terms))
    story.carried_out()


def test_placements_in_a_namespace(story: Story) -> None:
    only = [
        {
            "group": "",
            "version": "v1",
            "kind": "Namespace",
            "name": "team",
            "selectionScope": "NamespaceOnly",
        }
    ]
    frame = placement("team")
    frame["spec"]["resourceSelectors"] = only
    settings = config("settings", "team", a="1")
    story.begin(
        namespace("team"),
        settings,
        frame,
        resource_placement("settings", "team", settings, pick(2)),
    )
    story.edit("objects/team/ConfigMap.settings.yaml", put("2", "data", "a"))
    story.carried_out()
    story.edit(
        "policies/ResourcePlacement/team.settings.yaml",
        put(3, "spec", "policy", "numberOfClusters"),
    )
    story.add(web("team"), resource_placement("web", "team", web("team")))
    story.edit(f"{PLACED}/team.yaml", put({"told": "story", "a": "b"}, "metadata", "labels"))
    story.carried_out()
    story.remove("policies/ResourcePlacement/team.settings.yaml")
    story.carried_out()


def test_what_is_selected(story: Story) -> None:
    story.begin(
        namespace("chosen"),
        namespace("later"),
        config("one", "chosen", a="1"),
        config("gone", "chosen", a="1"),
        web("later"),
        placement("chosen", pick(2)),
    )
    story.add(config("two", "chosen", a="2"))
    story.remove("objects/chosen/ConfigMap.gone.yaml")
    story.known = (ONE_BY_ONE,)
    story.carried_out()
    selector = {"group": "", "version": "v1", "kind": "Namespace"}
    both = [
        {**selector, "name": "chosen"},
        {**selector, "labelSelector": {"matchLabels": {"stage": "b"}}},
    ]
    story.edit(f"{PLACED}/chosen.yaml", put(both, "spec", "resourceSelectors"))
    story.carried_out()
    story.add(
        {
            **namespace("also"),
            "metadata": {"name": "also", "labels": {"told": "story", "stage": "b"}},
        }
    )
    story.carried_out()
    story.edit(f"{PLACED}/chosen.yaml", put(both[1:], "spec", "resourceSelectors"))
    story.carried_out()
