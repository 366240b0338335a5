"""``fleet render``: what is written, from which past, and that nothing is ever half-written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.content.load import load
from tests.cli.fleets import FLEET, PLACEMENT, PROJECT, SECRET, clusters, edit, plan, run, write

MANIFESTS = {
    "apps_v1-deployment-shop-storefront.yaml",
    "v1-configmap-shop-storefront.yaml",
    "v1-namespace-default-shop.yaml",
    "v1-secret-shop-payment.yaml",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet, with the working directory beside it."""
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "fleet")


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, with its text."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def manifest(path: str, folder: str = "out/local") -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((Path(folder) / path).read_text())
    return data


def test_writes_what_the_kubernetes_provider_would(folder: Path) -> None:
    result = run("render", folder, "--out", "out")
    assert "wrote 8 manifests of 2 members to out/local" in result.stdout
    assert {path.name for path in Path("out/local").iterdir()} == {
        "amsterdam",
        "dublin",
        "decisions.yaml",
        "state.json",
    }
    for member in ("amsterdam", "dublin"):
        assert {path.name for path in Path("out/local", member).iterdir()} == {
            "0-crd",
            "1-manifest",
        }
        assert {
            path.name for path in Path("out/local", member, "1-manifest").iterdir()
        } == MANIFESTS
    assert manifest("dublin/1-manifest/v1-configmap-shop-storefront.yaml") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "storefront",
            "namespace": "shop",
            "annotations": {
                "fleet-components/placement": "ClusterResourcePlacement/shop",
                "fleet-components/stack": "local",
                "pulumi.com/patchFieldManager": "fleet-components/local",
            },
        },
        "data": {"currency": "EUR"},
    }


def test_custom_resource_definitions_have_a_folder_of_their_own(folder: Path) -> None:
    spec = "{group: x.io, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: []}"
    kind = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition"
    definition = f"{kind}\nmetadata: {{name: widgets.x.io}}\nspec: {spec}\n"
    (folder / "crd.yaml").write_text(definition)
    selector = '  - {group: "", version: v1, kind: Namespace, name: shop}\n'
    more = "  - {group: apiextensions.k8s.io, version: v1, kind: CustomResourceDefinition, name: widgets.x.io}\n"
    edit(folder / "placement.yaml", selector, selector + more)
    assert run("render", folder, "--out", "out").exit_code == 0
    crd = Path(
        "out/local/dublin/0-crd/apiextensions.k8s.io_v1-customresourcedefinition-default-widgets.x.io.yaml"
    )
    assert crd.is_file()


def test_decisions_are_objects_of_the_api_with_their_status(folder: Path) -> None:
    run("render", folder, "--out", "out")
    placement, snapshot = load(Path("out/local/decisions.yaml"))
    assert (placement.kind, placement.name) == ("ClusterResourcePlacement", "shop")
    assert placement.data["status"]["observedResourceIndex"] == "0"
    assert (snapshot.kind, snapshot.name) == ("ClusterSchedulingPolicySnapshot", "shop-0")
    assert [
        data["clusterName"]
        for data in snapshot.data["status"]["targetClusters"]
        if data["selected"]
    ] == [
        "amsterdam",
        "dublin",
    ]


