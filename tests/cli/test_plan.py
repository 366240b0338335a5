"""``fleet plan`` on directories: what happens to whom, from which past, and in which form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.fleets import FLEET, PLACEMENT, SECRET, clusters, edit, plan, run, write

EXAMPLES = Path(__file__).parents[2] / "examples"
MANY = "{key: maintenance, operator: Exists}"
TOLERATES = f"    tolerations: [{MANY}]\n    affinity:\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "fleet")


@pytest.fixture
def state(folder: Path, tmp_path: Path) -> Path:
    """The state after a first render."""
    assert run("render", folder, "--out", tmp_path / "out").exit_code == 0
    return tmp_path / "out" / "local" / "state.json"


def shop(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["subjects"][0]
    return found


IMAGE = """\
@@ spec.template.spec.containers[0] @@
         app: storefront
     spec:
       containers:
-      - image: nginx:1.27.5
+      - image: nginx:1.28.0
         name: storefront
"""


def test_on_a_new_fleet_everybody_joins(folder: Path) -> None:
    document = plan(folder)
    assert clusters(document) == {"amsterdam": "joins", "dublin": "joins"}
    assert document["totals"] == {"joins": 2, "updated": 0, "leaves": 0, "held": 0, "stays": 0}
    assert document["state"] is None
    assert shop(document)["revision"] == {"old": None, "new": 0}


def test_nothing_changes_without_a_change(folder: Path, state: Path) -> None:
    document = plan(folder, "--state", state)
    assert clusters(document) == {"amsterdam": "stays", "dublin": "stays"}
    assert shop(document)["content"] == []


def test_a_new_content_goes_wave_by_wave(folder: Path, state: Path) -> None:
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    found = shop(plan(folder, "--state", state))
    assert [(c["name"], c["change"], c["wave"], c["revision"]) for c in found["clusters"]] == [
        ("amsterdam", "updated", 1, {"old": 0, "new": 1}),
        ("dublin", "updated", 2, {"old": 0, "new": 1}),
    ]
    assert found["content"] == [
        {
            "object": "Deployment shop/storefront",
            "change": "update",
            "later": False,
            "unknown": False,
            "fate": None,
            "takenUp": False,
            "fields": [
                {
                    "field": "spec.template.spec.containers[0].image",
                    "old": "nginx:1.27.5",
                    "new": "nginx:1.28.0",
                }
            ],
            "immutable": [],
            "diff": IMAGE,
            "members": ["amsterdam", "dublin"],
            "envelope": None,
        }
    ]


def test_what_was_decided_stays_although_another_member_is_better_now(
    folder: Path, state: Path
) -> None:
    edit(
        folder / "members.yaml",
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    assert clusters(plan(folder, "--state", state)) == {"amsterdam": "stays", "dublin": "stays"}
    assert clusters(plan(folder)) == {"dublin": "joins", "iowa": "joins"}


def test_a_member_that_is_gone_is_replaced(folder: Path, state: Path) -> None:
    edit(
        folder / "members.yaml",
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    edit(folder / "members.yaml", "name: amsterdam\n", "name: zurich\n")
    document = plan(folder, "--state", state)
    assert clusters(document) == {"iowa": "joins", "amsterdam": "leaves", "dublin": "stays"}
    gone = next(c for c in shop(document)["clusters"] if c["name"] == "amsterdam")
    assert (gone["revision"], gone["wave"]) == ({"old": 0, "new": None}, None)
    assert gone["why"].startswith("no longer a member of the fleet")


def test_a_member_without_budget_is_held(folder: Path, state: Path) -> None:
    edit(folder / "shop.yaml", "currency: EUR", "currency: CHF")
    edit(folder / "placement.yaml", "maxUnavailable: 1", "maxUnavailable: 0")
    document = plan(folder, "--state", state)
    assert clusters(document) == {"amsterdam": "held", "dublin": "held"}
    assert all("maxUnavailable is 0" in c["why"] for c in shop(document)["clusters"])


def test_who_is_not_picked_is_told_with_the_reason(folder: Path) -> None:
    others = shop(plan(folder))["notPicked"]
    assert others["count"] == 2
    assert {other["name"]: other["why"] for other in others["shown"]} == {
        "iowa": "taint &{Key:maintenance Value:true Effect:NoSchedule} cannot be tolerated",
        "virginia": "cluster does not match with any of the required cluster affinity terms",
    }


def test_the_status_has_the_form_of_the_api(folder: Path) -> None:
    edit(folder / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 3")
    status = shop(plan(folder))["status"]
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"]) == (
        "ClusterResourcePlacementScheduled",
        "False",
    )
    assert condition["reason"] == "SchedulingPolicyUnfulfilled"
    assert status["observedResourceIndex"] == "0"
    assert status["selectedResources"][0] == {"version": "v1", "kind": "Namespace", "name": "shop"}
    *picked, missing = status["placementStatuses"]
    assert [item["clusterName"] for item in picked] == ["dublin", "amsterdam"]
    assert picked[0]["conditions"][0]["reason"] == "Scheduled"
    assert "clusterName" not in missing
    assert missing["conditions"][0]["reason"] == "ScheduleFailed"
    decision = status["clusterDecisions"][0]
    assert decision.keys() == {"clusterName", "selected", "clusterScore", "reason"}


def test_yaml_and_json_say_the_same(folder: Path) -> None:
    text = run("plan", folder, "-o", "yaml").stdout
    assert yaml.safe_load(text) == json.loads(run("plan", folder, "-o", "json").stdout)


def test_keys_are_stable(folder: Path) -> None:
    document = plan(folder)
    assert document["version"] == 3
    assert list(document) == [
        *(
            "version",
            "disregarded",
            "headline",
            "view",
            "fleet",
            "state",
            "against",
            "observed",
            "forecast",
            "asOf",
            "members",
            "placements",
            "templates",
            "warned",
            "unsure",
            "secretsHidden",
            "changes",
            "unfulfilled",
            "asBefore",
            "refused",
            "joining",
            "gone",
            "replaced",
            "remaining",
            "subjects",
            "unchanged",
            "leftOut",
            "warnings",
            "totals",
        )
    ]
    assert list(document["gone"]) == ["subjects", "ofFleets", "members", "objects", "summary"]
    assert list(shop(document)) == [
        *(
            "fleet",
            "ofFleet",
            "name",
            "kind",
            "key",
            "weight",
            "asBefore",
            "source",
            "policy",
            "policies",
            "otherPolicies",
            "plugins",
            "decidedBy",
            "delivery",
            "revision",
            "objects",
            "content",
            "uncompared",
            "overridden",
            "departures",
        ),
        *(
            "clusters",
            "staying",
            "notPicked",
            "rollout",
            "division",
            "unfulfilled",
            "hints",
            "due",
            "left",
            "remaining",
        ),
        *(
            "updateRun",
            "evictions",
            "notes",
            "warnings",
            "skipped",
            "requiredBy",
            "status",
            "recorded",
            "unsure",
            "pending",
        ),
    ]
    assert list(shop(document)["clusters"][0]) == [
        *(
            "name",
            "change",
            "wave",
            "rank",
            "revision",
            "replicas",
            "scores",
            "why",
            "opens",
            "unapplied",
        )
    ]


def test_what_goes_wrong_has_stable_keys_too(folder: Path, state: Path) -> None:
    lose_both(folder)
    document = plan(folder, "--state", state, status=3)
    assert list(document["refused"][0]) == [
        *("ofFleet", "subject", "what", "hint", "token", "field", "file", "line"),
    ]
    assert list(document["gone"]["objects"][0]) == ["subject", "member", "object", "fate", "to"]
    assert list(document["gone"]["summary"][0]) == ["weight", "text"]
    assert shop(document)["departures"] == document["gone"]["objects"]


def test_a_template_has_the_keys_of_a_placement(folder: Path) -> None:
    (template,) = plan(EXAMPLES / "karmada-static-weights")["subjects"]
    assert list(template) == list(shop(plan(folder)))
    assert (template["name"], template["kind"]) == (f"Template/{template['key']}", "Template")


@pytest.mark.parametrize("form", ["table", "json", "yaml", "markdown"])
def test_no_secret_is_shown(folder: Path, state: Path, form: str) -> None:
    edit(folder / "shop.yaml", "currency: EUR", "currency: CHF")
    result = run("plan", folder, "--state", state, "-o", form, "--diff")
    assert result.exit_code == 0
    assert SECRET not in result.stdout


def test_a_changed_secret_shows_that_it_changed_and_not_how(folder: Path, tmp_path: Path) -> None:
    assert run("render", folder, "--out", tmp_path / "out", "--show-secrets").exit_code == 0
    edit(folder / "shop.yaml", SECRET, "another-planted")
    result = run("plan", folder, "--state", tmp_path / "out" / "local" / "state.json", "--diff")
    assert "~ Secret shop/payment" in result.stdout
    assert '-  token: "[secret]"' in result.stdout
    assert '+  token: "[secret], changed"' in result.stdout
    assert "planted" not in result.stdout


def test_an_object_of_two_placements_is_refused(folder: Path) -> None:
    (folder / "again.yaml").write_text(PLACEMENT.replace("name: shop}\nspec", "name: again}\nspec"))
    document = plan(folder, status=3)
    refused = {item["subject"]: item for item in document["refused"]}
    assert set(refused) == {
        *(
            "Namespace shop",
            "ConfigMap shop/storefront",
            "Secret shop/payment",
            "Deployment shop/storefront",
        )
    }
    both = "is brought to amsterdam, dublin by ClusterResourcePlacement/again and ClusterResourcePlacement/shop"
    assert refused["Namespace shop"]["what"] == both
    assert "let one of them select it" in refused["Namespace shop"]["hint"]
    assert {item["token"] for item in document["refused"]} == {None}
    assert (
        clusters(document, "again")
        == clusters(document)
        == {"amsterdam": "joins", "dublin": "joins"}
    )


def lose_both(folder: Path) -> None:
    """Take both members that the placement has, at once."""
    for old, new in (("amsterdam", "zurich"), ("dublin", "oslo")):
        edit(folder / "members.yaml", f"name: {old}\n", f"name: {new}\n")
    edit(
        folder / "placement.yaml",
        "maxUnavailable: 1, maxSurge: 1",
        "maxUnavailable: 100%, maxSurge: 100%",
    )


def test_a_great_loss_is_refused_with_the_token(folder: Path, state: Path) -> None:
    lose_both(folder)
    (refused,) = plan(folder, "--state", state, status=3)["refused"]
    assert refused["subject"] == "ClusterResourcePlacement/shop"
    assert "would lose 6 objects on 2 members (amsterdam, dublin), 6 of the 6" in refused["what"]
    assert (
        refused["hint"]
        == f"if that is meant, allow exactly this once: --confirm {refused['token']}"
    )


def test_a_named_member_that_is_not_there_is_warned_of_with_its_line(folder: Path) -> None:
    fixed = "    placementType: PickFixed\n    clusterNames: [dublin, gone]\n"
    before, _, rest = FLEET["placement.yaml"].partition("    placementType: PickN\n")
    (folder / "placement.yaml").write_text(
        before + fixed + "  strategy:" + rest.partition("  strategy:")[2]
    )
    document = plan(folder)
    assert clusters(document) == {"dublin": "joins"}
    (warning,) = shop(document)["warnings"]
    assert (
        "placement.yaml:9: ClusterResourcePlacement shop: spec.policy.clusterNames[1]: there is no member"
        in warning
    )
    assert "gone" in {item["name"] for item in shop(document)["notPicked"]["shown"]}


def test_what_is_skipped_is_told(folder: Path) -> None:
    with (folder / "shop.yaml").open("a") as out:
        out.write("---\napiVersion: v1\nkind: Pod\nmetadata: {name: by-hand, namespace: shop}\n")
    assert [item["object"] for item in shop(plan(folder))["skipped"]] == ["Pod shop/by-hand"]
    assert "skipped: Pod shop/by-hand: " in run("plan", folder).stdout


def test_several_paths_make_one_fleet(tmp_path: Path) -> None:
    write(tmp_path / "a", {"members.yaml": FLEET["members.yaml"]})
    write(tmp_path / "b", {name: FLEET[name] for name in ("shop.yaml", "placement.yaml")})
    document = plan(tmp_path / "a", tmp_path / "b" / "shop.yaml", tmp_path / "b" / "placement.yaml")
    assert clusters(document) == {"amsterdam": "joins", "dublin": "joins"}


def test_observed_members_are_judged_at_the_time_given(folder: Path) -> None:
    observed = """status:
  agentStatus:
  - type: MemberAgent
    lastReceivedHeartbeat: "2026-01-31T12:00:00Z"
    conditions:
    - {type: Joined, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: Joined, message: ""}
    - {type: Healthy, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: Healthy, message: ""}
"""
    edit(
        folder / "members.yaml",
        'status:\n  properties:\n    kubernetes.azure.com/per-cpu-core-cost: {value: "0.058"}\n',
        observed,
    )
    assert set(clusters(plan(folder, "--as-of", "2026-01-31T12:00:30Z"))) == {"amsterdam", "dublin"}
    assert set(clusters(plan(folder, "--as-of", "2026-02-28T12:00:00Z"))) == {"dublin"}


def test_only_a_few_of_many_others_are_told(folder: Path) -> None:
    kind = {"apiVersion": "cluster.kubernetes-fleet.io/v1", "kind": "MemberCluster"}
    spec = {"identity": {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}}
    members = [
        {**kind, "metadata": {"name": f"m{number:03}"}, "spec": spec} for number in range(100)
    ]
    (folder / "more.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": members})
    )
    others = shop(plan(folder))["notPicked"]
    assert (others["count"], len(others["shown"])) == (102, 20)
    assert "82 more: fleet explain tells why" in run("plan", folder).stdout
