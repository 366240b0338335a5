"""Placements bring namespaces and definitions to what others bring, on real API servers."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from fleet_components.model.manifest import Manifest
from tests.control_planes import Planes
from tests.delivery.driver import Outcome
from tests.engine.checked import checked
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import Data, Story, deployment, refused
from tests.engine.test_identity import tokens
from tests.precedence import (
    APPROVED,
    EXTERNAL,
    ROLLING,
    before_a_team,
    config,
    definition,
    in_stages,
    named,
    namespace,
    placement,
    select,
    staged,
    with_a_team,
    with_karmada,
)

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
STEP = re.compile(r"kubernetes:\S+:(\w+) +\S+@([abc])\S* (deleting|deleted) ")
"""A line of the engine's log: the kind of an object, its member, and whether the deletion begins or has ended."""


@pytest.fixture
def tale(request: pytest.FixtureRequest) -> Story:
    """What a test writes, for three of the API servers."""
    provider_or_skip()
    api_servers: Planes = request.getfixturevalue("api_servers")
    return Story("", {name: api_servers[name] for name in "abc"})


def write(story: Engine[Story], space: str, objects: Iterable[Data]) -> None:
    """Write objects, for a namespace, and a label ``num`` for each member."""
    story.world.space = space
    story.world.members = {name: {"num": name} for name in "abc"}
    story.world.objects = {str(Manifest(data).key): data for data in objects}


def check_order(log: str, first: str, last: str) -> None:
    """Check that on each member the deletion of one kind has ended before that of another begins."""
    steps = [match.groups() for match in STEP.finditer(log)]
    for member in "abc":
        assert steps.index((first, member, "deleted")) < steps.index((last, member, "deleting")), (
            log
        )


def logged(story: Engine[Story]) -> Outcome:
    """Update, with the engine's log as the text."""
    code, text = story.command("up", "--yes", "--skip-preview")
    return Outcome(code == 0, text, {})


def uids(story: Engine[Story], kind: str, name: str, space: str) -> dict[str, str]:
    """The uid of an object on the members that have it."""
    found = {
        member: plane.get(kind, name, "-n", space) for member, plane in story.world.planes.items()
    }
    return {member: data["metadata"]["uid"] for member, data in found.items() if data}


def test_a_policy_places_what_is_in_a_namespace_of_a_staged_placement(story: Engine[Story]) -> None:
    """``pulumi destroy`` goes the other way."""
    write(story, "t4", with_karmada())
    step = checked(story)
    assert "comes after Namespace t4 of ClusterResourcePlacement t4p on a, b, c" in step.shown.text
    assert uids(story, "configmap", "c", "t4").keys() == {"a", "b", "c"}
    story.world.config |= {"keepClusterResources": "false"}
    assert (unprotected := story.unprotect()).ok, unprotected.text
    code, log = story.command("destroy", "--yes", "--skip-preview")
    assert code == 0, log
    check_order(log, "ConfigMap", "Namespace")
    assert uids(story, "configmap", "c", "t4") == uids(story, "namespace", "t4", "t4") == {}


def test_placements_leave_together(story: Engine[Story]) -> None:
    """A staged placement brings a namespace, another what is in it; what is in it is deleted first."""
    write(story, "t3", in_stages())
    step = checked(story)
    assert "comes after Namespace t3 of ClusterResourcePlacement t3p on a, b, c" in step.shown.text
    assert uids(story, "configmap", "c", "t3").keys() == {"a", "b", "c"}
    write(story, "t3", ())
    story.world.config["keepClusterResources"] = "false"
    story.world.config["confirm"] = ",".join(tokens(refused(story, "fleet:confirm=")))
    gone = checked(story, logged)
    left = {found["object"] for found in gone.plan["gone"]["objects"]}
    assert left == {"Namespace t3", "ConfigMap t3/c"}
    check_order(gone.done.text, "ConfigMap", "Namespace")


def test_a_team_comes_to_a_placement_that_moves_one_member_at_a_time(story: Engine[Story]) -> None:
    """It has an autoscaler, which cannot be tracked, so that each member waits for the one before it."""
    scaled = [deployment("t5"), autoscaler("t5")]
    write(story, "t5", [*before_a_team(), *scaled])
    checked(story)
    before = uids(story, "horizontalpodautoscaler", "h", "t5")
    write(story, "t5", [*with_a_team(), *scaled])
    step = checked(story)
    assert (
        "comes after Namespace t5two of ClusterResourcePlacement t5p on a, b, c" in step.shown.text
    )
    assert uids(story, "configmap", "c", "t5two").keys() == {"a", "b", "c"}
    assert uids(story, "horizontalpodautoscaler", "h", "t5") == before


def test_an_approval_brings_the_namespace_late(story: Engine[Story]) -> None:
    write(story, "t3", in_stages(APPROVED))
    step = checked(story, settled=False)
    held = "it needs Namespace t3 of ClusterResourcePlacement t3p, which is held there"
    assert f"held: b, c not added: {held}" in step.shown.text
    before = uids(story, "configmap", "c", "t3")
    assert before.keys() == {"a"}
    story.world.config["approvals"] = "t3p-run-after-s0"
    checked(story)
    after = uids(story, "configmap", "c", "t3")
    assert after.keys() == {"a", "b", "c"}
    assert after["a"] == before["a"]


def test_a_definition_and_its_custom_resources(story: Engine[Story]) -> None:
    """Two placements bring a namespace and a definition in waves, a third what needs both."""
    home, crd = namespace("t6"), definition("Widget")
    widget, inside = (
        named("example.com/v1", "Widget", "w", "t6", spec={"size": 1}),
        config("c", "t6"),
    )
    brought = [home, crd, widget, inside]
    crds = [
        placement("crds", select(crd), strategy=EXTERNAL),
        *staged("crds", "c", "ab", task=None),
    ]
    homes = placement("homes", select(home, alone=True), strategy=ROLLING)
    widgets = placement("widgets", select(widget), select(inside), home="t6", strategy=ROLLING)
    write(story, "t6", [*brought, *crds, homes, widgets])
    step = checked(story)
    assert "comes after CustomResourceDefinition widgets.example.com" in step.shown.text
    assert uids(story, "widgets.example.com", "w", "t6").keys() == {"a", "b", "c"}


def autoscaler(space: str) -> Data:
    """An autoscaler of the Deployment ``web``."""
    usage = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {
        "scaleTargetRef": scaled,
        "maxReplicas": 2,
        "metrics": [{"type": "Resource", "resource": usage}],
    }
    return named("autoscaling/v2", "HorizontalPodAutoscaler", "h", space, spec=spec)
