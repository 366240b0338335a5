"""Overriding as a whole: order, what one failing rule does, and where its problem is shown."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from fleet_components.content.load import load_text
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import show_path
from fleet_components.systems.karmada.content.override import override
from fleet_components.systems.karmada.model.override import OverridePolicy

_WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.25"}]}}},
}
_EAST, _WEST = (Cluster(name, labels={"site": name}) for name in ("east", "west"))


def _policy(
    name: str, /, *rules: dict[str, Any], cluster_wide: bool = False, **selector: Any
) -> OverridePolicy:
    metadata = {"name": name} if cluster_wide else {"name": name, "namespace": "shop"}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", **selector}]
    spec = {"resourceSelectors": selectors, "overrideRules": list(rules)}
    kind = "ClusterOverridePolicy" if cluster_wide else "OverridePolicy"
    return OverridePolicy.from_manifest(
        Manifest({"kind": kind, "metadata": metadata, "spec": spec})
    )


def _label(value: str, *members: str) -> dict[str, Any]:
    overriders = {"labelsOverrider": [{"operator": "add", "value": {"by": value}}]}
    target = {"targetCluster": {"clusterNames": list(members)}} if members else {}
    return {"overriders": overriders, **target}


def _labels(*policies: OverridePolicy, cluster: Cluster = _EAST) -> list[str]:
    """What each policy, in the order in which they were applied, would have set; the last one stands."""
    done = override(Manifest(_WEB), cluster, policies)
    assert done.data is not None
    return [*(key.name for key in done.applied), done.data["metadata"]["labels"].get("by")]


def test_the_most_precise_policy_of_the_namespace_has_the_last_word() -> None:
    assert _labels(
        _policy("named", _label("named"), name="web"),
        _policy("labelled", _label("labelled"), labelSelector={"matchLabels": {"app": "web"}}),
        _policy("b-all", _label("b-all")),
        _policy("a-all", _label("a-all")),
        _policy("fleet", _label("fleet"), cluster_wide=True, name="web"),
        _policy("other", _label("other"), name="other"),
    ) == ["fleet", "a-all", "b-all", "labelled", "named", "named"]


def test_each_rule_names_the_fields_that_it_has_changed() -> None:
    document = json.dumps({"size": 1})
    farm = Manifest({**_WEB, "data": {"conf": document}})
    rules = (
        {"imageOverrider": [{"component": "Tag", "operator": "replace", "value": "2"}]},
        {"commandOverrider": [{"containerName": "web", "operator": "add", "value": ["run"]}]},
        {"labelsOverrider": [{"operator": "add", "value": {"app": "web", "by": "p"}}]},
        {"annotationsOverrider": [{"operator": "replace", "value": {"none": "x"}}]},
        {"plaintext": [{"path": "/spec/paused", "operator": "add", "value": True}]},
        {"fieldOverrider": [_in_conf("/size", 2)]},
        {
            "plaintext": [
                {
                    "path": "/spec/template/spec/containers/0",
                    "operator": "add",
                    "value": {"name": "side"},
                }
            ]
        },
    )
    done = override(farm, _EAST, [_policy("p", *({"overriders": rule} for rule in rules))])
    assert [(it.override, it.rule, *map(show_path, it.fields)) for it in done.steps] == [
        ("OverridePolicy shop/p", 0, "spec.template.spec.containers[0].image"),
        ("OverridePolicy shop/p", 1, "spec.template.spec.containers[0].command"),
        ("OverridePolicy shop/p", 2, "metadata.labels.by"),
        ("OverridePolicy shop/p", 3),
        ("OverridePolicy shop/p", 4, "spec.paused"),
        ("OverridePolicy shop/p", 5, "data.conf"),
        # An item before the others moves them, and lists are compared item by item.
        ("OverridePolicy shop/p", 6, *(f"spec.template.spec.containers{it}" for it in _MOVED)),
    ]


_MOVED = ("[0].command", "[0].image", "[0].name", "[1]")


def _in_conf(path: str, value: Any) -> dict[str, Any]:
    return {
        "fieldPath": "/data/conf",
        "json": [{"subPath": path, "operator": "replace", "value": value}],
    }


def test_a_rule_may_be_for_some_members_only() -> None:
    policy = _policy("p", _label("all"), _label("west", "west"))
    assert _labels(policy) == ["p", "all"]
    assert _labels(policy, cluster=_WEST) == ["p", "p", "west"]


def test_a_rename_in_the_first_kind_decides_what_the_second_selects() -> None:
    path = {"path": "/metadata/labels/app", "operator": "replace", "value": "shop"}
    renaming = _policy("first", {"overriders": {"plaintext": [path]}}, cluster_wide=True)
    by_label = _policy("second", _label("second"), labelSelector={"matchLabels": {"app": "shop"}})
    assert _labels(renaming, by_label) == ["first", "second", "second"]


def test_the_object_itself_stays_as_it_was() -> None:
    before = deepcopy(_WEB)
    image = {"imageOverrider": [{"component": "Tag", "operator": "replace", "value": "2"}]}
    done = override(Manifest(_WEB), _EAST, [_policy("p", {"overriders": image}, _label("x"))])
    assert before == _WEB
    assert json.dumps(done.data).count("nginx:2") == 1


_FAILING = """\
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: tune, namespace: shop}
spec:
  overrideRules:
  - overriders:
      labelsOverrider: [{operator: add, value: {by: tune}}]
  - targetCluster: {clusterNames: [east]}
    overriders:
      plaintext: [{path: /spec/paused, operator: remove}]
