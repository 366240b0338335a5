"""What overrides change on each member, in the plan, in its views and in explanations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_components.content.revision import decompress
from tests.cli.fleets import edit, plan, run, write
from tests.cli.test_looks import golden

OVERRIDES = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ResourceOverride
metadata: {name: edge, namespace: shop}
spec:
  resourceSelectors:
  - {group: apps, version: v1, kind: Deployment, name: storefront}
  - {group: "", version: v1, kind: ConfigMap, name: storefront}
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: []}
      jsonPatchOverrides:
      - {op: add, path: /metadata/annotations, value: {at: shop}}
    - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {environment: production}}}]}
      jsonPatchOverrides:
      - {op: add, path: /metadata/annotations/tier, value: gold}
"""
INTO_SECRET = """\
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ResourceOverride
metadata: {name: token, namespace: shop}
spec:
  resourceSelectors:
  - {group: "", version: v1, kind: Secret, name: payment}
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: []}
      jsonPatchOverrides:
      - {op: replace, path: /stringData/token, value: planted}
"""
EDGE = "ResourceOverride shop/edge"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet with overrides; the working directory."""
    monkeypatch.chdir(write(tmp_path / "fleet"))
    Path("overrides.yaml").write_text(OVERRIDES)
    return tmp_path / "fleet"


@pytest.fixture
def state(folder: Path) -> str:
    """What its first render has left, and that the override has changed since."""
    assert run("render", ".", "--out", "../out").exit_code == 0
    edit(Path("overrides.yaml"), "value: gold", "value: silver")
    return "../out/local/state.json"


def shop(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in document["subjects"] if item["key"] == "shop")
    return found


def test_members_with_equal_changes_share_an_entry_that_names_every_rule(folder: Path) -> None:
    (group,) = shop(plan("."))["overridden"]
    assert (group["members"], group["moving"]) == (["amsterdam", "dublin"], ["amsterdam", "dublin"])
    deployment = next(
        item for item in group["objects"] if item["object"] == "Deployment shop/storefront"
    )
    assert deployment["deleted"] is None
    assert deployment["fields"] == [
        {
            "field": "metadata.annotations.at",
            "old": None,
            "new": "shop",
            "by": {"override": EDGE, "rule": 0, "source": "overrides.yaml:10"},
        },
        {
            "field": "metadata.annotations.tier",
            "old": None,
            "new": "gold",
            "by": {"override": EDGE, "rule": 1, "source": "overrides.yaml:13"},
        },
    ]


def test_a_changed_rule_shows_the_old_objects_against_the_new_ones(
    folder: Path, state: str
) -> None:
    found = shop(plan(".", "--state", state))
    (change,) = [item for item in found["content"] if item["object"].startswith("Deployment")]
    assert change["members"] == ["amsterdam", "dublin"]
    assert change["fields"] == [
        {"field": "metadata.annotations.tier", "old": "gold", "new": "silver"}
    ]
    assert all(
        f"{EDGE} changes" in item["why"]
        for item in found["clusters"]
        if item["change"] == "updated"
    )
    assert found["revision"] == {"old": 0, "new": 0}


def test_a_held_member_shows_the_rules_that_it_has(folder: Path, state: str) -> None:
    edit(Path("overrides.yaml"), "path: /metadata/annotations/tier", "path: /metadata/labels/tier")
    result = run("plan", ".", "--state", state, "--strict", "-o", "json")
    assert result.exit_code == 3
    found = shop(json.loads(result.stdout))
    held = [item for item in found["clusters"] if item["change"] == "held"]
    assert [item["name"] for item in held] == ["amsterdam", "dublin"]
    assert all(
        f"{EDGE}: spec.policy.overrideRules[1].jsonPatchOverrides[0]: fails on {item['name']} for"
        in item["why"]
        for item in held
    )
    assert any(
        "overrides.yaml:15" in text and "fails on amsterdam, dublin" in text
        for text in found["warnings"]
    )
    (group,) = found["overridden"]
    assert group["moving"] == []
    assert {field["new"] for item in group["objects"] for field in item["fields"]} >= {"gold"}


def test_what_a_rule_writes_into_a_secret_is_hidden(folder: Path) -> None:
    Path("overrides.yaml").write_text(OVERRIDES + INTO_SECRET)
    views = (("plan", ".", "--diff"), ("plan", ".", "-o", "markdown"), ("explain", ".", "shop"))
    assert all("planted" not in run(*view).stdout for view in views)
    (group,) = shop(plan("."))["overridden"]
    (secret,) = [item for item in group["objects"] if item["object"].startswith("Secret")]
    hidden = [field for field in secret["fields"] if not field["field"].startswith("metadata")]
    assert hidden
    assert {field["new"] for field in hidden} == {"[secret]"}


def test_many_members_with_values_of_their_own_share_a_line(folder: Path) -> None:
    named = [f"m{number}" for number in range(9)]
    member = (
        "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\nmetadata: {{name: {}}}\n"
    )
    spec = "spec:\n  identity: {kind: User, name: agent}\n"
    Path("members.yaml").write_text("---\n".join(member.format(name) + spec for name in named))
    Path("placement.yaml").write_text(Path("placement.yaml").read_text().partition("  policy:")[0])
    edit(Path("overrides.yaml"), "{at: shop}", '{at: "${MEMBER-CLUSTER-NAME}"}')
    edit(Path("overrides.yaml"), "{environment: production}", "{environment: none}")
    assert len(shop(plan("."))["overridden"]) == 9
    text = run("plan", ".").stdout
    assert text.count("overridden on") == 1
    assert "overridden on m0, m1, m2, m3, m4 and 4 more: ConfigMap shop/storefront" in text
    whole = run("plan", ".", "--diff").stdout
    assert all(f'{{"at": "{name}"}} (' in whole for name in named)


def test_an_explanation_names_the_rule_behind_each_field(folder: Path) -> None:
    document = json.loads(run("explain", ".", "shop", "-o", "json").stdout)
    members = {item["name"]: item["overridden"] for item in document["subjects"][0]["members"]}
    assert members["iowa"] == []
    assert members["amsterdam"] == shop(plan("."))["overridden"][0]["objects"]


LOOKS = {
    "overrides": ("plan", "."),
    "overrides-changed": ("plan", ".", "--state", "../out/local/state.json"),
    "overrides-explain": ("explain", ".", "shop"),
    "overrides-explain-all": ("explain", "."),
}


@pytest.mark.parametrize("name", LOOKS)
def test_views(folder: Path, state: str, name: str) -> None:
    for width in (80, 140):
        text = run(*LOOKS[name], width=width).stdout
        assert max(map(len, text.splitlines())) <= width
        golden(f"{name}-{width}.txt", text)
    golden(f"{name}-piped.txt", run(*LOOKS[name]).stdout)
    if LOOKS[name][0] == "plan":
        golden(f"{name}.md", run(*LOOKS[name], "-o", "markdown").stdout)


OF_ALL = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourceOverride
metadata: {name: labels}
spec:
  placement: {name: shop}
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: []}
      jsonPatchOverrides: [{op: add, path: /metadata/labels, value: {env: prod}}]
"""


