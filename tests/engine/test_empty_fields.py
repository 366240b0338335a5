"""Empty fields on real API servers: what the server does not keep is no change of the next preview."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.checked import checked, planned
from tests.engine.driver import Engine
from tests.engine.empty_fields import objects
from tests.engine.stories import Story, cluster_role, config_map, namespace, placement
from tests.engine.test_clusters import WIDGETS, widget

pytestmark = pytest.mark.engine


def test_a_role_without_rules(story: Engine[Story]) -> None:
    """It is sent as it is written, and what somebody adds goes with its next change."""
    tale = story.world
    space, role = namespace(tale.space), cluster_role(tale.space)
    role["rules"] = []
    tale.objects = {"space": space, "c": config_map(tale.space), "role": role}
    tale.objects["shop"] = placement("shop", space, role)
    checked(story)
    sent = [
        resource
        for resource in story.state().resources.values()
        if resource.type.endswith(":ClusterRole")
    ]
    assert [item.inputs["rules"] for item in sent] == [[], []]
    # Another object changes, and then the role itself, in a field that is kept.
    tale.objects["c"] = config_map(tale.space, "two")
    assert not [name for name in checked(story).done.changes if name.startswith("ClusterRole")]
    added = '{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}'
    tale.planes["a"].kubectl("patch", "clusterrole", tale.space, "-p", added)
    role["metadata"]["labels"] = {"team": "x"}
    checked(story)
    assert [rules_of(tale, plane) for plane in "ab"] == [None, None]


def rules_of(tale: Story, plane: str) -> Any:
    return tale.planes[plane].get("clusterrole", tale.space)["rules"]


def test_custom_resources(story: Engine[Story]) -> None:
    tale = story.world
    space, thing = namespace(tale.space), widget("1")
    thing["metadata"] = {"name": "w", "namespace": tale.space, "labels": {}, "finalizers": []}
    thing["spec"] = {}
    tale.objects = {"space": space, "definition": WIDGETS, "thing": thing}
    tale.objects["shop"] = placement("shop", space, WIDGETS)
    checked(story)


@pytest.mark.long
@pytest.mark.clusters
def test_every_field_of_the_most_used_kinds(story: Engine[Story]) -> None:
    tale = story.world
    tale.leave("b")
    space = namespace(tale.space)
    tale.planes["a"].kubectl("create", "namespace", tale.space)
    tale.objects = {"space": space}
    for number, data in enumerate(objects(tale.planes["a"], tale.space)):
        tale.objects[str(number)] = data
    whole = [item for item in tale.objects.values() if "namespace" not in item["metadata"]]
    tale.objects["shop"] = placement("shop", *whole)
    done = story.up()
    assert done.ok, done.text
    again = story.preview()
    assert again.ok, again.text
    assert again.changes == {}


def test_values_that_are_written_another_way(story: Engine[Story]) -> None:
    """The provider keeps the form of the API's types: an amount in another form, and a default of Go, change nothing."""
    tale = story.world
    space = namespace(tale.space)
    container: dict[str, Any] = {
        "name": "web",
        "image": "web:1",
        "resources": {"requests": {"cpu": "1"}},
    }
    pod: dict[str, Any] = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [container]},
    }
    template = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "t", "namespace": tale.space},
        "template": pod,
    }
    tale.objects = {"space": space, "template": template, "shop": placement("shop", space)}
    checked(story)
    container["resources"]["requests"]["cpu"] = "1000m"
    pod["spec"]["hostNetwork"] = False
    resources = planned(story)["resources"]
    shown = story.preview()
    assert shown.ok, shown.text
    changed = [name for name in shown.changes if name.startswith("PodTemplate")]
    forecast = [
        resource["name"]
        for resource in resources
        if resource["change"] not in ("same", "") and "PodTemplate" in resource["type"]
    ]
    assert (changed, forecast) == ([], [])
