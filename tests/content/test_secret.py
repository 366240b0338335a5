"""What is secret is hidden wherever it is, on both sides of a change, and nothing else is."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.overridden import Overridden
from fleet_components.content.secret import (
    REDACTED,
    is_secret,
    redacted,
    redacted_policy,
    secret_fields,
)
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.content.override import override
from fleet_components.systems.karmada.model.override import OverridePolicy

CANARY = "hunter2"
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": "n"},
    "data": {"pin": CANARY},
}
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
    "in a list of its own": {
        "apiVersion": "v1",
        "kind": "SecretList",
        "items": [{"data": {"pin": CANARY}}],
    },
    "in an envelope": {"kind": "ResourceEnvelope", "data": {"secret.yaml": SECRET}},
    "as YAML in a ConfigMap": {
        "kind": "ConfigMap",
        "data": {"all.yaml": f"a: 1\n---\n{yaml.safe_dump(SECRET)}"},
    },
    "as JSON in a ConfigMap": {
        "kind": "ConfigMap",
        "data": {"one.json": json.dumps(SECRET, indent=2)},
    },
    "as applied before": {
        "kind": "Pod",
        "metadata": {
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(SECRET)}
        },
    },
    "in a template": {"kind": "Farm", "spec": {"templates": [{"template": SECRET}]}},
}
_REST = "\napiVersion: v1\ndata: {pin: hunter2}\n"
SPELLINGS = {
    "many blanks": "kind:            Secret" + _REST,
    "on the next line": "kind:\n\n     Secret" + _REST,
    "below a comment": "kind: # the kind of it\n  Secret" + _REST,
    "with a tag": "kind: !!str Secret" + _REST,
    "with a verbatim tag": "kind: !<tag:yaml.org,2002:str> Secret" + _REST,
    "with an anchor": "kind: &a Secret" + _REST,
    "with an anchor and a tag": "kind: &a !!str 'Secret'" + _REST,
    "escaped by two digits": r'kind: "\x53ecret"' + _REST,
    "escaped by four digits": r'kind: "\u0053ecret"' + _REST,
    "escaped by eight digits": r'kind: "\U00000053ecret"' + _REST,
    "under an escaped key": r'"kin\x64": Secret' + _REST,
    "over two lines": 'kind: "Sec\\\n  ret"' + _REST,
    "with a line of its own": 'kind: "\n  Secret\n  "' + _REST,
    "by an alias": "x: &k Secret\nkind: *k" + _REST,
    "by an alias of the key": "x: &k kind\n*k : Secret" + _REST,
    "by an alias in what is no YAML": "x: &k Secret\nkind: *k" + _REST + "{{ if }}",
    "as a block": "kind: >2-\n  Secret" + _REST,
    "as a key of many lines": "? kind\n: Secret" + _REST,
    "below another document": "a: 1\n---\nkind: &a Secret" + _REST,
    "in a flow": '{"kind"  :  !!str "Secret", data: {pin: hunter2}}',
    "in JSON with escapes": r'{"kind": "\u0053ecret", "face": "\ud83d\ude00", "data": {"pin": "hunter2"}}',
    "in JSON within JSON": json.dumps({"a": json.dumps({"k\u0131": "\u00e9", "x": r'{"kind": "\u0053ecret", "data": "hunter2"}'})}),
    "in a text of a text": yaml.safe_dump({"a": yaml.safe_dump({"b": "x: &k Secret\nkind: *k" + _REST})}),
    "in a template": "{{ if .x }}\nkind: !!str Secret" + _REST + "{{ end }}",
    "in plural": "kind: Secrets" + _REST,
    "as a list": "kind: SecretList\nitems: [{data: {pin: hunter2}}]",
    "as a list in two words": "kind: Secret List\nitems: [{data: {pin: hunter2}}]",
    "in a merged map": "x: &m {kind: &n Secret}\ny: {<<: *m, data: {pin: hunter2}}",
    "in a long text": "a: b\n" * 300_000 + "kind: &a !!str Secret" + _REST,
}  # fmt: skip
IN_SECRET |= {
    "misspelt": {**SECRET, "kind": "Secrets"},
    "misspelt as a list": {**SECRET, "kind": "Secret List"},
    "as a list with data": {
        "kind": "SecretList",
        "data": {"pin": CANARY},
        "stringData": {"pin": CANARY},
    },
}
PUBLIC: dict[str, Any] = {
    "a ConfigMap": {"kind": "ConfigMap", "data": {"a": "b", "c": "a secret of mine"}},
    "a reference": {"kind": "Pod", "spec": {"volumes": [{"secret": {"secretName": "a"}}]}},
    "a role": {"kind": "Role", "rules": [{"resources": ["secrets"], "verbs": ["get"]}]},
    "a sealed one": {"kind": "SealedSecret", "spec": {"encryptedData": {"a": "b"}}},
    "an external one": {"kind": "ExternalSecret", "spec": {"data": [{"secretKey": "a"}]}},
    "an empty Secret": {"kind": "Secret", "data": {}},
    "a text about them": {
        "kind": "ConfigMap",
        "data": {"a": "a secret: of this kind # and &so on\n*"},
    },
    "a text of others": {
        "kind": "ConfigMap",
        "data": {"a": "kind: &a Pod\nx: {secret: {kind: *a}}\n# secret"},
    },
    "a text with a reference": {
        "kind": "ConfigMap",
        "data": {"a": "kind: Pod\nvolumes: [{secret: {name: a}}]"},
    },
    "a text with escapes": {"kind": "ConfigMap", "data": {"a": r'kind: "\x50od"\nsecret: \d+'}},
}


@pytest.mark.parametrize("data", IN_SECRET.values(), ids=IN_SECRET)
def test_secret_values_are_hidden_wherever_they_are(data: Mapping[str, Any]) -> None:
    assert CANARY in str(data)
    assert CANARY not in str(redacted(data))
    assert REDACTED in str(redacted(data))
    assert redacted(redacted(data)) == redacted(data)
    fields = secret_fields(data)
    assert CANARY not in str({field: value for field, value in data.items() if field not in fields})


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_in_a_text_is_hidden_however_it_is_written(text: str) -> None:
    assert CANARY in text
    assert CANARY not in str(
        redacted(
            {"kind": "ConfigMap", "metadata": {"annotations": {"a": text}}, "data": {"a": text}}
        )
    )


@pytest.mark.parametrize(
    "part",
    [
        "kind: ",
        "kind &a ",
        "kind!",
        "kind \\",
        "[",
        "- ",
        "&a [*a, ",
        "kind: &kind ",
        "secret kind",
        "\\x53",
        "{? ",
        "a: &a [*a]\n",
    ],
)
def test_a_search_takes_linear_time(part: str) -> None:
    text = "secret " + part * (200_000 // len(part)) + "\nkind: x\n"
    begin = time.perf_counter()
    redacted({"kind": "ConfigMap", "data": {"a": text}})
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize("data", PUBLIC.values(), ids=PUBLIC)
def test_nothing_else_is_hidden(data: Mapping[str, Any]) -> None:
    assert redacted(data) is data


plain = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


@pytest.mark.long
@given(
    st.dictionaries(st.text(), values),
    st.lists(st.sampled_from(["a", "items", "spec"]), max_size=4),
)
def test_a_secret_at_any_depth_is_hidden(around: dict[str, Any], path: list[str]) -> None:
    held: Any = SECRET
    for step in reversed(path):
        held = [{**around, step: held}] if step == "items" else {**around, step: held}
    assert CANARY not in str(redacted({"kind": "List", "held": held}))


OVERRIDERS: dict[str, dict[str, Any]] = {
    "the kind is replaced": {
        "plaintext": [{"path": "/kind", "operator": "replace", "value": "ConfigMap"}]
    },
    "the kind is removed": {"plaintext": [{"path": "/kind", "operator": "remove"}]},
    "a value is tested": {"plaintext": [{"path": "/data/pin/x", "operator": "add", "value": "a"}]},
    "the image is the kind": {
        "imageOverrider": [
            {"component": "Tag", "operator": "add", "value": "x", "predicate": {"path": "/kind"}},
        ]
    },
    "the image is a value": {
        "imageOverrider": [
            {
                "component": "Tag",
                "operator": "replace",
                "value": "x",
                "predicate": {"path": "/data/pin/deep"},
            },
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
    done = override(
        Manifest(SECRET), Cluster("a"), [OverridePolicy.from_manifest(Manifest(policy))]
    )
    assert CANARY not in str(done.problem)
    assert done.problem or (done.data and is_secret(done.data))


def overridden(data: Mapping[str, Any], *rules: dict[str, Any]) -> Overridden:
    policy = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "o", "namespace": "n"},
        "spec": {"overrideRules": [{"overriders": rule} for rule in rules]},
    }
    return override(Manifest(data), Cluster("a"), [OverridePolicy.from_manifest(Manifest(policy))])


def patch(path: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"plaintext": [{"path": path, "operator": operator, "value": value}]}


def within(
    field: str, path: str, operator: str, value: Any = None, form: str = "yaml"
) -> dict[str, Any]:
    operation = {"subPath": path, "operator": operator, "value": value}
    return {"fieldOverrider": [{"fieldPath": field, form: [operation]}]}


NAMED = {"apiVersion": "v1", "metadata": {"name": "x", "namespace": "n"}}
IN_TEXT = {
    **NAMED,
    "kind": "ConfigMap",
    "data": {"a.yaml": yaml.safe_dump(SECRET), "b.json": json.dumps(SECRET)},
}
IN_PART = {**NAMED, "kind": "Farm", "spec": {"size": 1, "template": SECRET}}
IN_ITEMS = {
    **NAMED,
    "kind": "Farm",
    "spec": {"items": [{"kind": "Pod"}, SECRET], "texts": ["a: b", yaml.safe_dump(SECRET)]},
}
SHOWN = {
    "another kind in YAML": (IN_TEXT, within("/data/a.yaml", "/kind", "replace", "ConfigMap")),
    "no kind in YAML": (IN_TEXT, within("/data/a.yaml", "/kind", "remove")),
    "another kind in JSON": (IN_TEXT, within("/data/b.json", "/kind", "replace", "ConfigMap", "json")),
    "no kind in JSON": (IN_TEXT, within("/data/b.json", "/kind", "remove", form="json")),
    "another kind in an object": (IN_PART, patch("/spec/template/kind", "replace", "ConfigMap")),
    "no kind in an object": (IN_PART, patch("/spec/template/kind", "remove")),
    "another item without a kind": (
        IN_ITEMS,
        {"plaintext": [*patch("/spec/items/1/kind", "remove")["plaintext"], *patch("/spec/items/0", "remove")["plaintext"]]},
    ),
    "another text without a kind": (IN_ITEMS, {**within("/spec/texts/1", "/kind", "remove"), **patch("/spec/texts/0", "remove")}),
    "a later rule": (IN_PART, patch("/spec/size", "replace", 2), patch("/spec/template/kind", "replace", "Pod")),
}  # fmt: skip
KEPT = {
    "a value inside": (IN_PART, patch("/spec/template/data/pin", "replace", "other")),
    "a value gone": (IN_PART, patch("/spec/template/data/pin", "remove")),
    "the whole part gone": (IN_PART, patch("/spec/template", "remove")),
    "the whole text gone": (IN_TEXT, patch("/data/a.yaml", "remove")),
    "a value in a text": (IN_TEXT, within("/data/a.yaml", "/data/pin", "replace", "other")),
    "another item": (IN_ITEMS, patch("/spec/items/0", "remove")),
    "an item before": (IN_ITEMS, patch("/spec/items/0", "add", {"kind": "Pod"})),
    "something else": (IN_PART, patch("/spec/size", "replace", 2)),
    "a label": (IN_TEXT, {"labelsOverrider": [{"operator": "add", "value": {"pin": "hunter2"}}]}),
}


@pytest.mark.parametrize("case", SHOWN.values(), ids=SHOWN)
def test_no_override_takes_the_mark_off_a_secret_inside(case: tuple[Any, ...]) -> None:
    done = overridden(*case)
    assert done.problem
    assert "makes public what was secret" in str(done.problem)
    assert CANARY not in f"{done.problem} {done.logged}"


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_an_override_that_leaves_the_mark_is_applied(case: tuple[Any, ...]) -> None:
    done = overridden(*case)
    assert done.problem is None
    if "labelsOverrider" not in case[1]:
        assert CANARY not in str(redacted(done.data or {}))


def test_what_names_a_secret_has_nothing_of_it() -> None:
    reference = {"group": "", "kind": "Secret", "name": "key", "namespace": "shop", "version": "v1"}
    selecting = {"kind": "ResourcePlacement", "spec": {"resourceSelectors": [reference]}}
    assert redacted(selecting) is selecting
    held = {
        "kind": "ResourceEnvelope",
        "data": {"key.yaml": {"kind": "Secret", "stringData": {"key": "hunter2"}}},
    }
    assert "hunter2" not in str(redacted(held))


@pytest.mark.parametrize("selectors", [{}, {"resourceSelectors": []}, {"resourceSelectors": None}])
def test_a_policy_of_karmada_for_all_objects_shows_no_data_of_secrets(
    selectors: dict[str, Any],
) -> None:
    def rules(pin: object, whole: object) -> list[Any]:
        patches = [
            ("/data/pin", pin),
            ("/stringData/pin", pin),
            ("/data", whole),
            ("/spec/replicas", 3),
        ]
        plain = [{"path": path, "operator": "replace", "value": value} for path, value in patches]
        field = {
            "fieldPath": "/data/pin",
            "json": [{"subPath": "/a", "operator": "add", "value": pin}],
        }
        image = {"component": "Tag", "operator": "replace", "value": "1"}
        return [
            {
                "overriders": {
                    "plaintext": plain,
                    "fieldOverrider": [field],
                    "imageOverrider": [image],
                }
            }
        ]

    policy: dict[str, Any] = {
        "kind": "ClusterOverridePolicy",
        "spec": {**selectors, "overrideRules": rules("x", {"pin": "x"})},
    }
    shown = {
        "kind": "ClusterOverridePolicy",
        "spec": {**selectors, "overrideRules": rules(REDACTED, REDACTED)},
    }
    assert redacted_policy(policy) == shown
    named = {
        "kind": "ClusterOverridePolicy",
        "spec": {**policy["spec"], "resourceSelectors": [{"kind": "ConfigMap"}]},
    }
    assert redacted_policy(named) is named