def test_a_rule_for_labels_is_known_where_a_secret_gets_them_too(folder: Path) -> None:
    Path("overrides.yaml").write_text(OF_ALL)
    assert run("plan", ".", "--save-state", "../saved.json").exit_code == 0
    edit(Path("shop.yaml"), "nginx:1.27.5", "nginx:1.28.0")
    result = run("plan", ".", "--state", "../saved.json", "-o", "json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["subjects"]
    assert [item["object"] for item in found["content"]] == ["Deployment shop/storefront"]
    edit(Path("shop.yaml"), "nginx:1.28.0", "nginx:1.27.5")
    edit(Path("overrides.yaml"), "{env: prod}", "{env: test}")
    (found,) = json.loads(run("plan", ".", "--state", "../saved.json", "-o", "json").stdout)[
        "subjects"
    ]
    assert {item["object"] for item in found["content"]} >= {
        "Secret shop/payment",
        "Deployment shop/storefront",
    }


OF_SECRET = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ResourceOverride
metadata: {name: token, namespace: shop}
spec:
  placement: {name: shop}
  resourceSelectors: [{group: "", version: v1, kind: Secret, name: payment}]
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: []}
      jsonPatchOverrides: [{op: add, path: PATH, value: canary-of-a-rule}]
"""


@pytest.mark.parametrize(
    ("path", "kept"), [("/stringData/token", 0), ("/dtaa", 0), ("/metadata/labels/app", 1)]
)
def test_what_a_rule_writes_into_the_data_of_a_secret_is_in_no_state(
    folder: Path, path: str, kept: int
) -> None:
    edit(
        Path("shop.yaml"),
        "{name: payment, namespace: shop}",
        "{name: payment, namespace: shop, labels: {a: b}}",
    )
    Path("overrides.yaml").write_text(OF_SECRET.replace("PATH", path))
    assert run("plan", ".", "--save-state", "../saved.json").exit_code == 0
    records = json.loads(Path("../saved.json").read_text())["resources"].values()
    contents = [
        text for record in records for text in (record["outputs"].get("contents") or {}).values()
    ]
    assert str([decompress(text) for text in contents]).count("canary-of-a-rule") == kept
