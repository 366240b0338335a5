"""What Karmada's policies place, with the real provider on real API servers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_planes import Planes
from tests.delivery.karmada.test_depending import CONFIG, SECRET, needing
from tests.delivery.karmada.world import (
    WEB,
    KarmadaWorld,
    carried_out,
    deployment,
    member,
    on,
    policy,
    weights,
)
from tests.engine.driver import Engine, provider_or_skip

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
CONFLICT = "work.karmada.io/conflict-resolution"


@pytest.fixture(scope="module")
def planes(request: pytest.FixtureRequest) -> Iterator[Planes]:
    """Two of the API servers with a namespace, for all tests of this module."""
    provider_or_skip()
    api_servers: Planes = request.getfixturevalue("api_servers")
    two = {name: api_servers[name] for name in "ab"}
    for plane in two.values():
        plane.kubectl("create", "namespace", "shop")
    yield two
    for plane in two.values():
        plane.kubectl("delete", "namespace", "shop", "--wait=false")


@pytest.fixture
def clusters(
    planes: Planes, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine[KarmadaWorld]]:
    """A stack on them; what it placed is gone with the test."""
    engine = Engine(tmp_path_factory.mktemp("stack"), world=KarmadaWorld(), standin=False)
    engine.world.members = {name: member(name) for name in planes}
    engine.world.config = {
        "kubeconfigs": {name: plane.kubeconfig.read_text() for name, plane in planes.items()}
    }
    yield engine
    for plane in planes.values():
        plane.kubectl("delete", "deployments,jobs,configmaps,secrets", "--all", "-n", "shop")


def stands(planes: Planes, kind: str, name: str) -> dict[str, Any]:
    """An object on the clusters that have it."""
    found = {cluster: plane.get(kind, name, "-n", "shop") for cluster, plane in planes.items()}
    return {cluster: data for cluster, data in found.items() if data}


def available(planes: Planes) -> dict[str, int]:
    """The available replicas of the Deployment on the clusters that have it."""
    return {
        c: data["status"]["availableReplicas"]
        for c, data in stands(planes, "deployment", "web").items()
    }


def test_shares_and_what_the_workload_needs(clusters: Engine[KarmadaWorld], planes: Planes) -> None:
    web = needing({"configMap": {"name": "settings"}}, {"secret": {"secretName": "token"}})
    web["spec"]["template"]["spec"]["serviceAccountName"] = "runner"
    runner = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "runner", "namespace": "shop"},
    }
    asked = policy(placement=weights(a=3, b=1), propagateDeps=True)
    clusters.world.objects = {
        "web": web,
        "settings": CONFIG,
        "token": SECRET,
        "runner": runner,
        "policy": asked,
    }
    code, text = clusters.command("up", "--yes", "--skip-preview")
    assert code == 0, text
    assert available(planes) == {"a": 3, "b": 1}
    for cluster in planes:
        for needed in ("settings", "token", "runner"):
            assert text.index(f"{needed}@{cluster}/shop/{needed} created") < text.index(
                f"web@{cluster}/shop/web creating"
            )
    clusters.world.objects["web"] = {**web, "spec": {**web["spec"], "replicas": 8}}
    carried_out(clusters)
    assert available(planes) == {"a": 6, "b": 2}
    # A policy that is deleted leaves the copies; an object that is deleted takes them along.
    del clusters.world.objects["policy"]
    assert clusters.up().ok
    assert stands(planes, "deployment", "web").keys() == {"a", "b"}
    del clusters.world.objects["web"]
    assert "would lose" in clusters.up().text
    assert stands(planes, "deployment", "web").keys() == {"a", "b"}
    clusters.world.config["limit"] = "1"
    assert (gone := clusters.up()).ok, gone.text
    assert stands(planes, "deployment", "web") == {}
    assert stands(planes, "secret", "token") == {}


def test_overrides_as_the_cluster_holds_them(
    clusters: Engine[KarmadaWorld], planes: Planes
) -> None:
    settings = {**CONFIG, "data": {"app.yaml": "colour: blue\nsize: 1\n"}}
    everything = [WEB, {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}]
    clusters.world.objects = {
        "web": deployment(1),
        "settings": settings,
        "policy": policy(placement=on("a", "b"), resourceSelectors=everything),
        "on-web": rule(
            "on-web",
            WEB,
            imageOverrider=[
                {"component": "Registry", "operator": "add", "value": "mirror.example.com"}
            ],
            plaintext=[
                {"path": "/metadata/annotations", "operator": "add", "value": {"where": "b"}}
            ],
        ),
        "on-settings": rule(
            "on-settings",
            everything[1],
            fieldOverrider=[
                {
                    "fieldPath": "/data/app.yaml",
                    "yaml": [{"subPath": "/colour", "operator": "replace", "value": "red"}],
                }
            ],
        ),
    }
    carried_out(clusters)
    web, config = stands(planes, "deployment", "web"), stands(planes, "configmap", "settings")
    images = {
        c: data["spec"]["template"]["spec"]["containers"][0]["image"] for c, data in web.items()
    }
    assert images == {"a": "web:1", "b": "mirror.example.com/web:1"}
    assert {c: data["metadata"]["annotations"].get("where") for c, data in web.items()} == {
        "a": None,
        "b": "b",
    }
    assert "colour: blue" in config["a"]["data"]["app.yaml"]
    assert "colour: red" in config["b"]["data"]["app.yaml"]
    rename = [{"path": "/metadata/name", "operator": "replace", "value": "www"}]
    clusters.world.objects["on-web"] = rule("on-web", WEB, plaintext=rename)
    carried_out(clusters)
    assert stands(planes, "deployment", "web").keys() == {"a"}
    assert stands(planes, "deployment", "www").keys() == {"b"}


def rule(name: str, selector: dict[str, Any], **overriders: Any) -> dict[str, Any]:
    """An override policy for the member ``b``."""
    item = {"targetCluster": {"clusterNames": ["b"]}, "overriders": overriders}
    return {
        **policy(name, "OverridePolicy"),
        "spec": {"resourceSelectors": [selector], "overrideRules": [item]},
    }


@pytest.mark.parametrize(
    ("policys", "objects", "adopted"),
    [("Abort", None, False), ("Abort", "overwrite", True), ("Overwrite", None, True)],
)
def test_what_somebody_else_made(
    clusters: Engine[KarmadaWorld], planes: Planes, policys: str, objects: str | None, adopted: bool
) -> None:
    """The annotation of the object beats the policy."""
    planes["a"].kubectl(
        "create", "configmap", "settings", "-n", "shop", "--from-literal=colour=theirs"
    )
    before = stands(planes, "configmap", "settings")["a"]
    ours = {**copy.deepcopy(CONFIG), "data": {"colour": "ours"}}
    if objects:
        ours["metadata"]["annotations"] = {CONFLICT: objects}
    clusters.world.objects = {"settings": ours, "policy": configs(conflictResolution=policys)}
    done = clusters.up()
    assert done.ok is adopted, done.text
    found = stands(planes, "configmap", "settings")["a"]
    assert found["metadata"]["uid"] == before["metadata"]["uid"]
    if adopted:
        assert found["data"] == {"colour": "ours"}
        assert clusters.preview().changes == {}
    else:
        assert found == before
        assert "ConfigMap shop/settings: is on a already, somebody else has made it" in done.text
        assert "conflictResolution of Template/shop/ConfigMap/settings is Abort" in done.text


def test_what_somebody_else_made_without_a_field_in_conflict(
    clusters: Engine[KarmadaWorld], planes: Planes
) -> None:
    planes["a"].kubectl(
        "create", "configmap", "settings", "-n", "shop", "--from-literal=other=theirs"
    )
    before = stands(planes, "configmap", "settings")["a"]
    clusters.world.objects = {
        "settings": {**CONFIG, "data": {"colour": "ours"}},
        "policy": configs(),
    }
    done = clusters.up()
    assert not done.ok
    assert "is on a already, somebody else has made it" in done.text
    assert stands(planes, "configmap", "settings")["a"] == before


def configs(*members: str, **spec: Any) -> dict[str, Any]:
    """A policy that takes the ConfigMap to these members, to ``a`` if none is named."""
    selector = {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}
    return policy(
        "settings", placement=on(*(members or ("a",))), resourceSelectors=[selector], **spec
    )


def test_what_is_preserved_stays(clusters: Engine[KarmadaWorld], planes: Planes) -> None:
    clusters.world.objects = {
        "settings": CONFIG,
        "policy": configs("a", "b", preserveResourcesOnDeletion=True),
    }
    carried_out(clusters)
    del clusters.world.objects["settings"]
    carried_out(clusters)
    assert stands(planes, "configmap", "settings").keys() == {"a", "b"}
    assert not [r for r in clusters.state().resources.values() if "settings" in r.name]


def test_a_job_divides_its_completions(clusters: Engine[KarmadaWorld], planes: Planes) -> None:
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "sum", "image": "sum:1"}]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "sum",
            "namespace": "shop",
            "annotations": {"pulumi.com/skipAwait": "true"},
        },
        "spec": {"parallelism": 4, "completions": 10, "template": pod},
    }
    selector = {"apiVersion": "batch/v1", "kind": "Job", "name": "sum"}
    asked = policy(placement=weights(a=2, b=1), resourceSelectors=[selector])
    clusters.world.objects = {"sum": job, "policy": asked}
    carried_out(clusters)
    specs = {c: data["spec"] for c, data in stands(planes, "job", "sum").items()}
    assert {c: (spec["parallelism"], spec["completions"]) for c, spec in specs.items()} == {
        "a": (3, 7),
        "b": (1, 3),
    }


def test_the_new_copy_stands_before_the_old_one_goes(
    clusters: Engine[KarmadaWorld], planes: Planes
) -> None:
    clusters.world.objects = {"web": deployment(2), "policy": policy(placement=on("a"))}
    carried_out(clusters)
    clusters.world.objects["policy"] = policy(placement=on("b"))
    code, text = clusters.command("up", "--yes", "--skip-preview")
    assert code == 0, text
    assert stands(planes, "deployment", "web").keys() == {"b"}
    assert text.index("web@b/shop/web created") < text.index("web@a/shop/web deleting")


def test_a_member_that_scales_by_itself_keeps_its_replicas(
    clusters: Engine[KarmadaWorld], planes: Planes
) -> None:
    web = deployment(4)
    web["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"] = "true"
    clusters.world.objects = {"web": web, "policy": policy(placement=weights(a=1, b=1))}
    carried_out(clusters)
    assert available(planes) == {"a": 2, "b": 2}
    planes["a"].kubectl("scale", "deployment", "web", "-n", "shop", "--replicas=5")
    web["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"
    web["spec"]["replicas"] = 6
    carried_out(clusters)
    found = stands(planes, "deployment", "web")
    assert {cluster: data["spec"]["replicas"] for cluster, data in found.items()} == {
        "a": 5,
        "b": 2,
    }
    images = {
        c: data["spec"]["template"]["spec"]["containers"][0]["image"] for c, data in found.items()
    }
    assert images == {"a": "web:2", "b": "web:2"}
