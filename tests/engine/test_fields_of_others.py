"""What others add to an object on its member stays, whatever the fleet sends; what it sends is the fleet's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.checked import checked
from tests.engine.driver import Engine
from tests.engine.stories import Story, carried_out, config_map, deployment, namespace, placement
from tests.engine.test_apply_modes import with_strategy
from tests.engine.test_clusters import WIDGETS

pytestmark = pytest.mark.engine


def managers(tale: Story) -> set[str]:
    live = tale.planes["a"].get("configmap", "c", "-n", tale.space, "--show-managed-fields")
    return {entry["manager"] for entry in live["metadata"]["managedFields"]}


@pytest.mark.parametrize("strategy", ["ClientSideApply", "ServerSideApply"])
def test_what_kubectl_has_added_stays(story: Engine[Story], strategy: str) -> None:
    """A field that the source has drops out with it, also if somebody has changed its value."""
    tale, plane = story.world, story.world.planes["a"]
    space, name = namespace(tale.space), tale.space
    space["metadata"]["labels"] = {"ours": "1", "goes": "1"}
    c = config_map(name)
    c["data"]["goes"] = "ours"
    web = deployment(name, waits=120)
    web["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    more: dict[str, Any] = {"type": strategy}
    if strategy == "ServerSideApply":
        more["serverSideApplyConfig"] = {"force": True}
    shop = with_strategy("shop", space, **more)
    tale.objects = {"space": space, "c": c, "web": web, "shop": shop}
    checked(story)
    plane.kubectl("label", "namespace", name, "team=theirs")
    plane.kubectl("annotate", "configmap", "c", "-n", name, "note=theirs")
    patch = '{"data":{"other":"theirs","goes":"theirs"}}'
    plane.kubectl("patch", "configmap", "c", "-n", name, "-p", patch)
    side = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}'
    plane.kubectl("patch", "deployment", "web", "-n", name, "-p", side)
    before = managers(tale)
    space["metadata"]["labels"] = {"ours": "2"}
    c["data"] = {"k": "two"}
    web["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"
    for _ in range(2):
        checked(story)
        labels = tale.live("a", "namespace", name)["metadata"]["labels"]
        assert (labels["team"], labels["ours"], "goes" in labels) == ("theirs", "2", False)
        live = tale.live("a", "configmap", "c")
        assert live["data"] == {"k": c["data"]["k"], "other": "theirs"}
        assert live["metadata"]["annotations"]["note"] == "theirs"
        assert managers(tale) == before  # and nobody bears another name
        pod = tale.live("a", "deployment", "web")["spec"]["template"]["spec"]
        assert {item["name"]: item["image"] for item in pod["containers"]} == {
            "web": "web:2",
            "side": "side:1",
        }
        c["data"] = {"k": "three"}


def test_what_kubectl_applies_itself_stays_applied(story: Engine[Story]) -> None:
    """Its own server-side apply goes on without a conflict after an update of the fleet."""
    tale, plane = story.world, story.world.planes["a"]
    space = namespace(tale.space)
    tale.objects = {"space": space, "c": config_map(tale.space), "shop": placement("shop", space)}
    carried_out(story)
    file = story.folder / "theirs.yaml"

    def apply(value: str) -> None:
        where = f"metadata: {{name: c, namespace: {tale.space}}}"
        file.write_text(f"apiVersion: v1\nkind: ConfigMap\n{where}\ndata: {{theirs: '{value}'}}\n")
        plane.kubectl("apply", "--server-side", "-f", str(file))

    for value in ("1", "2"):
        apply(value)
        tale.objects["c"] = config_map(tale.space, value)
        carried_out(story)
        assert tale.live("a", "configmap", "c")["data"] == {"k": value, "theirs": value}
    apply("3")


def test_a_definition_is_written_whole(story: Engine[Story]) -> None:
    """The Kubernetes provider takes away what others have set in it; the preview names that."""
    tale, plane = story.world, story.world.planes["a"]
    tale.leave("b")
    space, name = namespace(tale.space), f"widgets.{tale.space}.test"
    definition: dict[str, Any] = {**WIDGETS, "metadata": {"name": name}}
    definition["spec"] = {**definition["spec"], "group": f"{tale.space}.test"}
    tale.objects = {"space": space, "it": definition, "shop": placement("shop", space, definition)}
    carried_out(story)
    plane.kubectl("label", "customresourcedefinition", name, "team=theirs")
    tale.objects["it"] = {**definition, "metadata": {"name": name, "labels": {"ours": "1"}}}
    seen = carried_out(story)
    lost = f"CustomResourceDefinition {name} on a: others have set metadata.labels.team"
    assert lost in " ".join(seen.text.split())
