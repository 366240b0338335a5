"""``fleet render --for``: what Argo CD and Flux find beside the manifests, and what they are told of single objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.model.problem import FleetError
from fleet_components.plan.waves import PlanWave
from fleet_components.review.rendering.gitops.settings import name_of
from fleet_components.review.rendering.gitops.steps import steps_of
from tests.cli.fleets import SECRET, edit, run, write

REPO = ("--repo", "https://git.example/ops", "--path", "ops")
SECRET_OBJECT = "v1-secret-shop-payment.yaml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "fleet")


def render(folder: Path, *more: object) -> str:
    done = run("render", folder, "--out", "out", *more)
    assert done.exit_code == 0, done.output
    return done.output


def refused(folder: Path, *more: object) -> str:
    done = run("render", folder, "--out", "out", *more)
    assert done.exit_code == 1, done.output
    return done.stderr


def objects(path: str) -> list[dict[str, Any]]:
    return [item for item in yaml.safe_load_all((Path("out/local") / path).read_text()) if item]


def marks_of(path: str) -> dict[str, str]:
    (found,) = objects(f"members/dublin/{path}")
    return dict(found["metadata"]["annotations"])


def tree() -> dict[str, str]:
    return {str(path): path.read_text() for path in Path("out").rglob("*") if path.is_file()}


@pytest.mark.parametrize("tool", ["argocd", "flux"])
@pytest.mark.parametrize("topology", ["hub", "pull"])
def test_an_unchanged_render_writes_the_same_and_needs_no_options_again(
    tool: str, topology: str, folder: Path
) -> None:
    render(folder, "--for", tool, "--topology", topology, *REPO, "--omit-secrets")
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    render(folder)
    before = tree()
    render(folder)
    assert tree() == before


def test_flux_on_a_hub_waits_phase_by_phase_and_member_by_member(folder: Path) -> None:
    told = render(
        folder, "--for", "flux", *REPO, "--omit-secrets", "--destination", "{member}-kubeconfig"
    )
    assert "Flux needs a Secret MEMBER-kubeconfig for each member" in told
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    render(folder)
    first, *phases = objects("hub/dublin.yaml")
    assert [phase["metadata"]["name"] for phase in (first, *phases)] == [
        "local-dublin-namespaces",
        "local-dublin-configuration",
        "local-dublin-workloads",
    ]
    assert first["spec"]["dependsOn"] == [
        {"name": "fleet-local"},
        {"name": "local-amsterdam-workloads"},
    ]
    assert phases[1]["spec"]["dependsOn"] == [{"name": "local-dublin-configuration"}]
    assert first["spec"]["path"] == "./ops/members/dublin/0-namespaces"
    assert first["spec"]["kubeConfig"] == {"secretRef": {"name": "dublin-kubeconfig"}}
    assert all(phase["spec"]["wait"] and phase["spec"]["prune"] for phase in (first, *phases))
    assert objects("hub/amsterdam.yaml")[0]["spec"]["dependsOn"] == [{"name": "fleet-local"}]
    source, root = objects("start/hub.yaml")
    assert (source["kind"], source["spec"]["ref"]) == ("GitRepository", {"branch": "main"})
    assert (root["spec"]["path"], root["spec"]["wait"]) == ("./ops/hub", False)


def test_argo_cd_on_a_hub_syncs_in_the_steps_of_the_waves(folder: Path) -> None:
    told = render(
        folder,
        "--for",
        "argocd",
        *REPO,
        "--omit-secrets",
        "--destination",
        "dublin=https://dublin:6443",
    )
    assert "--enable-progressive-syncs" in told
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    assert (
        "all 2 waves come in one commit, and a member whose Application sees it before"
        in render(folder)
    )
    (found,) = objects("hub/applicationset.yaml")
    (read,) = found["spec"]["generators"]
    assert read["git"]["files"] == [{"path": "ops/hub/members/*.yaml"}]
    elements = [
        data for member in ("amsterdam", "dublin") for data in objects(f"hub/members/{member}.yaml")
    ]
    assert {element["member"]: element["step"] for element in elements} == {
        "amsterdam": "1",
        "dublin": "2",
    }
    assert {element["member"]: element["server"] for element in elements} == {
        "amsterdam": "",
        "dublin": "https://dublin:6443",
    }
    assert steps() == [["1"], ["2"]]
    assert found["spec"]["syncPolicy"] == {"preserveResourcesOnDeletion": True}


def test_argo_cd_has_no_step_without_members(folder: Path) -> None:
    """It would call the strategy misconfigured; members that do not move are in a step of their own, the last."""
    render(folder, "--for", "argocd", *REPO, "--omit-secrets")
    assert steps() == [["1"]]
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    render(folder, "--wave", "1")
    assert steps() == [["1"], ["0"]]
    assert [data["step"] for data in objects("hub/members/dublin.yaml")] == ["0"]


def steps() -> list[list[str]]:
    (found,) = objects("hub/applicationset.yaml")
    return [
        item["matchExpressions"][0]["values"]
        for item in found["spec"]["strategy"]["rollingSync"]["steps"]
    ]


def test_what_a_member_pulls_is_in_its_own_folder(folder: Path) -> None:
    render(folder, "--for", "argocd", "--topology", "pull", *REPO, "--omit-secrets")
    assert not Path("out/local/hub").exists()
    (found,) = objects("clusters/dublin/application.yaml")
    assert found["spec"]["source"]["path"] == "ops/members/dublin"
    assert found["spec"]["syncPolicy"]["automated"] == {
        "prune": True,
        "selfHeal": True,
        "allowEmpty": True,
    }
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    assert "all 2 waves come in one commit" in render(folder)
    assert "all" not in render(folder, "--wave")


def test_what_outlives_its_placement_is_not_pruned(folder: Path) -> None:
    render(folder, "--for", "flux", *REPO, "--omit-secrets")
    prune = "kustomize.toolkit.fluxcd.io/prune"
    assert marks_of("0-namespaces/v1-namespace-default-shop.yaml")[prune] == "disabled"
    assert prune not in marks_of("1-configuration/v1-configmap-shop-storefront.yaml")
    edit(folder / "placement.yaml", "kubernetes-fleet.io/v1\n", "kubernetes-fleet.io/v1beta1\n")
    edit(
        folder / "placement.yaml",
        "  strategy:\n",
        "  strategy:\n    deleteStrategy: {propagationPolicy: Abandon}\n",
    )
    render(folder)
    assert marks_of("1-configuration/v1-configmap-shop-storefront.yaml")[prune] == "disabled"


def test_argo_cd_asks_before_it_prunes_what_is_protected(folder: Path) -> None:
    options = "argocd.argoproj.io/sync-options"
    mark = f'{{fleet-components/protected: "true", {options}: "Replace=true,Prune=false"}}'
    edit(
        folder / "shop.yaml",
        "{name: storefront, namespace: shop}\ndata",
        f"{{name: storefront, namespace: shop, annotations: {mark}}}\ndata",
    )
    render(folder, "--for", "argocd", *REPO, "--omit-secrets")
    found = marks_of("1-configuration/v1-configmap-shop-storefront.yaml")
    assert found[options] == "Replace=true,Prune=confirm,Delete=confirm"
    assert found["argocd.argoproj.io/sync-wave"] == "1"
    kept = marks_of("0-namespaces/v1-namespace-default-shop.yaml")
    assert kept[options] == "Prune=false,Delete=false"
    assert kept["argocd.argoproj.io/compare-options"] == "IgnoreExtraneous"


def test_argo_cd_gets_claims_with_the_workloads_that_they_are_bound_for(folder: Path) -> None:
    """Argo CD ends a sync wave when all claims of it are bound; the pods that some wait for come in the fourth."""
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n"
    (folder / "claim.yaml").write_text(claim)
    render(folder, "--for", "argocd", *REPO, "--omit-secrets")
    found = marks_of("1-configuration/v1-persistentvolumeclaim-shop-data.yaml")
    assert found["argocd.argoproj.io/sync-wave"] == "4"
    assert found["argocd.argoproj.io/ignore-healthcheck"] == "true"


def test_secrets_are_refused_left_out_or_shown(folder: Path) -> None:
    assert "Secret shop/payment: would be applied with [secret]" in refused(
        folder, "--for", "flux", *REPO
    )
    assert not Path("out/local").exists()
    render(folder, "--for", "flux", *REPO, "--omit-secrets")
    assert not list(Path("out").rglob(SECRET_OBJECT))
    render(folder, "--refuse-secrets", "--show-secrets")
    (found,) = objects(f"members/dublin/1-configuration/{SECRET_OBJECT}")
    assert found["stringData"] == {"token": SECRET}


def test_a_folder_that_is_emptied_stays_so_that_it_is_pruned(folder: Path) -> None:
    render(folder, "--for", "flux", *REPO, "--omit-secrets")
    edit(
        folder / "members.yaml",
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    edit(folder / "members.yaml", "name: amsterdam\n", "name: zurich\n")
    render(folder)
    left = Path("out/local/members/amsterdam")
    assert [file.name for file in left.rglob("*") if file.is_file()] == [".gitkeep"] * 3
    first = objects("hub/amsterdam.yaml")[0]
    assert {"name": "local-iowa-workloads"} in first["spec"]["dependsOn"]
    before = tree()
    render(folder)
    assert tree() == before


def test_what_is_compared_only_is_not_rendered(folder: Path) -> None:
    edit(
        folder / "placement.yaml",
        "  strategy:\n",
        "  strategy:\n    applyStrategy: {type: ReportDiff}\n",
    )
    render(folder, "--for", "flux", *REPO)
    assert not list(Path("out/local").glob("members/*"))


def test_what_policies_ask_for_and_tools_do_not_is_said(folder: Path) -> None:
    strategy = (
        "  strategy:\n    applyStrategy: {whenToTakeOver: Never, whenToApply: IfNotDrifted}\n"
    )
    edit(folder / "placement.yaml", "  strategy:\n", strategy)
    told = render(folder, "--for", "flux", *REPO, "--omit-secrets")
    assert "ClusterResourcePlacement/shop ask to take over nothing" in told
    assert (
        "ClusterResourcePlacement/shop ask to leave drift alone (Flux overwrites what is there"
        in told
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--for", "flux"), "no repository is given"),
        (
            ("--for", "flux", "--repo", "git@git.example:ops", "--path", "ops"),
            "is no URL that Flux takes",
        ),
        (
            ("--for", "argocd", "--repo", "https://me:word@git.example/ops", "--path", "x"),
            "has a password in it",
        ),
        (("--for", "argocd", "--source", "fleet", "--path", "x"), "names an object of Flux"),
        (("--for", "flux", "--source", "Fleet/x", "--path", "x"), "is not [KIND/]NAME"),
        (("--for", "flux", *REPO, "--topology", "pull", "--destination", "a=b"), "on a hub only"),
        (
            ("--for", "flux", "--repo", "https://git.example/ops", "--path", "../x"),
            "leads out of the repository",
        ),
        (("--for", "flux", *REPO, "--destination", "a"), "--destination is given as"),
        (("--repo", "https://git.example/ops"), "is for a tool"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(
    more: tuple[str, ...], said: str, folder: Path
) -> None:
    assert said in refused(folder, *more)
    assert "word" not in refused(folder, *more).replace("password", "")


def test_the_tool_of_a_folder_stays(folder: Path) -> None:
    render(folder, "--for", "flux", *REPO, "--omit-secrets")
    before = tree()
    assert "was rendered with --for flux, which would take away" in refused(
        folder, "--for", "argocd"
    )
    assert "was rendered with --topology hub" in refused(folder, "--topology", "pull")
    assert tree() == before


def test_the_path_is_that_in_the_working_tree(folder: Path) -> None:
    assert "is in no working tree of git" in refused(
        folder, "--for", "flux", *REPO[:2], "--omit-secrets"
    )
    (folder.parent / ".git").mkdir()
    render(folder, "--for", "flux", *REPO[:2], "--omit-secrets")
    assert objects("start/hub.yaml")[1]["spec"]["path"] == "./out/local/hub"


def test_members_that_move_in_opposite_orders_are_refused_on_a_hub(folder: Path) -> None:
    there = (
        PlanWave(1, {"P/a": ("east",), "P/b": ("west",)}),
        PlanWave(2, {"P/a": ("west",), "P/b": ("east",)}),
    )
    with pytest.raises(FleetError, match="in opposite orders"):
        steps_of(there)
    assert steps_of(
        (PlanWave(1, {"P/a": ("east",)}), PlanWave(2, {"P/a": ("west",), "P/b": ("north",)}))
    ) == (
        ("east", "north"),
        ("west",),
    )


@pytest.mark.parametrize(
    "damage", [{"phases": {"dublin": [9]}}, {"steps": 1}, {"settings": {"tool": "helm"}}]
)
def test_a_damaged_memory_is_refused(damage: dict[str, Any], folder: Path) -> None:
    render(folder, "--for", "flux", *REPO, "--omit-secrets")
    file = Path("out/local/state.json")
    data = json.loads(file.read_text())
    data["gitops"].update(damage)
    file.write_text(json.dumps(data))
    assert "out/local/state.json" in refused(folder)


def test_names_fit_into_labels() -> None:
    assert name_of("prod", "aks-dublin", "workloads") == "prod-aks-dublin-workloads"
    long, other = name_of("prod", "a" * 80), name_of("prod", "a" * 81)
    assert (len(long), len(other)) == (63, 63)
    assert long != other
    assert name_of("Prod_1") != name_of("prod-1") == "prod-1"
