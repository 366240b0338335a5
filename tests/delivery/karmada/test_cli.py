"""What ``fleet render`` writes of templates: what a program gives the Kubernetes provider, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.karmada_fleet import MANIFEST, WEB, RenderedFleet, divided, parsed, said, tree
from tests.delivery.karmada.world import deployment, on, policy, weights


@pytest.fixture
def world(tmp_path: Path) -> RenderedFleet:
    return divided(tmp_path)


def image(text: str) -> str:
    found: str = yaml.safe_load(text)["spec"]["template"]["spec"]["containers"][0]["image"]
    return found


STEPS: Mapping[str, Mapping[str, Any]] = {
    "a new image": {
        "web": deployment(4, "web:2", volumes=[{"name": "s", "secret": {"secretName": "pay"}}])
    },
    "scaled": {
        "web": deployment(8, "web:2", volumes=[{"name": "s", "secret": {"secretName": "pay"}}])
    },
    "another override": {"override": None},
    "taken over": {
        "policy": policy(placement=on("a", "c"), propagateDeps=True, conflictResolution="Overwrite")
    },
    "suspended on a": {
        "policy": policy(
            placement=on("a", "c"),
            propagateDeps=True,
            conflictResolution="Overwrite",
            suspension={"dispatchingOnClusters": {"clusterNames": ["a"]}},
        ),
        "web": deployment(8, "web:3", volumes=[{"name": "s", "secret": {"secretName": "pay"}}]),
    },
    "goes on": {"policy": policy(placement=on("a", "c"), propagateDeps=True)},
    "nothing needs it": {"policy": policy(placement=on("a", "c"))},
    "without a policy": {"policy": None, "web": deployment(8, "web:4")},
    "without the object": {"web": None},
}

LAST = "without the object"


@pytest.mark.long
def test_a_render_is_what_the_program_gives_the_provider(world: RenderedFleet) -> None:
    """Step by step, from the state of the last render on the one side, and from that of the stack on the other."""
    assert parsed(world.render(project=True)) == world.up()
    for name, step in STEPS.items():
        world.write(**step)
        token = world.refused(project=True) if name == LAST else ""
        assert parsed(world.render(project=True, confirm=token)) == world.up(token), name
    assert world.render(project=True) == {}


@pytest.mark.long
def test_a_directory_is_rendered_like_its_project(world: RenderedFleet) -> None:
    def unstamped(files: Mapping[str, str]) -> dict[str, str]:
        return {
            path: text.replace("organization/shop/dev", "local") for path, text in files.items()
        }

    files = world.render()
    assert set(files) == {
        *(f"a/1-manifest/{name}" for name in NAMES),
        *(f"b/1-manifest/{name}" for name in NAMES),
    }
    assert files == unstamped(world.render(project=True))
    for name, step in STEPS.items():
        world.write(**step)
        token = world.refused() if name == LAST else ""
        assert token == (world.refused(project=True) if name == LAST else "")
        by_project = world.render(project=True, confirm=token)
        assert world.render(confirm=token) == unstamped(by_project), name


NAMES = (
    "apps_v1-deployment-shop-web.yaml",
    "v1-namespace-default-shop.yaml",
    "v1-secret-shop-pay.yaml",
)


def test_each_member_gets_its_replicas_its_override_and_its_stamp(world: RenderedFleet) -> None:
    files = world.render()
    on_a, on_b = (yaml.safe_load(files[f"{name}/{MANIFEST}"]) for name in "ab")
    assert [item["spec"]["replicas"] for item in (on_a, on_b)] == [3, 1]
    assert [item["metadata"]["labels"].get("mirror") for item in (on_a, on_b)] == [None, "b"]
    stamp = {
        "fleet-components/placement": f"Template/{WEB}",
        "fleet-components/stack": "local",
        "pulumi.com/patchFieldManager": "fleet-components/local",
    }
    assert on_a["metadata"]["annotations"] == stamp


@pytest.mark.long
@pytest.mark.parametrize("project", [False, True])
def test_an_unchanged_render_writes_the_same(world: RenderedFleet, project: bool) -> None:
    """In every situation: also while suspended, without a policy, and where a Secret's data are not shown."""
    for name, changes in {"": {}, **STEPS}.items():
        world.write(**changes)
        world.render(
            project=project, confirm=world.refused(project=project) if name == LAST else ""
        )
        before = tree(world.root / "out")
        world.render(project=project)
        assert tree(world.root / "out") == before, name


