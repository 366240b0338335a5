"""What is secret is hidden wherever it is, on both sides of a change, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.karmada.override import override
from fleet_components.content.secret import REDACTED, is_secret, redacted, secret_fields
from fleet_components.model.cluster import Cluster
from fleet_components.model.karmada.override import OverridePolicy
from fleet_components.model.manifest import Manifest

CANARY = "hunter2"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}, "data": {"pin": CANARY}}
IN_SECRET: dict[str, Any] = {
    "a Secret": SECRET,
    "of a strange version": {**SECRET, "apiVersion": "/v1"},
    "of no version": {key: value for key, value in SECRET.items() if key != "apiVersion"},
    "of another group": {**SECRET, "apiVersion": "example.com/v1"},
    "in other letters": {**SECRET, "kind": "secret "},
    "with text": {**SECRET, "data": None, "stringData": {"pin": CANARY}},
    "of another shape": {**SECRET, "data": [CANARY, {"a": CANARY}]},
    "with data as text": {**SECRET, "stringData": CANARY},
    "in a list": {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}, SECRET]},
    "in a list of its own": {"apiVersion": "v1", "kind": "SecretList", "items": [{"data": {"pin": CANARY}}]},
    "in an envelope": {"kind": "ResourceEnvelope", "data": {"secret.yaml": SECRET}},
    "as YAML in a ConfigMap": {"kind": "ConfigMap", "data": {"all.yaml": f"a: 1\n---\n{yaml.safe_dump(SECRET)}"}},
    "as JSON in a ConfigMap": {"kind": "ConfigMap", "data": {"one.json": json.dumps(SECRET, indent=2)}},
    "as applied before": {
        "kind": "Pod",
        "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(SECRET)}},
    },
    "in a template": {"kind": "Farm", "spec": {"templates": [{"template": SECRET}]}},
}
PUBLIC: dict[str, Any] = {
    "a ConfigMap": {"kind": "ConfigMap", "data": {"a": "b", "c": "a secret of mine"}},
    "a reference": {"kind": "Pod", "spec": {"volumes": [{"secret": {"secretName": "a"}}]}},
    "a role": {"kind": "Role", "rules": [{"resources": ["secrets"], "verbs": ["get"]}]},
    "a sealed one": {"kind": "SealedSecret", "spec": {"encryptedData": {"a": "b"}}},
    "an external one": {"kind": "ExternalSecret", "spec": {"data": [{"secretKey": "a"}]}},
    "an empty Secret": {"kind": "Secret", "data": {}},
}


@pytest.mark.parametrize("data", IN_SECRET.values(), ids=IN_SECRET)
def test_secret_values_are_hidden_wherever_they_are(data: Mapping[str, Any]) -> None:
    assert CANARY in str(data)
    assert CANARY not in str(redacted(data))
    assert REDACTED in str(redacted(data))
    assert redacted(redacted(data)) == redacted(data)
    fields = secret_fields(data)
    assert CANARY not in str({field: value for field, value in data.items() if field not in fields})


@pytest.mark.parametrize("data", PUBLIC.values(), ids=PUBLIC)
def test_nothing_else_is_hidden(data: Mapping[str, Any]) -> None:
    assert redacted(data) is data


plain = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(st.dictionaries(st.text(), values), st.lists(st.sampled_from(["a", "items", "spec"]), max_size=4))
def test_a_secret_at_any_depth_is_hidden(around: dict[str, Any], path: list[str]) -> None:
    held: Any = SECRET
    for step in reversed(path):
        held = [{**around, step: held}] if step == "items" else {**around, step: held}
    assert CANARY not in str(redacted({"kind": "List", "held": held}))


OVERRIDERS: dict[str, dict[str, Any]] = {
    "the kind is replaced": {"plaintext": [{"path": "/kind", "operator": "replace", "value": "ConfigMap"}]},
    "the kind is removed": {"plaintext": [{"path": "/kind", "operator": "remove"}]},
    "a value is tested": {"plaintext": [{"path": "/data/pin/x", "operator": "add", "value": "a"}]},
    "the image is the kind": {
        "imageOverrider": [
            {"component": "Tag", "operator": "add", "value": "x", "predicate": {"path": "/kind"}},
        ]
    },
    "the image is a value": {
        "imageOverrider": [
            {"component": "Tag", "operator": "replace", "value": "x", "predicate": {"path": "/data/pin/deep"}},
        ]
    },
}


@pytest.mark.parametrize("overriders", OVERRIDERS.values(), ids=OVERRIDERS)
def test_no_override_makes_a_secret_public(overriders: dict[str, Any]) -> None:
    policy = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "o", "namespace": "n"},
        "spec": {"overrideRules": [{"overriders": overriders}]},
    }
    done = override(Manifest(SECRET), Cluster("a"), [OverridePolicy.from_manifest(Manifest(policy))])
    assert CANARY not in str(done.problem)
    assert done.problem or (done.data and is_secret(done.data))
