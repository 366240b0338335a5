"""A ClusterResourcePlacement that reports in its namespace, and is then to choose another namespace."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.status.placements import api_objects
from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub
from tests.hubs.kubefleet_story import MEMBERS
from tests.hubs.placements import PLACING, config, namespace, pick, placement
from tests.hubs.processes import until
from tests.hubs.story import Story

pytestmark = pytest.mark.hubs
FILE = "policies/ClusterResourcePlacement/told.yaml"


def test_it_stays_as_it_is_and_the_plan_says_so(fleet: KubeFleetHub, story: Story) -> None:
    """The webhook takes the change; the controller then sets Scheduled to False, before it looks at anything else."""
    told = placement("told", pick(len(MEMBERS)))
    told["spec"]["statusReportingScope"] = "NamespaceAccessible"
    contents = namespace("told"), config("data", "told", key="one")
    story.begin(namespace("other"), *contents, told)
    (before,) = statuses(fleet, "told")
    assert before["conditions"]
    standing = {member: on_member(fleet, member) for member in MEMBERS}

    story.edit(FILE, lambda item: item["spec"]["resourceSelectors"][0].update(name="other"))
    story.edit(FILE, lambda item: item["spec"]["policy"].update(numberOfClusters=1))
    named(story)
    story.carry_out()
    until(lambda: scheduled(fleet)["status"] == "False", "seen by the controller")
    fleet.settle(3)
    # Neither the selectors nor the policy of that change have come into force.
    assert {member: on_member(fleet, member) for member in MEMBERS} == standing
    assert len(fleet.hub.get("clusterschedulingpolicysnapshots")["items"]) == 1
    assert not statuses(fleet, "other")
    story.observe()
    decided = named(story)
    ours = next(
        data for data in api_objects(decided, {}) if data["kind"] == "ClusterResourcePlacement"
    )
    first = ours["status"]["conditions"][0]
    assert first == {name: scheduled(fleet)[name] for name in first}

    story.edit(FILE, lambda item: item["spec"]["resourceSelectors"][0].update(name="told"))
    story.add(*contents)  # an observation has what is selected now
    (decided,) = story.carried_out().subjects
    assert len(decided.outcome.rollout.removals) == len(MEMBERS) - 1


def named(story: Story) -> Decided:
    """The placement, of which the plan says why nothing of it changes."""
    plan = story.quiet()
    (decided,) = plan.subjects
    assert "chooses the namespace other instead of told" in str(decided.subject.warnings)
    return decided


def scheduled(fleet: KubeFleetHub) -> Document:
    conditions = fleet.hub.get("clusterresourceplacements", "told")["status"]["conditions"]
    return next(
        condition
        for condition in conditions
        if condition["type"] == "ClusterResourcePlacementScheduled"
    )


def statuses(fleet: KubeFleetHub, space: str) -> list[Any]:
    found = (
        fleet.objects.get(f"/apis/{PLACING}/namespaces/{space}/clusterresourceplacementstatuses")
        or {}
    )
    return [
        item["sourceStatus"] if "sourceStatus" in item else item["status"]
        for item in found.get("items", ())
    ]


def on_member(fleet: KubeFleetHub, member: str) -> tuple[bool, bool]:
    """Whether a member has the namespaces ``told`` and ``other``."""
    has = {item["metadata"]["name"] for item in fleet.members[member].get("namespaces")["items"]}
    return "told" in has, "other" in has