"""


def test_a_failing_rule_keeps_the_object_from_its_member_alone() -> None:
    policy = OverridePolicy.from_manifest(load_text(_FAILING, "tune.yaml")[0])
    done = override(Manifest(_WEB), _EAST, [policy])
    assert (done.data, done.applied) == (None, ())
    assert [event.reason for event in done.events] == [
        "ApplyOverridePolicySucceed",
        "ApplyOverridePolicyFailed",
    ]
    assert str(done.problem) == (
        "tune.yaml:9: OverridePolicy shop/tune: spec.overrideRules[1].overriders: "
        "error in remove for path: '/spec/paused': unable to remove nonexistent key: paused: missing value "
        "(change the rule, or exclude east from it with targetCluster)"
    )
    elsewhere = override(Manifest(_WEB), _WEST, [policy])
    assert elsewhere.problem is None
    assert [key.name for key in elsewhere.applied] == ["tune"]


def _many(count: int) -> Manifest:
    containers = [{"name": f"c{number}", "image": f"web{number}:1"} for number in range(count)]
    return Manifest({**_WEB, "spec": {"template": {"spec": {"containers": containers}}}})


def test_the_words_of_a_container_are_changed_in_order_and_no_other_ones() -> None:
    words = [
        {"containerName": name, "operator": operator, "value": [word]}
        for name, operator, word in (
            ("c0", "add", "-a"),
            ("c1", "add", "-b"),
            ("c0", "add", "-c"),
            ("c0", "remove", "-a"),
        )
    ]
    done = override(_many(3), _EAST, [_policy("p", {"overriders": {"argsOverrider": words}})])
    assert done.data is not None
    containers = done.data["spec"]["template"]["spec"]["containers"]
    assert [container.get("args") for container in containers] == [["-c"], ["-b"], None]


def test_changes_of_images_have_a_limit_that_is_named() -> None:
    image = {
        "overriders": {
            "imageOverrider": [{"component": "Tag", "operator": "replace", "value": "2"}]
        }
    }
    done = override(_many(400), _EAST, [_policy("p", *[image] * 200)])
    assert done.problem is None
    done = override(_many(400), _EAST, [_policy("p", *[image] * 300)])
    assert "imageOverrider: more than 100000 changes of images in one object" in str(done.problem)


def test_documents_in_fields_have_a_limit_that_is_named() -> None:
    document = json.dumps({"a": 1, "long": "x" * 2**20})
    config = Manifest({**_WEB, "data": {"a": document}})
    change = {
        "fieldPath": "/data/a",
        "json": [{"subPath": "/a", "operator": "replace", "value": 2}],
    }
    rule = {"overriders": {"fieldOverrider": [change]}}
    assert override(config, _EAST, [_policy("p", *[rule] * 3)]).problem is None
    assert (
        override(
            config, _EAST, [_policy("p", {"overriders": {"fieldOverrider": [change] * 9}})]
        ).problem
        is None
    )
    done = override(config, _EAST, [_policy("p", *[rule] * 9)])
    assert "fieldOverrider: its rules read and write more than 4194304 characters" in str(
        done.problem
    )
