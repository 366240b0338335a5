"""What is rendered for Argo CD and Flux is taken by API servers that have their definitions, and by those of members."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fleet_components.review.rendering.gitops.settings import TOOLS, TOPOLOGIES
from fleet_components.review.rendering.manifests import PHASES
from tests.cli.fleets import MEMBERS, edit, run, write
from tests.cli.rendered_fleets import placement, written
from tests.clusters.documents import documents
from tests.control_planes import Planes, own_control_planes
from tools.clusters.cluster import Cluster
from tools.definitions import definitions

pytestmark = pytest.mark.clusters

POLICY = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [amsterdam, dublin]}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: amsterdam}
spec: {syncMode: Push}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: dublin}
spec: {syncMode: Push}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: web, labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
"""
STACKS = Path(__file__).parents[2] / "stacks"


@pytest.fixture(scope="module")
def hub() -> Iterator[Cluster]:
    """A control plane with the definitions of both tools."""
    try:
        files = list(definitions())
    except LookupError as error:
        pytest.skip(str(error))
    assert files
    with own_control_planes(["tools"]) as planes:
        plane = planes["tools"]
        for file in files:
            plane.kubectl("apply", "--server-side", "-f", str(file))
        for _ in range(300):
            if established(plane):
                break
            time.sleep(0.2)
        for namespace in ("argocd", "flux-system"):
            plane.kubectl("create", "namespace", namespace)
        yield plane


def established(plane: Cluster) -> bool:
    """Whether all definitions are served. ``kubectl wait`` fails on one that has no conditions yet."""
    found = [
        (item.get("status") or {}).get("conditions") or [] for item in plane.get("crd")["items"]
    ]
    return all(
        any((item["type"], item["status"]) == ("Established", "True") for item in each)
        for each in found
    )


def rendered(source: Path, out: Path, *more: str) -> Path:
    done = run(
        "render", source, "--out", out, "--repo", "https://git.example/ops", "--path", "ops", *more
    )
    assert done.exit_code == 0, done.output
    return out / "local"


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("source", ["fleet", "karmada"])
def test_every_object_fits_its_definition(
    source: str, tool: str, topology: str, hub: Cluster, tmp_path: Path
) -> None:
    """With strict validation: a field that the definition does not have is refused."""
    folder = shutil.copytree(STACKS / "fleet", tmp_path / "fleet")
    if source == "karmada":
        folder = write(tmp_path / "karmada", {"all.yaml": POLICY})
    more = ["--destination", "{member}-kubeconfig"] if (tool, topology) == ("flux", "hub") else []
    found = rendered(
        folder, tmp_path / "out", "--for", tool, "--topology", topology, "--omit-secrets", *more
    )
    if source == "fleet":
        edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
        found = rendered(folder, tmp_path / "out")
    parts = [found / part for part in ("hub", "clusters", "start") if (found / part).is_dir()]
    objects = [document for part in parts for document in documents(part)]
    assert objects
    text = tmp_path / "objects.yaml"
    text.write_text(yaml.safe_dump_all(objects))
    told = hub.kubectl(
        "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", str(text)
    )
    assert len(told.splitlines()) == len(objects)
    if source == "karmada":
        assert "/spec/replicas" in text.read_text()


def test_a_field_that_is_not_there_would_be_found(hub: Cluster, tmp_path: Path) -> None:
    found = (
        rendered(STACKS / "fleet", tmp_path / "out", "--for", "flux", "--omit-secrets")
        / "start"
        / "hub.yaml"
    )
    edit(found, "prune: true", "prunes: true")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        hub.kubectl(
            "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", str(found)
        )
    assert "prunes" in failed.value.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_a_member_takes_its_folders_in_their_order(
    tool: str, api_servers: Planes, tmp_path: Path
) -> None:
    """Phase by phase with server-side apply, as the tools do it; each folder is what kustomize makes of it."""
    source = write(tmp_path / "fleet", {"members.yaml": MEMBERS})
    written(source, _content(f"gitops-{tool}"))
    member = rendered(source, tmp_path / "out", "--for", tool) / "members" / "amsterdam"
    phases = [name for name in PHASES if (member / name).is_dir()]
    assert phases == [
        "0-namespaces",
        "1-configuration",
        "2-roles",
        "4-workloads",
        "6-custom-resources",
    ]
    for name in phases:
        told = api_servers["a"].kubectl(
            "apply", "--server-side", "--force-conflicts", "-f", str(member / name)
        )
        assert len(told.splitlines()) == len(documents(member / name))
        if name == "1-configuration":
            api_servers["a"].kubectl(
                "wait", "--for=condition=Established", "crd", f"widgets.{tool}.example"
            )
        if kustomize := shutil.which("kustomize"):
            built = shutil.copytree(member / name, tmp_path / name)
            subprocess.run(
                [kustomize, "create", "--autodetect"], cwd=built, check=True, capture_output=True
            )
            done = subprocess.run(
                [kustomize, "build", "."], cwd=built, check=True, capture_output=True, text=True
            )
            assert sorted(map(str, yaml.safe_load_all(done.stdout))) == sorted(
                map(str, documents(member / name))
            )
    assert api_servers["a"].get("-n", f"gitops-{tool}", f"widgets.{tool}.example", "one")


def _content(namespace: str) -> list[dict[str, object]]:
    group = f"{namespace.removeprefix('gitops-')}.example"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"}
    place = placement("web", namespace, {"placementType": "PickAll"}, {"maxUnavailable": 1})
    selector = {
        "group": "apiextensions.k8s.io",
        "version": "v1",
        "kind": "CustomResourceDefinition",
    }
    place["spec"]["resourceSelectors"].append({**selector, "name": f"widgets.{group}"})
    inside = {"namespace": namespace}
    return [
        place,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "one", **inside},
            "data": {"a": "b"},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": "one", **inside},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "one", **inside},
            "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}},
        },
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"widgets.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "Widget",
            "metadata": {"name": "one", **inside},
            "size": 1,
        },
    ]
