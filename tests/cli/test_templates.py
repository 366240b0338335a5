"""What the commands say of the templates that Karmada's policies place, and what they refuse to render."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.fleets import export, run
from tests.cli.karmada_fleet import SECRET, WEB, RenderedFleet, divided, said, secret, tree
from tests.delivery.karmada.world import deployment, member, on, policy, weights

EXAMPLES = Path(__file__).parents[2] / "examples"
PRIORITY, WEIGHTS = EXAMPLES / "karmada-explicit-priority", EXAMPLES / "karmada-static-weights"
KEY = "default/Deployment/nginx"


@pytest.fixture
def world(tmp_path: Path) -> RenderedFleet:
    return divided(tmp_path)


def test_a_plan_shows_who_has_a_template_and_where_it_goes() -> None:
    text = said("plan", PRIORITY)
    assert f"Template {KEY}" in text
    assert (
        "its priority 1 is lower than 2 of PropagationPolicy default/propagation-high-explicit-priority"
        in text
    )
    assert (
        "not picked: member2, member3: cluster(s) did not match the placement cluster affinity constraint"
        in text
    )
    assert text.endswith("1 template on 3 members: 1 joins\n")


def test_fits_a_narrow_terminal() -> None:
    for command in ("plan", "explain"):
        text = run(command, PRIORITY, width=50).stdout
        assert max(map(len, text.splitlines())) <= 50
        assert (
            "  PropagationPolicy\n    default/propagation-high-explicit-priority\n    claims it: "
            in text
        )


def test_a_plan_as_json_has_the_templates() -> None:
    document = json.loads(said("plan", WEIGHTS, "-o", "json"))
    (template,) = document["subjects"]
    shares = {cluster["name"]: cluster["replicas"]["new"] for cluster in template["clusters"]}
    assert shares == {"member1": 2, "member2": 2}
    assert {cluster["change"] for cluster in template["clusters"]} == {"joins"}
    assert document["totals"]["joins"] == 2


def test_a_comment_on_a_pull_request_has_the_templates() -> None:
    text = said("plan", WEIGHTS, "-o", "markdown")
    assert f"<summary>Template <b>{KEY}</b>: 2 join</summary>" in text
    assert "| member1 | joins | 1 | -> 2 | -> 0 | has 2 of 4 replicas |" in text
    assert "- PropagationPolicy default/nginx-propagation claims it: selects it by name" in text


def test_an_explanation_tells_the_division_in_words() -> None:
    (template,) = json.loads(said("explain", WEIGHTS, KEY, "-o", "json"))["subjects"]
    assert template["division"]
    assert template["division"][0] in said("explain", WEIGHTS, KEY)


def test_an_explanation_of_one_member() -> None:
    text = said("explain", WEIGHTS, KEY, "member3")
    assert "member3  could take it, but 2 others are chosen" in text
    assert "member1  " not in text
    assert 'there is no member "member9"' in run("explain", WEIGHTS, KEY, "member9").stderr
    wrong = run("explain", WEIGHTS, "default/Deployment/ngnix").stderr
    assert f"did you mean {KEY}?" in wrong


def test_labels_that_no_member_has_are_told_with_what_they_have(tmp_path: Path) -> None:
    world = RenderedFleet(tmp_path)
    world.world.members = {
        name: member(name, labels={"env": env}) for name, env in (("a", "test"), ("b", "stage"))
    }
    affinity = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
    world.write(web=deployment(), policy=policy(placement=affinity))
    assert "no member has env=prod; for env the members have stage (1), test (1)" in said(
        "explain", world.folder
    )


def test_a_project_shows_its_templates(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(
        'from fleet_components import Fleet\n\nFleet.from_config("dev")\n'
    )
    (tmp_path / "Pulumi.dev.yaml").write_text(
        f"config:\n  fleet:source: {WEIGHTS}\n  fleet:render: out\n"
    )
    plan = json.loads(said("plan", tmp_path, "-o", "json"))
    assert [template["key"] for template in plan["subjects"]] == [KEY]
    assert {r["change"] for r in plan["resources"]} == {"create"}
    assert plan["messages"] == []


def test_the_decisions_are_bindings_of_the_api(world: RenderedFleet) -> None:
    world.render()
    documents = list(yaml.safe_load_all((world.root / "out/local/decisions.yaml").read_text()))
    found = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    assert set(found) == {
        ("ResourceBinding", "web-deployment"),
        ("ResourceBinding", "pay-secret"),
        ("ClusterResourceBinding", "shop-namespace"),
    }
    web = found["ResourceBinding", "web-deployment"]
    assert web["apiVersion"] == "work.karmada.io/v1alpha2"
    assert web["metadata"]["annotations"]["propagationpolicy.karmada.io/name"] == "web"
    assert web["spec"]["clusters"] == [{"name": "a", "replicas": 3}, {"name": "b", "replicas": 1}]
    assert (web["status"]["conditions"][0]["type"], web["status"]["conditions"][0]["status"]) == (
        "Scheduled",
        "True",
    )
    required = found["ResourceBinding", "pay-secret"]["spec"]["requiredBy"]
    assert required == [
        {"name": "web-deployment", "namespace": "shop", "clusters": [{"name": "a"}, {"name": "b"}]}
    ]


def test_secrets_are_not_written_unless_asked_for(world: RenderedFleet) -> None:
    path = "a/1-manifest/v1-secret-shop-pay.yaml"
    hidden = world.render()
    assert yaml.safe_load(hidden[path])["stringData"] == {"token": "[secret]"}
    assert SECRET not in "".join(tree(world.root / "out").values())
    assert SECRET not in json.dumps(contents(world.state_file()))
    shown = world.render("--show-secrets")
    assert yaml.safe_load(shown[path])["stringData"] == {"token": SECRET}
    assert world.render() == hidden


def contents(state: Path) -> list[Any]:
    from fleet_components.content.revision import decompress

    resources = json.loads(state.read_text())["resources"].values()
    texts = [
        text for resource in resources for text in resource["outputs"].get("contents", {}).values()
    ]
    assert texts
    return [decompress(text) for text in texts]


def test_data_that_the_last_render_did_not_show_are_not_made_up(world: RenderedFleet) -> None:
    """A suspended member keeps a Secret whose old data nobody knows: better refused than written as [secret]."""
    selector = [{"apiVersion": "v1", "kind": "Secret", "name": "pay"}]
    world.write(policy=policy(resourceSelectors=selector, placement=on("a")), web=None)
    world.render()
    suspended = policy(
        resourceSelectors=selector, placement=on("a"), suspension={"dispatching": True}
    )
    world.write(policy=suspended, secret=secret("new", more="new"))
    refused = run("render", world.folder, "--out", world.root / "out", "--show-secrets")
    assert refused.exit_code == 1
    assert (
        "Secret shop/pay: stays as it is on a, and the last render does not show its data"
        in refused.stderr
    )
    kept = yaml.safe_load(world.render()["a/1-manifest/v1-secret-shop-pay.yaml"])
    assert kept["stringData"] == {"token": "[secret]"}


def test_an_object_that_an_override_renames_onto_another_is_refused(world: RenderedFleet) -> None:
    rename = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "rename", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}],
            "overrideRules": [
                {
                    "overriders": {
                        "plaintext": [
                            {"path": "/metadata/name", "operator": "replace", "value": "web"}
                        ]
                    }
                }
            ],
        },
    }
    selector = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    world.write(
        other=deployment(name="other"),
        rename=rename,
        policy=policy(resourceSelectors=selector, placement=on("a")),
    )
    refused = run("render", world.folder, "--out", world.root / "out")
    assert refused.exit_code == 3
    both = (
        f"Deployment shop/web: is brought to a by Template/shop/Deployment/other and Template/{WEB}"
    )
    assert both in refused.stderr
    assert not (world.root / "out").exists()
    planned = run("plan", world.folder)
    assert planned.exit_code == 3
    assert both in planned.stdout


def test_all_overrides_that_do_not_apply_are_told(world: RenderedFleet) -> None:
    def broken(name: str) -> dict[str, Any]:
        patch = [{"path": "/spec/none/of/it", "operator": "replace", "value": 1}]
        return {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "OverridePolicy",
            "metadata": {"name": f"bad-{name}", "namespace": "shop"},
            "spec": {
                "resourceSelectors": [
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
                ],
                "overrideRules": [{"overriders": {"plaintext": patch}}],
            },
        }

    world.write(
        override=broken("web"),
        second=broken("other"),
        other=deployment(name="other"),
        policy=policy(
            resourceSelectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement=on("a")
        ),
    )
    for source in (world.folder, world.root / "project"):
        told = run("plan", source, "--strict")
        assert told.exit_code == 3
        assert "refused by --strict" in told.stderr
        assert all(
            f"OverridePolicy shop/bad-{name}: spec.overrideRules" in told.stdout
            for name in ("web", "other")
        )


@pytest.mark.parametrize("frozen", [False, True])
def test_what_an_encrypted_state_hides_is_not_made_up(world: RenderedFleet, frozen: bool) -> None:
    world.up()
    assert world.done
    state = world.root / "export.json"
    state.write_text(json.dumps(export(world.done, encrypted=True)))
    project = world.root / "project"
    unchanged = json.loads(said("plan", project, "--all", "--state", state, "-o", "json"))
    assert {c["change"] for t in unchanged["subjects"] for c in t["clusters"]} == {"stays"}
    suspended = policy(
        placement={**on("a", "b"), **weights(a=3, b=1)}, suspension={"dispatching": True}
    )
    world.write(policy=None if frozen else suspended, web=deployment(4, "web:2"))
    planned = run("plan", project, "--state", state)
    # Without a policy the content is needed to decide; with one, only what the member keeps is not compared.
    assert planned.exit_code == (1 if frozen else 0)
    text = planned.stdout + planned.stderr
    assert f"{WEB}: " in text
    assert "the state does not show" in text
    assert "pulumi stack export --show-secrets" in text


def test_a_template_that_nothing_takes_is_warned_of(world: RenderedFleet) -> None:
    world.write(policy=policy(placement=on("nowhere")))
    result = run("render", world.folder, "--out", world.root / "out")
    assert f"warning: Template {WEB}: 0/3 clusters are available" in result.stderr
    assert (
        "1 template on 3 members: nothing is placed" in result.stdout
        or "templates on 3 members" in result.stdout
    )


def test_a_member_is_not_picked_where_no_policy_is_left(world: RenderedFleet) -> None:
    world.render()
    world.write(policy=None)
    text = said("plan", world.folder, "--state", world.state_file())
    assert "  not picked: c: nothing asks for it there\n" in text