def test_starts_from_the_last_render(folder: Path) -> None:
    assert "planned as a new fleet" in run("render", folder, "--out", "out").stdout
    edit(
        folder / "members.yaml",
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    again = run("render", folder, "--out", "out")
    assert "2 stay" in again.stdout
    assert "planned from out/local/state.json" in again.stdout
    fresh = run("render", folder, "--out", "out", "--fresh")
    assert "planned as a new fleet" in fresh.stdout
    assert {path.name for path in Path("out/local").iterdir() if path.is_dir()} == {
        "dublin",
        "iowa",
    }


def test_an_unchanged_render_writes_the_same(folder: Path) -> None:
    run("render", folder, "--out", "out")
    before = tree(Path("out"))
    run("render", folder, "--out", "out")
    assert tree(Path("out")) == before


def test_a_member_that_is_left_loses_its_folder(folder: Path) -> None:
    run("render", folder, "--out", "out")
    edit(folder / "members.yaml", "name: amsterdam\n", "name: zurich\n")
    assert run("render", folder, "--out", "out").exit_code == 0
    assert {path.name for path in Path("out/local").iterdir() if path.is_dir()} == {
        "dublin",
        "zurich",
    }


def test_a_held_member_keeps_the_manifests_of_its_revision(folder: Path) -> None:
    run("render", folder, "--out", "out")
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    edit(folder / "placement.yaml", "maxUnavailable: 1", "maxUnavailable: 0")
    assert "2 are held" in run("render", folder, "--out", "out").stdout
    deployment = manifest("dublin/1-manifest/apps_v1-deployment-shop-storefront.yaml")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.27.5"
    edit(folder / "placement.yaml", "maxUnavailable: 0", "maxUnavailable: 1")
    assert "2 are updated" in run("render", folder, "--out", "out").stdout
    deployment = manifest("dublin/1-manifest/apps_v1-deployment-shop-storefront.yaml")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.28.0"


def test_secrets_are_not_written_unless_asked_for(folder: Path) -> None:
    run("render", folder, "--out", "out")
    assert manifest("dublin/1-manifest/v1-secret-shop-payment.yaml")["stringData"] == {
        "token": "[secret]"
    }
    assert not [name for name, text in tree(Path("out")).items() if SECRET in text]
    state = json.loads(Path("out/local/state.json").read_text())
    assert SECRET not in _decompressed(state)
    assert run("render", folder, "--out", "out", "--show-secrets").exit_code == 0
    assert manifest("dublin/1-manifest/v1-secret-shop-payment.yaml")["stringData"] == {
        "token": SECRET
    }
    files = [path for path in Path("out/local").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert "2 stay" in run("render", folder, "--out", "out").stdout
    assert SECRET not in _decompressed(json.loads(Path("out/local/state.json").read_text()))


def _decompressed(state: dict[str, Any]) -> str:
    from fleet_components.content.revision import decompress

    outputs = [item["outputs"] for item in state["resources"].values()]
    texts = [text for output in outputs for text in output.get("contents", {}).values()]
    assert texts
    return json.dumps([decompress(text) for text in texts])


def test_a_plan_starts_from_a_render_without_secrets(folder: Path) -> None:
    run("render", folder, "--out", "out")
    assert clusters(plan(folder, "--state", "out/local/state.json")) == {
        "amsterdam": "stays",
        "dublin": "stays",
    }
    edit(folder / "shop.yaml", SECRET, "another")
    assert clusters(plan(folder, "--state", "out/local/state.json")) == {
        "amsterdam": "stays",
        "dublin": "stays",
    }


def test_warnings_go_to_stderr(folder: Path) -> None:
    edit(folder / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 4")
    result = run("render", folder, "--out", "out")
    assert "could not find all clusters needed" in result.stderr
    assert "warning" not in result.stdout


def test_a_project_is_rendered_as_its_own_stack(tmp_path: Path) -> None:
    project, out = write(tmp_path / "project", PROJECT), tmp_path / "out"
    result = run("render", project, "--out", out)
    assert f"wrote 8 manifests of 2 members to {out}/dev" in result.stdout
    namespace = manifest("dublin/1-manifest/v1-namespace-default-shop.yaml", str(out / "dev"))
    assert namespace["metadata"]["annotations"]["fleet-components/stack"] == "organization/web/dev"
    assert "2 stay" in run("render", project, "--out", out).stdout
    assert (
        "acme/web/dev"
        in tree(run_for(project, out))["dublin/1-manifest/v1-namespace-default-shop.yaml"]
    )


def run_for(project: Path, out: Path) -> Path:
    """Render for an organization; the folder."""
    assert run("render", project, "--out", out, "--stack", "acme/dev", "--fresh").exit_code == 0
    return out / "dev"


def test_a_folder_in_which_nothing_would_be_lost_is_replaced(folder: Path) -> None:
    """As after ``pulumi up`` on a stack that renders to the same place."""
    run("render", folder, "--out", "out")
    Path("out/local/state.json").unlink()
    Path("out/local/decisions.yaml").unlink()
    assert run("render", folder, "--out", "out").exit_code == 0
    assert Path("out/local/state.json").is_file()


@pytest.mark.parametrize(("where", "status"), [("placement", 1), ("objects", 3)])
def test_a_refused_input_leaves_the_last_render(folder: Path, where: str, status: int) -> None:
    run("render", folder, "--out", "out")
    before = tree(Path("out"))
    if where == "placement":
        edit(folder / "placement.yaml", "PickN", "PickSome")
    else:
        (folder / "again.yaml").write_text(
            PLACEMENT.replace("name: shop}\nspec", "name: again}\nspec")
        )
    assert run("render", folder, "--out", "out").exit_code == status
    assert tree(Path("out")) == before


KILLED = """
import os, sys
from pathlib import Path
from fleet_components.cli import main
from fleet_components.review.rendering import folder

step, calls = int(sys.argv.pop(1)), 0

def dying(real):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == step:
            os._exit(9)
        return real(*args, **kwargs)
    return call

os.open, Path.rename = dying(os.open), dying(Path.rename)
main()
"""


@pytest.mark.long
def test_a_run_that_is_killed_leaves_the_last_render(folder: Path) -> None:
    """Killed before each file and each rename: the next plan and the next render find the old folder whole."""
    run("render", folder, "--out", "out")
    before = tree(Path("out"))
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    files = len(before)
    for step in (1, files // 2, files + 1, files + 2):
        command = [sys.executable, "-c", KILLED, str(step), "render", str(folder), "--out", "out"]
        assert subprocess.run(command, check=False, capture_output=True).returncode == 9
        edit(folder / "placement.yaml", "PickN", "PickSome")
        run("render", folder, "--out", "out")  # refused, but it puts back what was set aside
        assert {
            name: text for name, text in tree(Path("out")).items() if name.startswith("local/")
        } == before
        edit(folder / "placement.yaml", "PickSome", "PickN")
    assert "2 are updated" in run("render", folder, "--out", "out").stdout
    assert {path.name for path in Path("out").iterdir()} == {"local"}


def test_a_full_disk_leaves_the_last_render(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("render", folder, "--out", "out")
    before, real, calls = tree(Path("out")), os.open, []

    def full(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        calls.append(path)
        if len(calls) > 3 and flags & os.O_CREAT:
            raise OSError(28, "No space left on device")
        return real(path, flags, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", full)
        result = run("render", folder, "--out", "out")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        1,
        "error: out/local: cannot be written: No space left on device",
    )
    assert tree(Path("out")) == before


def test_contents_of_yaml_survive(folder: Path) -> None:
    """What kubectl reads from a manifest is what stood in the source."""
    values = [
        "on",
        "0x1f",
        "1e3",
        "1_000",
        "~",
        "null",
        "",
        " x ",
        "a: b",
        "# c",
        "12:30:00",
        "y",
        "2026-01-31",
        "ü\n\tz\n",
    ]
    data = {f"k{number}": value for number, value in enumerate(values)}
    source = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "odd", "namespace": "shop"},
        "data": data,
    }
    (folder / "odd.json").write_text(json.dumps(source))
    assert run("render", folder, "--out", "out").exit_code == 0
    (found,) = load(Path("out/local/dublin/1-manifest/v1-configmap-shop-odd.yaml"))
    assert found.data["data"] == data


def test_members_of_the_source_are_no_manifests(folder: Path) -> None:
    run("render", folder, "--out", "out")
    kinds = {manifest.kind for manifest in load(Path("out/local/dublin"))}
    assert kinds == {"Namespace", "ConfigMap", "Secret", "Deployment"}
    assert FLEET["members.yaml"] not in tree(Path("out")).values()
