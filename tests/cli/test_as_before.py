"""What stands without a change heads no plan and no review: it is named in one line, and nothing of it is lost."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fleet_components.cli import clock
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.systems.registry import SYSTEMS
from tests.cli.clone import Clone
from tests.cli.fleets import FLEET, MEMBERS, PLACEMENT, SHOP, edit, plan, run
from tests.delivery.karmada.world import deployment, on, policy
from tests.hub.folder.hubs import AS_OF, KARMADA, kubefleet, observed

OVERRIDE = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourceOverride
metadata: {name: edge}
spec:
  placement: {name: edge}
  clusterResourceSelectors:
  - {group: "", version: v1, kind: Namespace, name: edge}
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {region: europe}}}]}
      jsonPatchOverrides:
      - {op: remove, path: /metadata/labels/nothing}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAME, labels: {team: shop}}\n"
HUB = {
    "members.yaml": MEMBERS,
    "shop.yaml": SHOP,
    "placement.yaml": PLACEMENT,
    "wide.yaml": PLACEMENT.replace("shop", "wide").replace(
        "numberOfClusters: 2", "numberOfClusters: 3"
    ),
    "edge.yaml": PLACEMENT.replace("shop", "edge"),
    "more.yaml": "---\n".join(NAMESPACE.replace("NAME", name) for name in ("wide", "edge")),
    "override.yaml": OVERRIDE,
}
"""The placement ``wide`` wants a member more than there are, and ``edge`` is held by an override that fails."""
WIDE, EDGE = "ClusterResourcePlacement/wide", "ClusterResourcePlacement/edge"
LINE = "as before: 1 placement unfulfilled (wide), 1 placement held (edge), 1 warning"


@pytest.fixture(scope="module")
def of_kubefleet() -> HubObservation:
    return observed(kubefleet(HUB))


@pytest.fixture
def folder(of_kubefleet: HubObservation, tmp_path: Path) -> Path:
    write_observation(tmp_path / "hub", of_kubefleet, update=False)
    return tmp_path / "hub"


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: AS_OF + timedelta(hours=3))


def policy_of(folder: Path, name: str) -> Path:
    return folder / f"policies/ClusterResourcePlacement/{name}.yaml"


def text(*words: object) -> str:
    return " ".join(run(*words).stdout.split())


def conditions(document: dict[str, Any]) -> dict[str, list[str]]:
    return {key: document["asBefore"][key] for key in ("unfulfilled", "held")}


STANDING = {"unfulfilled": [WIDE], "held": [EDGE]}


def test_where_nothing_changes_that_leads(folder: Path) -> None:
    document = plan(folder, "--detailed-exitcode")
    assert document["headline"][0] == "nothing changes"
    assert "unchanged are 3 of 3 placements, 4 of 4 members" in document["headline"][2]
    assert conditions(document) == STANDING
    for form in ("table", "markdown"):
        told = text("plan", folder, "-o", form)
        assert f"{LINE}: --all shows them" in told.replace("\\", "")
        assert "not fulfilled" not in told
        assert "an override fails" not in told
        told = text("plan", folder, "-o", form, "--all")
        assert "not fulfilled, as before: could not find all clusters" in told
        assert "an override fails" in told
        assert "as before: 1" not in told


def test_the_document_and_the_exit_status_lose_nothing(folder: Path) -> None:
    document = plan(folder)
    assert [item["subject"] for item in document["unfulfilled"]] == [WIDE]
    weights = {
        item["name"]: item["weight"]
        for item in document["subjects"]
        if item["weight"] != "unchanged"
    }
    assert weights == {WIDE: "unfulfilled", EDGE: "held"}
    assert document["totals"]["held"] == 2
    assert "warning" not in document["headline"][2]
    assert document["warned"] == len(document["asBefore"]["warnings"]) == 1
    assert "1 policy not fulfilled" in run("plan", folder, "--strict").stderr
    assert run("plan", folder, "--strict").exit_code == 3


def test_what_is_changed_comes_first_and_alone(folder: Path) -> None:
    edit(folder / "objects/shop/ConfigMap.storefront.yaml", "currency: EUR", "currency: CHF")
    document = plan(folder)
    assert (
        document["headline"][0]
        == "2 clusters get new content of shop in 2 waves, nothing else changes"
    )
    assert document["subjects"][0]["key"] == "shop"
    assert conditions(document) == STANDING
    told = text("plan", folder)
    assert told.index("ClusterResourcePlacement shop") < told.index(LINE)


def test_a_condition_that_the_change_brings_is_told_in_full(folder: Path) -> None:
    edit(policy_of(folder, "shop"), "numberOfClusters: 2", "numberOfClusters: 4")
    document = plan(folder)
    assert document["headline"][0] == "shop is not fulfilled, nothing else changes"
    assert conditions(document) == STANDING
    edit(policy_of(folder, "wide"), "numberOfClusters: 3", "numberOfClusters: 4")
    document = plan(folder)
    assert document["headline"][0] == "shop and wide are not fulfilled, nothing else changes"
    assert conditions(document) == {**STANDING, "unfulfilled": []}


def test_an_override_that_fails_from_now_on_is_told_in_full(folder: Path) -> None:
    rule = (folder / "policies/ClusterResourceOverride/edge.yaml").read_text()
    new = rule.replace("name: edge", "name: shop")
    (folder / "policies/ClusterResourceOverride/shop.yaml").write_text(new)
    document = plan(folder)
    assert document["headline"][0] == "shop is held on 2 clusters, nothing else changes"
    assert conditions(document) == STANDING


def test_what_is_unfulfilled_and_changes_is_told_by_its_change(folder: Path) -> None:
    edit(folder / "objects/Namespace.wide.yaml", "team: shop", "team: web")
    document = plan(folder)
    assert document["headline"][0] == "wide is held on 2 clusters, nothing else changes"
    assert document["subjects"][0]["weight"] == "held"
    assert document["subjects"][0]["asBefore"] == ["unfulfilled"]
    assert "not fulfilled, as before: " in text("plan", folder)
    assert "as before: 1 placement held (edge), 1 warning" in text("plan", folder)


def test_one_that_is_asked_for_is_shown(folder: Path) -> None:
    told = text("plan", folder, "--only", "wide")
    assert "nothing changes here" in told
    assert "not fulfilled, as before: " in told


@pytest.mark.parametrize("long", [False, True], ids=["retried", "given up"])
def test_of_karmada(tmp_path: Path, long: bool) -> None:
    nowhere = (
        on("d")
        if long
        else {**on("a", "b"), "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 3}]}
    )
    hub = (*KARMADA[:-2], deployment(4, "web:1"), policy(placement=nowhere))
    write_observation(tmp_path / "hub", observed(hub, SYSTEMS["karmada"]), update=False)
    document = plan(tmp_path / "hub")
    assert document["headline"][0] == "nothing changes"
    assert conditions(document) == {"unfulfilled": ["Template/shop/Deployment/web"], "held": []}
    assert "as before: 1 template unfulfilled (shop/Deployment/web)" in text(
        "plan", tmp_path / "hub"
    )


def test_members_that_no_longer_match_are_told_in_full(tmp_path: Path) -> None:
    labelled = [
        {**item, "metadata": {**item["metadata"], "labels": {"at": "home"}}} for item in KARMADA[:3]
    ]
    placement = {"clusterAffinity": {"labelSelector": {"matchLabels": {"at": "home"}}}}
    hub = (*labelled, *KARMADA[3:-2], deployment(4, "web:1"), policy(placement=placement))
    write_observation(tmp_path / "hub", observed(hub, SYSTEMS["karmada"]), update=False)
    for name in "abc":
        edit(tmp_path / f"hub/members/{name}.yaml", "at: home", "at: sea")
    document = json.loads(run("plan", tmp_path / "hub", "-o", "json").stdout)
    assert "shop/Deployment/web" in document["headline"][0]
    assert "unfulfilled" not in document["subjects"][0]["asBefore"]


def test_an_explanation_tells_the_warnings_of_what_is_asked_for(folder: Path) -> None:
    of_all = run("explain", folder).stderr
    assert "edge" in of_all
    of_wide = run("explain", folder, "wide").stderr
    assert "edge" not in of_wide
    assert "1 warning about the rest of the fleet: fleet plan shows them" in of_wide
    of_edge = run("explain", folder, "edge").stderr
    assert "ClusterResourceOverride edge" in of_edge
    assert "rest of the fleet" not in of_edge
    assert run("explain", folder, "shop", "--strict").exit_code == 3


# Reviews


def reviewed(clone: Clone) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run("review", clone.fleet, "--base", "main", "-o", "json").stdout
    )
    return found


@pytest.mark.samples(1)
@pytest.mark.parametrize("observation", [False, True], ids=["files", "observed"])
def test_a_review_tells_what_both_sides_have_in_a_line(
    observation: bool, tmp_path: Path, of_kubefleet: HubObservation
) -> None:
    clone = Clone(tmp_path / "clone", FLEET if observation else HUB)
    if observation:
        clone.git("checkout", "-q", "main")
        clone.git("rm", "-q", "-r", "fleet")
        write_observation(clone.fleet, of_kubefleet, update=False)
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
    document = reviewed(clone)
    assert document["headline"][0] == "nothing changes"
    assert conditions(document) == STANDING
    told = text("review", clone.fleet, "--base", "main")
    assert LINE in told
    file = clone.fleet / ("objects/shop/ConfigMap.storefront.yaml" if observation else "shop.yaml")
    edit(file, "currency: EUR", "currency: CHF")
    document = reviewed(clone)
    assert (
        document["headline"][0]
        == "2 clusters get new content of shop in 2 waves, nothing else changes"
    )
    assert conditions(document) == STANDING
    assert document["subjects"][0]["key"] == "shop"


def test_warnings_of_both_sides_are_counted(tmp_path: Path) -> None:
    lonely = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lonely, namespace: default}\n"
    clone = Clone(tmp_path / "clone", {**FLEET, "lonely.yaml": lonely})
    document = reviewed(clone)
    assert document["asBefore"]["warnings"] == document["warnings"] != []
    assert "warning" not in document["headline"][2]
    told = run("review", clone.fleet, "--base", "main").stdout
    assert "as before: 1 warning: --all shows them" in told
    assert "lonely" not in told
    (clone.fleet / "another.yaml").write_text(lonely.replace("lonely", "another"))
    told = text("review", clone.fleet, "--base", "main")
    assert "warning: " in told
    assert "another" in told