def test_a_suspended_member_keeps_exactly_what_it_has(world: RenderedFleet) -> None:
    before = world.render()
    suspension = {"dispatchingOnClusters": {"clusterNames": ["a"]}}
    whole = policy(
        placement={**on("a", "b"), **weights(a=1, b=1)}, propagateDeps=True, suspension=suspension
    )
    world.write(web=deployment(8, "web:2"), policy=whole, override=None)
    after = world.render()
    assert after[f"a/{MANIFEST}"] == before[f"a/{MANIFEST}"]
    assert image(after[f"b/{MANIFEST}"]) == "web:2"
    world.write(policy={**whole, "spec": {**whole["spec"], "suspension": None}})
    moved = yaml.safe_load(world.render()[f"a/{MANIFEST}"])
    assert (moved["spec"]["replicas"], image(yaml.safe_dump(moved))) == (4, "web:2")


def test_a_deleted_policy_leaves_its_objects_as_they_were(world: RenderedFleet) -> None:
    before = world.render()
    world.write(policy=None, web=deployment(9, "web:9"))
    after = world.render()
    assert {path: text for path, text in after.items() if MANIFEST in path} == {
        path: text for path, text in before.items() if MANIFEST in path
    }
    assert world.render() == after


@pytest.mark.parametrize("preserve", [False, True])
def test_a_deleted_object_leaves_the_tree(world: RenderedFleet, preserve: bool) -> None:
    """Preserved or not: the tree is what each member should hold."""
    world.write(policy=policy(placement=on("a"), preserveResourcesOnDeletion=preserve))
    assert f"a/{MANIFEST}" in world.render()
    world.write(web=None, policy=policy(placement=on("a"), preserveResourcesOnDeletion=preserve))
    assert world.render() == {}


def test_a_plan_starts_from_a_render(world: RenderedFleet) -> None:
    world.render()
    for source, stack in ((world.folder, "local"), (world.root / "project", "dev")):
        world.render(project=stack == "dev")
        document = json.loads(
            said("plan", source, "--all", "--state", world.state_file(stack), "-o", "json")
        )
        assert {
            change
            for change, count in document["totals"].items()
            if count and change != "resources"
        } == {"stays"}
        shares = {
            c["name"]: c["replicas"]
            for t in document["subjects"]
            if t["key"] == WEB
            for c in t["clusters"]
        }
        assert shares == {"a": {"old": 3, "new": 3}, "b": {"old": 1, "new": 1}}
    world.write(web=deployment(8))
    text = said("plan", world.folder, "--state", world.state_file())
    assert "3 -> 6" in text
    assert "1 -> 2" in text


def test_a_directory_is_planned_as_the_stack_that_is_named(tmp_path: Path) -> None:
    """Ties fall by the stack's name, so a plan has to fall as the render of that stack, and of none other."""
    world = RenderedFleet(tmp_path)
    world.write(web=deployment(3), policy=policy(placement={**on("a", "b"), **weights(a=1, b=1)}))
    seen = set()
    for stack in ("local", "blue", "green", "red", "white", "black"):
        (template,) = json.loads(said("plan", world.folder, "--stack", stack, "-o", "json"))[
            "subjects"
        ]
        planned = {cluster["name"]: cluster["replicas"]["new"] for cluster in template["clusters"]}
        said("render", world.folder, "--stack", stack, "--out", tmp_path / "out")
        files = {name: tmp_path / "out" / stack / name / MANIFEST for name in planned}
        assert planned == {
            name: yaml.safe_load(file.read_text())["spec"]["replicas"]
            for name, file in files.items()
        }
        assert f"{sum(planned.values())} replicas" in said(
            "explain", world.folder, WEB, "--stack", stack
        )
        seen.add(tuple(planned.values()))
    assert seen == {(1, 2), (2, 1)}


def test_completions_are_remembered_too(tmp_path: Path) -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sum", "namespace": "shop"},
        "spec": {
            "parallelism": 4,
            "completions": 8,
            "template": {
                "spec": {
                    "containers": [{"name": "sum", "image": "sum:1"}],
                    "restartPolicy": "Never",
                }
            },
        },
    }
    selector = [{"apiVersion": "batch/v1", "kind": "Job", "name": "sum"}]
    world = RenderedFleet(tmp_path)
    world.write(
        job=job,
        policy=policy(resourceSelectors=selector, placement={**on("a", "b"), **weights(a=3, b=1)}),
    )
    files = world.render()
    specs = [yaml.safe_load(text)["spec"] for text in files.values()]
    assert [(spec["parallelism"], spec["completions"]) for spec in specs] == [(3, 6), (1, 2)]
    assert parsed(world.render(project=True)) == world.up()
    assert "2 stay" in said("plan", world.folder, "--state", world.state_file())
