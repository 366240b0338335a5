"""``fleet drain``: which files change, that nothing else in them does, and what is said to move."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from fleet_components.content.insertion import UnwritableError, inserted
from tests.cli.fleets import FLEET, PLACEMENT
from tests.delivery.karmada.world import on, policy
from tests.examples.readme import passes
from tests.examples.test_examples import EXAMPLES

TAINT = {"key": "drained", "effect": "NoSchedule"}
LINE = "taints: [{key: drained, effect: NoSchedule}]"
GROUP = "placement.kubernetes-fleet.io/v1beta1"
KARMADA = {
    "apiVersion": "fleet-components/v1",
    "kind": "KarmadaSettings",
    "metadata": {"name": "karmada"},
}
SPARE = FLEET["members.yaml"].replace("environment: test", "environment: production")


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in {**FLEET, "members.yaml": SPARE, **files}.items():
        (folder / name).write_bytes(text.encode())
    return folder


def drained(*args: object) -> Result:
    return CliRunner().invoke(fleet, ["drain", *map(str, args)])


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in folder.iterdir()}


def test_it_shows_what_would_be_written_and_what_moves(tmp_path: Path) -> None:
    folder = written(tmp_path / "fleet")
    before = texts(folder)
    result = drained("dublin", folder)
    assert result.exit_code == 0, result.output
    assert f"\n+  {LINE}\n" in result.output
    assert "+spec: {placementName: shop, clusterName: dublin}" in result.output
    assert "ClusterResourcePlacement/shop: leaves: amsterdam gets it" in result.output
    assert "not written, without --write" in result.stdout
    assert texts(folder) == before


def test_it_writes_one_line_and_one_file_and_then_the_plan_is_the_one_it_showed(
    tmp_path: Path,
) -> None:
    folder = written(tmp_path / "fleet")
    state = tmp_path / "out"
    assert CliRunner().invoke(fleet, ["render", str(folder), "--out", str(state)]).exit_code == 0
    before, told = texts(folder), ["--state", state / "local" / "state.json"]
    shown = drained("dublin", folder, *told, "--write")
    assert shown.exit_code == 0, shown.output
    after = texts(folder)
    assert after.pop("drain-dublin.yaml").count("---") == 0
    dublin, rest = before["members.yaml"].split(
        "spec:\n  identity: {kind: ServiceAccount, name: dublin", 1
    )
    assert (
        after.pop("members.yaml")
        == f"{dublin}spec:\n  {LINE}\n  identity: {{kind: ServiceAccount, name: dublin{rest}"
    )
    assert after == {name: text for name, text in before.items() if name != "members.yaml"}
    planned = CliRunner().invoke(fleet, ["plan", str(folder), *map(str, told)])
    assert planned.output in shown.output
    # Drained already: no line is written twice, and the evictions get other names.
    again = drained("dublin", folder, *told)
    assert f"+  {LINE}" not in again.output
    assert "metadata: {name: drain-dublin-shop-2}" in again.output


def test_the_example_says_what_the_command_says(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "drain", tmp_path / "drain")
    result = drained("aks-paris", folder, "--write")
    assert "ClusterResourcePlacement/test-ns: leaves: aks-dublin gets it\n" in result.output
    assert "ClusterResourcePlacement/agent: stays: its policy is PickFixed" in result.output
    assert "ClusterResourcePlacement/dns: stays: it tolerates the taint" in result.output
    told = passes(EXAMPLES / "drain")[0]
    assert texts(folder)["members.yaml"] == told["members.yaml"]
    assert told["placement.yaml"].endswith(texts(folder)["drain-aks-paris.yaml"])


def test_what_stays_is_said_with_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # which workers of a suite set

    def named(name: str, old: str, new: str) -> str:
        text = PLACEMENT.replace("metadata: {name: shop}", f"metadata: {{name: {name}}}")
        assert old in text
        return text.replace(old, new).replace(
            "kind: Namespace, name: shop}", f"kind: Namespace, name: {name}}}"
        )

    fixed = named(
        "fixed", PLACEMENT[PLACEMENT.index("    placementType") : PLACEMENT.index("  strategy")], ""
    )
    fixed = fixed.replace(
        "  policy:\n", "  policy: {placementType: PickFixed, clusterNames: [dublin]}\n"
    )
    calm = named(
        "calm",
        "    numberOfClusters: 2\n",
        "    numberOfClusters: 2\n    tolerations: [{operator: Exists}]\n",
    )
    guarded = named("guarded", "", "")
    budget = f"apiVersion: {GROUP}\nkind: ClusterResourcePlacementDisruptionBudget\nmetadata: {{name: guarded}}\n"
    budget += "spec: {minAvailable: 2}\n"
    namespaced = PLACEMENT.replace(
        "ClusterResourcePlacement\nmetadata: {name: shop}",
        "ResourcePlacement\nmetadata: {name: maps, namespace: shop}",
    )
    namespaced = namespaced.replace(
        '{group: "", version: v1, kind: Namespace, name: shop}',
        '{group: "", version: v1, kind: ConfigMap, name: storefront}',
    )
    namespaces = "---\n".join(
        f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
        for name in ("fixed", "calm", "guarded")
    )
    scope = PLACEMENT.replace(
        "kind: Namespace, name: shop}",
        "kind: Namespace, name: shop, selectionScope: NamespaceOnly}",
    )
    folder = written(tmp_path / "fleet")
    files = {"fixed": fixed, "calm": calm, "guarded": guarded, "budget": budget}
    for name, text in {**files, "maps": namespaced, "all": namespaces, "placement": scope}.items():
        (folder / f"{name}.yaml").write_text(text)
    result = drained("dublin", folder)
    assert result.exit_code == 0, result.output
    assert "ClusterResourcePlacement/calm: stays: it tolerates the taint drained\n" in result.output
    assert (
        "ClusterResourcePlacement/fixed: stays: its policy is PickFixed; take the member out of clust"
        in result.output
    )
    assert (
        "ResourcePlacement/shop/maps: stays: KubeFleet evicts from ClusterResourcePlacements only"
        in result.output
    )
    assert (
        "ClusterResourcePlacement/guarded: eviction drain-dublin-guarded: dublin is not evicted: "
        in result.output
    )
    assert "availablePlacements: 2, totalPlacements: 2; minAvailable: 1 lets it go" in result.output
    assert "ClusterResourcePlacement/shop: leaves: amsterdam gets it\n" in result.output
    assert "placementName: calm" not in result.output


def test_a_fleet_in_one_file_gets_its_evictions_there(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    text = "---\n".join(
        [SPARE, *(FLEET[name] for name in ("shop.yaml", "placement.yaml"))]
    ).replace("\n", "\r\n")
    file.write_bytes(text.encode())
    assert drained("dublin", file, "--write").exit_code == 0
    changed = file.read_bytes().decode()
    assert changed.replace(f"  {LINE}\r\n", "", 1).startswith(text)
    assert "name: drain-dublin-shop" in changed
    assert CliRunner().invoke(fleet, ["plan", str(file)]).exit_code == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"spec": {}, $}',
            '{"spec": {"taints": [{"key": "drained", "effect": "NoSchedule"}]}, $}',
        ),
        ("$\nspec:\n  # why\n  taints:\n    # one\n    - key: a\n", None),
        (
            "$\nspec: {taints: [{key: a}]}\n",
            "$\nspec: {taints: [{key: drained, effect: NoSchedule}, {key: a}]}\n",
        ),
        ("$\n", "spec: {taints: [{key: drained, effect: NoSchedule}]}\n$\n"),
        ("$\r\nspec:\r\n  a: 1\r\n", f"$\r\nspec:\r\n  {LINE}\r\n  a: 1\r\n"),
    ],
)
def test_every_other_byte_stays(text: str, expected: str | None) -> None:
    member = (
        "kind: MemberCluster, metadata: {name: a}"
        if text[0] == "{"
        else "kind: MemberCluster\nmetadata: {name: a}"
    )
    dashed = "$\nspec:\n  # why\n  taints:\n    # one\n    - {key: drained, effect: NoSchedule}\n    - key: a\n"
    found = inserted(text.replace("$", member), "MemberCluster", "a", ("spec", "taints"), TAINT)
    assert found == (expected or dashed).replace("$", member)


def test_json_stays_json() -> None:
    data: dict[str, Any] = {
        "kind": "MemberCluster",
        "metadata": {"name": "a"},
        "spec": {"identity": {}},
    }
    text = inserted(
        json.dumps({"kind": "List", "items": [data]}),
        "MemberCluster",
        "a",
        ("spec", "taints"),
        TAINT,
    )
    assert json.loads(text)["items"] == [{**data, "spec": {"identity": {}, "taints": [TAINT]}}]


@pytest.mark.parametrize(
    "spec", ["spec: &shared {a: 1}\nother: *shared\n", "spec:\n", "x: &s {a: 1}\nspec: *s\n"]
)
def test_what_others_share_or_what_is_empty_is_not_changed(spec: str) -> None:
    with pytest.raises(UnwritableError):
        inserted(
            f"kind: MemberCluster\nmetadata: {{name: a}}\n{spec}",
            "MemberCluster",
            "a",
            ("spec", "taints"),
            TAINT,
        )


def test_a_project_is_drained_where_its_stack_says_that_its_source_is(tmp_path: Path) -> None:
    written(tmp_path / "fleet")
    (tmp_path / "Pulumi.yaml").write_text("name: web\nruntime: python\n")
    (tmp_path / "__main__.py").write_text("raise SystemExit('not run')\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  fleet:source: fleet\n")
    result = drained("dublin", tmp_path, "--stack", "dev", "--write")
    assert result.exit_code == 0, result.output
    assert "shop: leaves: amsterdam gets it" in result.output
    assert (tmp_path / "fleet" / "drain-dublin.yaml").is_file()
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    refused = drained("dublin", tmp_path, "--stack", "dev")
    assert refused.exit_code == 1
    assert (
        "says no fleet:source: its program makes the fleet, in which no file can be changed"
        in refused.stderr
    )


def test_a_member_that_is_not_there_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    result = drained("dublim", written(tmp_path / "fleet"))
    assert result.exit_code == 1
    assert 'there is no member "dublim"\n  hint: did you mean dublin?' in result.stderr


def karmada(folder: Path, *more: dict[str, Any]) -> Path:
    clusters = [
        {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": name},
            "spec": {"syncMode": "Push"},
        }
        for name in ("east", "west")
    ]
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rates", "namespace": "pay"},
        "data": {},
    }
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "rates"}]
    spread = {
        **on("east", "west"),
        "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
    }
    rates = policy("rates", resourceSelectors=selectors, placement=spread)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay"}}
    objects = [
        *clusters,
        config,
        space,
        {**rates, "metadata": {"name": "rates", "namespace": "pay"}},
        *more,
    ]
    folder.mkdir()
    (folder / "fleet.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    return folder


def test_what_karmada_has_placed_needs_a_taint_that_evicts(tmp_path: Path) -> None:
    refused = drained("east", karmada(tmp_path / "without"))
    assert refused.exit_code == 1
    assert "no taint moves what Karmada has placed there: pay/ConfigMap/rates" in refused.stderr
    assert "hint: write noExecuteEviction: true in a KarmadaSettings" in refused.stderr
    settings = {**KARMADA, "spec": {"noExecuteEviction": True}}
    done = drained("east", karmada(tmp_path / "with", settings))
    assert done.exit_code == 0, done.output
    assert '"effect": "NoExecute"' in done.output
    assert "Template/pay/ConfigMap/rates: " in done.output
    assert "west gets it" in done.output
